#!/usr/bin/env python3
"""python_examples.py PAGE...: runs the prompts (>>>) in the python blocks of Markdown pages and compares their output."""
import doctest
import re
import sys
from pathlib import Path

failed = tried = 0
for page in map(Path, sys.argv[1:]):
    text = page.read_text(encoding="utf-8")
    # Lines keep their numbers: all that is not in a python block becomes empty.
    lines, inside = [], False
    for line in text.split("\n"):
        fence = re.match(r" *```(\w*)", line)
        if fence:
            inside = fence[1] == "python"
            lines.append("")
        else:
            lines.append(line if inside else "")
    test = doctest.DocTestParser().get_doctest("\n".join(lines), {}, page.name, str(page), 0)
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
    failed, tried = failed + result.failed, tried + result.attempted
print(f"{tried} examples, {failed} failed")
sys.exit(1 if failed or not tried else 0)
