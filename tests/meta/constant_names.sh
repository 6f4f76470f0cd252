#!/usr/bin/env bash
# constant_names.sh SOURCE: no constant of a kernel has the name of a macro of the prelude, which would replace it.
# Every string of the algorithms' host code counts as the name of a constant.
set -euo pipefail
cd -- "$1"
words=$(sed -nE 's/^#define ([A-Za-z_0-9]+).*/\1/p' algorithms/common/prelude.cu algorithms/common/prelude.cl | sort -u)
[[ $words == *LOCAL* ]] || { echo "FAILED: no macros in algorithms/common/prelude.*"; exit 1; }
# shellcheck disable=SC2086  # one word per line
if grep -rnFf <(printf '"%s"\n' $words) --include='*.cpp' --include='*.hpp' algorithms; then
    echo "FAILED: a constant has the name of a macro of algorithms/common/prelude.*; give it another name"
    exit 1
fi
