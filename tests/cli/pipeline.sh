#!/usr/bin/env bash
# pipeline.sh BIN_DIR DEVICES...: `concord run` on files larger than its memory limit: correct bits within the limit.
# Also files that shrink, full disks, failed allocations and interrupts: each gives one line, the right status, and
# leaves no files.
set -u
set -m  # jobs of their own, which take SIGINT
export LC_ALL=C

bin=$(cd -- "$1" && pwd -P) || exit 2
concord=$bin/concord
devices=("${@:2}")
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
mkdir box
unset CONCORD_DEVICE CONCORD_LOG CONCORD_THREADS NO_COLOR
failed=0

fail() {
    failed=$((failed + 1))
    echo "FAILED  $*"
}

head_of() {  # DESCR COUNT
    local dict="{'descr': '$1', 'fortran_order': False, 'shape': ($2,), }"
    printf '\x93NUMPY\x01\x00\x76\x00%s%*s\n' "$dict" $((117 - ${#dict})) ''
}
field() { sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p" "$2" | head -1; }

# Floats whose bytes are digits: positive, of many magnitudes; their sums depend on the order.
mib=128
limit=$((mib / 4))
count=$((mib << 18))
digits=$(od -An -v -tu4 -N 1048576 /dev/urandom | tr -dc 0-9)
block=${digits:0:1048576}
{
    head_of '<f4' "$count"
    for ((i = 0; i < mib; i++)); do printf %s "$block"; done
} >big.npy
[[ $(stat -c %s big.npy) == $((128 + mib * 1048576)) ]] || { echo "pipeline.sh: big.npy has the wrong size"; exit 2; }
{ head_of '<f4' 4 && printf 0123456789abcdef; } >small.npy

declare -A asked=(
    [reduce]="reduce"
    [scan]="scan --exclusive"
    [histogram]="histogram --bins 1000 --range 0 0.0001"
    [compact]="compact --keep greater:0.000001"
)
# The program's own memory, measured by a run on four elements. Threads' stacks and allocators add a little.
more=$((16 << 20))

# Each alone, and all of them together.
lists=("${devices[@]}")
((${#devices[@]} == 1)) || lists+=("$(IFS=, && echo "${devices[*]}")")

for name in reduce scan histogram compact; do
    read -ra words <<<"${asked[$name]}"
    "$concord" run "${words[@]}" --in big.npy --out whole.npy --device tbb --order canonical >/dev/null || fail "$name: whole"
    for device in "${lists[@]}"; do
        # Runs that may compile, which needs memory. Few elements may take other kernels than many.
        "$concord" run "${words[@]}" --in big.npy --out compiled.npy --devices "$device" --memory-limit ${limit}M >/dev/null ||
            fail "$name on $device: the first run"
        rm -f compiled.npy
        for ((i = 0; i < 2; i++)); do
            "$concord" run "${words[@]}" --in small.npy --out small-out.npy --devices "$device" --chunk 8 --json >small.json ||
                fail "$name on $device: four elements"
        done
        "$concord" run "${words[@]}" --in big.npy --out box/part.npy --devices "$device" --memory-limit ${limit}M --json >run.json ||
            fail "$name on $device: with a limit"
        cmp whole.npy box/part.npy || fail "$name on $device: other bits than as a whole"
        (($(field segments run.json) >= 4)) || fail "$name on $device: $(field segments run.json) segments"
        peak=$(field peak_memory run.json) base=$(field peak_memory small.json)
        echo "$name on $device: limit $limit MiB, peak $((peak >> 20)) MiB including the program's $((base >> 20)) MiB," \
            "$(field segments run.json) segments, $(sed -n 's/^ *"total": //p' run.json) ms"
        ((peak - base <= (limit << 20) + more)) || fail "$name on $device: peak $peak, four elements $base, limit $limit MiB"
        rm -f box/part.npy
    done
    rm -f whole.npy
done

# A run that fails: its status, one line with the words, and no file in box/.
ended() {  # STATUS WANTED WORDS WHAT
    local err
    err=$(tail -n 1 stderr | tr '\r' '\n' | tail -n 1)
    [[ $1 == "$2" ]] || fail "$4: expected status $2, came $1: $(head -c 300 stderr)"
    [[ $err == "concord: "*"$3"* && $(wc -l <stderr) == 1 ]] || fail "$4: expected one line with '$3', came $(head -c 300 stderr)"
    [[ -z $(ls -A box) ]] || fail "$4: left $(ls -A box)"
    rm -rf box
    mkdir box
}

# 4 GiB, mostly a hole.
head_of '<f4' $((1 << 30)) >sparse.npy
truncate -s $((128 + (4 << 30))) sparse.npy

for device in "${devices[@]}"; do
    slow=(run map --in big.npy --device "$device" --memory-limit 8M --chunk 64K)
    # Compilers may warn on stderr. So kernels are compiled before.
    for chunk in 64K 2M; do
        "$concord" run map --in big.npy --out compiled.npy --device "$device" --memory-limit 8M --chunk $chunk >/dev/null 2>&1 ||
            fail "map on $device: the first run"
    done
    rm -f compiled.npy

    # The pipe is full after 64 KiB. The file shrinks before the rest is read.
    cp big.npy shrinks.npy
    mkfifo pipe
    "$concord" run map --in shrinks.npy --out /dev/stdout --device "$device" --memory-limit 8M >pipe 2>stderr &
    pid=$!
    exec 3<pipe
    head -c 1000 <&3 >/dev/null
    truncate -s 1000000 shrinks.npy
    cat <&3 >/dev/null
    exec 3<&-
    wait $pid
    ended $? 2 "shrinks.npy: the file was truncated while it was read" "a file that shrinks, on $device"
    rm -f pipe shrinks.npy

    "$concord" "${slow[@]}" --out /dev/full >/dev/null 2>stderr
    ended $? 2 "/dev/full: cannot be written: No space left on device" "a full device, on $device"

    (
        ulimit -f 20000
        exec "$concord" "${slow[@]}" --out box/out.npy >/dev/null 2>stderr
    )
    ended $? 2 "box/out.npy: cannot be written: File too large" "an output that gets too large, on $device"

    for signal in INT TERM; do
        "$concord" run map --in sparse.npy --device "$device" --memory-limit 8M --chunk 64K --out box/out.npy >/dev/null 2>stderr &
        pid=$!
        for ((i = 0; i < 2000; i++)); do
            # The file has no name yet.
            readlink /proc/$pid/fd/* 2>/dev/null | grep -q "^$PWD/box/" && break
            sleep 0.005
        done
        kill -$signal $pid
        wait $pid 2>/dev/null
        status=$?
        [[ $signal == INT ]] && wanted=130 || wanted=143
        ended $status $wanted "interrupted (SIG$signal)" "SIG$signal, on $device"
    done
done

# Less memory than --memory-limit allows. Sanitizers reserve more than that for themselves.
if [[ -z ${CONCORD_TEST_SANITIZERS:-} ]]; then
    (
        ulimit -v 3000000
        # Without OpenCL drivers, whose threads exhaust the memory on machines with many cores.
        export OCL_ICD_VENDORS=$PWD/none
        exec "$concord" run map --in sparse.npy --out box/out.npy --device tbb --threads 2 --chunk 3G >/dev/null 2>stderr
    )
    ended $? 4 "not enough host memory" "an allocation that fails"
else
    echo "not tested with a sanitizer: an allocation that fails"
fi

# Invalid limits, and limits that are too small.
for words in "invalid byte count '12Q'|map --memory-limit 12Q" "invalid byte count '0'|map --chunk 0" \
    "too small|reduce --memory-limit 1000" "algorithms that run in segments: |sort --memory-limit 1M" \
    "name a regular file|compact --keep odd --in counts.npy --out /dev/stdout --chunk 1M"; do
    { head_of '<i4' 4 && printf 0123456789abcdef; } >counts.npy
    read -ra rest <<<"${words#*|}"
    [[ ${rest[*]} == *--in* ]] || rest+=(--in big.npy --out box/out.npy)
    "$concord" run "${rest[@]}" --device tbb 2>stderr | cat >/dev/null
    ended "${PIPESTATUS[0]}" 2 "${words%%|*}" "${words#*|}"
done

# Progress bars appear on terminals only.
"$concord" run map --in big.npy --out box/out.npy --device tbb --chunk 16K >/dev/null 2>stderr
[[ ! -s stderr ]] || fail "a bar in a file: $(head -c 300 stderr)"
if command -v script >/dev/null; then
    TERM=xterm script -qec "$concord run map --in big.npy --out box/out.npy --device tbb --chunk 512" /dev/null </dev/null >bar
    grep -q 'map \[#*\.*\]  *[0-9]* %  [0-9.]* of 0.12 GiB  [0-9.]* GB/s  [0-9]* s left' bar || fail "no bar on a terminal: $(head -c 300 bar)"
fi

((failed == 0)) && echo "pipeline.sh: all passed"
exit $((failed > 0))
