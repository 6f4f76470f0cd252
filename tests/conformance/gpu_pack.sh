#!/usr/bin/env bash
# gpu_pack.sh BUILD_DIR SOURCE_DIR DIR COMMIT: gathers what gpu_check.sh needs, so that it runs on a machine that has a
# GPU's driver but neither the libraries that Concord links nor the CUDA toolkit. DIR/run is gpu_check.sh. Kernels of
# algorithms that changed since COMMIT also run under compute-sanitizer there.
set -euo pipefail
export LC_ALL=C

build=$(cd -- "$1" && pwd -P) source=$(cd -- "$2" && pwd -P) folder=$3 commit=$4
changed=$(git -C "$source" diff --name-only "$commit" -- 'algorithms/*.kernel' 'algorithms/*.cu' 'algorithms/*.cl') ||
    { echo "gpu_pack.sh: unknown commit '$commit'" >&2; exit 2; }
if [[ -e $folder && ! -e $folder/run ]]; then
    [[ -d $folder && -z $(ls -A "$folder") ]] || { echo "gpu_pack.sh: '$folder' exists; name a new folder" >&2; exit 2; }
fi
mkdir -p "$folder"
folder=$(cd -- "$folder" && pwd -P)
# Results stay: a run continues.
rm -rf "$folder/bin" "$folder/lib" "$folder/source" "$folder/stored"
mkdir -p "$folder"/{bin,lib/concord,source/algorithms/reduce,stored}

for program in concord concord-tests; do
    strip -o "$folder/bin/$program" "$build/bin/$program"
done
for library in "$build"/lib/libconcord*.so.? "$build"/lib/concord-*.so; do
    [[ $library == */libconcord-mpi.* ]] || strip -o "$folder/lib/${library##*/}" "$library"
done
# The libraries that they link, except the C library.
ldd "$folder"/bin/* "$folder"/lib/*.so* 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    while read -r library; do
        case ${library##*/} in
            libc.so.* | libm.so.* | libdl.so.* | librt.so.* | libpthread.so.* | ld-linux*) continue ;;
        esac
        [[ -e $folder/lib/${library##*/} ]] || cp -L "$library" "$folder/lib/"
    done
# Libraries that Concord opens at run time: the loader of OpenCL's drivers, CUDA's compiler.
loader=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | awk '/libOpenCL\.so\.1/ && !found++ { print $NF }')
[[ -z $loader ]] || cp -L "$loader" "$folder/lib/libOpenCL.so.1"
if [[ ${CONCORD_GPU_CHECK_NVRTC:-on} != off ]]; then
    nvrtc=$("$build/bin/concord" doctor 2>/dev/null | sed -n 's/.*NVRTC: \(\/.*\)\/libnvrtc[^/]*$/\1/p' | sed -n 1p)
    for library in ${nvrtc:+"$nvrtc"/libnvrtc.so.?? "$nvrtc"/libnvrtc-builtins.so.*}; do
        [[ ! -e $library || $library == *.alt.* ]] || cp -L "$library" "$folder/lib/concord/"
    done
fi

# What racecheck must find is planted in this source.
cp "$source/algorithms/reduce/reduce_steps.kernel" "$folder/source/algorithms/reduce/"
cp "$source/tests/conformance/sanitizer.sh" "$folder/source/"
cp "$source/tests/conformance/gpu_check.sh" "$folder/run"
cp "$source"/docs/results/*.bench.json "$folder/stored/"
"$build/bin/concord" algorithms --json | sed -n 's/^      "name": "\(.*\)",$/\1/p' >"$folder/algorithms"
if [[ $changed == *algorithms/common/* ]]; then
    cp "$folder/algorithms" "$folder/changed"
else
    sed -n 's|^algorithms/\([a-z_]*\)/.*|\1|p' <<<"$changed" | sort -u | { grep -xFf "$folder/algorithms" || true; } \
        >"$folder/changed"
fi
{
    git -C "$source" rev-parse HEAD
    git -C "$source" diff --quiet HEAD || echo "with uncommitted changes"
} >"$folder/commit"
echo "$(du -sh "$folder" | cut -f1) in $folder, $(wc -l <"$folder/changed") algorithms with kernels that changed since $commit"
echo "Copy it to a machine with a GPU and start $folder/run there"
