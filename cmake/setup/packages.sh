# shellcheck shell=bash
# Part of ./setup: Debian packages, what they are for, and how to install the missing ones.

# package | how to find it without dpkg (a program, a header, a file or Python modules) | what it is for
build_packages="
cmake|program cmake|configures the build
ninja-build|program ninja|runs the build
g++|program c++|compiles it
libtbb-dev|header oneapi/tbb.h|the CPU backend
libhwy-dev|header hwy/contrib/sort/vqsort.h|vectorised sorting on the CPU
opencl-c-headers|header CL/cl.h|the OpenCL backend
libspdlog-dev|header spdlog/spdlog.h|logging
libcli11-dev|header CLI/CLI.hpp|the program's command line
nlohmann-json3-dev|header nlohmann/json.hpp|JSON output
doctest-dev|header doctest/doctest.h|the tests
ocl-icd-libopencl1|library libOpenCL.so.1|finds OpenCL devices
pocl-opencl-icd|file /etc/OpenCL/vendors/pocl.icd|OpenCL on the CPU
"
# Optional: ranks of mpirun. An installed MPI of another vendor suffices.
mpi_packages="
libopenmpi-dev|program mpicxx|the MPI component, for more than one machine
openmpi-bin|program mpirun|starts ranks, and their tests
"
# Peers that `concord bench --baselines` measures. CUDA's come with its toolkit.
baseline_packages="
libopenblas-dev|header cblas.h|OpenBLAS
libopencv-imgproc-dev|header opencv4/opencv2/imgproc.hpp|OpenCV
libboost-dev|header boost/compute.hpp|Boost.Compute
libclblast-dev|header clblast.h|CLBlast
python3-pip|python pip|fetches newer releases
"
test_packages="
python3-pytest|python pytest,numpy|runs the tests of the command line
python3-numpy|python pytest,numpy|makes their arrays
pkg-config|program pkg-config|builds a program with an installation
"
# Tests are skipped without these.
optional_test_packages="
make|program make|tests of the build
strace|program strace|kills at system calls, and system calls that fail
zsh|program zsh|tests of completion
fish|program fish|tests of completion
groff-base|program groff|tests of the manual pages
mandoc|program mandoc|tests of the manual pages
"
package_packages="
dpkg-dev|program dpkg-shlibdeps|finds the dependencies of Debian packages
file|program file|tells CPack which files are binaries
"
# For tests of the packages that need minutes.
package_test_packages="
lintian|program lintian|checks Debian packages
debootstrap|file /usr/sbin/debootstrap|makes a new Debian system
"
# Package names of Debian 12 and Ubuntu 24.04. On other systems pip installs docs/requirements.txt.
docs_packages="
doxygen|program doxygen|extracts the comments of the headers
python3-sphinx|python sphinx,myst_parser,furo,breathe|builds the site
python3-myst-parser|python sphinx,myst_parser,furo,breathe|parses Markdown pages
furo|python sphinx,myst_parser,furo,breathe|is the theme of the site
python3-breathe|python sphinx,myst_parser,furo,breathe|builds the C++ reference
"
wheel_packages="
python3-dev|file /nonexistent|builds the extension module of Python
python3-venv|file /nonexistent|makes the environments that build and test it
"
lint_packages="
clang-format-14|program clang-format-14|checks the format
clang-tidy-14|program clang-tidy-14|looks for bugs
"

fuzz_packages="
clang-14|program clang++-14|compiles the fuzzers
libclang-rt-14-dev|file /usr/lib/llvm-14/lib/clang|has libFuzzer
"

loader_knows() {
    local list
    list=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null) || return 1
    [[ $list == *"$1"* ]]
}

is_there() {  # KIND NAME
    case $1 in
        program) command -v "$2" >/dev/null ;;
        header) [[ -e /usr/include/$2 || -e /usr/local/include/$2 ]] ;;
        library) loader_knows "$2" ;;
        file) [[ -e $2 ]] ;;
        python) python3 -c "import $2" 2>/dev/null || /usr/bin/python3 -c "import $2" 2>/dev/null ;;
    esac
}

is_installed() {  # PACKAGE KIND NAME
    local status
    if status=$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) && [[ $status == installed ]]; then
        return 0
    fi
    is_there "$2" "$3"
}

apt_install() {  # PACKAGE...: false if that fails; then says why
    local -a root=()
    local log=$build_dir/setup-apt.log
    if ! command -v apt-get >/dev/null; then
        say "  apt-get is not available"
        return 1
    fi
    if [[ $(id -u) != 0 ]]; then
        if ! command -v sudo >/dev/null; then
            say "  not root, and sudo is not available"
            return 1
        fi
        root=(sudo)
        # Without a terminal nobody can enter a password.
        [[ -t 0 ]] || root+=(-n)
    fi
    mkdir -p "$build_dir"
    local failed=
    # apt-get itself ignores lists that it cannot fetch.
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o APT::Update::Error-Mode=any update >"$log" 2>&1 ||
        failed="cannot fetch a package list"
    if [[ -z $failed ]]; then
        "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get -q install -y --no-install-recommends "$@" >>"$log" 2>&1 || failed="cannot install"
    fi
    [[ $failed ]] || return 0
    say "  apt-get $failed; the end of $log:"
    tail -n 5 "$log" | sed 's/^/    /'
    return 1
}

install_missing() {  # TABLE: false if something is still missing; then says what
    local package probe purpose
    local -a missing=()
    while IFS='|' read -r package probe purpose; do
        [[ -n $package ]] || continue
        # shellcheck disable=SC2086  # the probe is two words
        is_installed "$package" $probe && continue
        missing+=("$package")
        say "Installing $package: $purpose"
    done <<<"$1"
    [[ ${#missing[@]} -gt 0 ]] || return 0
    apt_install "${missing[@]}" && return 0
    say "  Install by hand (names of Debian and Ubuntu): ${missing[*]}"
    return 1
}

install_mpi_packages() {
    install_missing "$mpi_packages" || say "Concord is built without its MPI component; the rest works"
}

install_build_packages() {
    install_missing "$build_packages" || die "the packages above are needed to build Concord"
    local version
    version=$(cmake --version | sed -n '1s/.* \([0-9][0-9.]*\).*/\1/p')
    [[ $(printf '%s\n' 3.25 "$version" | sort -V | sed -n 1p) == 3.25 ]] ||
        die "CMake $version is too old, 3.25 is needed ($(command -v cmake))"
}

install_test_packages() {
    install_missing "$test_packages" || die "the packages above are needed to test Concord"
    install_missing "$optional_test_packages" || say "The tests that need these packages are skipped"
    install_missing "$package_packages" || say "Debian packages are not built; their tests are skipped"
    install_missing "$docs_packages" || say "The documentation is not built; its tests are skipped"
}

# The packages above, or else pip in a virtual environment of the build folder.
install_docs_packages() {
    local venv=$build_dir/docs/venv
    local python
    install_missing "$docs_packages" || true
    command -v doxygen >/dev/null || die "Doxygen is needed to build the documentation"
    for python in python3 /usr/bin/python3 "$venv/bin/python3"; do
        "$python" "$source_dir/docs/versions.py" 2>/dev/null && return
    done
    say "Fetching Sphinx into $venv"
    python3 -m venv "$venv" && "$venv/bin/python3" -m pip install --quiet --require-hashes -r "$source_dir/docs/requirements.txt" ||
        die "pip cannot install docs/requirements.txt"
}
