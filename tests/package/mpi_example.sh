#!/usr/bin/env bash
# mpi_example.sh MPIEXEC EXAMPLE: two ranks on the CPU, and on the devices that the example chooses.
set -u
mpiexec=$1
example=$2
sessions=$(mktemp -d) || exit 2
trap 'rm -rf "$sessions"' EXIT
# As in tests/cli/mpi.sh: by default Open MPI starts neither as root nor with more ranks than processors, and jobs that
# start at the same time race for its folder of sessions.
export OMPI_MCA_orte_tmpdir_base=$sessions OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
unset CONCORD_DEVICE

run() {  # ARGUMENTS...
    local said status
    said=$(timeout -k 5 200 "$mpiexec" -n 2 "$example" "$@" </dev/null)
    status=$?
    echo "$said"
    # The example compares the sum, and the numbers in the window, with its own.
    [[ $status == 0 && $said == "2 ranks on "*": the sum of 2097152 squares is 697953008576" ]] && return
    echo "FAILED  ${*:-default device}: status $status"
    exit 1
}
run tbb
run
