#!/usr/bin/env python3
"""docs_tables.py [--update] CONCORD FILE...: whether the generated tables in Markdown files are current.

A generated table is between two lines; the first one names the command that prints it:
    <!-- generated: concord algorithms scan --markdown -->
    <!-- generated: end -->
CONCORD is the program that runs these commands. With --update, writes what they print into the files.
"""
import re
import shlex
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"(<!-- generated: concord ([^>]*?) -->\n)(.*?)(<!-- generated: end -->\n)", re.DOTALL)


def main():
    arguments = sys.argv[1:]
    update = "--update" in arguments
    concord, *files = [a for a in arguments if a != "--update"]
    stale = blocks = 0
    for file in map(Path, files):
        def current(match):
            nonlocal stale, blocks
            begin, command, text, end = match.groups()
            printed = subprocess.run([concord, *shlex.split(command)], check=True, capture_output=True, text=True).stdout
            blocks += 1
            if text != printed:
                stale += 1
                print(f"{file}: the table of `concord {command}` is {'updated' if update else 'stale'}")
            return begin + printed + end

        text = file.read_text(encoding="utf-8")
        new = BLOCK.sub(current, text)
        if update and new != text:
            file.write_text(new, encoding="utf-8")
    print(f"{blocks} tables, {stale} stale")
    if blocks == 0:
        sys.exit("no generated table found")
    if stale and not update:
        sys.exit(f"run {sys.argv[0]} --update {concord} {' '.join(files)}")


main()
