#!/usr/bin/env bash
# skips.sh PROGRAM: runs the cases of skips_test.cpp one at a time and checks the status and the message of each. Most
# skip silently or wrongly.
set -u
program=$1
export CONCORD_TEST_DEVICES=tbb
failed=0
expect() {  # STATUS TEXT ARGUMENTS...
    local wanted=$1 text=$2 output status=0
    shift 2
    output=$("$program" "$@" 2>&1) || status=$?
    if [[ $status == "$wanted" && $output == *"$text"* ]]; then
        echo "ok      $*: $text"
    else
        failed=1
        echo "FAILED  $*: status $status, expected $wanted and '$text'"
        sed 's/^/        /' <<<"$output"
    fi
}
case_of() {  # STATUS NAME TEXT
    expect "$1" "$3" "--test-case=$2"
}

case_of 0 asserts_and_does_not_skip "1 passed, 0 failed, 0 skipped, 0 skipped in part"
case_of 0 each_variant_runs_some "1 passed"
case_of 77 skips_with_an_entry "0 passed, 0 failed, 1 skipped, 0 skipped in part"
case_of 77 skips_with_an_entry "skipped on tbb:0, requires many work-items per group: skips_with_an_entry"
case_of 0 skips_in_part "0 passed, 0 failed, 0 skipped, 1 skipped in part"
case_of 0 "asserts_*,skips_with_an_entry" "1 passed, 0 failed, 1 skipped, 0 skipped in part"

case_of 1 returns_without_a_reason "FAILED returns_without_a_reason on tbb:0: asserts nothing"
case_of 1 "returns without a reason and without a device" "without a device: asserts nothing"
case_of 1 each_variant_of_none "no variant of nothing runs on tbb:0"
case_of 1 each_variant_returns "no variant of map runs on tbb:0"
case_of 1 each_variant_is_unsupported "no variant of map runs on tbb:0"
case_of 1 each_variant_is_unsupported_in_the_middle "is_first"
case_of 1 skips_without_an_entry "on tbb:0: skipped without an entry in the table of skips; requires many work-items"
case_of 1 skips_on_another_kind_of_device "on tbb:0: skipped without an entry in the table of skips; requires a second"
case_of 1 does_not_skip_but_has_an_entry "on tbb:0: not skipped, but the table of skips has an entry; requires f64"
case_of 1 no_such_case "no case matches the filters"
CONCORD_TEST_STALE_ENTRY=1 case_of 1 asserts_and_does_not_skip "FAILED a case that was removed: not a case"
exit "$failed"
