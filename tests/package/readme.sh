#!/usr/bin/env bash
# readme.sh [--update] README: compares the README and pages with the tree. The README has at most 220 lines, and its
# example is apps/examples/first.cpp. docs/environment.md names every environment variable that Concord reads, and all
# are read by environment_variable(), which ignores them in privileged programs. CONTRIBUTING.md and .ci/run name the
# limits of continuous integration. --update writes the example into the README.
set -euo pipefail

update=
if [[ ${1:-} == --update ]]; then
    update=yes
    shift
fi
readme=$1
source=$(cd -- "$(dirname -- "$readme")" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

between() { sed -n "/^<!-- $1:begin -->\$/,/^<!-- $1:end -->\$/p" "$readme" | sed '1d;$d'; }

put_between() {  # MARKER; text on stdin
    cat >"$work/text"
    sed -e "/^<!-- $1:begin -->\$/r $work/text" \
        -e "/^<!-- $1:begin -->\$/,/^<!-- $1:end -->\$/{/^<!-- $1:/!d}" "$readme" >"$work/readme"
    cat "$work/readme" >"$readme"
}

compare() {  # MARKER FILE
    [[ $update ]] && put_between "$1" <"$2"
    if [[ -s $2 ]] && diff -u --label "README, $1" <(between "$1") --label "the tree, $1" "$2"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: '$1' in the README is not current; tests/package/readme.sh --update $readme"
    fi
}

# The example without its first comment, which tells how to build it.
{
    echo '```cpp'
    sed '/^[^/]/,$!d' "$source/apps/examples/first.cpp"
    echo '```'
} >"$work/example"
compare example "$work/example"

if reads=$(grep -rnwE '(secure_)?getenv|environ' "$source"/{core,backends,algorithms,pipeline,distributed,lab,apps} |
    grep -vE '^[^:]*/core/system/environment\.cpp:|posix_spawn'); then
    failed=$((failed + 1))
    echo "FAILED: read environment variables by detail::environment_variable():"
    echo "$reads"
else
    passed=$((passed + 1))
fi

missing=
for variable in $(grep -rhoE 'environment_variable\("[A-Z_]+"\)' "$source"/{core,backends,algorithms,pipeline,distributed,lab,apps} |
    grep -oE '(CONCORD|XDG)_[A-Z_]+|NO_COLOR|TERM' | sort -u); do
    grep -qF "| \`$variable" "$source/docs/environment.md" || missing="$missing $variable"
    grep -qF "{\"$variable\"," "$source/apps/cli/environment_variables.hpp" || missing="$missing $variable"
done
if [[ -z $missing ]]; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "FAILED: docs/environment.md or apps/cli/environment_variables.hpp does not name$missing"
fi

limits=$("$source/.ci/budget.sh")
for file in CONTRIBUTING.md .ci/run; do
    if [[ $(tr -s '# \n' ' ' <"$source/$file") == *"$limits"* ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $file does not say what .ci/budget.sh says: $limits"
    fi
done

lines=$(wc -l <"$readme")
if [[ $lines -le 150 ]]; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo "FAILED: the README has $lines lines, at most 150 are allowed"
fi

echo "$passed passed, $failed failed"
[[ $failed == 0 ]]
