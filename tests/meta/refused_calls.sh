#!/usr/bin/env bash
# refused_calls.sh COMPILER SOURCE_DIR LAYERS_FILE: calls and compiler options that must not compile, and macros that
# must not matter. LAYERS_FILE has the include options of the layers, see layers.sh.
set -euo pipefail
compiler=$1 source_dir=$2 layers=$3
IFS=$'\t' read -r -a fields < <(grep '^distributed' "$layers")
compile=("$compiler" -std=c++20 -ffp-contract=off -Wall -Wextra -x c++ "${fields[@]:2}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
    echo "FAILED: $*" >&2
    failed=1
}

# Each call of refused_calls.cpp by its line. An error in a template names the line of the call as "required from here".
file=$source_dir/tests/meta/refused_calls.cpp
"${compile[@]}" -fsyntax-only -Wno-unused-result "$file" 2>"$work/log" && fail "all calls compile"
awk -v name=refused_calls.cpp '
    match($0, name ":[0-9]+:[0-9]+: +required from here") || match($0, name ":[0-9]+:[0-9]+: error") {
        split(substr($0, RSTART), part, ":"); line = part[2]
    }
    /error: static assertion failed/ { sub(/.*static assertion failed: /, ""); print line "\t" $0 }' "$work/log" >"$work/errors"
calls=0
while IFS=: read -r line text; do
    calls=$((calls + 1))
    wanted=${text#*refused: }
    grep -q "^$line	.*$wanted" "$work/errors" || fail "line $line compiles, or with another error: ${text%%//*}"
done < <(grep -n 'refused: [^T]' "$file" | grep -v '^[0-9]*:// ')
[[ $calls -ge 30 ]] || fail "only $calls calls were tried"
while IFS=$'\t' read -r line text; do
    sed -n "${line}p" "$file" | grep 'refused: ' >/dev/null || fail "line $line does not compile: $text"
done <"$work/errors"

# Options that change the layout of the standard library or the arithmetic.
header='#include <concord/concord.hpp>'
refused() {
    local text=$1
    shift
    if "${compile[@]}" "$@" -E -o /dev/null - <<<"$header" 2>"$work/log"; then
        fail "$* compiles"
    elif ! grep -q "error: .*concord: .*$text" "$work/log"; then
        fail "$* fails for another reason: $(head -n 1 "$work/log")"
    fi
}
refused _GLIBCXX_DEBUG -D_GLIBCXX_DEBUG
refused fast-math -ffast-math
refused fast-math -O2 -Ofast
refused fast-math -ffinite-math-only
if "$compiler" --version | sed -n 1p | grep -v clang >/dev/null; then
    refused fast-math -fassociative-math -fno-signed-zeros -fno-trapping-math
    refused fast-math -freciprocal-math
fi

# min and max as macros. libstdc++ removes them, except where its headers come first.
macros=$'#include <bits/stdc++.h>\n#define min(a, b) (((a) < (b)) ? (a) : (b))\n#define max(a, b) (((a) > (b)) ? (a) : (b))'
after=$'CONCORD_FUNCTION(float, twice, (float x), return 2 * x;)\nint top = max(1, 2);\n'
after+='float least(concord::Stream& s, const concord::Array<float>& x) { return (concord::min)(s, x).get(); }'
"${compile[@]}" -fsyntax-only - <<<"$macros"$'\n'"$header"$'\n'"$after" || fail "min and max macros do not compile"

[[ $failed == 0 ]] && echo "$calls calls and 4 options or more are refused"
exit "$failed"
