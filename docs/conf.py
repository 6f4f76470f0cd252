"""Configuration of the documentation site. `./setup docs` builds it; CONCORD_DOCS_XML is the folder of Doxygen's XML."""
import os
import re
from pathlib import Path

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator

DOCS = Path(__file__).parent.resolve()
ROOT = DOCS.parent

project = "Concord"
copyright = "The Concord authors"
author = "The Concord authors"
version = release = re.search(r"project\(concord VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]

extensions = ["myst_parser", "breathe"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["results", "README.md"]
highlight_language = "text"
primary_domain = "cpp"
nitpicky = True

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

breathe_projects = {"concord": os.environ.get("CONCORD_DOCS_XML", str(ROOT / "build/docs/xml"))}
breathe_default_project = "concord"
breathe_default_members = ("members",)
breathe_order_parameters_first = False

# Names in declarations that have no page of their own: the standard library, template parameters, implementation
# details.
nitpick_ignore_regex = [
    (r"cpp:.*", r"(std|detail|concord::detail)(::.*)?"),
    (r"cpp:identifier", r".*"),
]

html_theme = "furo"
html_title = f"Concord {version}"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["concord.css"]
html_copy_source = False
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options = {"navigation_with_keys": True}
pygments_style = "default"
pygments_dark_style = "monokai"

LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(((?:\.\./)+[^)#\s]*)(#[^)\s]*)?\)")


# The last sentence of pages that show files of the root.
SHOWN = re.compile(r"^The site shows \[[\w.]+\]\((?:\.\./)+([\w.]+)\) here\.\n\Z", re.MULTILINE)


def show_files_of_root(app, docname, source):
    """A Markdown file is the page; links in it lead from the page's folder. Other files replace the sentence, as code."""
    shown = SHOWN.search(source[0])
    if not shown:
        return
    app.env.note_dependency(str(ROOT / shown[1]))
    text = (ROOT / shown[1]).read_text(encoding="utf-8")
    if not shown[1].endswith(".md"):
        source[0] = f"{source[0][:shown.start()]}```{'yaml' if shown[1].endswith('.cff') else 'text'}\n{text}```\n"
    else:
        folder = (DOCS / docname).parent
        source[0] = re.sub(r"\]\((?![a-z]+:|#)([\w./]+)", lambda m: f"]({os.path.relpath(ROOT / m[1], folder)}", text)


def keep_site_self_contained(app, docname, source):
    """Links to Markdown files and folders outside docs/ have no page on the site; only their text stays. Other files become downloads."""
    folder = (DOCS / docname).parent

    def replace(match):
        target = Path(os.path.normpath(folder / match[2]))
        if target.is_relative_to(DOCS) or not target.exists():
            return match[0]
        return match[0] if target.is_file() and target.suffix != ".md" else match[1]

    source[0] = LINK.sub(replace, source[0])


UNIT = re.compile(r"(?<=\d) (?=(?:%|ulp|[KMG]iB|[kMGTPµmn]?(?:B|s|elem|FLOP|Hz)|[kMGTP]?(?:B|elem|FLOP|keys)/s)(?![\w/]))")


class MarkTables(SphinxPostTransform):
    """Numbers stay with their units. Cells of tables that are too wide for a phone know the headers of their columns."""

    default_priority = 500
    widest = 44  # letters
    shortest = 16  # of a cell that shares a line with others

    def run(self, **kwargs):
        for text in list(self.document.findall(nodes.Text)):
            if not isinstance(text.parent, (nodes.literal, nodes.literal_block)) and UNIT.search(text):
                text.parent.replace(text, nodes.Text(UNIT.sub("\N{NO-BREAK SPACE}", text)))
        for table in self.document.findall(nodes.table):
            rows = [row.children for row in table.findall(nodes.row)]
            widths = [max(len(cell.astext()) for cell in column) for column in zip(*rows)]
            if sum(widths) + 3 * len(widths) <= self.widest:
                continue
            table["classes"].append("stacked")
            labels = [cell.astext() for cell in rows[0]] if len(widths) > 2 else []
            for row in rows[1:]:
                for cell, label in list(zip(row, labels))[1:]:
                    letters = len(cell.astext().strip())
                    cell["classes"] += ["empty"] if letters == 0 else ["short"] if letters <= self.shortest else []
                    cell["label"] = label


class Translator(HTML5Translator):
    def starttag(self, node, tagname, *arguments, **attributes):
        if tagname == "td" and isinstance(node, nodes.entry) and "label" in node:
            attributes["data-label"] = node["label"]
        return super().starttag(node, tagname, *arguments, **attributes)

    def visit_Text(self, node):
        """Alternatives in code, and long names, may be on several lines."""
        super().visit_Text(node)
        if isinstance(node.parent, nodes.literal):
            self.body[-1] = re.sub(r"\|" if len(node) < 16 else r"\||_(?=\w)", r"\g<0><wbr>", self.body[-1])
        elif node.parent and isinstance(node.parent.parent, nodes.entry):
            self.body[-1] = self.body[-1].replace("::", "::<wbr>")


def mend_furo(app, exception):
    """Debian's furo 2022.12 has its script unbundled, which browsers refuse, no normalize.css, and no dark colours without a click."""
    static = Path(app.outdir) / "_static"
    script, style = static / "scripts/furo.js", static / "styles/furo.css"
    if exception or not script.exists():
        return
    code = script.read_text(encoding="utf-8")
    if code.startswith("import Gumshoe"):
        scrollspy = (script.parent / "gumshoe-patched.js").read_text(encoding="utf-8")
        script.write_text(scrollspy + code.split("\n", 1)[1], encoding="utf-8")
    css = style.read_text(encoding="utf-8")
    mended = css.replace("@import url(/javascript/normalize.css/normalize.css);", "")
    dark = re.search(r'body\[data-theme="?dark"?\] *(\{[^{}]*--color-background-primary[^{}]*\})', css)
    if dark and "prefers-color-scheme" not in css:
        mended += f'\n@media (prefers-color-scheme: dark) {{ body:not([data-theme="light"]) {dark[1]} }}\n'
    if mended != css:
        style.write_text(mended, encoding="utf-8")


def setup(app):
    app.set_translator("html", Translator)
    app.add_post_transform(MarkTables)
    app.connect("source-read", show_files_of_root)
    app.connect("source-read", keep_site_self_contained)
    app.connect("build-finished", mend_furo)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
