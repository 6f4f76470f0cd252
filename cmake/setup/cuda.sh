# shellcheck shell=bash
# Part of ./setup: CUDA's headers and NVRTC, from a toolkit or from PyPI, and Intel's OpenCL runtime.

# --- CUDA ---------------------------------------------------------------------------------------------------------

cuda_include=  # folders for CMake, separated by ';'; OFF: none
cuda_nvrtc=    # the folder of an NVRTC that the program does not find by itself, else empty; OFF: none

has_cuda_headers() {  # FOLDER of cuda.h, FOLDER of nvrtc.h
    local version
    [[ -e $1/cuda.h && -e $2/nvrtc.h ]] || return 1
    version=$(sed -n 's/^#define CUDA_VERSION \([0-9]*\).*/\1/p' "$1/cuda.h")
    [[ ${version:-0} -ge 11080 ]]
}

# The installed toolkit, if its headers and NVRTC are there.
find_cuda_toolkit() {
    local nvcc='' root folder
    nvcc=$(command -v nvcc) && nvcc=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    for root in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda "$nvcc" /opt/cuda /usr; do
        if [[ -z $root ]] || ! has_cuda_headers "$root/include" "$root/include"; then
            continue
        fi
        cuda_include=$root/include
        if [[ -n ${CONCORD_NVRTC:-} ]] || loader_knows libnvrtc.so; then
            return 0
        fi
        for folder in "$root/lib64" "$root/lib" "$root/targets/$(uname -m)-linux/lib"; do
            compgen -G "$folder/libnvrtc.so*" >/dev/null || continue
            # The CUDA backend searches the first three by itself.
            case $root in
                "${CUDA_HOME:-}" | "${CUDA_PATH:-}" | /usr/local/cuda) ;;
                *) cuda_nvrtc=$folder ;;
            esac
            return 0
        done
    done
    cuda_include=
    return 1
}

# Where NVIDIA's packages are: cuda_runtime, cuda_nvrtc and others, each with its own include and lib.
cuda_site=$build_dir/cuda/nvidia

# With CCCL's headers, which cuda_fp16.h includes.
use_cuda_wheels() {
    has_cuda_headers "$cuda_site/cuda_runtime/include" "$cuda_site/cuda_nvrtc/include" || return 1
    [[ -e $cuda_site/cuda_cccl/include/nv/target ]] || return 1
    cuda_include="$cuda_site/cuda_runtime/include;$cuda_site/cuda_nvrtc/include;$cuda_site/nvtx/include"
    cuda_nvrtc=$cuda_site/cuda_nvrtc/lib
}

# Installs the wheels of a file of requirements into FOLDER, all or none.
fetch_wheels() {  # FOLDER LOG REQUIREMENTS
    local folder=$1 log=$2
    mkdir -p "$build_dir"
    rm -rf "$folder.new"
    if ! python3 -m pip install --target "$folder.new" --no-deps --only-binary :all: --no-compile --retries 1 \
        --disable-pip-version-check --no-input --require-hashes -r "$3" >"$log" 2>&1 </dev/null; then
        rm -rf "$folder.new"
        return 1
    fi
    rm -rf "$folder"
    mv "$folder.new" "$folder"
}

# NVIDIA's packages on PyPI contain the headers of CUDA and NVTX, and NVRTC, without the rest of the toolkit. Those of
# CUDA 12 work with drivers of CUDA 12 and 13, and support all architectures from sm_50 to sm_120.
fetch_cuda_wheels() {
    local log=$build_dir/setup-pip.log
    if [[ ${CONCORD_FETCH_CUDA:-} == off ]]; then
        say "CUDA is off: no toolkit is installed, and CONCORD_FETCH_CUDA=off forbids fetching its headers"
        return 1
    fi
    if ! python3 -m pip --version >/dev/null 2>&1; then
        if ! install_missing "python3-pip|file /nonexistent|fetches CUDA's headers and compiler library"; then
            say "CUDA is off: no toolkit is installed, and pip is not available to fetch its headers"
            return 1
        fi
    fi
    say "Fetching CUDA's headers and compiler library (cmake/setup/cuda.txt) into $build_dir/cuda"
    fetch_wheels "$build_dir/cuda" "$log" "$source_dir/cmake/setup/cuda.txt" && return
    say "CUDA is off: no toolkit is installed, and pip could not fetch its headers (see $log)"
    return 1
}

# The headers in which a toolkit's mma.h declares its functions, for the tests. The rest of the package, 40 MB to
# download, is the assembler.
fetch_mma_headers() {
    local folder=$cuda_site/cuda_nvcc log=$build_dir/setup-nvcc.log
    [[ $cuda_nvrtc == "$cuda_site"/* && ! -e $folder ]] || return 0
    say "Fetching the headers of mma.h (cmake/setup/nvcc.txt) into $folder"
    if ! fetch_wheels "$build_dir/nvcc" "$log" "$source_dir/cmake/setup/nvcc.txt"; then
        say "pip could not fetch them (see $log); the test of mma.h is skipped"
        return 0
    fi
    mkdir "$folder"
    mv "$build_dir/nvcc/nvidia/cuda_nvcc/include" "$folder"
    rm -rf "$build_dir/nvcc"
}

find_cuda() {
    case ${CONCORD_CUDA:-} in
        '') find_cuda_toolkit && return ;;
        wheels) ;;
        off)
            cuda_include=OFF cuda_nvrtc=OFF
            say "CUDA is off: CONCORD_CUDA=off"
            return
            ;;
        *) die "CONCORD_CUDA: unknown value, got '$CONCORD_CUDA'; available: wheels, off" ;;
    esac
    use_cuda_wheels && return
    fetch_cuda_wheels && use_cuda_wheels && return
    say "Concord is built without its CUDA backend; the rest works"
}

# --- Intel's OpenCL runtime ---------------------------------------------------------------------------------------

# Unpacks the wheels of tests/conformance/intel_opencl.txt by hand: pip leaves out their libraries if it installs into a
# folder.
unpack_intel_opencl() {  # FOLDER
    local wheel
    python3 -m pip download --dest "$1/wheels" --no-deps --only-binary :all: --retries 1 --disable-pip-version-check \
        --no-input --require-hashes -r "$source_dir/tests/conformance/intel_opencl.txt" </dev/null || return 1
    for wheel in "$1"/wheels/*.whl; do
        python3 -m zipfile -e "$wheel" "$1" || return 1
    done
    mkdir -p "$1/lib" "$1/vendors"
    mv "$1"/*.data/data/lib/* "$1/lib" || return 1
    # Second copies of large files, and a plugin of a linker.
    rm -rf "$1/wheels" "$1"/*.data "$1/lib/libcommon_clang.so" "$1"/lib/libintelocl.so.* "$1/lib/icx-lto.so"
}

# For tests/conformance/intel_opencl.sh. The folder is complete or absent.
fetch_intel_opencl() {
    local folder=$build_dir/intel-opencl log=$build_dir/setup-intel.log
    if [[ -d $folder || ${CONCORD_FETCH_INTEL:-} == off || $(uname -m) != x86_64 ]] ||
        grep -qsE 'libintelocl\.so' /etc/OpenCL/vendors/*.icd; then
        return 0
    fi
    say "Fetching Intel's OpenCL runtime (tests/conformance/intel_opencl.txt) into $folder"
    rm -rf "$folder.new"
    mkdir -p "$folder.new"
    if unpack_intel_opencl "$folder.new" >"$log" 2>&1; then
        echo "$folder/lib/libintelocl.so" >"$folder.new/vendors/intel.icd"
        mv "$folder.new" "$folder"
    else
        rm -rf "$folder.new"
        say "pip could not fetch it (see $log); its tests are skipped"
    fi
}
