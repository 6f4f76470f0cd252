# Sourced by the tests in this folder: counts what passes and fails. Needs the folder $work.
# shellcheck shell=bash
passed=0
failed=0

check() {  # WHAT IT SHOWS, COMMAND...
    local text=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
        echo "ok      $text"
    else
        failed=$((failed + 1))
        echo "FAILED  $text: $*"
        tail -n 30 "$work/log" | cut -c 1-300 | sed 's/^/        /'
    fi
}

finish() {
    echo "$passed passed, $failed failed"
    [[ $failed == 0 && $passed -gt 0 ]]
    exit
}

fails() { ! "$@"; }

# Lists texts that name the build or the source folder. A folder /concord is not part of /usr/lib/concord.
names_folders() {  # FOLDERS OF TEXTS...
    grep -rlIP -e "((?<![\\w.}/-])|(?<=-[IL]))(\\Q$build\\E|\\Q$source\\E)(/|\\b)" "$@"
}
