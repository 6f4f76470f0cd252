#!/usr/bin/env bash
# fresh.sh BUILD_DIR SOURCE_DIR [COMMAND...]: the commands of the README on a new machine. Makes a minimal system with
# git and certificates but without a compiler and CUDA's toolkit, clones SOURCE_DIR's commit there, and runs ./setup
# with each COMMAND (demo and test): as root in /concord, as containers have it, then in a clone of a user without
# further rights, below a folder with a blank in its name. Tests may be skipped only for the reasons listed below.
# Takes hours, and 6 GB in BUILD_DIR. Ends with 77, which ctest shows as skipped, if a tool is not installed, or if this
# user may not run debootstrap.
set -euo pipefail
export LC_ALL=C.UTF-8

build=$(cd -- "$1" && pwd -P) source=$(cd -- "$2" && pwd -P)
shift 2
commands=("$@")
[[ $# -gt 0 ]] || commands=(demo test)
for tool in apt-get debootstrap git unshare; do
    if ! PATH=$PATH:/usr/sbin command -v "$tool" >/dev/null; then
        echo "fresh.sh: not tested: $tool is not installed (./setup test --long installs debootstrap)"
        exit 77
    fi
done
if [[ $(id -u) != 0 ]]; then
    echo "fresh.sh: not tested: debootstrap needs root"
    exit 77
fi
commit=$(git -C "$source" rev-parse --verify HEAD) || { echo "fresh.sh: not tested: not a git checkout"; exit 77; }
[[ -z $(git -C "$source" status --porcelain) ]] || echo "fresh.sh: uncommitted changes are not tested"
work=$(mktemp -d -p "$build")
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/package/checks.sh
source "$source/tests/package/checks.sh"
# shellcheck source=tests/package/new_system.sh
source "$source/tests/package/new_system.sh"

# What a new machine may lack: hardware, Chromium (400 MB), and the user's right to mount.
hardware='other_devices|examples\.cuda_runtime|transports|check\.tbb\..*'
of_root="$hardware|report"
of_user="$hardware|report|moved"

# This machine's access to PyPI.
mapfile -t pip_settings < <(env | grep -E '^PIP_[A-Z_]+=' | grep -v '^PIP_FIND_LINKS=')
as_root() { inside env "${pip_settings[@]}" "$@"; }
as_user() {
    inside setpriv --reuid=user --regid=user --init-groups --reset-env env HOME=/home/user LC_ALL=C.UTF-8 "${pip_settings[@]}" "$@"
}

# In a clone, FOLDER/concord: COMMAND ends with 0, and no test is skipped that may not be.
setup() {  # ROLE FOLDER COMMAND MAY_BE_SKIPPED
    local log=$work/$1-$3.log status=0
    # shellcheck disable=SC2016  # the inner shell expands it
    "as_$1" sh -c 'cd "$0/concord" && ./setup "$1" </dev/null' "$2" "$3" >"$log" 2>&1 || status=$?
    tail -n 40 "$log"
    [[ $status == 0 ]] || return
    [[ $3 != test ]] || ! grep -E '\*\*\*Skipped' "$log" | grep -vE " ($4) \.*\*\*\*Skipped"
}
clone() {  # ROLE FOLDER
    "as_$1" git clone --quiet /source.git "$2/concord" && "as_$1" git -C "$2/concord" checkout --quiet "$commit"
}

check "debootstrap" new_system ca-certificates,git
[[ -d $system/etc/apt ]] || finish
check "the commit" git clone --quiet --bare "$source" "$system/source.git"
check "which every user may clone" inside git config --system --add safe.directory /source.git
check "a user" inside useradd --create-home --shell /bin/bash --groups users user
check "the user's clone" clone user "/home/user/a folder"
packages_are_named() {
    ! as_user sh -c 'cd "/home/user/a folder/concord" && ./setup demo </dev/null' >"$work/user.log" 2>&1 &&
        grep -q "not root, and sudo is not available" "$work/user.log" && grep -q "Install by hand.*libtbb-dev" "$work/user.log"
}
check "without rights, setup names the packages" packages_are_named
check "root's clone" clone root ""
for command in "${commands[@]}"; do
    check "root: ./setup $command" setup root "" "$command" "$of_root"
done
rm -rf "$system/concord"  # 3 GB
for command in "${commands[@]}"; do
    check "user: ./setup $command" setup user "/home/user/a folder" "$command" "$of_user"
done
grep -hE '\*\*\*Skipped' "$work"/*-test.log || true
finish
