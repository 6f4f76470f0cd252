#!/usr/bin/env python3
"""page.py [--lines] NAME: prints the page of the port apps/ports/NAME, in Markdown.

The page has the comment at the head of NAME.cpp, whose first line is the title, the kernel before and after, and the
planted faults, from comments that begin with a number. The port's kernel is between `// clang-format off` and `on`, the
original's is original.cu. A port of several originals has several such parts. Each begins with `// WORD: title`, and its
original is original_WORD.cu. With --lines, fails if a part has more than 1.1 times the lines of its original.
"""
import re
import sys
from pathlib import Path

LIMIT = 1.1


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
    parts, found = [], re.findall(r"^// clang-format off\n(?:// ([a-z]+): ([^\n]*)\n)?(.*?)^// clang-format on\n", source,
                                  re.DOTALL | re.MULTILINE)
    for word, title, kernel in [part for part in found if part[0]] or found[:1]:
        text = (folder / f"original{word and '_' + word}.cu").read_text(encoding="utf-8")
        original = re.sub(r"\A(//[^\n]*\n)+", "", text)
        parts.append((title, original, kernel, code_lines(original), code_lines(kernel)))
    if "--lines" in sys.argv:
        for title, _, _, before, after in parts:
            print(f"{title or name}: {before} lines of kernel code in CUDA C++, {after} in the port")
        return 0 if all(after <= LIMIT * before for _, _, _, before, after in parts) else 1
    files = [f"[{name}.cpp](../../apps/ports/{name}/{name}.cpp)"]
    files += [f"[{file.name}](../../apps/ports/{name}/{file.name})" for pattern in ("*.hpp", "*.cu") for file in sorted(folder.glob(pattern))]
    # The numbers follow each other in the source. A description may go on in further comment lines.
    faults = re.findall(r"^ *// (?:Planted faults\. )?(\d): ((?:[^\n]*\n)(?: *// (?!\d: )[^\n]*\n)*)", source, re.MULTILINE)
    print(f"# {head[0]}\n")
    print("\n".join(head[1:]).strip() + "\n")
    print(f"Files: {', '.join(files)}. The program `port-{name}` checks the port on all devices. `--bench` measures it.\n")
    if len(parts) > 1:
        print("Lines of kernel code:\n\n| | original | port |\n|---|--:|--:|")
        print("\n".join(f"| {title} | {before} | {after} |" for title, _, _, before, after in parts) + "\n")
    for title, original, kernel, before, after in parts:
        level = "##"
        if title:
            print(f"## {title}\n")
            level = "###"
        print(f"{level} The original\n\n```cuda\n{original.strip()}\n```\n")
        print(f"{level} The port\n\n```cpp\n{kernel.strip()}\n```\n")
        print(f"The original has {before} lines of kernel code, the port {after}.\n")
    print(f"## Planted faults\n\n`port-{name} --fault N` runs the check with a fault. The test requires that it finds each:\n")
    for number, text in faults:
        words = " ".join(part.strip().removeprefix("//").strip() for part in text.splitlines())
        print(f"{number}. {words[0].upper()}{words[1:]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
