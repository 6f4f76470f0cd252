#!/usr/bin/env python3
"""links.py ROOT [HTML]: follows every link within the documentation.

Checks the Markdown files of the repository (README.md, CONTRIBUTING.md, ..., docs/): a relative link must lead to a file in git, and its anchor to
a heading or label, and a path in a code span that begins with a folder of the tree must exist. Checks the built site in HTML: every internal link and anchor must exist, and no page may load anything from
a network.
"""
import html.parser
import re
import subprocess
import sys
import urllib.parse
from pathlib import Path

INLINE = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)|<img[^>]* src=\"([^\"]+)\"|^```\{image\} (\S+)$", re.MULTILINE)
# A path with a placeholder in capitals, such as docs/NAME.md, is a pattern.
PATH = re.compile(r"`((?:[a-z_.][\w.-]*/)+(?![A-Z]+\b)(?!\w*NAME)[\w.-]+)/?`")
CODE = re.compile(r"^( *)(`{3,}|~{3,})(?!\{image\})[^\n]*\n.*?^\1\2`*\s*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def slug(title):
    """The anchor of a heading, as GitHub and MyST make it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title.strip()).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors_of(path, known={}):
    if path not in known:
        text = re.sub(r"^( *)(`{3,}).*?^\1\2\s*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        found, count = set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE)) | set(re.findall(r'<a (?:id|name)="([^"]+)"', text)), {}
        for title in re.findall(r"^#{1,6} +(.*?) *#*$", text, re.MULTILINE):
            name = slug(title)
            number = count.get(name, 0)
            count[name] = number + 1
            found.add(f"{name}-{number}" if number else name)
        known[path] = found
    return known[path]


def check_markdown(root):
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True, text=True)
    tracked = {root / name for name in files.stdout.splitlines()} if files.returncode == 0 else None
    pages = sorted(root.glob("*.md")) + sorted((root / "docs").rglob("*.md"))
    names = {str(path.relative_to(root)) for path in tracked or ()}
    names |= {str(folder) for name in names for folder in Path(name).parents}
    folders = {name.partition("/")[0] for name in names if "/" in name}
    links, problems = 0, []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for path in PATH.findall(text):
            # Headers are also named as they are included.
            known = path in names or path.endswith(".hpp") and any(name.endswith("/" + path) for name in names)
            if names and path.partition("/")[0] in folders and not known:
                problems.append(f"{page.relative_to(root)}: `{path}`: there is no such file")
        text = CODE.sub("", text)
        for match in INLINE.finditer(text):
            target = match[1] or match[2] or match[3]
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            path, _, anchor = urllib.parse.unquote(target).partition("#")
            to = (page.parent / path).resolve() if path else page
            where = f"{page.relative_to(root)}: {target}"
            if not to.exists() or (tracked is not None and to.is_file() and to not in tracked):
                problems.append(f"{where}: there is no such file")
            elif anchor and to.suffix == ".md" and anchor not in anchors_of(to):
                problems.append(f"{where}: there is no such heading")
    return links, problems


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.update(v for k, v in attributes if k in ("id", "name") and v)
        if tag in ("a", "area") and values.get("href"):
            self.links.append(values["href"])
        for name in ("src", "srcset", "poster", "data"):
            if tag != "a" and values.get(name):
                self.loads.append(values[name])
        if tag == "link" and values.get("href") and values.get("rel") not in ("canonical", "search", "index", "next", "prev"):
            self.loads.append(values["href"])


def check_site(folder):
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
    links, problems = 0, []
    for path, page in pages.items():
        where = path.relative_to(folder)
        for target in page.links + page.loads:
            url = urllib.parse.urlsplit(target)
            if url.scheme or url.netloc:
                if target in page.loads and url.scheme != "data":
                    problems.append(f"{where} loads {target}")
                continue
            links += 1
            name = urllib.parse.unquote(url.path)
            to = (path.parent / name).resolve() if name else path
            if to.is_dir():
                to /= "index.html"
            anchor = urllib.parse.unquote(url.fragment)
            if not to.exists():
                problems.append(f"{where}: {target}: there is no such file")
            elif anchor and to in pages and anchor not in pages[to].ids:
                problems.append(f"{where}: {target}: there is no such anchor")
    for style in folder.rglob("*.css"):
        for url in re.findall(r"url\(['\"]?([^'\")]+)|@import ['\"]([^'\"]+)", style.read_text(encoding="utf-8")):
            if re.match(r"(https?:)?//", url[0] or url[1]):
                problems.append(f"{style.relative_to(folder)} loads {url[0] or url[1]}")
    if len(pages) < 20:
        problems.append(f"the site has {len(pages)} pages")
    return links, problems


def main():
    links, problems = check_markdown(Path(sys.argv[1]).resolve())
    print(f"Markdown: {links} links")
    if len(sys.argv) > 2:
        more, broken = check_site(Path(sys.argv[2]).resolve())
        print(f"site: {more} links")
        problems += broken
    for problem in dict.fromkeys(problems):
        print(f"FAILED: {problem}")
    sys.exit(1 if problems or links == 0 else 0)


main()
