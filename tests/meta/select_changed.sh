# Which mutants mutation.sh and host_mutation.sh run, which variants check_changed.sh checks and which pages examples.sh
# tests: those of files that changed since the last landing (.ci/base), and one in ten of the others, another tenth with
# each commit. Of the mutants: new ones, one in three of changed files, and one in ten of the others. All of them if the
# commit of the last landing is unknown. CONCORD_TENTH=N selects that tenth, CONCORD_TENTH=all selects all. Sourced with
# SOURCE_DIR in $source.
# shellcheck shell=bash

landed=
tenth=${CONCORD_TENTH:-$(git -C "$source" rev-list --count HEAD 2>/dev/null || echo all)}
if [[ $tenth != all ]]; then
    tenth=$((tenth % 10))
    landed=$("$source/.ci/base") || tenth=all
fi
changed_files=
[[ ! $landed ]] || changed_files=$({
    git -C "$source" diff --name-only "$landed"
    git -C "$source" ls-files --others --exclude-standard
} | sed 's|^|/|')$'\n'
selected_number=0

has_changed() {  # FILE...: any of them. A name without its folder suffices.
    local file
    for file in "$@"; do
        [[ $changed_files != *"/$file"$'\n'* ]] || return 0
    done
    return 1
}

is_in_tenth() { [[ $tenth == all || $(($1 % 10)) == "$tenth" ]]; }  # NUMBER
# Call it once for each item, in order.
is_selected() {  # FILE...: the files that the item depends on
    local number=$((selected_number++))
    is_in_tenth "$number" || has_changed "$@"
}

declare -A landed_lists=()
# Whether a list of mutants, by its path in the tree, had this description at the last landing.
landed_with() {  # LIST WHAT
    [[ -v landed_lists[$1] ]] || landed_lists[$1]=$(git -C "$source" show "$landed:$1" 2>/dev/null)
    [[ ${landed_lists[$1]} == *"$2"* ]]
}
# The same for a mutant.
selects_mutant() {  # LIST WHAT FILE...
    local number=$((selected_number++))
    is_in_tenth "$number" || ! landed_with "$1" "$2" || { ((number % 3 == tenth % 3)) && has_changed "${@:3}"; }
}

# The default tests have CONCORD_SELECTED_SECONDS for what they select, so that they take as long whatever has changed.
# New and changed ones come first, and each commit begins at another place of the list.
has_time() { [[ ${CONCORD_TENTH:-} == all ]] || ((SECONDS < ${CONCORD_SELECTED_SECONDS:-1000000})); }
rotated() {  # COUNT: the numbers below COUNT from that tenth on, a line each
    local first=0
    [[ $tenth == all ]] || first=$(($1 * tenth / 10))
    seq "$first" $(($1 - 1))
    seq 0 $((first - 1))
}

selection() {
    if [[ $tenth == all ]]; then
        echo "all"
    else
        echo "those of files that changed since ${landed:0:12}, and tenth $tenth of the others; CONCORD_TENTH=all selects all"
    fi
}
selection_of_mutants() {
    if [[ $tenth == all ]]; then
        echo "all"
    else
        echo "new since ${landed:0:12}, a third of those of files that changed, and tenth $tenth of the others; CONCORD_TENTH=all selects all"
    fi
}
