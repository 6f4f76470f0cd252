"""Configuration of the documentation site. `./setup docs` builds it; CONCORD_DOCS_XML is the folder of Doxygen's XML."""
import os
import re
from pathlib import Path

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
html_static_path = ["_static"]
html_css_files = ["concord.css"]
html_favicon = None
html_copy_source = False
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options = {"navigation_with_keys": True}
pygments_style = "default"
pygments_dark_style = "monokai"

LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(((?:\.\./)+[^)#\s]*)(#[^)\s]*)?\)")


def keep_site_self_contained(app, docname, source):
    """Links to Markdown files and folders outside docs/ have no page on the site; only their text stays. Other files become downloads."""
    folder = (DOCS / docname).parent

    def replace(match):
        target = Path(os.path.normpath(folder / match[2]))
        if target.is_relative_to(DOCS) or not target.exists():
            return match[0]
        return match[0] if target.is_file() and target.suffix != ".md" else match[1]

    source[0] = LINK.sub(replace, source[0])


def mend_furo(app, exception):
    """Debian's furo 2022.12 has its script unbundled, which browsers refuse, and no dark colours without a click."""
    static = Path(app.outdir) / "_static"
    script, style = static / "scripts/furo.js", static / "styles/furo.css"
    if exception or not script.exists():
        return
    code = script.read_text(encoding="utf-8")
    if code.startswith("import Gumshoe"):
        scrollspy = (script.parent / "gumshoe-patched.js").read_text(encoding="utf-8")
        script.write_text(scrollspy + code.split("\n", 1)[1], encoding="utf-8")
    css = style.read_text(encoding="utf-8")
    dark = re.search(r'body\[data-theme="?dark"?\] *(\{[^{}]*--color-background-primary[^{}]*\})', css)
    if dark and "prefers-color-scheme" not in css:
        style.write_text(f'{css}\n@media (prefers-color-scheme: dark) {{ body:not([data-theme="light"]) {dark[1]} }}\n', encoding="utf-8")


def setup(app):
    app.connect("source-read", keep_site_self_contained)
    app.connect("build-finished", mend_furo)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
