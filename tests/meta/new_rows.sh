#!/usr/bin/env bash
# new_rows.sh BUILD_DIR SOURCE_DIR: adds to a copy of the source tree
# - a storage type, by one row of the table of element types and a header with its conversions, which are in the
#   folder new_rows. Then algorithms that move elements, `check` and kernels support the type on all backends.
# - a language, a second dialect of OpenCL C, by an enumerator and one row of the table of languages. Then a backend
#   that takes its kernels in that language runs algorithms and kernels of the user.
# shellcheck source=copy_tree.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/copy_tree.sh" "$@"

copy_tree new_rows
table=$copy/core/include/concord/types.hpp
sed -i -e 's|^    ROW(f64,.*[^\\]$|& \\\n    ROW(x16, detail::X16, storage, u16, f32, "", "", "", "")|' \
    -e 's|^#include <utility>|&\n\n#include <concord/detail/x16.hpp>|' "$table"
[[ $(diff "$source/core/include/concord/types.hpp" "$table" | grep -c '^>') == 4 ]] || { echo "the row does not fit the table"; exit 1; }

sed -i 's|^    opencl,  ///.*|&\n    made_up,  ///< a second dialect of OpenCL C|' "$copy/core/include/concord/traits.hpp"
languages=$copy/core/internal/concord/internal/language.hpp
row=$(sed -n '/^    {.dialect = Dialect::opencl,/,/\.inexact_flags/p' "$languages" |
    sed 's/Dialect::opencl/Dialect::made_up/; s/"OpenCL C"/"Made-up C"/; s/"OpenCL"/"Made-up"/; s/"opencl"/"made_up"/')
sed -i '/^inline constexpr Language languages/r /dev/stdin' "$languages" <<<"$row"
[[ $(diff "$source/core/internal/concord/internal/language.hpp" "$languages" | grep -c '^>') == $(wc -l <<<"$row") ]] ||
    { echo "the row does not fit the table of languages"; exit 1; }
sed -i 's/traits.dialect = Dialect::opencl/traits.dialect = Dialect::made_up/' "$copy/tests/backend/minimal/minimal.cpp"

# Every file is compiled, so without optimisation.
configure -DCONCORD_BASELINES=OFF -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -g0"
targets=(concord-program concord_modules example-own_kernel)
[[ ! -d $build/tests/backend/minimal ]] || targets+=(concord-backend-minimal)
compile "${targets[@]}"

use_program
check() {  # ARGUMENTS...: that `concord check` passes with at least one case
    local out
    out=$("$concord" check "$@" </dev/null 2>&1) && [[ $out =~ [^0-9][1-9][0-9]*" "(passed|compiled) && $out == *" 0 failed"* ]] ||
        { failed=1; echo "FAILED  concord check $*: ${out: -600}"; }
}
if [[ -f $new/lib/concord-backend-opencl.so && $devices != *opencl* ]]; then
    failed=1
    echo "FAILED  the build has the backend opencl, and no OpenCL device is available"
fi
check sort transpose map --types x16 --devices "$devices"
[[ $devices != *opencl* ]] || CONCORD_OPENCL_ITEMS=many check sort transpose map --types x16 --devices opencl --sizes 1025
for device in ${devices//,/ }; do
    CONCORD_DEVICE=$device "$new/bin/example-own_kernel" || failed=1
done
if [[ -f $new/lib/concord-backend-cuda.so ]]; then
    devices+=,cuda@sm_90
    check sort transpose map --types x16 --devices cuda@sm_90
    CONCORD_DEVICE=cuda@sm_90 "$new/bin/example-own_kernel" || failed=1
fi


not_checked=
if [[ $devices == *opencl* && -d $new/tests/backend/minimal ]]; then
    export CONCORD_BACKEND_PATH=$new/tests/backend/minimal
    "$concord" devices --verbose | grep -q 'dialect *Made-up C' || { failed=1; echo "FAILED  the device has another language"; }
    table=$("$concord" algorithms --json)
    count=$(grep -c '"made_up": true' <<<"$table") || true
    [[ $count != 0 && $count == "$(grep -c '"opencl": true' <<<"$table")" ]] || { failed=1; echo "FAILED  the language has $count variants"; }
    check map reduce scan sort transpose --types f32 --devices minimal --sizes 1025
    CONCORD_DEVICE=minimal "$new/bin/example-own_kernel" || failed=1
    devices+=", one new language"
elif [[ $devices == *opencl* ]]; then
    failed=1
    echo "FAILED  the build has no tests/backend/minimal, whose devices take the new language"
else
    not_checked="; NOT CHECKED: a new language, which needs OpenCL"
fi

((failed == 0)) && echo "passed: one new element type on $devices$not_checked"
exit "$failed"
