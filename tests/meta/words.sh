#!/usr/bin/env bash
# words.sh: finds phrases that this repository's style excludes, comment lines over 120 columns, and second lists.
# `./setup lint` runs it. Prints FILE:LINE:TEXT for each, of all text files in git and of new ones that git does not ignore.
set -uo pipefail
export LC_ALL=C.UTF-8
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
git grep --untracked -qP -e words -- tests/meta/words.sh ||
    { echo "words: NOT CHECKED: not a git checkout, or git without Perl expressions"; exit 1; }
command -v perl >/dev/null || { echo "words: NOT CHECKED: perl is not installed"; exit 1; }

files=(':!LICENSE' ':!tests/meta/words.sh' ':!docs/results/*' ':!*.svg' ':!*.npy')
findings=0

report() {  # WHAT FINDINGS
    [[ -n $2 ]] || return 0
    printf '%s:\n%s\n' "$1" "$2"
    findings=$((findings + $(wc -l <<<"$2")))
}
find_lines() {  # EXPRESSION
    git grep --untracked -nIiP -e "$1" -- "${files[@]}"
}

# Perl expression => what to write instead
while IFS= read -r line; do
    report "'${line%% => *}': write ${line#* => }" "$(find_lines "${line%% => *}")"
done <<'PHRASES'
(?<!there )\b(is|are) no (?!longer\b|more\b|less\b)\w => "not a", or what it is
\bbut for\b => "except", or "apart from"
\bof which\b => two sentences
\bthat which\b => "what", or the noun
\bit takes no\b => "does not support"
\bwould do\b => "available", or "suffices"
\bbeside\b => "next to", "compared with" or "in addition to"
\bas it is\b => "unchanged"
\bneither\b.*\bnor there\b => "no such file"
\bcan(not)? be had\b => "available", "not available"
\bdoes without\b => "does not need"
\bis held to\b => "must lie within", "is compared with"
\bordinary memory\b => "pageable memory"
\boracles?\b => "reference"
\brigs?\b => "test harness"
\bequal bits\b => "bitwise identical"
\bhas the bits of\b => "is bitwise identical to"
\bgroups? of \w+ lanes\b|\blanes (of|in|per) (a|the|each) (work-)?group\b|\blanes an? (group|element)\b => "work-items"; a lane is a position in a warp or vector
PHRASES

# Comments that begin a line: //, *, /* and #.
report "comment lines over 120 columns" "$(
    git grep --untracked -nIP '^\s*(//|/?\*|#(?!include|define|if|elif|else|endif|pragma|error)).{100}' -- \
        '*.cpp' '*.hpp' '*.kernel' '*.cu' '*.cl' '*.sh' '*.py' '*.cmake' '*CMakeLists.txt' setup .ci/run "${files[@]}" |
        perl -CSD -ne 'my ($at, $text) = /^([^:]+:\d+:)(.*)$/; print "$at " . length($text) . " columns\n" if length($text) > 120'
)"

# With pipefail a pipeline fails, now and then, if its reader ends before the writer has written all.
report "a reader that ends early, in a script with pipefail: use 'sed -n 1p', 'grep ... >/dev/null'" "$(
    git grep --untracked -lI pipefail -- '*.sh' setup .ci/run "${files[@]}" |
        xargs git grep --untracked -nIP '\|\s*(head\b|grep (-\w+ )*-\w*q|awk\b.*\bexit\b|sed\b.*\bq\b)' -- cmake/setup
)"

# Numbers whose text depends on the locale of the program that loads the library. lab/math has programs of its own.
report "depends on the locale: use <concord/internal/number_text.hpp> or <charconv>" "$(
    git grep --untracked -nIP '\b(strto(d|f|ld)|sto(d|f|ld)|atof|setlocale)\s*\(|printf\s*\(.*%[-+ #0-9.*]*[aefgAEFG]|\bstd::(fixed|scientific|defaultfloat|setprecision)\b' -- \
        '*.cpp' '*.hpp' ':!lab/math' ':!lab/baselines' ':!tests'
)"

# One table each: core/internal/concord/internal/language.hpp, and the collectives in algorithms/common and group.h.
report "a second list of languages: use the table in <concord/internal/language.hpp>" "$(
    git grep --untracked -lI --all-match -e 'Dialect::cuda' --or -e 'Dialect::opencl' -- '*.cpp' '*.hpp' ':!tests' \
        ':!core/include/concord/kernel.hpp' ':!core/include/concord/traits.hpp' ':!core/kernel/kernel.cpp' \
        ':!core/internal/concord/internal/language.hpp'
)"
report "asks for a language: add a member to the table in <concord/internal/language.hpp>" "$(
    git grep --untracked -nIP '([=!]=|\bcase) *(concord::)?Dialect::|Dialect::\w+ *[=!]=' -- \
        '*.cpp' '*.hpp' ':!tests' ':!backends' ':!apps/ports'
)"
# sub_group_reduce() and its like are also words of CONCORD_GROUP_KERNEL, in C++ files.
collectives='__(shfl|ballot|match|reduce|any|all)_(\w+_)?sync|__syncthreads_(or|and|count)|work_group_(all|any|broadcast|reduce|scan)'
collectives+='|\b(shfl|vote|match|redux)\.sync'
report "a second list of collectives: use those of algorithms/common" "$(
    git grep --untracked -nIP "$collectives" -- '*.cu' '*.cl' '*.kernel' '*.h' '*.cpp' '*.hpp' \
        ':!algorithms/common' ':!apps/ports/*/original*.cu' ':!core/include/concord/detail/math/group.h' ':!backends/opencl/opencl_traits.hpp'
    git grep --untracked -nIP 'sub_group_(all|any|ballot|broadcast|non_uniform|reduce|scan|shuffle)' -- \
        '*.cu' '*.cl' '*.kernel' '*.h' ':!algorithms/common' ':!apps/ports/*/original*.cu' ':!core/include/concord/detail/math/group.h'
)"

# In OpenCL C an argument's offset counts elements of the host's view, which has no structs here.
report "a buffer of structs: give it an element type, such as u64, and convert the pointer" "$(
    git grep --untracked -nIP '\b(IN|OUT|OUT_RESTRICT)\([A-Z]\w*[a-z]\w*,' -- 'algorithms/*.kernel' 'algorithms/*.cl' 'algorithms/*.cu'
)"

# Kernels that compute their input read it by the words of input.kernel.
# scan_fallback.cl reads ranges only.
readers=$(git grep --untracked -lP '^#include "(input|reduce_chunk|compact_input|scan_tile(\.c[ul])?|tile\.cl)"' -- \
    '*.cu' '*.cl' '*.kernel' ':!algorithms/common/input.kernel' ':!algorithms/scan/scan_fallback.cl')
report "a pointer to the input in a kernel that takes expressions: use INPUT(in) and load_item" "$(
    # shellcheck disable=SC2086
    git grep --untracked -nIP '\bIN(_RESTRICT)?\(\w+, in\)|const \w+ ?\* ?(__restrict__ |restrict )?in\b' -- ${readers:-none}
)"

# Files that are gone.
report "a comment names a kernel source that does not exist" "$(
    git grep --untracked -nIP '//.*\w\.(cu|cl|kernel)\b' -- algorithms distributed lab |
        known=$(git ls-files --cached --others --exclude-standard -- '*.cu' '*.cl' '*.kernel') perl -ne '
            BEGIN { %known = map { s|.*/||r => 1 } split /\n/, $ENV{known} }
            my ($at, $comment) = m|^([^:]+:\d+:).*?//(.*)|;
            for ($comment =~ m/(?<![\w.*])(\w+\.(?:cu|cl|kernel))\b(?!\()/g) { print "$at $_\n" if !$known{$_} }'
)"

if [[ $findings != 0 ]]; then
    echo "words: $findings findings"
    exit 1
fi
echo "words: no excluded phrase, no comment line over 120 columns, no second list, no name of a missing kernel source"
