#!/usr/bin/env bash
# stencil_ranks.sh BIN_DIR [--mpiexec MPIEXEC [--long]] DEVICES...: `concord run stencil` over ranks: threads, or
# processes of MPIEXEC. The ranks read or generate their parts of the input and write their parts of the output. For any
# number of ranks, cut and variant, the file is byte for byte that of one device. An unsupported request gives one line,
# the right status, and no file. A job of processes takes a second or more: without --long they run a sample.
set -u
export LC_ALL=C

bin=$(cd -- "$1" && pwd -P) || exit 2
concord=$bin/concord
mpiexec=
sample=
devices=("${@:2}")
if [[ ${devices[0]:-} == --mpiexec ]]; then
    mpiexec=${devices[1]}
    devices=("${devices[@]:2}")
    if [[ ${devices[0]} == --long ]]; then devices=("${devices[@]:1}"); else sample=1; fi
    # By default Open MPI starts neither as root nor with more ranks than processors.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
fi
work=$(mktemp -d) && sessions=$(mktemp -d) || exit 2
trap 'rm -rf "$work" "$sessions"' EXIT
cd "$work" || exit 2
unset CONCORD_DEVICE CONCORD_LOG CONCORD_THREADS NO_COLOR
# Jobs that start at the same time race for Open MPI's folder of sessions.
export OMPI_MCA_orte_tmpdir_base=$sessions
failed=0

fail() {
    failed=$((failed + 1))
    echo "FAILED  $*"
}

head_of() {  # DESCR SHAPE
    local dict="{'descr': '$1', 'fortran_order': False, 'shape': ($2), }"
    printf '\x93NUMPY\x01\x00\x76\x00%s%*s\n' "$dict" $((117 - ${#dict})) ''
}
# Numbers whose bytes are digits: finite, of many magnitudes. No number of ranks divides the sizes.
digits() { od -An -v -tu4 -N "$1" /dev/urandom | tr -dc 0-9; }
block=$(digits 600000)
{ head_of '<f4' '53, 29, 31' && printf %s "${block:0:$((53 * 29 * 31 * 4))}"; } >f4.npy
{ head_of '<f8' '26, 23, 14' && printf %s "${block:7:$((26 * 23 * 14 * 8))}"; } >f8.npy
[[ $(stat -c %s f4.npy) == $((128 + 53 * 29 * 31 * 4)) && $(stat -c %s f8.npy) == $((128 + 26 * 23 * 14 * 8)) ]] ||
    { echo "stencil_ranks.sh: the volumes have the wrong size"; exit 2; }
{ head_of '<f4' '5,' && printf 00000000000000000000; } >c4.npy
{ head_of '<f8' '3,' && printf 000000000000000000000000; } >c8.npy

times() {  # N DEVICE...: the devices in turn, N of them
    local i list=""
    for ((i = 0; i < $1; i++)); do
        local at=$((i % ($# - 1) + 2))
        list+=",${!at}"
    done
    echo "${list#,}"
}

# ranks DEVICES ARGUMENTS...: the program with a rank for each device.
ranks() {
    local commas=${1//[^,]/}
    if [[ $mpiexec ]]; then
        timeout -k 5 60 "$mpiexec" -n $((${#commas} + 1)) "$concord" run stencil --devices "$@" </dev/null
    else
        "$concord" run stencil --devices "$@"
    fi
}

# same TYPE DEVICES OPTIONS...: compares a run over ranks with one device.
same() {
    local type=$1 list=$2
    shift 2
    rm -f many.npy
    ranks "$list" --in "f$type.npy" --in "c$type.npy" --steps 3 --out many.npy "$@" >log 2>&1 ||
        fail "f$type on $list $*: $(cat log)"
    cmp -s "one$type.npy" many.npy || fail "f$type on $list $*: other bytes"
}

for type in 4 8; do
    "$concord" run stencil --in "f$type.npy" --in "c$type.npy" --steps 3 --out "one$type.npy" --device tbb >/dev/null ||
        fail "f$type on one device"
    cmp -s "f$type.npy" "one$type.npy" && fail "f$type: the steps change nothing, so that nothing is tested"
    [[ $sample ]] && continue
    for device in "${devices[@]}"; do
        for n in 2 3 4 7; do same $type "$(times $n "$device")"; done
        same $type "$(times 4 "$device")" --cut 2x2
        same $type "$(times 5 "$device")" --cut 1x4 --variant sequential
        same $type "$(times 5 "$device")" --cut 2x2 --variant data_server
        same $type "$(times 6 "$device")" --cut 1x2x3
        [[ $mpiexec ]] || same $type "$device" --cut 1x1
    done
    same $type "$(times 4 "${devices[@]}")"
    same $type "$(times 7 "${devices[@]}")" --cut 3x2
done
if [[ $sample ]]; then
    same 4 tbb,tbb,tbb
    same 4 "$(times 7 "${devices[@]}")" --cut 3x2
    same 4 "$(times 5 "${devices[-1]}")" --cut 1x4 --variant sequential
    same 4 "$(times 5 tbb)" --cut 2x2 --variant data_server
    same 8 "$(times 2 "${devices[-1]}")"
    same 8 "$(times 6 tbb)" --cut 1x2x3
fi

# A volume without points gives a file as well.
head_of '<f4' '0, 29, 31' >f0.npy
cp c4.npy c0.npy
"$concord" run stencil --in f0.npy --in c0.npy --steps 3 --out one0.npy --device tbb >/dev/null || fail "no points on one device"
for variant in overlapped sequential data_server; do
    [[ $sample && $variant == sequential ]] || same 0 tbb,tbb,tbb --variant $variant
done

# Generated volumes: one device gives the bytes that a file with the same values gives, and ranks give those of one
# device. Without steps the volume is copied.
generated() {  # DEVICES OPTIONS...: over ranks
    rm -f many.npy
    ranks "$1" "${volume[@]}" --steps 3 --out many.npy "${@:2}" >log 2>&1 || fail "${volume[*]} on $*: $(cat log)"
    cmp -s one.npy many.npy || fail "${volume[*]} on $*: other bytes"
}
for type in 4 8; do
    shape=53x29x31
    [[ $type == 4 ]] || shape=26x23x14
    for kind in "random --seed 7" point; do
        [[ ! $sample || $type$kind == 4random* || $type$kind == 8point ]] || continue
        # shellcheck disable=SC2206  # zero or one option
        volume=(--generate $kind --shape $shape --type f$((8 * type)) --in c$type.npy)
        "$concord" run stencil "${volume[@]}" --steps 0 --out volume.npy --device tbb >log 2>&1 ||
            fail "${volume[*]}, into a file: $(cat log)"
        "$concord" run stencil --in volume.npy --in c$type.npy --steps 3 --out file.npy --device tbb >log 2>&1 ||
            fail "${volume[*]}, from a file: $(cat log)"
        cmp -s volume.npy file.npy && fail "${volume[*]}: the steps change nothing, so that nothing is tested"
        for device in "${devices[@]}"; do
            rm -f one.npy
            "$concord" run stencil "${volume[@]}" --steps 3 --out one.npy --device "$device" >log 2>&1
            cmp -s file.npy one.npy || fail "${volume[*]} on $device: other bytes than from a file $(cat log)"
            [[ $sample && $device == tbb ]] && continue
            generated "$(times 3 "$device")"
            [[ $sample ]] && continue
            generated "$(times 7 "$device")" --cut 3x2
            generated "$(times 3 "$device")" --variant data_server
        done
        generated "$(times 5 "${devices[@]}")" --cut 1x4 --variant sequential
        ranks tbb,tbb,tbb "${volume[@]}" --steps 0 --out many.npy >log 2>&1
        cmp -s volume.npy many.npy || fail "${volume[*]} by ranks, without steps: other bytes $(cat log)"
    done
done
# Generated in several pieces on one device, and in one piece per rank.
volume=(--generate random --shape 41x121x131 --in c4.npy --steps 0)
"$concord" run stencil "${volume[@]}" --out one.npy --device tbb >log 2>&1 || fail "${volume[*]}: $(cat log)"
ranks tbb,tbb,tbb "${volume[@]}" --out many.npy >log 2>&1
cmp -s one.npy many.npy || fail "${volume[*]} by ranks: other bytes $(cat log)"

# refused STATUS WORDS DEVICES OPTIONS...: one line of Concord's. A launcher adds its own.
refused() {
    local status=$1 words=$2 lines
    shift 2
    # shellcheck disable=SC2086  # options
    ranks "$@" ${made:---in f4.npy} --in c4.npy --out "${out:-none.npy}" >/dev/null 2>log
    local got=$?
    lines=$(grep -c '^concord: ' log)
    [[ $got == "$status" && $lines == 1 ]] || fail "$*: status $got, $lines lines: $(cat log)"
    grep -qF -- "$words" log || fail "$*: $(cat log)"
    [[ ! -e none.npy ]] || fail "$*: there is an output"
}
refused 2 "the number of parts must not exceed 2 ranks, got 3 x 1" tbb,tbb --cut 3x1
[[ $mpiexec ]] || refused 2 "the number of parts must not exceed 1 rank, got 2 x 1" tbb --cut 2x1
refused 2 "--memory-limit: not supported " tbb,tbb --memory-limit 1G
refused 2 "--cut: invalid domain decomposition '2'" tbb,tbb --cut 2
if [[ ! $sample ]]; then
    refused 2 "every part needs at least 4 planes, the radius, got 53 planes in 14 parts" "$(times 14 tbb)" --cut 14x1
    refused 2 "--cut: invalid domain decomposition '0x2'" tbb,tbb --cut 0x2
    refused 2 "--cut: invalid domain decomposition '2x'" tbb,tbb --cut 2x
    refused 2 "--cut: invalid domain decomposition '1x1x2x1'" tbb,tbb --cut 1x1x2x1
fi
refused 2 "unknown variant 'comet'; available: overlapped, fused, sequential, data_server" tbb,tbb --variant comet
out=/dev/null refused 2 "ranks write in any order; name a regular file" tbb,tbb
made="--generate random --shape 53x29x31"
refused 2 "stencil expects 1 input in addition to --generate random, got 2" tbb,tbb --in f4.npy
refused 2 "volume and coefficients must have one type, got --generate random of f64 and c4.npy of f32" tbb,tbb --type f64
made="--generate random --shape 6x29x31"
refused 2 "every part needs at least 4 planes, the radius, got 6 planes in 2 parts" tbb,tbb --cut 2x1
made="--generate frob --shape 53x29x31"
refused 2 "unknown kind 'frob'; available: random, point" tbb,tbb
made=

# A missing folder.
ranks tbb,tbb --in f4.npy --in c4.npy --out gone/out.npy >/dev/null 2>log
[[ $? == 2 ]] || fail "a folder that is not there: $(cat log)"

leftover=$(find . -name '.*npy*' | head -n 1)
[[ -z $leftover ]] || fail "left behind: $leftover"

# The file's mode follows the umask.
(umask 027 && ranks tbb,tbb --in f4.npy --in c4.npy --out mode.npy >log 2>&1) || fail "with a umask: $(cat log)"
[[ $(stat -c %a mode.npy) == 640 ]] || fail "a umask of 027 gives $(stat -c %a mode.npy)"

# The output names what ran.
ranks tbb,tbb,tbb --in f4.npy --in c4.npy --out many.npy --json >log
for words in '"variant": "overlapped"' '"cut": "3 x 1"' '"steps_per_exchange": 1' '"messages_per_step": 4'; do
    grep -qF "$words" log || fail "--json has no $words: $(cat log)"
done
grep -qF '"generated"' log && fail "--json says that a file was generated: $(cat log)"
ranks tbb,tbb --generate random --shape 53x29x31 --seed 5 --in c4.npy --out many.npy --json >log
for words in '"generated":{"kind":"random","seed":5}' '"type":"f32"' '"shape":[53,29,31]' '"ranks":2'; do
    tr -d ' \n' <log | grep -qF "$words" || fail "--json has no $words: $(cat log)"
done
ranks tbb,tbb --generate point --shape 53x29x31 --in c4.npy --out many.npy >log
grep -qF "point f32 (53, 29, 31) cut 2 x 1" log || fail "what was generated is not told: $(cat log)"

if [[ ! $mpiexec ]]; then
    ranks tbb,tbb --generate random --shape 53x29x31 --in c4.npy --out many.npy --trace trace.json >log 2>&1
    grep -q '"traceEvents"' trace.json || fail "with --trace: $(cat log)"
    ranks tbb --generate random --shape 53x29x31 --in c4.npy --out many.npy --memory-limit 1G >log 2>&1 ||
        fail "with --memory-limit: $(cat log)"
fi

((failed == 0)) && echo "stencil_ranks.sh: ${mpiexec:+by mpiexec, }${devices[*]}: all passed"
exit $((failed > 0))
