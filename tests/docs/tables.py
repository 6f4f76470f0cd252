#!/usr/bin/env python3
"""tables.py [--update] CONCORD [FILE...]: compares generated blocks in Markdown files with what their commands print now.

A generated block is between two lines. The first line names the command.
    <!-- generated: concord algorithms scan --markdown -->
    <!-- generated: end -->
CONCORD is the program that runs them; apps/ports/page.py prints the pages of the worked ports. `README.md NAME` stands for the lines
of README.md between `<!-- NAME:begin -->` and `<!-- NAME:end -->`. Default files: README.md and all pages
in docs/. Also compares the figures of `concord study --page figures` with those in docs/_static. README.md and the pages in
docs/performance/ may have times, rates and ratios in generated blocks only, and every stored measurement must be on a page: those of
NAME.bench.json on docs/performance/NAME.md, and those of NAME.ranks.json on any page. With --update, writes the current output into
the files.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(<!-- generated: (?!end)([^>]*?) -->\n)(.*?)(<!-- generated: end -->\n)", re.DOTALL)
MEASURED = re.compile(r"\d(?:\.\d+)?(?:x\b|\s?(?:%|[kMGT]?(?:B|elem|FLOP)/s|[mµun]s\b))")
PORT_PAGE = "apps/ports/page.py"
FIGURES = ("agreement.svg", "speedups.svg")


def main():
    arguments = sys.argv[1:]
    update = "--update" in arguments
    concord, *files = [a for a in arguments if a != "--update"]
    concord = Path(concord).resolve()
    pages = [Path(f) for f in files] or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    # Output must not depend on the user's settings or on a terminal's width.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CONCORD_")} | {"COLUMNS": "120", "LC_ALL": "C.UTF-8"}
    printed, problems, blocks, stale = {}, [], 0, 0

    def output_of(command):
        if command not in printed:
            program, *rest = shlex.split(command)
            if program == "README.md":
                lines = (ROOT / program).read_text(encoding="utf-8").split("\n")
                begin, end = (lines.index(f"<!-- {rest[0]}:{side} -->") for side in ("begin", "end"))
                return "\n".join(lines[begin + 1:end]) + "\n"
            path = {"concord": concord, PORT_PAGE: ROOT / PORT_PAGE}.get(program, "false")
            result = subprocess.run([path, *rest], cwd=ROOT, env=environment, capture_output=True, text=True)
            if result.returncode != 0:
                problems.append(f"`{command}` fails: {result.stderr.strip()}")
                printed[command] = None
            else:
                printed[command] = result.stdout if result.stdout.endswith("\n") else result.stdout + "\n"
        return printed[command]

    for page in pages:
        text = page.read_text(encoding="utf-8")

        def current(match):
            nonlocal blocks, stale
            begin, command, old, end = match.groups()
            blocks += 1
            new = output_of(command)
            if new is None:
                return match[0]
            if new != old:
                stale += 1
                print(f"{page}: the output of `{command}` is {'updated' if update else 'stale'}")
            return begin + new + end

        new = BLOCK.sub(current, text)
        if len(re.findall(r"^<!-- generated: ", text, re.MULTILINE)) != 2 * len(BLOCK.findall(text)):
            problems.append(f"{page}: a generated block without its end, or the other way round")
        if page == ROOT / "README.md" or page.parent == ROOT / "docs/performance":
            for found in MEASURED.finditer(BLOCK.sub("", text)):
                problems.append(f"{page}: '{found[0]}' is outside of the generated blocks")
        if update and new != text:
            page.write_text(new, encoding="utf-8")

    if not files:
        for path in sorted((ROOT / "docs/results").glob("*.bench.json")):
            name = path.name.split(".")[0]
            page = ROOT / "docs/performance" / f"{name}.md"
            if not page.exists() or f"<!-- generated: concord study --page machine {name} -->" not in page.read_text(encoding="utf-8"):
                problems.append(f"{path} is not shown: {page} lacks the block `concord study --page machine {name}`")
        commands = {match[2] for page in pages for match in BLOCK.finditer(page.read_text(encoding="utf-8"))}
        for path in sorted((ROOT / "docs/results").glob("*.ranks.json")):
            command = f"concord study --page ranks {path.name.split('.')[0]}"
            if command not in commands:
                problems.append(f"{path} is not shown: no page has the block `{command}`")
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([concord, "study", "--page", "figures", folder], cwd=ROOT, env=environment, check=True)
            for name in FIGURES:
                made, stored = Path(folder) / name, ROOT / "docs/_static" / name
                if not made.exists():
                    problems.append(f"{name} is not generated")
                    continue
                blocks += 1
                if not stored.exists() or stored.read_bytes() != made.read_bytes():
                    stale += 1
                    print(f"{stored}: {'updated' if update else 'stale'}")
                    if update:
                        stored.write_bytes(made.read_bytes())

    print(f"{blocks} generated blocks, {stale} {'updated' if update else 'stale'}")
    for problem in problems:
        print(f"FAILED: {problem}")
    if blocks == 0:
        sys.exit("no generated block found")
    if stale and not update:
        sys.exit(f"run tests/docs/tables.py --update {concord}")
    sys.exit(1 if problems else 0)


main()
