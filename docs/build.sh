#!/usr/bin/env bash
# docs/build.sh BUILD_DIR: builds the site in BUILD_DIR/docs/html from docs/ and from the public headers of the
# configured build folder. Warnings of Doxygen and Sphinx are errors. Ends with 77 if Doxygen or Sphinx is missing;
# `./setup docs` installs both.
set -euo pipefail
export LC_ALL=C.UTF-8

build=$(cd -- "$1" && pwd -P)
source=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
out=$build/docs

command -v doxygen >/dev/null || { echo "skipped: doxygen is not installed (./setup docs installs it)"; exit 77; }
python=
for candidate in python3 /usr/bin/python3 "$out/venv/bin/python3"; do
    if "$candidate" "$source/docs/versions.py" 2>/dev/null; then
        python=$candidate
        break
    fi
done
[[ $python ]] || { echo "skipped: Sphinx, MyST, Furo or Breathe is not installed, or in an untested version (./setup docs installs them)"; exit 77; }
[[ -f $build/CMakeCache.txt ]] || { echo "docs/build.sh: $build is not a configured build folder"; exit 1; }

mkdir -p "$out"
rm -rf "$out/xml" "$out/html"
cd "$source"
status=0
# The folders of public headers.
mapfile -t includes < <(find core algorithms pipeline distributed lab -type d -path '*/include/concord' | sort)
{
    cat docs/Doxyfile
    cat <<SETTINGS
INPUT            = ${includes[*]} "$build/distributed/include" docs/reference/namespaces.dox
OUTPUT_DIRECTORY = "$out"
WARN_AS_ERROR    = FAIL_ON_WARNINGS
SETTINGS
} | doxygen - || status=1
docs/reference/simplify_xml.py "$out/xml"

# Every public header is on one reference page.
for file in $(find "${includes[@]}" -name '*.hpp' -not -path '*/detail/*'); do
    name=concord/${file##*/include/concord/}
    count=$(cat docs/reference/*.md | grep -cE "^\`\`\`\{doxygenfile\} (concord/)?${name#concord/}\$" || true)
    [[ $count == 1 ]] || { echo "docs/reference: $count pages show <$name>, expected 1"; status=1; }
done

CONCORD_DOCS_XML=$out/xml "$python" -m sphinx -W --keep-going -n -E -j auto -q -b html -d "$out/doctrees" docs "$out/html" || status=1
[[ $status == 0 ]] && echo "The site is $out/html/index.html"
exit "$status"
