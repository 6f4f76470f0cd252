#!/usr/bin/env bash
# deb.sh WHAT BUILD_DIR SOURCE_DIR: makes the Debian packages of a build, checks their fields and files, and uses them.
# WHAT:
#   unpacked  runs the program from a folder that the packages are unpacked into
#   root      also runs lintian, and installs the packages into a new minimal system, which debootstrap makes with apt's
#             mirror; builds and runs programs there, and removes the packages
# Ends with 77, which ctest shows as skipped, if a tool is not installed, or if this user may not run debootstrap.
set -euo pipefail

what=$1 build=$(cd -- "$2" && pwd -P) source=$(cd -- "$3" && pwd -P)
[[ $what == unpacked || $what == root ]] || { echo "deb.sh: unpacked or root, not '$what'" >&2; exit 2; }
tools=(dpkg-deb dpkg-shlibdeps file)
[[ $what == unpacked ]] || tools+=(apt-get chroot debootstrap lintian unshare)
for tool in "${tools[@]}"; do
    if ! PATH=$PATH:/usr/sbin command -v "$tool" >/dev/null; then
        echo "deb.sh: not tested: $tool is not installed (./setup test --long installs dpkg-dev, file, lintian, debootstrap)"
        exit 77
    fi
done
if [[ $what == root && $(id -u) != 0 ]]; then
    echo "deb.sh: not tested: debootstrap needs root"
    exit 77
fi
# In the build folder: /tmp may be too small, or may not hold devices.
work=$(mktemp -d -p "$build")
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/package/checks.sh
source "$source/tests/package/checks.sh"

version=$(sed -n 's/^CMAKE_PROJECT_VERSION:[A-Z]*=//p' "$build/CMakeCache.txt")
major=${version%%.*}
library=libconcord$major
packages=("$library" libconcord0-dev concord)
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
architecture=$(dpkg --print-architecture)
root=$work/root
lib=usr/lib/$triplet

file_of() { echo "$work/packages/$1_$version-0local1_$architecture.deb"; }
field() { dpkg-deb -f "$(file_of "$1")" "$2"; }
# A package has a dependency among those of a field: each begins with a name, a space and, if there is one, a version.
has_field() { grep -qE "(^|, )$3" <<<"$(field "$1" "$2")" || { field "$1" "$2"; return 1; }; }
has_file() { grep -qxE "\./$2" "$work/$1.files" || { cat "$work/$1.files"; return 1; }; }
controls() { dpkg-deb --ctrl-tarfile "$(file_of "$1")" | tar -t | sed 's|^\./||' | sort | xargs; }
has_controls() { [[ $(controls "$1") == "$2" ]] || { controls "$1"; return 1; }; }
control_is() { [[ $(dpkg-deb --ctrl-tarfile "$(file_of "$1")" | tar -xO "./$2") == "$3" ]]; }
# Lists what does not have the permissions that Debian's rules ask for.
odd_permissions() {
    dpkg-deb -c "$(file_of "$1")" |
        grep -vE '^(drwxr-xr-x|-rw-r--r--|lrwxrwxrwx) root/root |^-rwxr-xr-x root/root .* \./usr/bin/concord$'
}
binaries() { find "$root/usr" -type f \( -path '*/bin/*' -o -name '*.so*' \); }
each_binary() {  # WHAT readelf MUST NOT PRINT, ITS OPTIONS
    local file found=0
    while read -r file; do
        found=$((found + 1))
        if readelf "${@:2}" -W "$file" | grep -E "$1" >/dev/null; then
            echo "$file"
            return 1
        fi
    done < <(binaries)
    ((found >= 6)) || { binaries; return 1; }
}
md5sums_fit() { (cd "$root" && dpkg-deb --ctrl-tarfile "$(file_of "$1")" | tar -xO ./md5sums | md5sum --quiet -c -); }
unpacked_concord() {
    (cd / && LD_LIBRARY_PATH=$root/$lib XDG_CACHE_HOME=$work/cache env -u CONCORD_BACKEND_PATH "$root/usr/bin/concord" "$@")
}
lists() {  # NAME COMMAND...
    "${@:2}" >"$work/list" || return
    grep -q "^$1" "$work/list" || { cat "$work/list"; return 1; }
}
passes_check() { "$@" check scan --types f32 --sizes 1,1025 --devices tbb; }

fields() {
    local name
    for name in "${packages[@]}"; do
        check "$name: version" test "$(field "$name" Version)" = "$version-0local1"
        check "$name: architecture" test "$(field "$name" Architecture)" = "$architecture"
        check "$name: synopsis" grep -q '^data-parallel computing' <<<"$(field "$name" Description)"
        check "$name: maintainer" grep -q '^Builder <builder@concord.invalid>$' <<<"$(field "$name" Maintainer)"
    done
    for name in libc6 libstdc++6 libtbb12 libspdlog; do
        check "$library depends on $name" has_field "$library" Depends "${name//+/\\+}"
    done
    check "$library recommends OpenCL's ICD loader" has_field "$library" Recommends ocl-icd-libopencl1
    check "$library suggests PoCL" has_field "$library" Suggests pocl-opencl-icd
    check "libconcord0-dev needs this $library" has_field libconcord0-dev Depends "$library \(= $version-0local1\)"
    check "concord needs this $library" has_field concord Depends "$library \(= $version-0local1\)"
    check "concord depends on libstdc++6" has_field concord Depends 'libstdc\+\+6'
    check "$library: no scripts" has_controls "$library" "control md5sums shlibs triggers"
    check "libconcord0-dev is not the other libconcord-dev" has_field libconcord0-dev Conflicts "libconcord-dev"
    check "libconcord0-dev: no scripts" has_controls libconcord0-dev "control md5sums"
    check "concord: no scripts" has_controls concord "control md5sums"
    check "$library runs ldconfig by a trigger" control_is "$library" triggers "activate-noawait ldconfig"
    check "programs that link $library depend on it" control_is "$library" shlibs "$(printf '%s\n' libconcord-bench \
        libconcord-check libconcord | sed "s/\$/ $major $library (= $version-0local1)/")"
}

contents() {
    local name
    for name in "${packages[@]}"; do
        dpkg-deb --fsys-tarfile "$(file_of "$name")" | tar -t >"$work/$name.files"
        check "$name: copyright" has_file "$name" "usr/share/doc/$name/copyright"
        check "$name: changelog" has_file "$name" "usr/share/doc/$name/changelog.Debian.gz"
        check "$name: owners and permissions" fails odd_permissions "$name"
        check "$name: no library of CUDA, OpenCL or MPI" fails has_file "$name" '.*/lib(nvrtc|cuda|cudart|OpenCL|mpi|concord-mpi).*'
    done
    for name in libconcord libconcord-check libconcord-bench; do
        check "$library: $name" has_file "$library" "$lib/$name\.so\.${version//./\\.}"
        check "$library: its soname" has_file "$library" "$lib/$name\.so\.$major"
        check "libconcord0-dev: its link" has_file libconcord0-dev "$lib/$name\.so"
    done
    check "$library: no link for linkers" fails has_file "$library" "$lib/[^/]*\.so"
    for name in "$build"/lib/concord-backend-*.so; do
        check "$library: $(basename "$name")" has_file "$library" "$lib/concord/$(basename "$name")"
    done
    for name in usr/include/concord/concord.hpp "$lib/cmake/concord/concord-config.cmake" "$lib/pkgconfig/concord.pc"; do
        check "libconcord0-dev: $name" has_file libconcord0-dev "$name"
    done
    for name in bin/concord share/man/man1/concord.1.gz share/man/man1/concord-run.1.gz share/zsh/vendor-completions/_concord \
        share/bash-completion/completions/concord share/fish/vendor_completions.d/concord.fish; do
        check "concord: usr/$name" has_file concord "usr/$name"
    done
    for name in "${packages[@]}"; do
        check "unpack $name" dpkg-deb -x "$(file_of "$name")" "$root"
        check "$name: checksums" md5sums_fit "$name"
    done
    check "no build or source folder in a text" fails names_folders "$root"
    check "no binary names folders of libraries" each_binary 'RPATH|RUNPATH' -d
    check "binaries are stripped" each_binary '\.symtab|\.debug_' -S
}

# --- The new system -----------------------------------------------------------------------------------------------

# shellcheck source=tests/package/new_system.sh
source "$source/tests/package/new_system.sh"
install_inside() { inside apt-get -q install -y --no-install-recommends "$@"; }
with_packages() {
    new_system || return
    mkdir "$system/packages"
    cp "$work"/packages/*.deb "$system/packages"
    cp -r "$source/tests/package/consumer" "$system/consumer"
}
inside_package() { echo "/packages/$(basename "$(file_of "$1")")"; }
inside_concord() { inside concord "$@"; }
bits_of() { inside "${@:2}" >"$work/$1" && grep -q '^reduce ' "$work/$1" && grep -v '^backend ' "$work/$1" >"$work/$1.bits"; }
from_package() { grep -qx "backend /$lib/concord/concord-backend-tbb.so" "$work/$1" || { cat "$work/$1"; return 1; }; }
leaves_nothing() { ! find "$system/usr" "$system/etc" -name '*concord*' | grep .; }

in_system() {
    local name
    check "debootstrap" with_packages
    [[ -e $system/packages ]] || finish
    check "apt-get install concord" install_inside "$(inside_package "$library")" "$(inside_package concord)"
    check "concord devices lists the CPU" lists tbb inside_concord devices
    check "concord check" passes_check inside_concord
    check "concord doctor ends normally" inside_concord doctor
    check "apt-get install libconcord0-dev" install_inside "$(inside_package libconcord0-dev)" g++ cmake make pkg-config
    # shellcheck disable=SC2016  # the inner shell expands it
    check "pkg-config, build" inside sh -c 'c++ -O2 -o /app consumer/main.cpp $(pkg-config --cflags --libs concord)'
    check "run it" bits_of pkg-config.txt /app tbb
    check "the backend is the installed one" from_package pkg-config.txt
    check "find_package, build" inside sh -c \
        'cmake -S consumer -B /by-cmake -DCMAKE_BUILD_TYPE=Release -DCONSUMER_CHECK=ON && cmake --build /by-cmake'
    check "run it" bits_of cmake.txt /by-cmake/app tbb
    check "pkg-config and CMake give the same bits" diff "$work/pkg-config.txt.bits" "$work/cmake.txt.bits"
    check "concord::check passes a right function" inside /by-cmake/check
    check "apt-get install PoCL" install_inside ocl-icd-libopencl1 pocl-opencl-icd
    check "concord devices lists OpenCL" lists opencl inside_concord devices
    check "run on OpenCL" bits_of opencl.txt /app opencl
    check "OpenCL gives the same bits" diff "$work/pkg-config.txt.bits" "$work/opencl.txt.bits"
    check "apt-get purge" inside apt-get -q purge -y "${packages[@]}"
    check "which leaves no file" leaves_nothing
}

# --- The test -----------------------------------------------------------------------------------------------------

options=()
[[ $what == root ]] || options=(-D CPACK_DEBIAN_COMPRESSION_TYPE=gzip)  # saves half of the time
make_packages() {  # FOLDER
    (umask 077 && DEBFULLNAME=Builder DEBEMAIL=builder@concord.invalid "$source/cmake/debian/package.sh" "$build" "$source" \
        "$1" "${options[@]}")
}
check "make the packages" make_packages "$work/packages"
for name in "${packages[@]}"; do
    check "$name is there" test -s "$(file_of "$name")"
done
[[ $failed == 0 ]] || finish
mkdir -m 755 "$root"
fields
contents
check "the unpacked program lists the CPU" lists tbb unpacked_concord devices
check "concord check" passes_check unpacked_concord
if [[ $what == root ]]; then
    check "lintian" lintian --allow-root --fail-on error,warning,override "$work"/packages/*.deb
    check "make the packages again" make_packages "$work/again"
    check "the same build gives the same packages" diff -r "$work/packages" "$work/again"
    in_system
fi
finish
