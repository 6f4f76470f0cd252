#!/usr/bin/env bash
# requirements.sh SOURCE: what ./setup installs. Requirements of pip have upper bounds, and are pinned with hashes.
# Missing Debian packages stop setup if a package list cannot be fetched; present ones need no list.
set -euo pipefail
source=$(cd -- "$1" && pwd -P)
build_dir=$(mktemp -d)
trap 'rm -rf "$build_dir"' EXIT
failed=0
fail() { echo "FAILED: $*"; failed=1; }

for list in python/requirements docs/requirements lab/baselines/requirements tests/conformance/intel_opencl cmake/setup/{cuda,nvcc}; do
    if grep -vE '^(#|$)' "$source/$list.in" | grep -vE '<|=='; then fail "$list.in: no upper bound"; fi
    while read -r name; do
        grep -q "^$name==" "$source/$list.txt" || fail "$list.txt lacks $name; see its first line"
    done < <(sed -nE 's/^([A-Za-z0-9_-]+).*/\1/p' "$source/$list.in" | tr 'A-Z_' 'a-z-')
    # Each line but the last of a requirement continues on the next one.
    sed -e ':a' -e '/\\$/{N;s/\\\n//;ba' -e '}' "$source/$list.txt" | grep -v '^#' >"$build_dir/lines"
    if grep -vE '^[a-z0-9-]+==[^ ]+ .*--hash=sha256:[0-9a-f]{64}' "$build_dir/lines"; then fail "$list.txt: not pinned with a hash"; fi
done
if git -C "$source" grep -nE -- '-m pip (install|download)' setup cmake/setup python/wheel.sh >"$build_dir/calls"; then
    while IFS=: read -r file line _; do
        sed -n "$line,$((line + 2))p" "$source/$file" | grep -E -- '--require-hashes' >/dev/null || fail "$file:$line installs without hashes"
    done <"$build_dir/calls"
fi

say() { printf '%s\n' "$*"; }
die() { fail "setup ends: $*"; }
# shellcheck source=cmake/setup/packages.sh
source "$source/cmake/setup/packages.sh"
id() { echo 0; }
mkdir "$build_dir/bin"
cat >"$build_dir/bin/apt-get" <<TEXT
#!/bin/sh
echo "\$@" >>"$build_dir/calls.apt"
case "\$*" in *update*) echo "E: Failed to fetch a list"; exit 100 ;; esac
TEXT
chmod +x "$build_dir/bin/apt-get"
PATH=$build_dir/bin:$PATH
install_missing "bash|program bash|runs this" || fail "a present package counts as missing"
[[ ! -e $build_dir/calls.apt ]] || fail "apt-get runs although nothing is missing"
if install_missing "concord-no-such-package|file /nonexistent|does not exist" >"$build_dir/output"; then
    fail "a list that cannot be fetched is ignored"
fi
grep -q "cannot fetch a package list" "$build_dir/output" && grep -q "Failed to fetch a list" "$build_dir/output" ||
    fail "the reason is missing: $(cat "$build_dir/output")"
! grep -q install "$build_dir/calls.apt" || fail "packages are installed from old lists"
exit $failed
