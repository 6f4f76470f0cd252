#!/usr/bin/env bash
# filter.sh BIN_DIR [DEVICE...]: runs the example `filter` on small pictures with known results, on each device
# (default: tbb).
set -u
export LC_ALL=C

filter=$(cd -- "${1:?usage: filter.sh BIN_DIR [DEVICE...]}" && pwd -P)/example-filter || exit 2
shift
devices=("$@")
[[ $# != 0 ]] || devices=(tbb)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
passed=0
failed=0

picture() {  # FILE HEAD BYTES...
    printf '%b' "$2" >"$1"
    # shellcheck disable=SC2059  # the bytes are escapes
    printf "$(printf '\\x%02x' "${@:3}")" >>"$1"
}
verdict() {  # NAME PROBLEM
    if [[ -z $2 ]]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED  $1: $2"
    fi
}
# gives WANTED FILTER FILE DEVICE
gives() {
    rm -f out.pnm
    "$filter" "$2" "$3" out.pnm "$4" >said 2>&1
    verdict "filter $2 $3 on $4" "$(cmp "$1" out.pnm 2>&1 || cat said)"
}
# refused WORDS ARGUMENTS...: status 2, and no output
refused() {
    rm -f out.pnm
    "$filter" "${@:2}" >said 2>&1
    local status=$?
    [[ $status == 2 && $(cat said) == *"$1"* && ! -e out.pnm ]]
    verdict "filter ${*:2}" "$([[ $? == 0 ]] || echo "expected status 2 and '$1', came $status, '$(cat said)'")"
}

head='P5\n# a comment\n4 3\n255\n'
plain='P5\n4 3\n255\n'
picture dot.pgm "$head" 0 0 0 0 0 200 0 0 0 0 0 0
picture sharp.pgm "$plain" 0 0 0 0 0 255 0 0 0 0 0 0
picture step.pgm "$head" 0 0 50 50 0 0 50 50 0 0 50 50
picture edges.pgm "$plain" 0 200 200 0 0 200 200 0 0 200 200 0
colours='P6\n2 2\n255\n'
picture flat.ppm "$colours" 9 80 255 9 80 255 9 80 255 9 80 255
for device in "${devices[@]}"; do
    gives sharp.pgm sharpen dot.pgm "$device"
    gives edges.pgm edges step.pgm "$device"
    for name in blur blur:2.5 sharpen; do gives flat.ppm $name flat.ppm "$device"; done
done
refused "unknown filter 'frob'" frob dot.pgm out.pnm tbb
refused "invalid sigma in 'blur:x'" blur:x dot.pgm out.pnm tbb
refused "nosuch.pgm cannot be read" blur nosuch.pgm out.pnm tbb
head -c 20 dot.pgm >short.pgm
refused "short.pgm" blur short.pgm out.pnm tbb
refused "is not a binary PGM" blur said out.pnm tbb
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]
