# shellcheck shell=bash
# Part of ./setup: format, wording, clang-tidy, and the compile commands that clangd reads.

# Fails if a file does not have the format that .clang-format defines.
check_format() {
    local -a files
    # Includes files that are not in git yet, except ignored ones.
    mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.hpp' '*.cpp')
    [[ ${#files[@]} -gt 0 ]] || die "lint needs the git checkout"
    if ! command -v clang-format-14 >/dev/null; then
        say "clang-format: NOT CHECKED, clang-format-14 is not installed"
        [[ -z ${CI:-} ]] || return 1
    elif clang-format-14 --dry-run --Werror "${files[@]}"; then
        say "clang-format: ${#files[@]} files are well-formatted"
    else
        return 1
    fi
}

# A build folder with a compile command for each file: without batches of files, and without precompiled headers, which
# clang cannot read if g++ wrote them.
configure_editor() {
    configure release "$build_dir/editor" -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
}

# Prints the absolute paths of the .cpp files that differ from BASE in the working tree, except files that were only
# renamed.
changed_files() {  # BASE
    {
        git diff --name-only --find-renames=90% --diff-filter=AM "$(git merge-base "$1" HEAD || git rev-parse "$1")" -- '*.cpp'
        git ls-files --others --exclude-standard -- '*.cpp'
    } | sed "s|^|$source_dir/|" | sort
}

# Checks one file unless the time is over. Leaves a file in the log folder for findings and for a file that it did not
# reach.
tidy() {  # FILE
    local left=0 log
    log=$tidy_log/$(printf '%s' "$1" | cksum | tr ' ' _)
    if [[ $tidy_deadline != 0 ]]; then
        left=$((tidy_deadline - EPOCHSECONDS))
        if [[ $left -le 0 ]]; then
            echo "$1" >"$log.late"
            return 0
        fi
    fi
    # 0: no limit.
    timeout "$left" clang-tidy-14 --quiet -p "$tidy_folder" --extra-arg=-Wno-unknown-warning-option "$1" >"$log" 2>&1 && return
    if [[ $? == 124 ]]; then mv "$log" "$log.late"; else mv "$log" "$log.failed"; fi
}

# Fails if clang-tidy finds a bug in a file of the build, or in one that changed since BASE if that is not empty.
run_tidy() {  # SECONDS (0: no limit) BASE
    local -a files
    local late
    if ! command -v clang-tidy-14 >/dev/null; then
        say "clang-tidy: NOT CHECKED, clang-tidy-14 is not installed"
        [[ -z ${CI:-} ]] || return 1
        return 0
    fi
    export tidy_folder=$build_dir/editor tidy_log=$build_dir/editor/tidy tidy_deadline=0
    find_cuda
    configure_editor
    mapfile -t files < <(sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$tidy_folder/compile_commands.json" |
        grep -F "$source_dir/" | grep -vF "$build_dir/" | sort -u)
    if [[ $2 ]]; then
        mapfile -t files < <(comm -12 <(printf '%s\n' "${files[@]}") <(changed_files "$2"))
        if [[ ${#files[@]} == 0 ]]; then
            say "clang-tidy: no .cpp file of the build changed since $2"
            return 0
        fi
    fi
    (($1 == 0)) || tidy_deadline=$((EPOCHSECONDS + $1))
    rm -rf "$tidy_log"
    mkdir -p "$tidy_log"
    export -f tidy
    # shellcheck disable=SC2016  # the inner shell expands it
    printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(jobs)" bash -c 'tidy "$1"' _
    late=$(find "$tidy_log" -name '*.late' | wc -l)
    [[ $late == 0 ]] || say "clang-tidy: the time limit left out $late of ${#files[@]} files; ./setup lint checks all"
    if compgen -G "$tidy_log/*.failed" >/dev/null; then
        cat "$tidy_log"/*.failed | grep -v 'warnings\{0,1\} generated'
        return 1
    fi
    say "clang-tidy: $((${#files[@]} - late)) files are clean"
}

run_lint() {  # [--changed [BASE]]
    local status=0 base='' limit=0
    install_build_packages
    install_missing "$lint_packages" || true
    cd "$source_dir"
    tests/meta/words.sh || status=1
    check_format || status=1
    if [[ ${1:-} == --changed ]]; then
        limit=${CONCORD_LINT_SECONDS:-240}
        if [[ ${2:-} ]]; then
            base=$(git rev-parse --quiet --verify "$2^{commit}") || die "lint --changed: unknown commit, got '$2'"
        else
            base=$(.ci/base) || say "clang-tidy: all files, because the commit of the last landing is unknown"
        fi
    fi
    run_tidy "$limit" "$base" || status=1
    return "$status"
}
