#!/usr/bin/env python3
"""layout.py HTML [--all]: opens every page of the built site in headless Chromium and finds layout faults.

Faults: text that is clipped or outside of the window, overlapping text, a page with a frame or wider than its window, a number that is
separated from its unit, small letters in figures, low contrast; in wide windows also code and tables that scroll. Windows are 390 and 1320
pixels wide, with --all also 800, 1280, 1366 and 1920. Pages with planted faults prove that each kind is found. Ends with 77 without Chromium or site.
"""
import http.server
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse
from pathlib import Path

HERE = Path(__file__).resolve().parent
TEST = "/layout-test/"  # the test's own pages
LIMIT_S = 240

# Kind of fault: the body of a page that has it. The style is that of the planted page.
PLANTED = {
    "none": "<h1>Title</h1><p>Text. <code>code</code></p><table><tr><td>1.25 GB/s</td></tr></table>",
    "wide page": "<div style='width: 3000px; height: 9px; background: red'></div>",
    "clipped": "<div style='width: 99px; overflow: hidden; white-space: nowrap'>Text that is longer than its box</div>",
    "outside": "<p style='margin-left: -40px'>Text that begins outside of the window</p>",
    "overlap": "<p>First line</p><p style='margin-top: -2em'>Second line</p>",
    "frame": "<style>body { margin: 8px }</style><p>Text</p>",
    "scrolling code": "<pre style='width: 200px; overflow: auto'>a line of code that is longer than its block</pre>",
    "scrolling table": "<div style='width: 99px; overflow: auto'><table><tr><td style='min-width: 200px'>wide</td></tr></table></div>",
    "split number": "<table><tr><td><div style='width: 3em'>12345 GB/s</div></td></tr></table>",
    "low contrast": "<p style='color: #ccc'>Text</p>",
    "small letters": "<img alt='' style='width: 100px' src='data:image/svg+xml,"
                     "<svg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 400 20%22><text font-size=%2211%22 y=%2215%22>a</text></svg>'>",
    "error": "<script>throw Error('planted')</script>",
    "error ": "<p>Text</p><img alt='' src='missing.png'>",
}


# Collects errors of scripts and of loading from the first line of a page on.
WATCH = "<script>errors = []; addEventListener('error', e => errors.push(e.message || e.target.src || e.target.href), true)</script>"


def planted_page(body):
    return f"<!doctype html><meta charset=utf-8>{WATCH}<style>body {{ margin: 0; color: #000; background: #fff }}</style>{body}"


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if not self.path.startswith(TEST):
            file = Path(self.translate_path(self.path))
            if file.suffix == ".html" and file.is_file():
                return self.answer(file.read_text(encoding="utf-8").replace("<head>", "<head>" + WATCH, 1))
            return super().do_GET()
        name = urllib.parse.unquote(self.path.removeprefix(TEST))
        if name == "":
            script = (HERE / "layout.js").read_text(encoding="utf-8")
            return self.answer(f"<!doctype html><meta charset=utf-8><script>const jobs = {json.dumps(self.server.jobs)};\n{script}</script>")
        if name in PLANTED:
            return self.answer(planted_page(PLANTED[name]))
        self.send_error(404)

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode("utf-8")
        self.answer("")
        self.server.result = json.loads(text)
        self.server.done.set()

    def answer(self, text):
        data = text.encode("utf-8")
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def inspect(browser, folder, jobs):
    """The result of layout.js for these jobs: a list of faults for each job."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: Handler(*a, directory=str(folder)))
    server.jobs, server.result, server.done = jobs, None, threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work, open(Path(work) / "log", "w+", encoding="utf-8") as log:
        process = subprocess.Popen(
            [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--no-first-run", "--hide-scrollbars",
             f"--user-data-dir={work}/profile", "--remote-debugging-port=0", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
             "--window-size=2000,1000", f"http://127.0.0.1:{server.server_address[1]}{TEST}"],
            stdout=log, stderr=log)
        try:
            if not server.done.wait(LIMIT_S):
                log.seek(0)
                sys.exit(f"FAILED: Chromium gave no result in {LIMIT_S} s\n{log.read()[-2000:]}")
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            server.shutdown()
    return server.result


def main():
    folder = Path(sys.argv[1]).resolve()
    # 1320 is the narrowest window with three columns.
    widths = [390, 800, 1280, 1320, 1366, 1920] if "--all" in sys.argv[2:] else [390, 1320]
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        print("skipped: Chromium is not installed (apt-get install chromium)")
        sys.exit(77)
    pages = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.html"))
    if not pages:
        print(f"skipped: there is no site in {folder} (docs/build.sh)")
        sys.exit(77)
    planted = [{"page": TEST + urllib.parse.quote(kind), "widths": [1280]} for kind in PLANTED]
    jobs = planted + [{"page": "/" + page, "widths": widths} for page in pages]
    faults = inspect(browser, folder, jobs)
    failed = 0
    for kind, found in zip(PLANTED, faults):
        kinds = {fault["kind"] for fault in found} or {"none"}
        if kinds != {kind.strip()}:
            print(f"FAILED: a page with the fault '{kind}' has the faults {sorted(kinds)}")
            failed += 1
    for page, found in zip(pages, faults[len(planted):]):
        for fault in found:
            print(f"FAILED: {page}, {fault['window']}: {fault['kind']}: {fault['what']}")
            failed += 1
    print(f"{len(pages)} pages, widths {', '.join(map(str, widths))}, {len(PLANTED) - 1} planted faults: {failed} failed")
    sys.exit(1 if failed or len(pages) < 20 else 0)


main()
