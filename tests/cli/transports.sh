#!/usr/bin/env bash
# transports.sh BIN_DIR MPIEXEC: messages between ranks on two CUDA devices, through every transport. Messages arrive
# unchanged, results are bitwise those of one device, wrong lengths are errors, and path_to() names the transport. A
# transport that the machine does not have is reported as skipped, with the reason. Status 77: some were skipped.
set -u
export LC_ALL=C

bin=$(cd -- "$1" && pwd -P) || exit 2
concord=$bin/concord
ranks=$bin/mpi-ranks
mpiexec=$2
unset CONCORD_DEVICE CONCORD_LOG CONCORD_THREADS CONCORD_MPI_PIECE CONCORD_MPI_TRANSPORT CONCORD_LINKS NO_COLOR
devices=$("$concord" devices --json 2>/dev/null | grep -o '"cuda:[0-9]*"' | sort -u | wc -l)
if ((devices < 2)); then
    echo "skipped: needs two NVIDIA GPUs with their driver, got $devices"
    exit 77
fi
work=$(mktemp -d) && sessions=$(mktemp -d) || exit 2
trap 'rm -rf "$work" "$sessions"' EXIT
cd "$work" || exit 2
export OMPI_MCA_orte_tmpdir_base=$sessions
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
failed=0 skipped=0

fail() {
    failed=$((failed + 1))
    echo "FAILED  $*"
    sed 's/^/        /' log err 2>/dev/null | head -12
}
skip() {
    skipped=$((skipped + 1))
    echo "skipped: $*"
}
mpi() {  # N PROGRAM...: its words in log and err
    timeout -k 5 60 "$mpiexec" -n "$@" >log 2>err </dev/null
}

elements=5000011
python=$(command -v python3) || { echo "skipped: needs python3"; exit 77; }
"$python" - $elements <<'PYTHON' || exit 2
import struct, random, sys
n = int(sys.argv[1])
random.seed(1)
head = ("{'descr': '<u4', 'fortran_order': False, 'shape': (%d,), }" % n).ljust(117) + "\n"
with open("x.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00\x76\x00" + head.encode() + random.randbytes(4 * n))
PYTHON
"$concord" run sort --in x.npy --out sorted.npy --device cuda:0 >/dev/null || fail "sort on one device"
"$concord" run scan --in x.npy --out sums.npy --device cuda:0 >/dev/null || fail "scan on one device"

declare -A path=([nccl]="NCCL" [ipc]="CUDA IPC" [mpi]="MPI, ")
for transport in nccl ipc mpi; do
    export CONCORD_MPI_TRANSPORT=$transport
    if ! mpi 2 "$ranks" long cuda:0 cuda:1; then
        reason=$(grep -m 1 -o "$transport is not available: .*" err)
        [[ -n $reason ]] && skip "$reason" || fail "$transport: long messages"
        continue
    fi
    grep -q "^\(CUDA IPC (halos), \)\?${path[$transport]}" log || fail "$transport: the path is $(head -1 log)"
    mpi 2 "$ranks" messages cuda:0 cuda:1 || fail "$transport: messages"
    mpi 2 "$ranks" large cuda:0 cuda:1 || fail "$transport: messages of 1 GiB"
    grep ' 107374' log
    mpi 2 "$ranks" bits cuda:0 cuda:1 || fail "$transport: bits"
    for what in differ shorter; do
        mpi 2 "$ranks" $what cuda:0 cuda:1
        status=$?
        ((status != 0 && status < 124)) && grep -q 'rank 0 sends .* bytes, rank 1 expects' err ||
            fail "$transport: $what: status $status"
    done
    mpi 2 "$concord" run sort --in x.npy --out y.npy --device cuda --json || fail "$transport: sort"
    cmp -s sorted.npy y.npy || fail "$transport: sort gives other bits"
    grep -q "\"messages\": \".*${path[$transport]}" log || fail "$transport: sort: $(grep '"messages"' log)"
    mpi 2 "$concord" run scan --in x.npy --out y.npy --device cuda || fail "$transport: scan"
    cmp -s sums.npy y.npy || fail "$transport: scan gives other bits"
    for count in 3 4; do
        ((devices >= count)) || continue
        mpi $count "$ranks" long cuda:0 cuda:1 cuda:2 cuda:3 || fail "$transport: $count ranks"
    done
done
export CONCORD_MPI_TRANSPORT=auto
mpi 2 "$ranks" messages cuda:0 cuda:1 || fail "auto: messages"
mpi 3 "$ranks" messages cuda:0 cuda:1 tbb || fail "auto: messages with a CPU"
mpi 3 "$ranks" long cuda:0 cuda:1 tbb || fail "auto: long messages with a CPU"
mpi 2 "$ranks" messages cuda:0 cuda:0 || fail "auto: two ranks on one device"
export CONCORD_MPI_TRANSPORT=nccl
if mpi 2 "$ranks" messages cuda:0 cuda:0; then
    fail "NCCL: two ranks on one device are not refused"
fi

if ((failed > 0)); then
    echo "$failed failures"
    exit 1
fi
((skipped == 0)) || exit 77
echo "passed: all transports between two CUDA devices"
