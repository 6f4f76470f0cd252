#!/usr/bin/env bash
# new_algorithm.sh BUILD_DIR SOURCE_DIR: follows docs/extending/algorithm.md. Adds the files of the folder new_algorithm
# and one word of CMake to a copy of the source tree. The program and the tests must then know the algorithm. Objects
# that BUILD_DIR has compiled are reused. Ends with 77, which ctest shows as skipped, if SOURCE_DIR is not a git
# checkout.
set -eu
export LC_ALL=C

build=$(cd -- "$1" && pwd -P)
source=$(cd -- "$2" && pwd -P)
git -C "$source" ls-files --error-unmatch CMakeLists.txt >/dev/null 2>&1 || { echo "skipped: not a git checkout"; exit 77; }
command -v make >/dev/null || { echo "skipped: make is not installed"; exit 77; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
copy=$work/source new=$work/build

# The copy, the new files, the one word.
mkdir "$copy"
git -C "$source" ls-files -z --cached --others --exclude-standard | tar -C "$source" --null -T - -cf - | tar -C "$copy" -xf -
cp -r "$source"/tests/meta/new_algorithm/* "$copy"
sed -i 's/^set(CONCORD_ALGORITHMS map .*[^)]/& twice/' "$copy/algorithms/CMakeLists.txt"

# Configured like the build. Make compares times only: an object that is newer than its source is up to date.
# Precompiled headers would be newer than the objects.
options=(-DCONCORD_BASELINES=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON)
grep -q '^CMAKE_DISABLE_PRECOMPILE_HEADERS:[A-Z]*=ON' "$build/CMakeCache.txt" || options+=(-DCONCORD_BATCHES=ON)
while read -r line; do
    [[ $line == CONCORD_BASELINES* ]] || options+=("-D$line")
done < <(grep -E '^(CMAKE_BUILD_TYPE|CMAKE_CXX_COMPILER|CMAKE_CXX_FLAGS|BUILD_SHARED_LIBS|CONCORD_[A-Z_]*):' "$build/CMakeCache.txt")
cmake -G "Unix Makefiles" -S "$copy" -B "$new" "${options[@]}" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
copy_of() {  # PATTERN: files of the build that the new one does not have
    (cd "$build" && find . -name "$1" -print0 | tar --null -T - -cf -) | tar -C "$new" -xf - --skip-old-files --touch
}
copy_of '*_sources.cpp'
copy_of '*.o'
# Except objects of generated lists and of batches of sources, which have one more entry.
find "$new" -name 'unity_*.cxx' | while read -r batch; do
    sed "s|$copy/|$source/|; s|$new/|$build/|" "$batch" | cmp -s - "$build/${batch#"$new"/}" || rm -f "$batch.o"
done
find "$new" -maxdepth 2 -name '*.cpp' | while read -r list; do
    cmp -s "$list" "$build/${list#"$new"/}" && continue
    find "$new" -name "${list##*/}.o" -delete
    # A batch that includes the list.
    grep -rlF --include='unity_*.cxx' "$list" "$new" | sed 's/$/.o/' | xargs -r rm -f
done
cmake --build "$new" --parallel "$(nproc)" --target concord-program concord_modules concord-tests fuzz-api >"$work/log" 2>&1 ||
    { tail -n 60 "$work/log"; exit 1; }
compiled=$(grep -c 'Building CXX' "$work/log")

# The program and the tests know it.
concord=$new/bin/concord
export XDG_CACHE_HOME=$work/cache XDG_CONFIG_HOME=$work/config CONCORD_TUNING=off
unset CONCORD_DEVICE CONCORD_KERNELS
cd "$work"
failed=0
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
npy '\0\0\x80\x3f' >x.npy
npy '\0\0\0\x40' >expected.npy
devices=tbb
"$concord" devices | grep -q '^opencl:0 ' && devices+=,opencl
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

((failed == 0)) && echo "passed: one new algorithm on $devices, $compiled files compiled"
exit "$failed"
