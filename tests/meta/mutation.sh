#!/usr/bin/env bash
# mutation.sh BIN_DIR SOURCE_DIR [SELECTOR...]: proves that `concord check` catches faults. Plants each mutant
# (mutants/) in a copy of its kernel source, which the program reads from CONCORD_KERNELS. The narrowest check that
# must catch it has to end with status 1 and a differing result. A mutant fails if it does not compile, or if the source
# does not contain what it replaces exactly once. Runs on the SELECTORs (default: the first OpenCL and the first CUDA
# device). Mutants for a missing device are only applied. Ends with 77 if no mutant ran.
set -u
export LC_ALL=C

bin=$(cd -- "$1" && pwd -P) || exit 2
source=$(cd -- "$2" && pwd -P) || exit 2
shift 2
concord=$bin/concord
[[ -x $concord ]] || { echo "mutation.sh: there is no $concord" >&2; exit 2; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
unset CONCORD_DEVICE CONCORD_KERNELS CONCORD_OPENCL_ITEMS CONCORD_LOG
export XDG_CACHE_HOME=$work/cache
# Compilation takes nearly all of the time, most of it in PoCL's optimiser. Faults show without it; check.opencl.*
# tests the optimised kernels.
# shellcheck source=tests/conformance/unoptimised.sh
source "$source/tests/conformance/unoptimised.sh"

# --- The mutants ----------------------------------------------------------------------------------------------------

# mutant FILE ITEMS CHECK WHAT FROM TO [FROM TO]. ITEMS: work-items per group of the OpenCL kernels that have the
# fault: many, one or any. CHECK: arguments of `concord check`; one operator and few sizes if these suffice.
lists=() files=() items=() checks=() whats=() froms=() tos=() more_froms=() more_tos=() kinds=()
mutant() {
    lists+=("$list")
    files+=("$1") items+=("$2") checks+=("$3") whats+=("$4") froms+=("$5") tos+=("$6")
    more_froms+=("${7:-}") more_tos+=("${8:-}") kinds+=(mutant)
}
# The same for a harmless change: its check must pass.
harmless() {
    mutant "$@"
    kinds[-1]=harmless
}

# shellcheck source=select_changed.sh
source "$source/tests/meta/select_changed.sh"
cd "$source" || exit 2
for list in tests/meta/mutants/*.sh; do
    # shellcheck source=/dev/null
    source "$list"
done

# --- Running them ---------------------------------------------------------------------------------------------------

# check DEVICE ITEMS CHECK LOG: runs it. The last line of the log has the status.
check() {
    local -a arguments
    read -ra arguments <<<"$3"
    [[ $2 == any ]] || export CONCORD_OPENCL_ITEMS=$2
    "$concord" check "${arguments[@]}" --devices "$1" --jobs 1 >"$4" 2>&1 </dev/null
    echo "status $?" >>"$4"
}
status_of() { tail -n 1 "$1"; }

# Writes the mutant's source into its own folder. Prints the reason if the mutant does not apply.
plant() {  # INDEX
    local file text
    file=$(find "$source/algorithms" -name "${files[$1]}")
    text=$(<"$file") || return
    replace "${froms[$1]}" "${tos[$1]}" || return
    [[ -z ${more_froms[$1]} ]] || replace "${more_froms[$1]}" "${more_tos[$1]}" || return
    mkdir "$work/$1"
    printf '%s\n' "$text" >"$work/$1/${files[$1]}"
}
replace() {  # FROM TO: in $text
    local without=${text//"$1"/} times
    times=$(((${#text} - ${#without}) / ${#1}))
    if [[ $times != 1 ]]; then
        echo "the source contains what it replaces $times times, expected once: $1"
        return 1
    fi
    text=${text/"$1"/"$2"}
}

# Each job writes a line into its own file: passed, FAILED or "left out", a tab, and a text.
say() { printf '%s\t%s\n' "$1" "$2" >"$result"; }

# A check that a mutant must fail has to pass without it.
sound_job() {  # DEVICE ITEMS CHECK
    check "$1" "$2" "$3" "$result.log"
    if [[ $(status_of "$result.log") == "status 0" ]]; then
        say passed "without a fault, $2 items, on $1: check $3"
    else
        say FAILED "without a fault, $2 items, on $1: check $3: $(status_of "$result.log")"$'\n'"$(head -n 3 "$result.log")"
    fi
}

mutant_job() {  # INDEX DEVICE
    local name="${files[$1]} on $2: ${whats[$1]}" log=$result.log problem how
    export CONCORD_KERNELS=$work/$1
    check "$2" "${items[$1]}" "${checks[$1]}" "$log"
    problem=$(status_of "$log")
    if ((${problem#status } >= 128)); then
        # An unoptimised kernel may need more stack than there is.
        unset POCL_EXTRA_BUILD_FLAGS
        check "$2" "${items[$1]}" "${checks[$1]}" "$log"
        problem=$(status_of "$log")
    fi
    if grep -q 'does not compile' "$log"; then
        say FAILED "$name: does not compile"$'\n'"$(grep -m 3 'error' "$log")"
    elif [[ ${kinds[$1]} == harmless ]]; then
        if [[ $problem == "status 0" ]]; then
            say passed "$name"
        else
            say FAILED "$name: $problem: CONCORD_OPENCL_ITEMS=${items[$1]} concord check ${checks[$1]}"
        fi
    elif [[ $problem != "status 1" ]] || ! grep -q DIFFERS "$log"; then
        say FAILED "$name: NOT CAUGHT, $problem: CONCORD_OPENCL_ITEMS=${items[$1]} concord check ${checks[$1]}"
    else
        how=$(grep -m 1 -A 1 '^FAILED' "$log" | tail -n 1)
        say caught "$name:${how#   }"
    fi
}

# Starts a job. As many run at once as there are processors.
count=0
running=0
start() {
    result=$work/result.$((count++))
    if ((running == processors)); then wait -n; else ((++running)); fi
    "$@" &
}
processors=$(nproc 2>/dev/null || echo 2)

selectors=("$@")
# A program that fails to list its devices must not count as one without devices.
listed=$("$concord" devices 2>&1) || { echo "mutation.sh: concord devices failed: $listed" >&2; exit 1; }
first_of() { awk -v backend="$1:" 'index($1, backend) == 1 { print $1; exit }' <<<"$listed"; }
if [[ $# == 0 ]]; then
    for backend in opencl cuda; do
        first=$(first_of "$backend")
        [[ -z $first ]] || selectors+=("$first")
    done
fi
why_not() {  # BACKEND
    local line
    line=$(grep -m 1 "^$1 is not available" <<<"$listed")
    echo "${line:-no $1 device was asked for}"
}
of_backend() {  # BACKEND: its selectors
    local selector
    for selector in "${selectors[@]}"; do
        [[ $selector != "$1"* ]] || echo "$selector"
    done
}
mapfile -t cl_devices < <(of_backend opencl)
mapfile -t cu_devices < <(of_backend cuda)
# New mutants come first.
new_ones=() others=()
for i in $(rotated ${#files[@]}); do
    problem=$(plant "$i")
    if [[ $problem ]]; then
        result=$work/result.$((count++))
        say FAILED "${files[i]}: ${whats[i]}: $problem"
        continue
    fi
    selected_number=$i
    selects_mutant "${lists[i]}" "${whats[i]}" "${files[i]}" || continue
    if [[ $tenth == all ]] || landed_with "${lists[i]}" "${whats[i]}"; then others+=("$i"); else new_ones+=("$i"); fi
done
declare -A sound=()
for i in "${new_ones[@]}" "${others[@]}"; do
    devices=("${cu_devices[@]}")
    without="CUDA mutants, which apply: $(why_not cuda)"
    if [[ ${files[i]} == *.kernel ]]; then
        devices+=("${cl_devices[@]}")
    elif [[ ${files[i]} == *.cl ]]; then
        devices=("${cl_devices[@]}")
        without="OpenCL mutants, which apply: $(why_not opencl)"
    fi
    if [[ ${#devices[@]} == 0 ]]; then
        result=$work/result.$((count++))
        say "left out" "$without"
    fi
    if ! has_time && [[ ${#devices[@]} != 0 ]]; then
        result=$work/result.$((count++))
        say "left out" "mutants after $CONCORD_SELECTED_SECONDS s"
        continue
    fi
    for device in "${devices[@]}"; do
        key="$device ${items[i]} ${checks[i]}"
        if [[ -z ${sound[$key]:-} ]]; then
            sound[$key]=1
            start sound_job "$device" "${items[i]}" "${checks[i]}"
        fi
        start mutant_job "$i" "$device"
    done
done
wait

for ((i = 0; i < count; ++i)); do
    if [[ -e $work/result.$i ]]; then cat "$work/result.$i"; else echo "FAILED	a job left no result"; fi
done >"$work/results"
echo "mutants: $(selection_of_mutants)"
grep -v '^left out' "$work/results"
sed -n 's/^left out\t//p' "$work/results" | sort | uniq -c | sed 's/^ */left out: /'
caught=$(grep -c '^caught' "$work/results")
failed=$(grep -c '^FAILED' "$work/results")
echo "$caught mutants caught, $failed failures"
[[ $failed == 0 ]] || exit 1
[[ $caught -gt 0 ]] || exit 77
