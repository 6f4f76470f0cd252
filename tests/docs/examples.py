#!/usr/bin/env python3
"""examples.py [--jobs N] [--keep DIR] BUILD_DIR PAGE...: compiles and runs the examples on Markdown pages.

Tests all fenced blocks of cpp, sh and cmake outside generated blocks. A page has a temporary folder. Its files are
written there first. Then its sh blocks run in order, then its C++ program. Markers are HTML comments directly before a
block:

    <!-- prelude: C++ -->         hidden C++ at namespace scope
    <!-- scope: C++ -->           hidden statements at the start of the body of every later block, until the next scope
    <!-- continued -->            the block continues the scope of the previous block
    <!-- namespace scope -->      the whole block is at namespace scope
    <!-- sh: COMMANDS -->         hidden commands
    <!-- file: NAME -->           the block is a file in the page's folder
    <!-- needs: PROGRAM -->       run only if PATH has the program; `device SELECTOR`: only if the device is available
    <!-- not run: REASON -->      C++ is only compiled; of sh only the syntax is checked
    <!-- not compiled: REASON -->

The C++ blocks of a page are one program. Includes, using, templates, types, CONCORD_ macros and function definitions
that begin in the first column are at namespace scope. The other lines of a block are the body of a function. A block
with `int main(` is a program of its own.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MARKER = re.compile(r"<!-- *(prelude|scope|sh|file|needs|not run|not compiled): *(.*?)-->|<!-- *(continued|namespace scope) *-->", re.DOTALL)
FENCE = re.compile(r"^(?P<indent> {0,3})(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)$")
TESTED = ("cpp", "sh", "cmake")
# What begins an item of namespace scope in the first column; keywords that begin a statement are not types.
ITEM = re.compile(r"#|CONCORD_[A-Z_]+\(|template\b|(struct|class|enum|union|namespace|using|inline|extern|static_assert)\b")
DEFINITION = re.compile(r"(?!(if|for|while|switch|do|else|return|try|catch|const auto|auto)\b)[\w:<>,&*\[\] ]+?[ &*]~?\w+\([^;=]*\)( const| noexcept)*\s*\{")
INCLUDES = ["concord/concord.hpp", "algorithm", "array", "cmath", "cstdio", "cstring", "exception", "fstream", "iostream", "memory",
            "numeric", "random", "span", "string", "vector"]
SECONDS = 600


@dataclasses.dataclass
class Block:
    language: str
    text: str
    line: int
    markers: dict


def blocks_of(page):
    """The page's fenced blocks, with the markers before each; hidden preludes, scopes and commands are blocks as well."""
    lines = page.read_text(encoding="utf-8").split("\n")
    found, markers, at = [], {}, 0
    while at < len(lines):
        line = lines[at]
        if re.match(r"<!-- generated: (?!end)", line):
            # Not examples of the page: tests of the program run them.
            while at < len(lines) and lines[at].strip() != "<!-- generated: end -->":
                at += 1
            continue
        fence = FENCE.match(line)
        if fence:
            end = at + 1
            while end < len(lines) and not re.match(rf"^ {{0,3}}{re.escape(fence['fence'])}+\s*$", lines[end]):
                end += 1
            language = fence["info"].strip()
            text = "\n".join(part[len(fence["indent"]):] for part in lines[at + 1:end]) + "\n"
            if not language.startswith("{"):
                found.append(Block(language, text, at + 2, markers))
            markers, at = {}, end + 1
        elif line.lstrip().startswith("<!--"):
            first = at
            while at < len(lines) and "-->" not in lines[at]:
                at += 1
            marker = MARKER.fullmatch("\n".join(lines[first:at + 1]).strip())
            at += 1
            if marker is None:
                continue
            kind, value = marker[1] or marker[3], (marker[2] or "").strip("\n")
            if kind in ("prelude", "scope", "sh"):
                found.append(Block(kind, value + "\n", first + 1, {}))
            else:
                markers[kind] = value.strip()
        else:
            if line.strip():
                markers = {}
            at += 1
    return found


def skip_literal(text, at):
    """The end of the comment, string or character literal that begins at `at`, or `at`."""
    if text.startswith("//", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    if text.startswith("/*", at):
        return text.find("*/", at) + 2
    raw = re.compile(r'R"([^(\s]*)\(').match(text, at)
    if raw:
        end = f"){raw[1]}\""
        return text.index(end, at) + len(end)
    if text[at] == '"' or (text[at] == "'" and not (at and text[at - 1].isalnum())):
        end = at + 1
        while text[end] != text[at]:
            end += 2 if text[end] == "\\" else 1
        return end + 1
    return at


def item_end(text, at):
    """The end of the line on which the item of namespace scope that begins at `at` is complete."""
    if text[at] == "#":
        end = at
        while True:
            end = text.find("\n", end)
            if end < 0:
                return len(text)
            if text[end - 1] != "\\":
                return end + 1
            end += 1
    depth, macro = 0, text.startswith("CONCORD_", at)
    while at < len(text):
        after = skip_literal(text, at)
        if after != at:
            at = after
            continue
        char = text[at]
        depth += (char in "({[") - (char in ")}]")
        at += 1
        if depth == 0 and (char in ";}" or (macro and char == ")")):
            rest = text[at:].split("\n", 1)
            if re.match(r"\s*;?\s*(//.*)?$", rest[0]):
                return min(len(text), at + len(rest[0]) + 1)
    return len(text)


def split(block):
    """The block's items of namespace scope and its statements, each as [(line, text)]."""
    if "namespace scope" in block.markers:
        return [(block.line, block.text)], []
    items, statements, at, line = [], [], 0, block.line
    while at < len(block.text):
        end = block.text.find("\n", at) + 1 or len(block.text)
        if ITEM.match(block.text, at) or DEFINITION.match(block.text, at):
            end = item_end(block.text, at)
            items.append((line, block.text[at:end]))
        else:
            statements.append((line, block.text[at:end]))
        line += block.text.count("\n", at, end)
        at = end
    return items, statements


class Page:
    """Tests the examples of a page; `problems` and `skipped` have a line each."""

    def __init__(self, path, tester):
        self.path, self.tester = path, tester
        self.blocks = blocks_of(path)
        self.problems, self.skipped, self.compiled, self.ran, self.seconds = [], [], 0, 0, 0.0

    def where(self, block):
        return f"{self.path}:{block.line}"

    def fail(self, block, message):
        self.problems.append(f"{self.where(block)}: {message}")

    def reason(self, block):
        """Why the block does not run, or None."""
        if "not run" in block.markers:
            return block.markers["not run"] or "(no reason)"
        need = block.markers.get("needs")
        if need and not self.tester.has(need):
            return f"needs {need}"
        return None

    def test(self, folder):
        begun = time.monotonic()
        self.folder = folder
        for block in self.blocks:
            if "file" in block.markers:
                target = folder / block.markers["file"]
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(block.text, encoding="utf-8")
        for block in self.blocks:
            if block.language in ("sh", "shell"):
                self.shell(block)
            elif block.language == "cmake" and "file" not in block.markers:
                if "not run" in block.markers:
                    self.skip(block, block.markers["not run"])
                else:
                    self.fail(block, "a cmake block needs `<!-- file: NAME -->` or `<!-- not run: REASON -->`")
        self.programs()
        self.seconds = time.monotonic() - begun
        return self

    def skip(self, block, reason):
        self.skipped.append(f"{self.where(block)}: not run: {reason}")

    def shell(self, block):
        reason = self.reason(block)
        command = ["bash", "-euo", "pipefail"]
        if reason is not None:
            self.skip(block, reason)
            command.append("-n")
        result = self.tester.run([*command, "-c", block.text], self.folder)
        if result.returncode != 0:
            self.fail(block, f"status {result.returncode} of\n{block.text}{result.stdout[-2000:]}")
        elif reason is None:
            self.ran += 1

    def programs(self):
        """The page's one program, and each block that is a program of its own."""
        text, bodies, scope, functions = [], [], None, []

        def put(lines, to):
            for line, part in lines:
                to.append(f'#line {line} "{self.path}"\n{part if part.endswith(chr(10)) else part + chr(10)}')

        for block in self.blocks:
            if block.language == "prelude":
                put([(block.line, block.text)], text)
            elif block.language == "scope":
                scope = block
            elif block.language == "cpp":
                if "not compiled" in block.markers:
                    self.skipped.append(f"{self.where(block)}: not compiled: {block.markers['not compiled']}")
                    continue
                if "concord/mpi.hpp" in block.text and not self.tester.has("concord-mpi"):
                    self.skipped.append(f"{self.where(block)}: not compiled: the MPI component is not built")
                    continue
                if re.search(r"^int main\(", block.text, re.MULTILINE):
                    self.compile_and_run(block, f'#line {block.line} "{self.path}"\n{block.text}', f"program_{block.line}", self.reason(block))
                    continue
                items, statements = split(block)
                put(items, text)
                statements = [s for s in statements if s[1].strip()]
                self.compiled += 1
                if "continued" in block.markers:
                    if not functions:
                        self.fail(block, "`continued`, but no block precedes it")
                        continue
                    last, _, body, reason = functions.pop()
                    put(statements, body)
                    functions.append((last, len(text), body, reason))
                elif statements:
                    body = []
                    if scope:
                        put([(scope.line, scope.text)], body)
                    put(statements, body)
                    functions.append((block, len(text), body, self.reason(block)))
                else:
                    self.ran += 1
        if not functions and not text:
            return
        # A function follows what is at namespace scope up to its block; what later blocks declare is not visible.
        program, at = [], 0
        for number, (block, before, body, reason) in enumerate(functions):
            program += text[at:before]
            at = before
            program.append(f"static void example_{number}() {{\n{''.join(body)}}}\n")
        program += text[at:]
        program.append('#line 1 "calls"\nint main() {\n    const char* at = "";\n    try {\n')
        for number, (block, _, _, reason) in enumerate(functions):
            if reason is None:
                program.append(f'        at = "{self.where(block)}", example_{number}();\n')
            else:
                self.skip(block, reason)
                program.append(f"        (void)example_{number};\n")
        program.append('    } catch (const std::exception& error) {\n'
                       '        std::cout << at << ": " << error.what() << std::endl;\n        return 1;\n    }\n}\n')
        first = functions[0][0] if functions else next(b for b in self.blocks if b.language in ("cpp", "prelude"))
        runs = sum(reason is None for *_, reason in functions)
        self.compile_and_run(first, "".join(program), "page", None if runs else "(nothing to run)", runs)

    def compile_and_run(self, block, text, name, reason, examples=1):
        source, program = self.folder / f"{name}.cpp", self.folder / name
        source.write_text(text, encoding="utf-8")
        built = self.tester.compile(source, program)
        if built.returncode != 0:
            self.fail(block, f"does not compile:\n{built.stdout[-6000:]}")
            return
        if name != "page":
            self.compiled += 1
            if reason is not None:
                self.skip(block, reason)
        if reason is not None:
            return
        result = self.tester.run([str(program)], self.folder)
        if result.returncode != 0:
            self.fail(block, f"the program ends with status {result.returncode}:\n{result.stdout[-2000:]}")
        else:
            self.ran += examples


class Tester:
    def __init__(self, build, work):
        self.work = work
        cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
        self.compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.MULTILINE)[1]
        entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
        # As a user's program of all of Concord: the include folders of tests, which have neither internal headers nor
        # warnings.
        command = shlex.split(next(e["command"] for e in entries if e["file"].endswith("apps/examples/port.cpp")))
        keep = [a for a in command if a.startswith(("-I", "-D", "-f", "-std"))]
        keep += [x for flag, path in zip(command, command[1:]) if flag == "-isystem" for x in (flag, path)]
        self.flags = [*keep, "-std=c++20", "-O0", "-g0", "-w"]
        self.libraries = [f"-L{build}/lib", f"-Wl,-rpath,{build}/lib", "-lconcord-bench", "-lconcord-check", "-lconcord"]
        mpi = build / "lib" / "libconcord-mpi.so"
        if mpi.exists():
            self.libraries.insert(-1, "-lconcord-mpi")
        self.build = build
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("CONCORD_") or k == "CONCORD_THREADS"}
        self.environment |= {
            "PATH": f"{build}/bin:{os.environ['PATH']}", "XDG_CONFIG_HOME": str(work / "config"), "LC_ALL": "C.UTF-8",
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(work / "cache")), "CONCORD_LOG": "error",
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "TMPDIR": str(work)}
        self.known = {}
        # The first Python that has NumPy, as python3.
        for python in ("python3", "/usr/bin/python3"):
            found = subprocess.run([python, "-c", "import numpy, sys; print(sys.executable)"], capture_output=True, text=True)
            if found.returncode == 0:
                (work / "python").mkdir(exist_ok=True)
                wrapper = work / "python" / "python3"
                wrapper.write_text(f'#!/bin/sh\nexec {shlex.quote(found.stdout.strip())} "$@"\n')
                wrapper.chmod(0o755)
                self.environment["PATH"] = f"{wrapper.parent}:{self.environment['PATH']}"
                break

    def run(self, command, folder):
        try:
            return subprocess.run(command, cwd=folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace", timeout=SECONDS)
        except subprocess.TimeoutExpired as error:
            output = error.stdout.decode(errors="replace") if isinstance(error.stdout, bytes) else error.stdout or ""
            return subprocess.CompletedProcess(command, 124, f"{output}\n(no end after {SECONDS} s)", "")

    def has(self, need):
        if need not in self.known:
            if need.startswith("device "):
                listed = self.run(["concord", "devices"], self.work).stdout
                self.known[need] = re.search(rf"^{re.escape(need.split()[1])}(:|\s)", listed, re.MULTILINE) is not None
            elif need == "concord-mpi":
                self.known[need] = (self.build / "lib/libconcord-mpi.so").exists()
            elif need == "mpirun":
                self.known[need] = self.has("concord-mpi") and shutil.which(need, path=self.environment["PATH"]) is not None
            else:
                self.known[need] = shutil.which(need, path=self.environment["PATH"]) is not None
        return self.known[need]

    def precompile(self):
        """What all pages include, parsed once."""
        header = self.work / "examples.hpp"
        header.write_text("".join(f"#include <{name}>\n" for name in INCLUDES), encoding="utf-8")
        made = self.run([self.compiler, *self.flags, "-x", "c++-header", str(header), "-o", f"{header}.gch"], self.work)
        if made.returncode != 0:
            sys.exit(f"the headers do not compile:\n{made.stdout[-4000:]}")
        self.header = header

    def compile(self, source, program):
        return self.run([self.compiler, *self.flags, "-include", str(self.header), str(source), "-o", str(program), *self.libraries], self.work)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=Path, help="folder for the programs and outputs; default: a temporary one")
    parser.add_argument("build", type=Path)
    parser.add_argument("pages", type=Path, nargs="+")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = (arguments.keep or Path(temporary)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        tester = Tester(arguments.build.resolve(), work)
        pages = [Page(page.resolve(), tester) for page in arguments.pages]
        pages = [page for page in pages if any(b.language in (*TESTED, "shell") for b in page.blocks)]
        if any(b.language == "cpp" for page in pages for b in page.blocks):
            tester.precompile()
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            def test(number_and_page):
                folder = work / f"page_{number_and_page[0]}"
                folder.mkdir(exist_ok=True)
                return number_and_page[1].test(folder)
            for page in pool.map(test, enumerate(pages)):
                print(f"{page.path.name}: {page.compiled} compiled, {page.ran} run, {len(page.skipped)} not run, "
                      f"{len(page.problems)} failed ({page.seconds:.1f} s)", flush=True)
                for line in [*page.skipped, *(f"FAILED {p}" for p in page.problems)]:
                    print(f"  {line}")
    compiled, ran = sum(p.compiled for p in pages), sum(p.ran for p in pages)
    failed = sum(len(p.problems) for p in pages)
    print(f"{len(pages)} pages: {compiled} C++ examples compiled, {ran} examples run, "
          f"{sum(len(p.skipped) for p in pages)} not run, {failed} failed")
    sys.exit(failed != 0 or ran == 0)


main()
