#!/usr/bin/env bash
# package.sh WHAT BUILD_DIR SOURCE_DIR: builds the folder consumer in the ways that other projects use Concord, and runs
# it. WHAT:
#   installed     with an installation of BUILD_DIR, which is moved; also with -march=native, which must not change
#                 bits, with pkg-config, and with a backend that is built against the installation
#   subdirectory  with SOURCE_DIR as part of the project, which also links concord::check
#   static        with an installation of a static build, and the lab libraries
set -euo pipefail

what=$1 build=$2 source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/package/checks.sh
source "$source/tests/package/checks.sh"

cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
generator=$(cached CMAKE_GENERATOR)
compiler=$(cached CMAKE_CXX_COMPILER)
type=${PACKAGE_TYPE:-$(cached CMAKE_BUILD_TYPE)}
libdir=$(cached CMAKE_INSTALL_LIBDIR)

configure() {  # SOURCE FOLDER ARGUMENTS...
    cmake -S "$1" -B "$2" -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE="$type" \
        -DCMAKE_CXX_FLAGS_DEBUG=-O0 "${@:3}"
}
consumer() {  # FOLDER ARGUMENTS...
    configure "$source/tests/package/consumer" "$1" "${@:2}" && cmake --build "$1" --parallel
}
backend() {  # FOLDER ARGUMENTS...
    configure "$source/tests/backend/minimal" "$1" "${@:2}" && cmake --build "$1"
}
# Outside the build tree, without environment variables that point there.
run_app() { (cd / && env -u CONCORD_BACKEND_PATH -u LD_LIBRARY_PATH "$@"); }
ends_with() {  # STATUS COMMAND...
    local status=0
    "${@:2}" >"$work/output.txt" || status=$?
    [[ $status == "$1" ]]
}
app_to() { run_app "$2" "${@:3}" >"$1"; }
uses_backend_of() { grep -qF "backend $2" "$1" || { cat "$1"; return 1; }; }
same_bits() { grep -q '^reduce ' "$1" && diff <(grep -v '^backend ' "$1") <(grep -v '^backend ' "$2"); }
other_bits() { grep -q '^reduce ' "$1" && grep -q '^reduce ' "$2" && ! same_bits "$1" "$2"; }
has_fma() { grep -qw fma /proc/cpuinfo 2>/dev/null || [[ $(uname -m) == aarch64 ]]; }
# Compiles the consumer's main.cpp without CMake. What pkg-config prints is written for a shell.
with_pkg_config() {  # PREFIX OUTPUT OPTIONS OF PKG-CONFIG...
    local flags
    flags=$(PKG_CONFIG_PATH=$1/$libdir/pkgconfig pkg-config "${@:3}" --cflags --libs concord) || return
    eval "\"\$compiler\" -O2 -march=native -o \"\$2\" \"\$source/tests/package/consumer/main.cpp\" $flags"
}
pkg_config_version() { [[ $(PKG_CONFIG_PATH=$1/$libdir/pkgconfig pkg-config --modversion concord) == "$2" ]]; }
searches_current() {  # FOLDER: binaries whose list of library folders has an empty or relative entry
    find "$1" -type f -exec readelf -d {} + 2>/dev/null | sed -n 's/.*R[UN]*PATH.*\[\(.*\)\]/\1/p' | tr ':' '\n' |
        grep -v '^[/$]'
}

installed() {
    local first=$work/first prefix="$work/moved here"
    check "cmake --install" cmake --install "$build" --prefix "$first"
    [[ -d $first ]] || finish
    check "no build or source folder in the package" fails names_folders "$first/$libdir/cmake" \
        "$first/include"
    mv "$first" "$prefix"

    local mpi=OFF fma=OFF
    ! compgen -G "$build/lib/libconcord-mpi.so*" >/dev/null || mpi=ON
    ! has_fma || fma=ON
    check "find_package, build" consumer "$work/plain" "-DCMAKE_PREFIX_PATH=$prefix" \
        "-DCONSUMER_PORT=$source/apps/examples/port.cpp" -DCONSUMER_MPI=$mpi
    check "the porting kit passes a right kernel" app_to "$work/port.txt" "$work/plain/port" tbb
    check "and catches a wrong one" ends_with 1 run_app "$work/plain/port" --wrong tbb
    check "no binary searches the current directory" fails searches_current "$prefix"
    if [[ $(cached CONCORD_HARDENING) == ON ]]; then
        check "all binaries are hardened" "$source/tests/package/hardened.sh" "$prefix"
        mkdir "$work/planted"
        "$compiler" -shared -fPIC -Wl,-z,norelro -o "$work/planted/planted.so" "$source/tests/package/consumer/planted.cpp"
        check "a binary that is not is noticed" fails "$source/tests/package/hardened.sh" "$work/planted"
    else
        echo "        hardening not tried: CONCORD_HARDENING is off"
    fi
    check "run on tbb" app_to "$work/plain.txt" "$work/plain/app" tbb
    check "the backend is the installed one" uses_backend_of "$work/plain.txt" "$prefix/$libdir/concord/"
    check "find_package, build with -march=native" consumer "$work/native" "-DCMAKE_PREFIX_PATH=$prefix" \
        -DCMAKE_CXX_FLAGS=-march=native -DCONSUMER_CONTRACTS=$fma
    check "run it" app_to "$work/native.txt" "$work/native/app" tbb
    check "-march=native changes no bit" same_bits "$work/plain.txt" "$work/native.txt"
    for isa in baseline avx2; do
        check "run with the $isa kernels" app_to "$work/$isa.txt" env "CONCORD_HOST_ISA=$isa" "$work/native/app" tbb
        check "$isa kernels change no bit" same_bits "$work/plain.txt" "$work/$isa.txt"
    done
    check "pkg-config, build with -march=native" with_pkg_config "$prefix" "$work/pkg-config"
    check "run it" app_to "$work/pkg-config.txt" env "LD_LIBRARY_PATH=$prefix/$libdir" "$work/pkg-config" tbb
    check "the backend is the installed one" uses_backend_of "$work/pkg-config.txt" "$prefix/$libdir/concord/"
    check "the flags of pkg-config change no bit" same_bits "$work/plain.txt" "$work/pkg-config.txt"
    check "pkg-config knows the version" pkg_config_version "$prefix" "$(cached CMAKE_PROJECT_VERSION)"
    if [[ $fma == ON ]]; then
        # Proves that the comparisons above can fail.
        check "run the build with contraction" app_to "$work/contracts.txt" "$work/native/contracts" tbb
        check "contraction would change bits" other_bits "$work/plain.txt" "$work/contracts.txt"
    else
        echo "        contraction not tried: this CPU has no fused multiply-add"
    fi
    if [[ -x $prefix/bin/concord ]] && "$prefix/bin/concord" devices | grep '^opencl:' >/dev/null; then
        check "run on OpenCL" app_to "$work/opencl.txt" "$work/plain/app" opencl
        check "OpenCL gives the same bits" same_bits "$work/plain.txt" "$work/opencl.txt"
        check "a backend outside the tree, build" backend "$work/minimal" "-DCMAKE_PREFIX_PATH=$prefix"
        check "run on it" app_to "$work/minimal.txt" env "CONCORD_BACKEND_PATH=$work/minimal" "$work/plain/app" minimal
        check "it is that backend" uses_backend_of "$work/minimal.txt" "$work/minimal/"
        check "it gives the same bits" same_bits "$work/plain.txt" "$work/minimal.txt"
    else
        echo "        OpenCL not tried: the installed program lists no such device"
    fi

    if [[ $mpi == ON ]]; then
        check "one rank needs no mpirun" app_to "$work/ranks.txt" "$work/plain/ranks"
        check "and knows it" grep -qx "1 ranks" "$work/ranks.txt"
    else
        echo "        the MPI component is not tried: it is not built"
    fi
    check "another version is refused" fails configure "$source/tests/package/consumer" "$work/version" \
        "-Dconcord_DIR=$prefix/$libdir/cmake/concord" -DCONSUMER_VERSION=0.2
    if [[ -x $prefix/bin/concord ]]; then
        check "the installed program starts" app_to "$work/devices.txt" "$prefix/bin/concord" devices
        check "and lists tbb" grep -q tbb "$work/devices.txt"
        for file in man/man1/concord.1 man/man1/concord-run.1 bash-completion/completions/concord \
            zsh/site-functions/_concord fish/vendor_completions.d/concord.fish; do
            check "installs share/$file" test -s "$prefix/share/$file"
        done
        if compgen -G "$build/lib/concord/libnvrtc.so.*" >/dev/null; then
            check "it starts its doctor" app_to "$work/doctor.txt" env -u CONCORD_NVRTC "$prefix/bin/concord" doctor
            check "which finds the installed NVRTC" grep -q "NVRTC: $prefix/.*/concord/libnvrtc" "$work/doctor.txt"
        fi
    fi
}

subdirectory() {
    check "FetchContent and add_subdirectory, build" consumer "$work/sub" "-DCONCORD_SOURCE=$source" "-DCONCORD_BACKENDS=tbb" \
        -DCONSUMER_CHECK=ON
    check "tests and programs are left out" fails compgen -G "$work/sub/concord/bin/*"
    check "run on tbb" app_to "$work/sub.txt" "$work/sub/app" tbb
    check "the backend is the one built with it" uses_backend_of "$work/sub.txt" "$work/sub"
    check "concord::check passes a right function" run_app "$work/sub/check"
    check "and catches a wrong one" ends_with 1 run_app "$work/sub/check" --wrong
    check "concord::bench, which nothing links, is not built" fails compgen -G "$work/sub/concord/lib/libconcord-bench*"
}

static() {
    local prefix=$work/prefix
    check "configure a static build" configure "$source" "$work/static" -DBUILD_SHARED_LIBS=OFF -DCONCORD_TESTS=OFF \
        -DCONCORD_APPS=OFF "-DCONCORD_CUDA_INCLUDE=$(cached CONCORD_CUDA_INCLUDE)" \
        "-DCONCORD_BACKENDS=$(cached CONCORD_BACKENDS)"
    check "build it" cmake --build "$work/static" --parallel
    check "install it" cmake --install "$work/static" --prefix "$prefix"
    check "find_package, build" consumer "$work/app" "-DCMAKE_PREFIX_PATH=$prefix" \
        "-DCONSUMER_PORT=$source/apps/examples/port.cpp"
    rm -rf "$work/static"
    check "run on tbb" app_to "$work/app.txt" "$work/app/app" tbb
    check "the backend is in the program" uses_backend_of "$work/app.txt" "built in"
    check "the program does not need libconcord" needs_no libconcord "$work/app/app"
    check "the porting kit passes a right kernel" app_to "$work/port.txt" "$work/app/port" tbb
    check "and catches a wrong one" ends_with 1 run_app "$work/app/port" --wrong tbb
    check "it does not need libconcord either" needs_no libconcord "$work/app/port"

    check "pkg-config, build" with_pkg_config "$prefix" "$work/pkg-config" --static
    check "run on tbb" app_to "$work/pkg-config.txt" "$work/pkg-config" tbb
    check "the flags of pkg-config change no bit" same_bits "$work/app.txt" "$work/pkg-config.txt"
    check "the program does not need libconcord" needs_no libconcord "$work/pkg-config"

    # Started through PATH, a program's argv[0] may be the name of a file in the current folder.
    plant "$work/here" "$work/app"
    cp "$work/app/modules" "$work/here"
    check "start through PATH, next to planted modules" lists_modules "$work/here" "$work/app"
    check "the backends are in the program" grep -qx "tbb built in" "$work/modules.txt"
    check "no planted code runs" fails grep -q planted "$work/modules.txt"
}
plant() {  # FOLDERS...: modules that must not be loaded
    local folder name
    "$compiler" -shared -fPIC -o "$work/planted.so" "$source/tests/package/consumer/planted.cpp"
    for folder in "$@"; do
        mkdir -p "$folder/concord"
        for name in concord-backend-planted.so concord-baselines-planted.so libconcord-mpi.so; do
            cp "$work/planted.so" "$folder/$name"
            cp "$work/planted.so" "$folder/concord/$name"
        done
    done
}
lists_modules() {  # FOLDER BIN_DIR
    (cd "$1" && CONCORD_BACKEND_PATH=$1 PATH=$2:$PATH exec modules) >"$work/modules.txt"
}
needs_no() {  # LIBRARY PROGRAM
    local list
    list=$(ldd "$2") && [[ $list != *"$1"* ]]
}

case $what in
    installed | subdirectory | static) "$what" ;;
    *)
        echo "package.sh: installed, subdirectory or static, not '$what'" >&2
        exit 2
        ;;
esac
finish
