#!/usr/bin/env bash
# clone.sh BUILD_DIR SOURCE_DIR: what people have who clone the tree: a folder `concord`, here below a folder with a
# blank in its name; no CUDA toolkit but the packages that ./setup fetches from PyPI; nothing in the environment. Sets
# up such a clone, copies the binaries of BUILD_DIR there (new_algorithm.sh builds such a clone), and runs the tests
# that depend on folders, git or the toolkit. Hides an installed toolkit in a mount namespace, if this user may create
# one. Ends with 77, which ctest shows as skipped, if PyPI cannot be reached; everything else has passed then.
set -eu

# --- No toolkit and no environment ----------------------------------------------------------------------------------

# Folders of a toolkit, except one that is installed in /usr with other programs.
toolkit_folders() {
    local folder nvcc
    nvcc=$(command -v nvcc || true)
    for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda* /opt/cuda "${nvcc:+$(readlink -f "$nvcc")/../..}"; do
        [[ $folder && -d $folder ]] || continue
        folder=$(readlink -f "$folder")
        [[ $folder == /usr ]] || echo "$folder"
    done | sort -u
}
if [[ ! ${CLONE_TEST_HIDES:-} ]]; then
    unshare=(unshare --mount)
    [[ $(id -u) == 0 ]] || unshare+=(--map-root-user)
    hides=no
    "${unshare[@]}" mount -t tmpfs none /mnt 2>/dev/null && hides=yes || unshare=()
    # The rest of the environment that matters is access to PyPI.
    mapfile -t keeps < <(env | grep -E '^(PIP_|SSL_|REQUESTS_CA_|[a-z]+_proxy)' || true)
    exec "${unshare[@]}" env -i "${keeps[@]}" "PATH=$PATH" "HOME=${HOME:-/}" ${XDG_CACHE_HOME:+"XDG_CACHE_HOME=$XDG_CACHE_HOME"} \
        ${TMPDIR:+"TMPDIR=$TMPDIR"} "CLONE_TEST_HIDES=$hides" "CLONE_TEST_FOLDERS=$(toolkit_folders)" "$0" "$@"
fi
while IFS= read -r folder; do
    [[ $folder ]] || continue
    if [[ $CLONE_TEST_HIDES == yes ]]; then
        mount -t tmpfs none "$folder"
    else
        echo "$folder is not hidden: this user may not create a mount namespace"
    fi
done <<<"$CLONE_TEST_FOLDERS"
unset CLONE_TEST_HIDES CLONE_TEST_FOLDERS

# --- The clone ------------------------------------------------------------------------------------------------------

# shellcheck source=copy_tree.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/copy_tree.sh" "$@"
copy_tree
cd "$work"
failed=0 skipped=0
passes() {  # WHAT COMMAND...
    local status=0
    "${@:2}" >"$work/out" 2>&1 </dev/null || status=$?
    if [[ $status == 0 ]]; then
        echo "ok      $1"
    else
        failed=1
        echo "FAILED  $1: status $status"
        tail -n 40 "$work/out"
    fi
}

# Configures build/editor.
mkdir "$new"
[[ ! -d $build/cuda ]] || ln -s "$build/cuda" "$new/cuda"
passes "./setup editor" env CONCORD_CUDA=wheels "$copy/setup" editor
cat "$work/out"
[[ $failed == 0 ]] || exit 1
[[ -e $new/cuda/nvidia/cuda_nvrtc ]] || skipped=1
new=$new/editor
mkdir -p "$new"/{bin,lib}
cp -a "$build"/bin/concord{,-tests} "$new/bin"
cp -a "$build"/lib/*.so* "$new/lib"
cp -a "$build/test-modules" "$new"
# concord-tests names the folder of its libraries.
export LD_LIBRARY_PATH=$new/lib

# --- Its tests ------------------------------------------------------------------------------------------------------

passes "wording" "$copy/tests/meta/words.sh"
passes "a mutant of a CPU kernel" "$copy/tests/meta/host_mutation.sh" "$new" "$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")" \
    "the last sample of a block has no bin"
passes "CUDA sources, modules and caches" env CONCORD_TUNING=off "CONCORD_TEST_MODULES=$new/test-modules" "$new/bin/concord-tests" \
    --test-suite=core "--source-file=*compile_options_test*,*registry_test*,*cache_test*"
for test in layers complete embed readme docs.tables cli.completion nvrtc; do
    [[ $test != nvrtc || $skipped == 0 ]] || continue
    passes "$test" ctest --test-dir "$new" --no-tests=error --output-on-failure -R "^${test//./\\.}\$"
    ! grep -q '\*\*\*Skipped' "$work/out" || { failed=1; echo "FAILED  $test was skipped"; cat "$work/out"; }
done
[[ $failed == 0 ]] || exit 1
[[ $skipped == 0 ]] || exit 77
