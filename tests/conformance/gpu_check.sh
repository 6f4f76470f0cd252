#!/usr/bin/env bash
# run [--quick] [--list] [STEP...]: checks Concord on the GPUs of this machine. `./setup gpu-check DIR` makes the folder
# of this file. Each step leaves results/STEP.log and results/STEP.status, and is not repeated once it has passed, so
# an interrupted run continues. Ends with a table, and with 0 if all steps passed, 1 if one failed, 77 if there is no
# GPU.
#   devices              what is there
#   check.ALGORITHM      every variant on all GPUs, through CUDA and through OpenCL, all types
#   memcheck, racecheck  changed kernels under compute-sanitizer; skipped where it is not installed
#   tests.SELECTOR       the device suite of the tests
#   headline             `concord study headline`: rates, compared with the peer libraries of the build
#   speed                results of headline that are slower than stored ones of the same card; skipped without these
# --quick: types f32 and u8, small sizes in the study, no step speed.
set -u
export LC_ALL=C

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
quick=() types=()
list=0
while [[ ${1:-} == --* ]]; do
    case $1 in
        --quick) quick=(--quick) types=(--types f32,u8) ;;
        --list) list=1 ;;
        *) echo "run: unknown option '$1'; available: --quick, --list" >&2; exit 2 ;;
    esac
    shift
done
asked=("$@")
results=$here/results
mkdir -p "$results" || exit 2
# Results of another commit are not continued.
if [[ -e $results/commit ]] && ! cmp -s "$here/commit" "$results/commit"; then
    echo "run: $results has results of another commit; move it away" >&2
    exit 2
fi
cp "$here/commit" "$results/commit"

export PATH=$here/bin:$PATH LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export XDG_CACHE_HOME=$results/cache XDG_CONFIG_HOME=$results/config
unset CONCORD_DEVICE CONCORD_KERNELS CONCORD_OPENCL_ITEMS
# A folder that every user may write to is refused, see docs/building.md.
chmod go-w "$here" "$here/lib" "$here/lib/concord" "$here"/lib/*.so* 2>/dev/null
export CONCORD_BACKEND_PATH=$here/lib
compgen -G "$here/lib/concord/libnvrtc.so*" >/dev/null && export CONCORD_NVRTC=$here/lib/concord
# NVIDIA's OpenCL driver is often installed without its entry in /etc.
if ! grep -qs nvidia /etc/OpenCL/vendors/*.icd; then
    mkdir -p "$results/vendors"
    cp /etc/OpenCL/vendors/*.icd "$results/vendors/" 2>/dev/null
    for folder in /usr/lib/x86_64-linux-gnu /usr/lib64 /usr/lib /usr/local/nvidia/lib64; do
        [[ -e $folder/libnvidia-opencl.so.1 ]] || continue
        echo "$folder/libnvidia-opencl.so.1" >"$results/vendors/nvidia.icd"
        export OCL_ICD_VENDORS=$results/vendors
        break
    done
fi

# Selectors of GPUs, whose groups have many work-items.
gpus=$(concord devices --verbose --json 2>/dev/null | awk -F'"' '
    $2 == "selector" { selector = $4 }
    $2 == "many work-items per group" && $4 == "yes" && selector !~ /@/ { print selector }' | paste -sd,)
if [[ -z $gpus ]]; then
    echo "run: no GPU found:" && concord devices
    exit 77
fi

mapfile -t algorithms <"$here/algorithms"
mapfile -t changed <"$here/changed"
steps=(devices)
for algorithm in "${algorithms[@]}"; do steps+=("check.$algorithm"); done
if [[ $gpus == *cuda:* ]]; then steps+=(memcheck racecheck); fi
for gpu in ${gpus//,/ }; do steps+=("tests.$gpu"); done
steps+=(headline)
((${#quick[@]})) || steps+=(speed)
if ((list)); then
    printf '%s\n' "${steps[@]}"
    exit 0
fi

step() {  # NAME: runs it
    local suite=device
    case $1 in
        devices) concord devices --verbose ;;
        check.*) concord check "${1#check.}" --devices "$gpus" "${types[@]}" --json "$results/$1.json" ;;
        memcheck | racecheck)
            if [[ ${#changed[@]} == 0 ]]; then
                echo "passed: no kernel changed"
                return 0
            fi
            "$here/source/sanitizer.sh" "$here/bin" "$here/source" "$1" -- "${changed[@]}"
            ;;
        tests.*)
            [[ $1 != *cuda:* ]] || suite=device,cuda
            CONCORD_TEST_DEVICES=${1#tests.} CONCORD_TUNING=off concord-tests "--test-suite=$suite"
            ;;
        headline) concord study headline --devices "$gpus" "${quick[@]}" --out "$results/headline" ;;
        speed)
            local status=0
            concord study --regressions "$results/headline" --stored "$here/stored" || status=$?
            # No stored results of these cards.
            [[ $status != 3 ]] || status=77
            return "$status"
            ;;
    esac
}

# The line of a log that sums it up.
summary_of() {
    grep -E '^check: |^speed: |^passed |^FAILED|test cases:|^concord: |is not installed' "$1" | tail -n 1 | cut -c 1-110
}

# A step is a process group of its own, so that all of it ends with the run.
set -m
job=''
trap '[[ -z $job ]] || kill -- "-$job" 2>/dev/null; echo "run: interrupted; start it again to continue"; exit 130' INT TERM
failed=0
for name in "${steps[@]}"; do
    [[ ${#asked[@]} == 0 || " ${asked[*]} " == *" $name "* ]] || continue
    if [[ $(cut -d' ' -f1 "$results/$name.status" 2>/dev/null) == 0 ]]; then continue; fi
    rm -f "$results/$name.status"
    start=$SECONDS
    step "$name" >"$results/$name.log" 2>&1 </dev/null &
    job=$!
    wait "$job"
    status=$?
    job=''
    echo "$status $((SECONDS - start))" >"$results/$name.status"
    printf '%-18s status %-3s %5d s  %s\n' "$name" "$status" $((SECONDS - start)) "$(summary_of "$results/$name.log")"
done

printf '\n%-18s %-8s %8s  %s\n' step result seconds summary
for name in "${steps[@]}"; do
    status='' seconds=''
    [[ ! -e $results/$name.status ]] || read -r status seconds <"$results/$name.status"
    case $status in
        0) result=passed ;;
        77) result=skipped ;;
        '') result="not run" ;;
        *) result=FAILED ;;
    esac
    printf '%-18s %-8s %8s  %s\n' "$name" "$result" "$seconds" \
        "$([[ -e $results/$name.log ]] && summary_of "$results/$name.log")"
done | tee "$results/table.txt"
grep -q ' FAILED ' "$results/table.txt" && failed=1
exit "$failed"
