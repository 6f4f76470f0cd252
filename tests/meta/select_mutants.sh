# Which mutants mutation.sh and host_mutation.sh run. With CONCORD_MUTANTS=all: all. Otherwise those of the files that
# changed since CONCORD_LINT_BASE (HEAD~1), and one in ten of the others, another tenth with each commit.
# CONCORD_MUTANTS=N selects that tenth. Source this file in SOURCE_DIR's git checkout.

mutant_tenth=${CONCORD_MUTANTS:-$(git -C "$source" rev-list --count HEAD 2>/dev/null || echo 0)}
[[ $mutant_tenth == all ]] || mutant_tenth=$((mutant_tenth % 10))
mutant_changes=" $({
    git -C "$source" diff --name-only "${CONCORD_LINT_BASE:-HEAD~1}"
    git -C "$source" ls-files --others --exclude-standard
} 2>/dev/null | sed 's|.*/||' | tr '\n' ' ') "
mutant_number=0

selects_mutant() {  # FILE...: the files that the mutant depends on. Call it once for each mutant, in order.
    local file number=$((mutant_number++))
    [[ $mutant_tenth == all || $((number % 10)) == "$mutant_tenth" ]] && return 0
    for file in "$@"; do
        [[ $mutant_changes != *" $file "* ]] || return 0
    done
    return 1
}
mutant_selection() {
    if [[ $mutant_tenth == all ]]; then
        echo "all mutants"
    else
        echo "tenth $mutant_tenth of the mutants and those of changed files; CONCORD_MUTANTS=all runs all"
    fi
}
