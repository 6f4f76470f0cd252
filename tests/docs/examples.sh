#!/usr/bin/env bash
# examples.sh BUILD_DIR SOURCE_DIR: tests the examples (examples.py) of README.md, and of pages below docs that changed
# since the last landing and a tenth of the others (tests/meta/select_changed.sh).
set -euo pipefail
export LC_ALL=C

build=$1 source=$(cd -- "$2" && pwd -P)
# shellcheck source=tests/meta/select_changed.sh
source "$source/tests/meta/select_changed.sh"
cd "$source"
pages=(README.md)
while IFS= read -r page; do
    ! is_selected "$page" || pages+=("$page")
done < <(find docs -name '*.md' | sort)
echo "${#pages[@]} pages: $(selection)"
exec tests/docs/examples.py --jobs 2 "$build" "${pages[@]}"
