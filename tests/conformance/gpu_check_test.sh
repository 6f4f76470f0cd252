#!/usr/bin/env bash
# gpu_check_test.sh BUILD_DIR SOURCE_DIR: `./setup gpu-check` without a GPU. The gathered programs start without the
# build's libraries. Then a stand-in for the program has a GPU: a failed step is reported and repeated, and steps that
# have passed are not.
set -u
export LC_ALL=C

build=$1 source=$2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0
expect() {  # WHAT COMMAND...
    local what=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        echo "ok      $what"
    else
        failed=1
        echo "FAILED  $what: $*"
        tail -n 20 "$work/log" | sed 's/^/        /'
    fi
}
ends_with() {  # STATUS COMMAND...
    local status=0
    "${@:2}" || status=$?
    [[ $status == "$1" ]]
}
git -C "$source" rev-parse --quiet --verify HEAD >/dev/null || { echo "skipped: not a git checkout"; exit 77; }

export CONCORD_GPU_CHECK_NVRTC=off
expect "gathers a build" "$source/tests/conformance/gpu_pack.sh" "$build" "$source" "$work/packed" HEAD
expect "refuses an unknown commit" ends_with 2 "$source/tests/conformance/gpu_pack.sh" "$build" "$source" "$work/other" nosuch
mkdir "$work/full" && touch "$work/full/file"
expect "refuses a folder with other files" ends_with 2 "$source/tests/conformance/gpu_pack.sh" "$build" "$source" "$work/full" HEAD
mv "$work/packed" "$work/moved here"
cd "$work/moved here" || exit 2
expect "the programs find their libraries" env "LD_LIBRARY_PATH=$PWD/lib" sh -c '! ldd bin/* lib/*.so* | grep "not found"'
expect "they use no library of the build" env "LD_LIBRARY_PATH=$PWD/lib" sh -c '! ldd bin/* lib/*.so* | grep -F "$0"' "$build/lib"
expect "ends with 77 without a GPU" env CUDA_VISIBLE_DEVICES= OCL_ICD_FILENAMES=none OCL_ICD_VENDORS=/nonexistent \
    sh -c './run; test $? = 77'
rm -rf results

cat >bin/concord <<'STUB'
#!/bin/sh
case $1 in
    devices) echo '"selector": "opencl:7",'; echo '"many work-items per group": "yes",' ;;
    study) [ "$2" != --regressions ] || [ ! -e "$(dirname "$0")/../speed" ] || exit "$(cat "$(dirname "$0")/../speed")" ;;
    check) [ ! -e slow ] || { sleep 3; touch survived; }; echo "$2" >>"$(dirname "$0")/../ran"; [ "$2" != scan ] || [ -e "$(dirname "$0")/../mended" ] ;;
esac
STUB
printf '#!/bin/sh\n' >bin/concord-tests
chmod +x bin/*
expect "a step that fails ends with 1" ends_with 1 ./run
expect "and is in the table" grep -qE '^check\.scan +FAILED' results/table.txt
expect "the others passed" grep -qE '^check\.reduce +passed' results/table.txt
touch mended
expect "once it passes, the run ends with 0" ./run
expect "only the failed step was repeated" test "$(sort ran | uniq -d)" = scan
expect "without --quick it compares with stored results" grep -qE '^speed +passed' results/table.txt
for result in "1 FAILED" "3 skipped"; do
    rm results/speed.status
    echo "${result% *}" >speed
    ./run >/dev/null
    expect "speed: status ${result% *} is ${result#* }" grep -qE "^speed +${result#* }" results/table.txt
done
expect "and stored results are in the folder" test -s stored/h100.bench.json
rm -rf results
touch slow
expect "ends with 130 when it is interrupted" sh -c './run & sleep 1; kill -TERM $!; wait $!; test $? = 130'
expect "and leaves no step behind" sh -c 'sleep 4; test ! -e survived'
rm slow
echo other >commit
expect "results of another commit are not continued" ends_with 2 ./run
exit "$failed"
