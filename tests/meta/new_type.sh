#!/usr/bin/env bash
# new_type.sh BUILD_DIR SOURCE_DIR: adds a storage type to a copy of the source tree by one row of the table of element
# types and a header with its conversions, which are in the folder new_type. Then algorithms that move elements, `check`
# and kernels support the type on all backends.
# shellcheck source=copy_tree.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/copy_tree.sh" "$@"

copy_tree new_type
table=$copy/core/include/concord/types.hpp
sed -i -e 's|^    ROW(f64,.*[^\\]$|& \\\n    ROW(x16, detail::X16, storage, u16, f32, "", "", "", "")|' \
    -e 's|^#include <utility>|&\n\n#include <concord/detail/x16.hpp>|' "$table"
[[ $(diff "$source/core/include/concord/types.hpp" "$table" | grep -c '^>') == 4 ]] || { echo "the row does not fit the table"; exit 1; }

# Every file is compiled, so without optimisation.
configure -DCONCORD_BASELINES=OFF -DCONCORD_TESTS=OFF -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -g0"
compile concord-program concord_modules example-own_kernel

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

((failed == 0)) && echo "passed: one new element type on $devices"
exit "$failed"
