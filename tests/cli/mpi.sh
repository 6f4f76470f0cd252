#!/usr/bin/env bash
# mpi.sh [--long] BIN_DIR MPIEXEC DEVICES...: ranks under mpirun. Results are bitwise those of one process for any
# number of ranks, on each device and on two together. All ranks report an error once, with its status, and leave no
# files. A rank that dies ends the job. The tests start mpirun themselves, also with more ranks than processors.
# --long: more numbers of ranks and sizes of pieces.
set -u
export LC_ALL=C

long=
if [[ $1 == --long ]]; then
    long=1
    shift
fi
bin=$(cd -- "$1" && pwd -P) || exit 2
concord=$bin/concord
ranks=$bin/mpi-ranks
mpiexec=$2
devices=("${@:3}")
work=$(mktemp -d) && sessions=$(mktemp -d) || exit 2
trap 'rm -rf "$work" "$sessions"' EXIT
cd "$work" || exit 2
mkdir box
unset CONCORD_DEVICE CONCORD_LOG CONCORD_THREADS CONCORD_MPI_PIECE CONCORD_MPI_TRANSPORT NO_COLOR
# Jobs that start at the same time race for Open MPI's folder of sessions.
export OMPI_MCA_orte_tmpdir_base=$sessions
# For this test only: by default Open MPI starts neither as root nor with more ranks than processors.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
failed=0

fail() {
    failed=$((failed + 1))
    echo "FAILED  $*"
    sed 's/^/        /' log err 2>/dev/null | head -12
}

mpi() {  # N PROGRAM...: within minutes, for kernels may have to be compiled; its words in log and err
    timeout -k 5 200 "$mpiexec" -n "$@" >log 2>err </dev/null
}

# Concord's lines on stderr. The launcher adds its own if a job fails.
our_lines() { grep -c '^concord: ' err; }

head_of() {  # DESCR COUNT
    local dict="{'descr': '$1', 'fortran_order': False, 'shape': ($2,), }"
    printf '\x93NUMPY\x01\x00\x76\x00%s%*s\n' "$dict" $((117 - ${#dict})) ''
}

# Floats whose bytes are digits: positive, of many magnitudes; their sums depend on the order.
count=100003
digits=$(od -An -v -tu4 -N 1048576 /dev/urandom | tr -dc 0-9)
{ head_of '<f4' $count && printf %s "${digits:0:count*4}"; } >x.npy
{ head_of '<u4' $count && printf %s "${digits:400012:count*4}"; } >v.npy
{ head_of '<f4' 5 && printf %s "${digits:0:20}"; } >few.npy
{ head_of '<f4' 0; } >none.npy
[[ $(stat -c %s x.npy) == $((128 + count * 4)) ]] || { echo "mpi.sh: x.npy has the wrong size"; exit 2; }

# --- Messages -----------------------------------------------------------------------------------------------------

lists=("${devices[@]}")
((${#devices[@]} == 1)) || lists+=("${devices[*]}")
for list in "${lists[@]}"; do
    read -ra words <<<"$list"
    mpi 3 "$ranks" messages "${words[@]}" || fail "messages on $list"
done
mpi 1 "$ranks" messages tbb || fail "messages of one"
# Piece sizes that divide the messages' sizes, and others.
for piece in ${long:+64 4096} 1000; do
    mpi 2 env CONCORD_MPI_PIECE=$piece "$ranks" messages tbb || fail "messages in pieces of $piece bytes"
done
if [[ " ${devices[*]} " == *" opencl "* ]]; then
    # With kernels for GPUs, buffers do not count as host memory: all messages are staged.
    mpi 3 env CONCORD_OPENCL_ITEMS=many CONCORD_MPI_PIECE=1000 "$ranks" messages opencl tbb || fail "staged messages"
    mpi 2 env CONCORD_OPENCL_ITEMS=many CONCORD_MPI_PIECE=4096 "$ranks" long opencl || fail "long staged messages"
    for what in differ shorter; do
        mpi 2 env CONCORD_OPENCL_ITEMS=many CONCORD_MPI_PIECE=64 "$ranks" $what opencl
        status=$?
        ((status != 0 && status < 124)) && grep -q 'rank 1 expects' err || fail "$what, staged: status $status"
    done
fi
for list in "${lists[@]}"; do
    read -ra words <<<"$list"
    mpi 2 "$ranks" long "${words[@]}" || fail "long messages on $list"
    grep -q '^MPI, host memory: 1048576 bytes' log || fail "long messages on $list do not go through MPI"
done
mpi 1 "$ranks" transports tbb || fail "the choice of transports"
mpi 4 "$ranks" bits tbb || fail "bits"
for what in differ shorter throw; do
    case $what in
        differ) words="sends more bytes, rank 1 expects 20" ;;
        shorter) words="sends 40 bytes, rank 1 expects 80" ;;
        throw) words="rank 1: mpi-ranks: this is too much" ;;
    esac
    mpi 2 "$ranks" $what tbb
    status=$?
    ((status != 0 && status < 124)) || fail "$what: status $status"
    [[ $(our_lines) == 1 ]] && grep -q "$words" err || fail "$what: not one line that says '$words'"
done
mpi 2 env CONCORD_MPI_PIECE=63 "$ranks" messages tbb && fail "a piece of 63 bytes"
mpi 2 env CONCORD_MPI_TRANSPORT=fast "$ranks" messages tbb && fail "a transport that does not exist"
CONCORD_MPI_TRANSPORT=fast "$concord" devices >log 2>err
[[ $? == 2 ]] && grep -q "CONCORD_MPI_TRANSPORT: invalid value 'fast'" err || fail "the program accepts a transport that does not exist"
mpi 2 bash -c '[[ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} != 1 ]] || export CONCORD_MPI_TRANSPORT=mpi; exec "$0" "$@"' "$ranks" messages tbb &&
    fail "two transports"
grep -q 'CONCORD_MPI_TRANSPORT: must be the same on all ranks, got auto and mpi' err || fail "two transports: the message"

# --- The program --------------------------------------------------------------------------------------------------

declare -A asked=(
    [reduce]="reduce"
    [scan]="scan"
    [exclusive]="scan --exclusive --op max"
    [histogram]="histogram --bins 1000 --range 0 0.0001 --counter u16"
    [sort]="sort --descending"
)
for name in reduce scan exclusive histogram sort; do
    read -ra words <<<"${asked[$name]}"
    for input in x few none; do
        "$concord" run "${words[@]}" --in $input.npy --out $name.$input.npy --device tbb --order canonical >/dev/null ||
            fail "$name of $input.npy in one process"
    done
done
same() {  # NAME INPUT N DEVICES: N ranks give what one process has given
    local words
    read -ra words <<<"${asked[$1]}"
    mpi "$3" "$concord" run "${words[@]}" --in "$2.npy" --out box/out.npy --devices "$4" || fail "$1 of $2.npy: $3 ranks on $4"
    cmp -s "$1.$2.npy" box/out.npy || fail "$1 of $2.npy: $3 ranks on $4 have other bits"
    [[ $(wc -l <log) == 1 ]] || fail "$1 of $2.npy: $3 ranks on $4 print more than one line"
    rm -f box/out.npy
}
for name in reduce scan exclusive histogram sort; do
    for n in 1 2 3 4 7; do
        [[ ! $long && $n != 3 && $name$n != reduce[17] && $name$n != sort[17] ]] || same $name x $n tbb
    done
    for device in "${devices[@]}"; do
        [[ $device == tbb || ! $long ]] || same $name x 3 "$device"
        [[ $device == tbb ]] || same $name x 4 "tbb,$device"
    done
done
same scan few 7 tbb
same sort few 7 tbb
same reduce none 3 tbb
same sort none 3 tbb
[[ " ${devices[*]} " != *" opencl "* ]] || same reduce x 7 opencl

# Equal keys and their values keep their order.
"$concord" run sort --variant radix8 --in v.npy --values x.npy --out k.npy --out-values w.npy --device tbb >/dev/null || fail "pairs"
mpi 3 "$concord" run sort --variant radix8 --in v.npy --values x.npy --out box/k.npy --out-values box/w.npy --device tbb --json ||
    fail "pairs: 3 ranks"
cmp -s k.npy box/k.npy && cmp -s w.npy box/w.npy || fail "pairs: 3 ranks have other bits"
grep -q '"ranks": 3' log && [[ $(grep -c '"tbb:0"' log) -ge 4 ]] || fail "--json names ranks and devices"
rm -f box/*

# --- Errors -------------------------------------------------------------------------------------------------------

refused() {  # STATUS WORDS ARGUMENTS...
    local status
    mpi 3 "$concord" "${@:3}"
    status=$?
    [[ $status == "$1" ]] || fail "${*:3}: status $status, not $1"
    [[ $(our_lines) == 1 ]] && grep -q "$2" err || fail "${*:3}: not one line that says '$2'"
    [[ ! -s log ]] || fail "${*:3}: prints a result"
    [[ -z $(ls -A box) ]] || fail "${*:3}: leaves $(ls -A box)"
}
printf 'no array' >bad.npy
head -c 1000 x.npy >short.npy
refused 2 'bad.npy' run reduce --in bad.npy --out box/y.npy --device tbb
refused 2 'truncated' run sort --in short.npy --out box/y.npy --device tbb
refused 2 'cannot be read' run scan --in nothing.npy --out box/y.npy --device tbb
refused 2 'directory does not exist or is not writable' run scan --in x.npy --out nowhere/y.npy --device tbb
refused 2 'does not run under mpirun; available: reduce, scan' run compact --in x.npy --out box/y.npy --device tbb
refused 2 'opt' run reduce --in x.npy --out box/y.npy --opt sum
refused 2 'chunk' run reduce --in x.npy --out box/y.npy --device tbb --chunk 1M
refused 2 'variant' run scan --variant none_such --in x.npy --out box/y.npy --device tbb
refused 2 'none_such' run reduce --variant none_such --in few.npy --out box/y.npy --device tbb  # all of it is one rank's
export CONCORD_MPI_CUDA=maybe
refused 2 'CONCORD_MPI_CUDA' run reduce --in x.npy --out box/y.npy --device tbb
unset CONCORD_MPI_CUDA
for transport in nccl ipc; do
    export CONCORD_MPI_TRANSPORT=$transport
    for name in reduce scan sort; do
        refused 3 "$transport is not available: rank 0 uses tbb:0, which is not a CUDA device" \
            run $name --in x.npy --out box/y.npy --device tbb
    done
done
unset CONCORD_MPI_TRANSPORT
refused 3 'nonesuch' run reduce --in x.npy --out box/y.npy --device nonesuch

# As if another MPI had started it: an error, instead of the same work three times.
PMI_SIZE=3 PMI_RANK=0 "$concord" run reduce --in x.npy --out box/y.npy --device tbb >log 2>err
status=$?
[[ $status == 3 ]] && grep -q 'sees 1' err && [[ -z $(ls -A box) ]] || fail "another launcher: status $status"
# Without the component: a copy of the libraries without it.
mkdir bare
cp -a "$bin"/../lib/libconcord.so* "$bin"/../lib/concord-backend-tbb.so bare/ 2>/dev/null
mpi 2 env LD_LIBRARY_PATH="$work/bare" "$concord" run reduce --in x.npy --out box/y.npy --device tbb
status=$?
[[ $status == 3 ]] && grep -q 'libconcord-mpi.so is not in' err && [[ $(our_lines) == 1 ]] || fail "no component: status $status"
mpi 1 env LD_LIBRARY_PATH="$work/bare" "$concord" run reduce --in x.npy --out box/y.npy --device tbb || fail "one rank needs no component"
rm -f box/*

# --- Errors on one rank -------------------------------------------------------------------------------------------

mib=96
{
    head_of '<f4' $((mib << 18))
    for ((i = 0; i < mib; i++)); do printf %s "${digits:0:1048576}"; done
} >big.npy

alone() {  # N STATUS WORDS RANK PREPARATION ARGUMENTS...: that rank runs the shell's commands first
    local n=$1 wanted=$2 words=$3 prepare="[[ \${OMPI_COMM_WORLD_RANK:-\$PMI_RANK} != $4 ]] || { $5; }; exec \"\$0\" \"\$@\"" status
    shift 5
    mpi "$n" bash -c "$prepare" "$concord" "$@"
    status=$?
    [[ $status == "$wanted" ]] || fail "alone, $*: status $status, not $wanted"
    [[ $(our_lines) == 1 ]] && grep -q "$words" err || fail "alone, $*: not one line that says '$words'"
}
alone 2 2 'concord: rank 0: standard output: cannot be written' 0 'exec >/dev/full' run reduce --in x.npy --out box/y.npy --device tbb
rm -f box/*
# The last rank's part ends beyond the file size limit.
alone 3 2 'cannot be written: File too large (on rank 2)' 2 'trap "" XFSZ; ulimit -f 73728' run scan --in big.npy --out box/y.npy --device tbb
[[ -z $(ls -A box) ]] || fail "a full disk: leaves $(ls -A box)"
if [[ " ${devices[*]} " == *" opencl "* ]]; then
    # The CPU supports this variant.
    alone 2 2 'concord: rank 1: .*serial' 1 : run reduce --in v.npy --out box/y.npy --devices tbb,opencl --variant serial
    [[ -z $(ls -A box) ]] || fail "a variant of one device: leaves $(ls -A box)"
fi
rm -f box/*

# --- A rank that dies ---------------------------------------------------------------------------------------------

for victim in 0 2; do
    timeout -k 5 60 "$mpiexec" -n 3 "$concord" run sort --in big.npy --out box/y.npy --device tbb >log 2>err </dev/null &
    job=$!
    # The output file exists as soon as ranks work.
    for ((i = 0; i < 2000; i++)); do
        compgen -G 'box/.concord-*' >/dev/null && break
        sleep 0.01
    done
    killed=
    for pid in $(pgrep -f "^$concord run sort --in big.npy"); do
        tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "OMPI_COMM_WORLD_RANK=$victim\|PMI_RANK=$victim" || continue
        [[ $(readlink "/proc/$pid/cwd") == "$work" ]] && kill -9 "$pid" && killed=$pid
    done
    start=$SECONDS
    wait $job
    status=$?
    [[ -n $killed ]] || fail "rank $victim was not found"
    ((status != 0 && status != 124)) ||
        fail "rank $victim dies: status $status"
    ((SECONDS - start <= 20)) || fail "rank $victim dies: the job goes on for $((SECONDS - start)) s"
    for ((i = 0; i < 100; i++)); do  # the others are told to end, and tidy up
        [[ -z $(ls -A box) ]] && break
        sleep 0.05
    done
    [[ -z $(ls -A box) ]] || fail "rank $victim dies: leaves $(ls -A box)"
    rm -f box/*
done

# --- Studies ------------------------------------------------------------------------------------------------------

# The ranks of a study are the processes of the job, the first ones for fewer ranks.
mpi 3 "$concord" study weak-scaling throughput-scaling --quick --sizes 2^15,2^20 --devices tbb --out report ||
    fail "studies of three ranks"
for words in 'one device per process' '"overlapped1"' '"overlapped2"' '"sequential3"' '"distributed_reduce"'; do
    grep -qF "$words" report/results.jsonl || fail "a study of ranks does not tell of $words"
done
grep -qE '"problem": ?"[^"]' report/results.jsonl && fail "studies of ranks have failed: $(grep -m 1 problem report/results.jsonl)"
mpi 2 "$concord" study weak-scaling transfers --quick --devices tbb --out none
[[ $? == 2 && $(our_lines) == 1 ]] || fail "a study without ranks is not refused once"
grep -qF "'transfers' does not run under mpirun; available: weak-scaling" err || fail "a refused study is not named"
[[ ! -e none ]] || fail "a refused study leaves a folder"
if [[ " ${devices[*]} " == *" opencl "* ]]; then
    mpi 3 "$concord" study weak-scaling --quick --devices tbb,opencl,opencl --out none
    [[ $? == 2 && $(our_lines) == 1 ]] || fail "ranks on several backends are not refused once"
fi
# Again: what is known is not measured. Without a name, or with a wrong one, all ranks fail together.
mpi 3 "$concord" study weak-scaling --quick --sizes 2^15 --devices tbb --out report || fail "a study again"
grep -qF "0 measured" log || fail "a study of ranks measures again what is known"
mpi 2 "$concord" study --quick --out none
[[ $? == 2 && $(our_lines) == 1 ]] || fail "no study named: not refused once"
mpi 2 "$concord" study --out report
[[ $? == 2 && $(our_lines) == 1 ]] || fail "a report is written again by every process"
mpi 2 "$concord" study weak-scaling --quick --devices tbb --out x.npy
[[ $? != 0 && $(our_lines) == 1 ]] || fail "a file as --out is not refused once"

if ((failed > 0)); then
    echo "$failed failures"
    exit 1
fi
echo "passed: ranks on ${devices[*]}"
