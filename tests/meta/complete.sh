#!/usr/bin/env bash
# complete.sh SOURCE_DIR NAME...: checks that each algorithm NAME has what tests keep in files of several algorithms. An
# algorithm that cannot have something says so, with the reason, in a line of its test: "// No baseline: REASON."
set -euo pipefail
source=$1
shift

# what | its place | a pattern of its place that shows it
table='
mutants|tests/meta/mutants/*.sh|(^|["= ])NAME --
fixed bits|tests/unit/canonical_bits_test.cpp|[^a-z_]NAME_hash
scratch limit|tests/unit/scratch_test.cpp|[^a-z_]NAME_algorithm
baseline|lab/baselines/*.c*|"NAME"
'
failed=0
fail() {
    echo "FAILED: $*"
    failed=1
}
for name in "$@"; do
    test=tests/unit/${name}_test.cpp
    while IFS='|' read -r what place pattern; do
        [[ $what ]] || continue
        exempt=$(grep -cE "^// No $what: ..+" "$source/$test" || true)
        # shellcheck disable=SC2086  # the place is a pattern of file names
        if (cd "$source" && cat $place) | grep -E "${pattern//NAME/$name}" >/dev/null; then
            [[ $exempt == 0 ]] || fail "$test says that $name has no $what, but $place has"
        elif [[ $exempt == 0 ]]; then
            fail "$name has no $what: add it to $place, or a line '// No $what: REASON.' to $test"
        fi
    done <<<"$table"
done
[[ $failed == 0 ]] && echo "$# algorithms are complete"
exit "$failed"
