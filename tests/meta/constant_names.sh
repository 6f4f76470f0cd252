#!/usr/bin/env bash
# constant_names.sh SOURCE: names that would replace one another in the source of a kernel.
# - No constant of a kernel has the name of a macro, a function or a template parameter of the prelude.
# - No macro of index and group kernels has the name of one of the vocabulary, which it would bring into every kernel.
set -euo pipefail
cd -- "$1"
failed=0
words=$(sed -nE -e 's/^#define (\w+).*/\1/p' -e 's/^INLINED [^(]*\b(\w+)\(.*/\1/p' -e 's/^template <class (\w+)>.*/\1/p' \
    algorithms/common/prelude.cu algorithms/common/prelude.cl | sort -u)
[[ $words == *LOCAL* && $words == *local_id* ]] || { echo "FAILED: no words in algorithms/common/prelude.*"; exit 1; }
# The words of group_body.hpp are those of bodies.
if grep -rnE "[{(]\"(${words//$'\n'/|})[\"(]" --include='*.cpp' --include='*.hpp' --exclude=group_body.hpp algorithms distributed lab; then
    echo "FAILED: a constant has the name of a word of algorithms/common/prelude.*; give it another name"
    failed=1
fi

macros() { sed -nE 's/.*#define (CONCORD_\w+).*/\1/p' "$@" | sort -u; }
kernels=(algorithms/common/{body_kernel,index_kernel,group_source}.cpp algorithms/common/group_collectives.kernel
         core/internal/concord/internal/language.hpp)
[[ -n $(macros "${kernels[@]}") && -n $(macros core/include/concord/detail/math/*.h) ]] || { echo "FAILED: no macros"; exit 1; }
shared=$(comm -12 <(grep -ohE '\bCONCORD_\w+' "${kernels[@]}" | sort -u) <(macros core/include/concord/detail/math/*.h))
if [[ -n $shared ]]; then
    echo "FAILED: words of ${kernels[*]} and of core/include/concord/detail/math: ${shared//$'\n'/ }"
    failed=1
fi
exit "$failed"
