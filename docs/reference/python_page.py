#!/usr/bin/env python3
"""python_page.py [--update]: compares docs/reference/python.md with the docstrings of the installed package, or writes it.

python/tests/test_package.py runs it. Install the wheel of `./setup wheel` and NumPy first.
"""
import inspect
import re
import sys
import textwrap
from pathlib import Path

import concord

PAGE = Path(__file__).with_name("python.md")
GROUPS = {
    "Arrays and devices": "array asarray empty empty_like zeros zeros_like ones ones_like full full_like arange linspace eye random astype "
                          "from_dlpack device devices Array Device Stream",
    "Reductions and prefix sums": "sum prod min max any all mean var std norm dot vecdot argmin argmax count_nonzero reduce "
                                  "segmented_reduce reduce_by_key cumsum cumprod cumulative_sum cumulative_prod scan "
                                  "segmented_scan scan_by_key",
    "Sorting, counting and selection": "sort argsort sort_pairs segmented_sort histogram bincount compress compact partition "
                                       "unique_consecutive run_length_encode nonzero argwhere take",
    "Matrices and volumes": "matmul transpose matrix_transpose convolve stencil",
    "Shapes": "reshape squeeze expand_dims permute_dims moveaxis broadcast_to broadcast_arrays concat stack unstack flip roll repeat tile",
    "Element by element": "map add subtract multiply divide floor_divide remainder pow power maximum minimum clip where equal not_equal less "
                          "less_equal greater greater_equal logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor "
                          "bitwise_invert bitwise_left_shift bitwise_right_shift isnan isinf isfinite abs negative positive conj square "
                          "reciprocal sign signbit copysign nextafter floor ceil trunc round sqrt rsqrt cbrt exp exp2 expm1 log log2 log10 "
                          "log1p logaddexp hypot sin cos tan sinpi cospi asin acos atan atan2 sinh cosh tanh erf erfc lgamma tgamma",
    "Types and constants": "bool bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 e inf nan pi result_type can_cast "
                           "isdtype finfo iinfo",
    "Functions and kernels from source": "function kernel Function Kernel",
    "Verification and measurement": "algorithms check bench Table testing",
    "Errors": "Error InvalidArgument Unsupported Unavailable CompileFailed OutOfMemory DeviceFailed FileError WrongDevice",
}
COMMON = ", device=None, stream=None, order=None, variant=None"
BEGIN = """# Python reference

These texts are the docstrings of the package. [Python](../python.md) is the guide. `...` at the end of a signature stands for
four keyword arguments:

- `device=None`: a selector such as `"cuda"`, or a `Device`. Arrays of the host are copied there if necessary.
- `stream=None`: a `Stream`, or a stream of another library or its handle. The default is that library's current stream.
- `order=None`: `"unspecified"` permits faster orders of floating-point operations ([reproducibility](../reproducibility.md)).
- `variant=None`: the name of a variant ([algorithms](../algorithms/index.md)). By default Concord chooses it.
"""


def signature_of(thing):
    """The parameters, without annotations."""
    signature = inspect.signature(thing)
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)).replace(COMMON, ", ...")


def code(text):
    return "```python\n" + "\n".join(textwrap.wrap(text, 90, subsequent_indent="    ")) + "\n```\n"


def prose_of(thing, named):
    """The docstring as Markdown. Functions that it names link to their headings, of the names `named`."""
    text = inspect.getdoc(thing) or ""
    if hasattr(thing, "__nb_signature__"):  # the first line repeats the signature
        text = re.sub(rf"\A{thing.__name__}\(.*\) -> .*\n+", "", text)
    text = re.sub(r"(?m)^( {4}.*\n?(?:\n(?= {4}))?)+", lambda m: "```python\n" + textwrap.dedent(m[0]).strip() + "\n```\n", text)
    blocks = re.split(r"(```.*?```)", text, flags=re.DOTALL)
    for i in range(0, len(blocks), 2):
        plain = re.sub(r"([_*<|])", r"\\\1", blocks[i])
        plain = re.sub(r"(`[^`]*`)", lambda m: m[0].replace("\\", ""), plain)
        blocks[i] = re.sub(r"(?<![\w.\\])(\w+)\(\)", lambda m: f"[`{m[1]}()`](#{m[1].lower()})" if m[1] in named else m[0], plain)
    return "".join(blocks)


def members_of(thing, named):
    """The documented attributes and methods of a class or functions of a module."""
    lines = []
    for name, member in vars(thing).items():
        if name.startswith("_") or isinstance(member, (str, type)) or not inspect.getdoc(member):
            continue
        if inspect.ismodule(thing) and getattr(member, "__module__", "") != thing.__name__:
            continue
        shown = name + re.sub(r"^\(self(, )?", "(", signature_of(member)) if callable(member) else name
        lines.append(f"- `{shown}`: {' '.join(prose_of(member, named).split())}")
    return "\n".join(lines) + "\n" if lines else ""


def page(tabled=frozenset()):
    """The page, and the names that have a row in a table and no heading: `tabled` in a second turn, which links to headings only."""
    names = " ".join(GROUPS.values()).split()
    if sorted(names) != sorted(concord.__all__):
        sys.exit(f"the groups differ from concord.__all__ in {sorted(set(names) ^ set(concord.__all__))}")
    named = {name for title, group in GROUPS.items() if title != "Errors" for name in group.split()} - tabled
    rows = set()
    parts = [BEGIN]
    for title, group in GROUPS.items():
        parts.append(f"## {title}\n")
        things = {name: getattr(concord, name) for name in group.split()}
        values = [name for name, thing in things.items() if isinstance(thing, (str, float))]
        if values:
            parts.append(", ".join(f"`{name}`" for name in values) + ".\n")
            named -= set(values)
            things = {name: thing for name, thing in things.items() if name not in values}
        # Functions with one signature and one description in more than one line share a table.
        alike = {}
        for name, thing in things.items():
            first, _, rest = prose_of(thing, named).partition("\n\n")
            if inspect.isclass(thing) and issubclass(thing, BaseException):
                alike.setdefault(("", ""), []).append((name, first))
            elif title == "Element by element":
                alike.setdefault((signature_of(thing), rest), []).append((name, first))
        for (signature, rest), members in alike.items():
            if len(members) < 3:
                continue
            if signature:
                parts.append(code("concord.NAME" + signature))
            parts.append(" ".join(rest.split()) + "\n" if rest else "")
            parts.append("| NAME | result |\n|---|---|" if signature else "| error | meaning |\n|---|---|")
            for name, first in members:
                thing = things.pop(name)
                bases = [base.__name__ for base in thing.__bases__] if inspect.isclass(thing) else []
                shown = f"`{name}`" + (f" ({', '.join(bases)})" if bases else "")
                parts.append(f"| {shown} | {' '.join(first.split()).replace(' for each element of x', '')} |")
                rows.add(name)
            parts.append("")
        for name, thing in things.items():
            parts.append(f"### {name}\n")
            if inspect.isclass(thing):
                bases = [base.__name__ for base in thing.__bases__ if base is not object]
                parts.append(code(f"class concord.{name}" + (f"({', '.join(bases)})" if bases else "")))
            elif callable(thing):
                parts.append(code(f"concord.{name}{signature_of(thing)}"))
            parts.append(prose_of(thing, named) + "\n")
            if inspect.isclass(thing) or inspect.ismodule(thing):
                parts.append(members_of(thing, named))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)), rows


def main():
    _, tabled = page()
    text, _ = page(tabled)
    if "--update" in sys.argv[1:]:
        PAGE.write_text(text, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != text:
        sys.exit(f"{PAGE} is stale: run docs/reference/python_page.py --update with the installed package")


if __name__ == "__main__":
    main()
