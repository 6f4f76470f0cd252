#!/usr/bin/env bash
# package.sh BUILD_DIR SOURCE_DIR OUT_DIR [ARGUMENTS OF CPACK...]: makes the Debian packages libconcord0,
# libconcord0-dev and concord of a build, in OUT_DIR. Compiles nothing: a second build folder, BUILD_DIR/debian, is
# configured for /usr
# (the preset `debian`), and gets copies of the binaries, which do not depend on the prefix. DEBFULLNAME and DEBEMAIL
# are the packages' maintainer. The same build gives the same packages: their times are SOURCE_DATE_EPOCH, by default
# the commit's.
set -euo pipefail

die() {
    printf 'package.sh: %s\n' "$*" >&2
    exit 1
}
[[ $# -ge 3 ]] || die "expected BUILD_DIR SOURCE_DIR OUT_DIR, got $# arguments"
build=$(cd -- "$1" && pwd -P)
source=$(cd -- "$2" && pwd -P)
mkdir -p "$3"
out=$(cd -- "$3" && pwd -P)
shift 3
folder=$build/debian
for program in cpack dpkg-deb dpkg-shlibdeps file gzip ninja strip; do
    command -v "$program" >/dev/null || die "$program: not found (Debian: cmake dpkg dpkg-dev file gzip ninja-build binutils)"
done

cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
[[ $(cached BUILD_SHARED_LIBS) == ON && $(cached CONCORD_STATIC_BACKENDS) == OFF && -z $(cached CONCORD_SANITIZE) ]] ||
    die "$build is a static build or has sanitizers; packages need a build with shared libraries"
[[ -x $build/bin/concord ]] || die "$build/bin/concord: no such file; build it first"
if [[ -z ${SOURCE_DATE_EPOCH:-} ]]; then
    SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct 2>/dev/null) || SOURCE_DATE_EPOCH=$(date +%s)
fi
export SOURCE_DATE_EPOCH

mkdir -p "$folder"
log=$folder/package.log
logged() { "$@" >>"$log" 2>&1 || { tail -n 30 "$log" >&2; die "$1 failed; its output is in $log"; }; }
: >"$log"
cd "$source"
logged cmake --preset debian -B "$folder" "-DCMAKE_BUILD_TYPE=$(cached CMAKE_BUILD_TYPE)" \
    "-DCMAKE_CXX_COMPILER=$(cached CMAKE_CXX_COMPILER)" "-DCONCORD_BACKENDS=$(cached CONCORD_BACKENDS)" \
    "-DCONCORD_CUDA_INCLUDE=$(cached CONCORD_CUDA_INCLUDE)"

rm -rf "${folder:?}"/{bin,lib,share,_CPack_Packages}
mkdir "$folder/bin" "$folder/lib"
cp -a "$build/bin/concord" "$folder/bin"
cp -a "$build/share" "$folder"
cp -a "$build"/lib/libconcord*.so* "$build"/lib/concord-backend-*.so "$folder/lib"
rm -f "$folder"/lib/libconcord-mpi.so*

logged cpack -G DEB --config "$folder/CPackConfig.cmake" -B "$folder" "$@"
while IFS= read -r name; do
    mv "$name" "$out"
    echo "$out/$(basename "$name")"
done < <(sed -n 's/^CPack: - package: \(.*\) generated\.$/\1/p' "$log")
rm -rf "$folder/_CPack_Packages"
