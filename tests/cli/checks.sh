# What study.sh and tune.sh share: a folder of their own, calls of `concord` and their verdicts. Sourced with the
# arguments BIN_DIR SOURCE_DIR.
# shellcheck shell=bash
set -u
export LC_ALL=C

concord=$(cd -- "$1" && pwd -P)/concord
source=$(cd -- "$2" && pwd -P)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
unset CONCORD_DEVICE CONCORD_THREADS CONCORD_KERNELS

passed=0
failed=0
verdict() {  # NAME PROBLEM
    if [[ -z $2 ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED  $1: $2"
    fi
}
# ends STATUS WORDS ARGUMENTS...: the status of `concord`, and words of what it prints.
ends() {
    local wanted=$1 words=$2 problem=
    shift 2
    "$concord" "$@" >out 2>&1 </dev/null
    local status=$?
    [[ $status == "$wanted" && $(cat out) == *"$words"* ]] ||
        problem="expected status $wanted and '$words', came $status and '$(head -c 600 out | tr '\n' '|')'"
    verdict "concord $*" "$problem"
}
has() { verdict "$1 has $2" "$(grep -qF -- "$2" "$1" || echo "not found: $(head -c 600 "$1" | tr '\n' '|')")"; }
# Plants a fault in faulty/reduce_steps.kernel: the sum is always the identity. Fails without an OpenCL device.
plant_fault() {
    "$concord" devices | grep -q '^opencl:0 ' || { echo "left out: a kernel with a fault; it needs an OpenCL device"; return 1; }
    mkdir faulty
    sed 's/const T sum = meet_halves(shared, op);/const T sum = identity;/' \
        "$source/algorithms/reduce/reduce_steps.kernel" >faulty/reduce_steps.kernel
    verdict "the fault is planted" "$(cmp -s "$source/algorithms/reduce/reduce_steps.kernel" faulty/reduce_steps.kernel && echo "it is not planted")"
}
# The last command of the script.
summary() {
    echo "$passed passed, $failed failed"
    [[ $failed == 0 && $passed -gt 0 ]]
}
