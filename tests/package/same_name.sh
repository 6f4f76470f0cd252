#!/bin/bash
# same_name.sh DEVICES BUILD_DIR SOURCE_DIR OPTIONS [--long]: two files of one program, and two plug-ins, have functions
# and kernels of the same names, at the same lines of files of the same name, with other bodies. Each must run its own,
# also if plug-ins are loaded and unloaded in turn under one path.
# DEVICES: selectors with commas. OPTIONS: those that users of the library compile with. --long: all levels of
# optimisation, and link-time optimisation.
set -euo pipefail
devices=${1//,/ } libraries=$2/lib what=${5:-}
read -ra options <<<"$4"
for folder in "$2" "$3"; do
    for include in "$folder"/{core,pipeline,distributed,algorithms/*}/include; do
        [[ -d $include ]] && options+=("-I$include")
    done
done
source=$3/tests/package/same_name
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work"
# Away from the version.hpp of the source, so that each part includes its own.
mkdir shared
cp "$source/shared.hpp" shared
options+=(-fPIC "-I$work/shared" -Wall -Wextra -Wpedantic -Werror)
link=("-L$libraries" -lconcord "-Wl,-rpath,$libraries" -ldl)
failed=0

# What a plug-in that can be unloaded exports. With others, the loader may bind those of other libraries to it.
echo '{ global: part_*; local: *; };' >exports

# The files of a part: what compilers see differs in one number.
write_part() {
    mkdir -p "$1"
    local file
    for file in part.cpp version.hpp; do sed "s/PLUS/$2/g; s/PART/part_$1/g" "$source/$file" >"$1/$file"; done
}
write_part one 1
write_part two 100

expect() {
    "$@" || { echo "  in: $label"; failed=1; }
}
build_and_run() {
    label=$*
    rm -f -- */part.o ./*.so program plugins
    local part
    # Both under the same relative name, so that __FILE__ is the same.
    for part in one two; do
        (cd $part && "$@" "${options[@]}" -I. -c part.cpp -o part.o) || { echo "FAILED to compile: $label"; failed=1; return; }
        "$@" -shared $part/part.o -o $part.so "${link[@]}"
        "$@" -shared $part/part.o -o $part-alone.so -Wl,--version-script=exports "${link[@]}"
    done
    "$@" "${options[@]}" -DLINKED "$source/program.cpp" one/part.o two/part.o -o program "${link[@]}"
    "$@" "${options[@]}" "$source/program.cpp" -o plugins -Wl,--no-as-needed "${link[@]}"
    local device flag
    for device in $devices; do
        expect ./program "$device"
        for flag in local global; do expect ./plugins "$device" $flag ./one.so ./two.so; done
        expect ./plugins "$device" again ./one-alone.so ./two-alone.so
    done
}

compilers=(g++)
command -v clang++ >/dev/null && compilers+=(clang++)
for compiler in "${compilers[@]}"; do
    if [[ $what != --long ]]; then
        build_and_run "$compiler" -O1
        continue
    fi
    lto=(-flto)
    [[ $compiler == clang++ ]] && lto+=(-fuse-ld=lld -Wno-unused-command-line-argument)
    for level in -O0 -O1 -O2 -O3; do
        build_and_run "$compiler" $level
        [[ $compiler == clang++ ]] && ! command -v ld.lld >/dev/null && continue
        build_and_run "$compiler" $level "${lto[@]}"
    done
done
((failed == 0)) && echo "each part runs its own functions: ${compilers[*]}"
exit $failed
