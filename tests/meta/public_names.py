#!/usr/bin/env python3
"""public_names.py [--update] COMPILER SOURCE_DIR: compares docs/public_names.txt with the public headers.

The file lists what users may name: macros (not those with a final _), types, functions, constants, enumerators and public members of the headers
*/include/concord/**.hpp except those in detail/, and the names that the Python package exports. An overload set is one
line. --update writes the file. A list that differs from that of the commit in .ci/landed needs a change of
CHANGELOG.md.
"""
import ast
import re
import subprocess
import sys
from pathlib import Path

LIST = "docs/public_names.txt"
TOKEN = re.compile(r'(?P<string>[A-Za-z0-9]*"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')|(?P<word>[A-Za-z_]\w*)|(?P<number>\d[\w.\']*)|'
                   r"(?P<mark>::|\[\[|\]\]|->|&&|\|\||[^\s])")
CLASS = ("class", "struct", "union")
NOT_NAMES = {"alignas", "decltype", "noexcept", "requires", "sizeof", "static_assert", "__attribute__", "explicit"}
CLOSES = {"(": ")", "[": "]", "{": "}", "[[": "]]"}


def public_headers(source):
    headers = (path for path in source.glob("**/include/concord/**/*.hpp")
               if path.relative_to(source).parts[0] not in ("tests", "build") and "detail" not in path.relative_to(source).parts)
    return sorted(path.resolve() for path in headers)


def preprocessed(compiler, source, headers):
    """The text of the headers after the preprocessor, without the files that they include."""
    folders = sorted({path for path in source.glob("**/include") if path.relative_to(source).parts[0] not in ("tests", "build")})
    program = "".join(f'#include "{path}"\n' for path in headers)
    options = [f"-I{folder}" for folder in folders]
    done = subprocess.run([compiler, "-std=c++20", "-E", "-dD", "-x", "c++", *options, "-"], input=program, text=True,
                          capture_output=True)
    if done.returncode != 0:
        sys.exit(f"public_names: {compiler} cannot read the headers:\n{done.stderr}")
    wanted = {str(path) for path in headers}
    macros, lines, inside = set(), [], False
    for line in done.stdout.splitlines():
        if marker := re.match(r'# \d+ "(.*?)"', line):
            inside = marker[1] in wanted
        elif inside and (define := re.match(r"#define (CONCORD_\w+)(?<!_)\b", line)):
            macros.add(define[1])
        elif inside and (undefine := re.match(r"#undef (\w+)", line)):
            macros.discard(undefine[1])
        elif inside and not line.startswith("#"):
            lines.append(line)
    return macros, "\n".join(lines)


class Parser:
    """Finds the names that declarations introduce. Knows as much of C++ as the headers need."""

    def __init__(self, text):
        self.tokens = [match[0] for match in TOKEN.finditer(text)]
        self.at = 0
        self.names = set()

    def skip(self):
        """Moves behind the bracket that closes the one at this token."""
        depth = 0
        while True:
            token = self.tokens[self.at]
            depth += (token in CLOSES) - (token in CLOSES.values())
            self.at += 1
            if depth == 0:
                return

    def skip_angles(self):
        depth = 0
        while True:
            token = self.tokens[self.at]
            if token in CLOSES:
                self.skip()
                continue
            depth += (token == "<") - (token == ">")
            self.at += 1
            if depth == 0:
                return

    def head(self):
        """The tokens of a declaration up to its body, initialiser or end. Brackets are one token; template headers, attributes and
        template arguments are left out."""
        head = []
        while (token := self.tokens[self.at]) not in (";", "{", "}", "="):
            if token == "<" and head and (head[-1] == "template" or re.match(r"\w", head[-1])) and head[-1] != "operator":
                self.skip_angles()
            elif token in ("(", "[", "[["):
                start = self.at
                self.skip()
                if self.tokens[start + 1] == "*" and self.tokens[self.at] == "(":  # a pointer to a function: void (*name)(int)
                    head.append(self.tokens[start + 2])
                    continue
                if token == "(":
                    is_call = head[-1:] == ["operator"]
                    head.append("()" if not is_call else "call")
                elif token == "[" and self.tokens[start - 1] == "operator":
                    head.append("subscript")
            elif token == ":" and head and "()" in head:
                self.skip_initialisers()
                return head
            else:
                head.append(token)
                self.at += 1
                if token == "operator":
                    while self.tokens[self.at] in "= < > ! + - * / % & | ^ ~ && || ->".split():
                        head.append(self.tokens[self.at])
                        self.at += 1
            if head in (["public", ":"], ["private", ":"], ["protected", ":"]):
                return head
        return head

    def skip_initialisers(self):
        """Of a constructor: up to its body."""
        while True:
            self.at += 1
            if self.tokens[self.at] == "<":
                self.skip_angles()
                self.at -= 1
            elif self.tokens[self.at] in ("(", "{"):
                self.skip()
                if self.tokens[self.at] != ",":
                    return

    def end_of_statement(self):
        while self.tokens[self.at] != ";":
            if self.tokens[self.at] in CLOSES:
                self.skip()
            else:
                self.at += 1
        self.at += 1

    def add(self, scope, name):
        if "detail" not in scope and name != "detail":
            self.names.add("::".join([*scope, name]))

    def scope(self, scope, access="public"):
        """Declarations up to the closing brace."""
        while self.at < len(self.tokens) and self.tokens[self.at] != "}":
            if self.tokens[self.at] == ";":
                self.at += 1
                continue
            head = self.head()
            if len(head) == 2 and head[1] == ":":
                access = head[0]
                continue
            self.declaration(scope if access == "public" else [*scope, "detail"], head)
        self.at += 1

    def declaration(self, scope, head):
        words = [word for word in head if word not in ("template", "inline", "constexpr", "extern", "static", "export")]
        first = words[0] if words else ""
        if first.startswith('"'):  # extern "C"
            words = words[1:]
            first = words[0] if words else ""
        if first == "namespace":
            self.at += 1
            self.scope([*scope, *(word for word in words[1:] if word != "::")] if words[1:] else [*scope, "detail"])
        elif not words and self.tokens[self.at] == "{":
            self.at += 1
            self.scope(scope)
        elif first == "using":
            if words[1:2] != ["namespace"] and words[-1] not in CLOSES:
                self.add(scope, words[1] if self.tokens[self.at] == "=" else words[-1])
            self.end_of_statement()
        elif first == "enum" and self.tokens[self.at] == "{":
            name = next((word for word in words[1:] if word not in CLASS), None)
            self.add(scope, name)
            self.at += 1
            self.enumerators([*scope, name])
            self.end_of_statement()
        elif first in CLASS and self.tokens[self.at] == "{" and "()" not in words[: words.index(":") if ":" in words else None]:
            name = next((word for word in words[1:] if re.match(r"\w", word) and word not in NOT_NAMES), "detail")
            self.add(scope, name)
            self.at += 1
            self.scope([*scope, name], "detail" if first == "class" else "public")
            self.end_of_statement()
        elif first in ("friend", "static_assert") or not words:
            self.body(is_function="()" in words and self.tokens[self.at] == "{")
        elif first in (*CLASS, "enum") and len(words) == 2:  # a declaration without a definition
            self.add(scope, words[1])
            self.end_of_statement()
        elif first == "concept":
            self.add(scope, words[1])
            self.end_of_statement()
        else:
            self.function_or_variables(scope, words)

    def function_or_variables(self, scope, words):
        if "operator" in words:
            at = words.index("operator")
            symbol = []
            for word in words[at + 1:]:
                if word == "()":
                    break
                symbol.append({"call": "()", "subscript": "[]"}.get(word, word))
            if symbol != ["="]:  # every class has it, or none
                self.add(scope, "operator" + (" " if re.match(r"\w", symbol[0]) else "") + "".join(symbol))
            self.body(self.tokens[self.at] == "{")
            return
        for at, word in enumerate(words):
            if word == "()" and at > 0 and words[at - 1] not in NOT_NAMES and re.match(r"\w", words[at - 1]):
                is_member_of_other = at > 1 and words[at - 2] == "::"
                is_special = words[at - 1] == scope[-1] if scope else False
                if not is_member_of_other and not is_special and (at < 2 or words[at - 2] != "~"):
                    self.add(scope, words[at - 1])
                self.body(self.tokens[self.at] == "{")
                return
        while True:  # variables
            name = next((word for word in reversed(words) if re.match(r"[A-Za-z_]", word)), None)
            if name and len(words) > 1 and "::" not in words[-2:-1]:
                self.add(scope, name)
            while self.tokens[self.at] not in (";", ","):
                if self.tokens[self.at] in CLOSES:
                    self.skip()
                elif self.tokens[self.at] == "<" and re.match(r"[A-Za-z_]", self.tokens[self.at - 1]):
                    self.skip_angles()
                else:
                    self.at += 1
            self.at += 1
            if self.tokens[self.at - 1] == ";":
                return
            words = [words[0], *self.head()]

    def enumerators(self, scope):
        while self.tokens[self.at] != "}":
            if re.match(r"[A-Za-z_]", self.tokens[self.at]):
                self.add(scope, self.tokens[self.at])
                while self.tokens[self.at] not in (",", "}"):
                    if self.tokens[self.at] in CLOSES:
                        self.skip()
                    else:
                        self.at += 1
            else:
                self.at += 1
        self.at += 1

    def body(self, is_function):
        if is_function:
            self.skip()
        else:
            self.end_of_statement()


def python_names(source):
    names = set()
    for path in sorted((source / "python/concord").glob("*.py")):
        module = "concord" if path.stem == "__init__" else f"concord.{path.stem}"
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                names |= {f"{module}.{name}" for name in ast.literal_eval(node.value)}
    return names


def listed(source, compiler):
    headers = public_headers(source)
    macros, text = preprocessed(compiler, source, headers)
    parser = Parser(text)
    while parser.at < len(parser.tokens):
        parser.scope([])
    names = {name.replace("concord::", "", 1) for name in parser.names if name != "concord"}
    return (f"# {len(macros | names)} names of the C++ headers, {len(python_names(source))} of the Python package. Written by "
            "tests/meta/public_names.py --update.\n\n"
            + "\n".join(sorted(macros)) + "\n\n" + "\n".join(sorted(names)) + "\n\n"
            + "\n".join(sorted(python_names(source))) + "\n")


def git(source, *words):
    return subprocess.run(["git", "-C", source, *words], capture_output=True, text=True)


def changelog_problem(source, now):
    """Why CHANGELOG.md must change; or a sentence that begins with "not compared"."""
    record = source / ".ci/landed"
    if not record.exists():
        return "not compared with the last landing: .ci/landed does not exist"
    commit = record.read_text(encoding="utf-8").split()[0]
    if git(source, "cat-file", "-e", commit + "^{commit}").returncode != 0:
        return f"not compared with the last landing: git does not know the commit {commit}"
    before = git(source, "show", f"{commit}:{LIST}")
    if before.returncode != 0:
        return f"not compared with the last landing: {commit} has no {LIST}"
    same_list = before.stdout.splitlines()[1:] == now.splitlines()[1:]
    if same_list or git(source, "diff", "--quiet", commit, "--", "CHANGELOG.md").returncode != 0:
        return ""
    return f"FAILED: public names changed since {commit}, but CHANGELOG.md did not; describe the change there"


def main():
    update = "--update" in sys.argv
    compiler, source = [word for word in sys.argv[1:] if word != "--update"]
    source = Path(source).resolve()
    path = source / LIST
    now = listed(source, compiler)
    if update:
        path.write_text(now, encoding="utf-8")
    stored = path.read_text(encoding="utf-8") if path.exists() else ""
    failed = stored != now
    if failed:
        old, new = set(stored.splitlines()), set(now.splitlines())
        print(f"FAILED: {LIST} is not current; run tests/meta/public_names.py --update {compiler} {source}")
        print("".join(f"  - {name}\n" for name in sorted(old - new)) + "".join(f"  + {name}\n" for name in sorted(new - old)), end="")
    problem = changelog_problem(source, now)
    if problem:
        print(problem)
    failed = failed or problem.startswith("FAILED")
    print(now.splitlines()[0].lstrip("# "))
    return failed


if __name__ == "__main__":
    sys.exit(main())
