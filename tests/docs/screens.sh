#!/usr/bin/env bash
# screens.sh BUILD_DIR OUT [REPORT]: screenshots of the site in BUILD_DIR/docs/html (first page, an algorithm's
# page, a reference page, performance) and of a study's report.html, in light, in dark and at phone width, for a look
# by eye. Not a test of its own.
set -euo pipefail

build=$(cd -- "$1" && pwd -P)
mkdir -p "$2"
out=$(cd -- "$2" && pwd -P)
report=${3:-}
source "$(dirname -- "${BASH_SOURCE[0]}")/../cli/browser.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

shoot() {  # NAME URL WIDTH HEIGHT SCHEME
    local scheme=1
    [[ $5 == light ]] || scheme=0
    local url=$2
    # A window has a minimum width; a frame does not.
    if [[ $3 -lt 500 ]]; then
        printf '<!doctype html><body style="margin:0"><iframe src="%s" style="border:0;width:%spx;height:%spx"></iframe>' \
            "$2" "$3" "$4" >"$work/frame.html"
        url=file://$work/frame.html
    fi
    "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" --no-first-run \
        --proxy-server=127.0.0.1:9 --host-resolver-rules='MAP * ~NOTFOUND' --allow-file-access-from-files \
        --blink-settings=preferredColorScheme=$scheme --window-size="$3,$4" --virtual-time-budget=5000 \
        --screenshot="$out/$1.png" "$url" >/dev/null 2>"$work/log" || { tail -n 3 "$work/log"; return 1; }
    echo "$out/$1.png"
}

for page in ${PAGES:-index algorithms/scan reference/scan performance/index}; do
    name=${page//\//-}
    for scheme in light dark; do
        shoot "$name-$scheme" "file://$build/docs/html/$page.html" 1280 1600 "$scheme"
    done
    shoot "$name-phone" "file://$build/docs/html/$page.html" 390 1400 light
done
if [[ $report ]]; then
    report=$(realpath -- "$report")
    for scheme in light dark; do
        shoot "report-$scheme" "file://$report" 1280 1800 "$scheme"
    done
    shoot report-phone "file://$report" 390 1600 light
fi
