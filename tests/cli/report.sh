#!/usr/bin/env bash
# report.sh BIN_DIR: opens a study's report in headless Chromium, without a network, wide and as narrow as a phone.
# The console has no errors, each figure has a mark for each value, and nothing is wider than the page. Skipped (77)
# without Chromium.
set -euo pipefail
export LC_ALL=C

bin=$(cd -- "$1" && pwd -P)
source "$(dirname -- "${BASH_SOURCE[0]}")/browser.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$bin/concord" study reduce-steps coalescing scaling portability --quick --devices tbb --out "$work/report"

# Opens the page with a script that inspects it, in a frame of WIDTH. The text of #verdict is the result.
look() {  # PAGE WIDTH [MORE]
    {
        cat "$1"
        echo "<script>const results = $(cat "$work/report/results.json"); ${3:-}"
        cat <<'JS'
const problems = [], need = (what, good) => { if (!good) problems.push(what); };
// Fields of CSV, which may be quoted.
const fields = line => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(m => m[1]);
let figures = 0, marks = 0;
for (const figure of document.querySelectorAll('figure')) {
    const svg = figure.querySelector('svg.plot'), id = figure.id;
    const link = figure.querySelector('a[download]').href;
    const rows = decodeURIComponent(link.slice(link.indexOf(',') + 1)).trim().split('\n').slice(1);
    need(id + ' has no table', figure.querySelector('table caption') && figure.querySelectorAll('tbody tr').length > 0);
    if (!svg) continue;
    figures += 1;
    const drawn = [...svg.querySelectorAll('.mark')], asked = rows.filter(row => fields(row)[2] !== '').length;
    marks += drawn.length;
    need(`${id}: ${drawn.length} marks, the data ask for ${asked}`, drawn.length === asked && asked > 0);
    need(id + ' says nothing to screen readers', svg.getAttribute('role') === 'img' &&
        svg.getAttribute('aria-labelledby').split(' ').every(name => document.getElementById(name).textContent));
    const page = svg.getBoundingClientRect();
    for (const mark of drawn) {
        const box = mark.getBoundingClientRect();
        need(id + ' has a mark outside', box.width > 0 && box.left >= page.left - 1 && box.right <= page.right + 1 &&
            box.top >= page.top - 1 && box.bottom <= page.bottom + 1);
    }
    for (const text of svg.querySelectorAll('text')) {
        const box = text.getBoundingClientRect();
        need(`${id} has a text outside: ${text.textContent}`, box.left >= page.left - 2 && box.right <= page.right + 2);
    }
    const shapes = [...figure.querySelectorAll('.legend .mark-shape')].map(s => s.getAttribute('d') + s.classList);
    need(id + ' has two series of one shape', new Set(shapes).size === shapes.length);
}
const timed = results.results.filter(line => line.row.algorithm === 'reduce' && line.asked !== 'auto' && line.row.median_ms !== null);
need('the marks of reduce are not the results', timed.length > 0 &&
    document.querySelectorAll('#reduce-steps-2-1 .mark').length === timed.length);
const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
need('an id is there twice', new Set(ids).size === ids.length);
for (const link of document.querySelectorAll('a[href^="#"]')) need('a link leads nowhere: ' + link.hash, document.querySelector(link.hash));
need('the page is wider than its window: ' + document.documentElement.scrollWidth + ' > ' + innerWidth,
     document.documentElement.scrollWidth <= innerWidth);
need('there is too little to see', figures >= 8 && marks >= 40);
parent.postMessage(`${figures} figures, ${marks} marks: ${[...new Set(problems)].join('; ') || 'well'}`, '*');
</script>
JS
    } >"$work/looked.html"
    cat >"$work/frame.html" <<HTML
<!doctype html><meta charset="utf-8"><pre id="verdict">nothing came</pre>
<script>addEventListener('message', e => document.getElementById('verdict').textContent = e.data);</script>
<iframe src="looked.html" style="width:$2px;height:900px"></iframe>
HTML
    "$browser" --headless=new --no-sandbox --disable-gpu --disable-extensions --user-data-dir="$work/profile" --no-first-run \
        --proxy-server=127.0.0.1:9 --host-resolver-rules='MAP * ~NOTFOUND' --allow-file-access-from-files \
        --window-size=1400,1000 --virtual-time-budget=20000 --enable-logging=stderr --dump-dom \
        "file://$work/frame.html" >"$work/dom" 2>"$work/log" || { tail -n 5 "$work/log"; return 1; }
    sed -n 's/.*<pre id="verdict">\(.*\)<\/pre>.*/\1/p' "$work/dom" | sed 's/&gt;/>/g; s/&lt;/</g; s/&amp;/\&/g'
    grep -o 'CONSOLE.*' "$work/log" || true
}

failed=0
expect() {  # NAME WORDS TEXT
    if [[ $3 == *$2* ]]; then
        echo "passed: $1: $3"
    else
        echo "FAILED: $1: expected '$2', came '$3'"
        failed=1
    fi
}
quiet() { [[ $1 != *CONSOLE* ]] || { echo "FAILED: the console has: $1"; failed=1; }; }

page=$work/report/report.html
for width in 1200 390; do
    said=$(look "$page" "$width")
    expect "$width pixels wide" "marks: well" "$said"
    quiet "$said"
done
# The inspection must see faults.
sed '0,/<g class="mark">/s//<g class="gone">/' "$page" >"$work/faulty.html"
expect "a mark that is missing is seen" "the data ask for" "$(look "$work/faulty.html" 1200)"
expect "an error on the console is seen" "CONSOLE" "$(look "$page" 1200 'console.error("planted");')"
exit $failed
