#!/usr/bin/env bash
# new_type.sh BUILD_DIR SOURCE_DIR: adds a storage type to a copy of the source tree by one row of the table of element
# types and a header with its conversions, which are in the folder new_type. Then algorithms that move elements, `check`
# and kernels support the type on all backends. Ends with 77, which ctest shows as skipped, if SOURCE_DIR is not a git
# checkout.
set -eu
export LC_ALL=C

build=$(cd -- "$1" && pwd -P)
source=$(cd -- "$2" && pwd -P)
git -C "$source" ls-files --error-unmatch CMakeLists.txt >/dev/null 2>&1 || { echo "skipped: not a git checkout"; exit 77; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
copy=$work/source new=$work/build

mkdir "$copy"
git -C "$source" ls-files -z --cached --others --exclude-standard | tar -C "$source" --null -T - -cf - | tar -C "$copy" -xf -
cp -r "$source"/tests/meta/new_type/* "$copy"
table=$copy/core/include/concord/types.hpp
sed -i -e 's|^    ROW(f64,.*[^\\]$|& \\\n    ROW(x16, detail::X16, storage, u16, f32, "", "", "", "")|' \
    -e 's|^#include <utility>|&\n\n#include <concord/detail/x16.hpp>|' "$table"
[[ $(diff "$source/core/include/concord/types.hpp" "$table" | grep -c '^>') == 4 ]] || { echo "the row does not fit the table"; exit 1; }

# Every file is compiled, so without optimisation.
options=(-DCONCORD_BASELINES=OFF -DCONCORD_TESTS=OFF -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -g0")
while read -r line; do
    [[ $line == CONCORD_BASELINES* || $line == CONCORD_TESTS* ]] || options+=("-D$line")
done < <(grep -E '^(CMAKE_CXX_COMPILER|CMAKE_CXX_FLAGS|BUILD_SHARED_LIBS|CONCORD_[A-Z_]*):' "$build/CMakeCache.txt")
cmake -S "$copy" -B "$new" "${options[@]}" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$new" --parallel "$(nproc)" --target concord-program concord_modules example-own_kernel >"$work/log" 2>&1 ||
    { tail -n 60 "$work/log"; exit 1; }

export XDG_CACHE_HOME=$work/cache XDG_CONFIG_HOME=$work/config CONCORD_TUNING=off
unset CONCORD_KERNELS
failed=0
devices=tbb
"$new/bin/concord" devices | grep -q '^opencl:0 ' && devices+=,opencl
check() {  # ARGUMENTS...: that `concord check` passes with at least one case
    local out
    out=$("$new/bin/concord" check "$@" </dev/null 2>&1) && [[ $out =~ [^0-9][1-9][0-9]*" "(passed|compiled) && $out == *" 0 failed"* ]] ||
        { failed=1; echo "FAILED  concord check $*: ${out: -600}"; }
}
check sort transpose map --types x16 --devices "$devices"
[[ $devices != *opencl* ]] || CONCORD_OPENCL_ITEMS=many check sort transpose map --types x16 --devices opencl --sizes 1025
for device in ${devices//,/ }; do
    CONCORD_DEVICE=$device "$new/bin/example-own_kernel" || failed=1
done
if [[ -f $new/lib/concord-backend-cuda.so ]] && "$new/bin/concord" check map --devices cuda@sm_90 --types u8 --sizes 1 >/dev/null 2>&1; then
    devices+=,cuda@sm_90
    check sort transpose map --types x16 --devices cuda@sm_90
    CONCORD_DEVICE=cuda@sm_90 "$new/bin/example-own_kernel" || failed=1
fi

((failed == 0)) && echo "passed: one new element type on $devices"
exit "$failed"
