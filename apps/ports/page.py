#!/usr/bin/env python3
"""page.py [--lines] NAME: prints the page of the port apps/ports/NAME, in Markdown.

The page has the comment at the head of NAME.cpp, whose first line is the title, the kernels before and after, and the
planted faults, from comments that begin with a number. The originals are the files *.cu in the order of their names. The
ports are the first parts of NAME.cpp between `clang-format off` and `on`, in the same order. With --lines, fails if a port has
more than 1.2 times the lines of its original.
"""
import re
import sys
from pathlib import Path

LIMIT = 1.2


def code_lines(text):
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("//"))


def main():
    arguments = [a for a in sys.argv[1:] if a != "--lines"]
    name = arguments[0]
    folder = Path(__file__).resolve().parent / name
    source = (folder / f"{name}.cpp").read_text(encoding="utf-8")
    head = []
    for line in source.splitlines():
        if not line.startswith("//"):
            break
        head.append(line[2:].removeprefix(" "))
    ports = re.findall(r"^// clang-format off\n(.*?)^// clang-format on\n", source, re.DOTALL | re.MULTILINE)
    originals = sorted(folder.glob("*.cu"))
    if len(ports) < len(originals):
        sys.exit(f"{name}: {len(originals)} originals, {len(ports)} ports")
    texts = [re.sub(r"\A(//[^\n]*\n)+", "", file.read_text(encoding="utf-8")) for file in originals]
    lines = [(code_lines(before), code_lines(after)) for before, after in zip(texts, ports)]
    if "--lines" in sys.argv:
        for file, (before, after) in zip(originals, lines):
            print(f"{name}, {file.name}: {before} lines of kernel code in CUDA C++, {after} in the port")
        return 0 if all(after <= LIMIT * before for before, after in lines) else 1
    files = [f"[{name}.cpp](../../apps/ports/{name}/{name}.cpp)"]
    files += [f"[{file.name}](../../apps/ports/{name}/{file.name})" for file in originals]
    # The numbers follow each other in the source. A description may go on in further comment lines.
    faults = re.findall(r"^ *// (?:Planted faults\. )?(\d): ((?:[^\n]*\n)(?: *// (?!\d: )[^\n]*\n)*)", source, re.MULTILINE)
    print(f"# {head[0]}\n")
    print("\n".join(head[1:]).strip() + "\n")
    print(f"Files: {', '.join(files)}. The program `port-{name}` checks the port on all devices. `--bench` measures it.\n")
    for file, original, port, (before, after) in zip(originals, texts, ports, lines):
        of = f": {file.name}" if len(originals) > 1 else ""
        print(f"## The original{of}\n\n```cuda\n{original.strip()}\n```\n")
        print(f"## The port{of and f' of {file.name}'}\n\n```cpp\n{port.strip()}\n```\n")
        print(f"The original has {before} lines of kernel code, the port {after}.\n")
    print(f"## Planted faults\n\n`port-{name} --fault N` runs the check with a fault. The test requires that it finds each:\n")
    for number, text in faults:
        words = " ".join(part.strip().removeprefix("//").strip() for part in text.splitlines())
        print(f"{number}. {words[0].upper()}{words[1:]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
