#!/usr/bin/env bash
# new_algorithm.sh BUILD_DIR SOURCE_DIR [--long]: follows docs/extending/algorithm.md. Adds the files of the folder
# new_algorithm and one word of CMake to a copy of the source tree. The build must then contain the algorithm, its files
# must compile, and the test `complete` must name what it lacks. --long: builds the program and the tests, which must
# know the algorithm. Objects that BUILD_DIR has compiled are reused.
# shellcheck source=copy_tree.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/copy_tree.sh" "$@"
long=${3:-}
[[ ! $long ]] || command -v make >/dev/null || { echo "skipped: make is not installed (apt-get install make)"; exit 77; }

# The copy, the new files, the one word.
copy_tree new_algorithm
sed -i 's/^set(CONCORD_ALGORITHMS map .*[^)]/& twice/' "$copy/algorithms/CMakeLists.txt"

failed=0
compiled=0
where=
cd "$work"
ends() {  # WORDS ARGUMENTS...: that `concord` succeeds and prints them
    local words=$1 status=0
    shift
    "$concord" "$@" >out 2>&1 </dev/null || status=$?
    [[ $status == 0 && $(cat out) == *"$words"* ]] ||
        { failed=1; echo "FAILED  concord $*: expected '$words', got status $status: $(tail -c 600 out)"; }
}
npy() {  # BYTES: four floats
    local dict="{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"
    printf '\x93NUMPY\x01\x00\x76\x00%s%*s\n' "$dict" $((117 - ${#dict})) ''
    printf "$1$1$1$1"
}
in_use() {  # the program and the tests know it
    npy '\0\0\x80\x3f' >x.npy
    npy '\0\0\0\x40' >expected.npy
    ends "a group processes a tile" algorithms twice
    ends "Double every element" run --help
    for device in ${devices//,/ }; do
        ends "twice/tiled" run twice --in x.npy --out y.npy --device "$device"
        cmp y.npy expected.npy || failed=1
        ends "twice f32" bench twice --sizes 2^16 --devices "$device"
        ends "table: table.txt" tune twice --quick --budget 5 --sizes 2^12 --device "$device" --out table.txt
    done
    ends " 0 failed" check twice --devices "$devices" --types f32,f64
    ends "twice" check twice --devices "$devices" --types f32 --sizes 1025
    CONCORD_TEST_DEVICES=$devices "$new/bin/concord-tests" --source-file='*twice_test*' || failed=1

    "$new/bin/fuzz-api" "$copy/tests/fuzz/corpus/api" -runs=2000 >out 2>&1 || { failed=1; tail -n 5 out; }
}

if [[ $long ]]; then
    configure_with_objects
    compile concord-program concord_modules concord-tests fuzz-api
    compiled=$(grep -c 'Building CXX' "$work/log")
    use_program
    where=" on $devices"
    in_use
else
    configure -DCONCORD_BASELINES=OFF -DCONCORD_BATCHES=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
        -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
    for list in algorithms/registry.cpp suite_entries.cpp run_commands.cpp tests/fuzz/fuzz_calls.hpp; do
        grep -q twice "$new/$list" || { failed=1; echo "FAILED  twice is not in the generated list $list"; }
    done
    # Each of its C++ files by the build's own command, without code.
    while IFS= read -r file; do
        command=$(grep -F -- "/$file\\\"\"" "$new/compile_commands.json" | sed -n '1s/^ *"command": "\(.*\)",$/\1/p' | sed 's/\\\(.\)/\1/g')
        if [[ ! $command ]]; then
            failed=1
            echo "FAILED  the build does not compile $file"
        elif eval "$command -fsyntax-only" >out 2>&1; then
            compiled=$((compiled + 1))
        else
            failed=1
            echo "FAILED  $file does not compile: $(grep -m 3 error out)"
        fi
    done < <(cd "$source/tests/meta/new_algorithm" && find . -name '*.cpp' -printf '%P\n' | sort)
fi

# Something that it lacks is named.
complete() { "$copy/tests/meta/complete.sh" "$copy" twice; }
lacks() {  # WORDS FILE EDIT
    cp "$copy/$2" kept
    sed -i "$3" "$copy/$2"
    if complete >out || ! grep -q "twice has no $1" out; then
        failed=1
        echo "FAILED  '$2' without its $1 counts as complete"
    fi
    cp kept "$copy/$2"
}
complete || failed=1
lacks mutants tests/meta/mutants/twice.sh /^mutant/d
lacks "fixed bits" tests/unit/twice_test.cpp '/No fixed bits/d'
lacks "scratch limit" tests/unit/twice_test.cpp '/No scratch limit/d'
lacks baseline tests/unit/twice_test.cpp '/No baseline/d'
rm "$copy/tests/fuzz/api/twice.cpp"
if cmake "$new" >out 2>&1 || ! grep -q "missing tests/fuzz/api/twice.cpp" out; then
    failed=1
    echo "FAILED  twice without calls for the fuzzer counts as complete"
fi

((failed == 0)) && echo "passed: one new algorithm$where, $compiled files compiled"
exit "$failed"
