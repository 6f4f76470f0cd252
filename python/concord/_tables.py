"""Tables: devices, checks and measurements."""

import json
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import _program
from ._concord import Device, InvalidArgument, _selectors, device

# One value of an option or several.
_Values = str | int | type | Device | Iterable[Any] | None


class Table(list[dict[str, Any]]):
    """Rows as dictionaries, printed as a table. pandas.DataFrame(table) is the same as to_pandas()."""

    def column(self, name: str) -> list[Any]:
        """The values of one column; table["selector"] is the same."""
        names = list(dict.fromkeys(key for row in self for key in row))
        if names and name not in names:
            raise KeyError(f"unknown column '{name}'; available: {', '.join(names)}")
        return [row.get(name) for row in self]

    def __getitem__(self, at: Any) -> Any:
        return self.column(at) if isinstance(at, str) else super().__getitem__(at)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of the rows."""
        import pandas

        return pandas.DataFrame(list(self))

    def __repr__(self) -> str:
        if not self:
            return "(no rows)"
        names = list(dict.fromkeys(name for row in self for name in row))
        cells = [names] + [[_text(row.get(name)) for name in names] for row in self]
        widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in cells)

    def _repr_html_(self) -> str:
        from html import escape

        names = list(dict.fromkeys(name for row in self for name in row))
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join("<tr>" + "".join(f"<td>{escape(_text(row.get(name)))}</td>" for name in names) + "</tr>" for row in self)
        return f"<table><tr>{head}</tr>{body}</table>"


def _text(value):
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _table(rows):
    """A pandas.DataFrame if pandas is there, else a Table."""
    table = Table(rows)
    try:
        return table.to_pandas()
    except ImportError:
        return table


def devices() -> Table:
    """The devices of this machine, a row for each, as a Table."""
    opened = [device(selector) for selector in _selectors()]
    return Table({"selector": d.selector, "name": d.name, "driver": d.driver, "memory": d.memory} for d in opened)


def algorithms() -> Any:
    """The algorithms and their variants, a row for each variant: a pandas.DataFrame if pandas is there, else a Table."""
    found = json.loads(_program.run("algorithms", "--json"))
    rows = []
    for algorithm in found["algorithms"]:
        for variant in algorithm["variants"]:
            rows.append({"algorithm": algorithm["name"], "variant": variant["name"], "order": variant.get("order"),
                         "summary": variant.get("summary")})
    return _table(rows)


def _measured(*arguments):
    """What the program writes to the file of --json."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.json"
        _program.run(*arguments, "--json", str(path))
        return json.loads(path.read_text(encoding="utf-8"))


def _word(option, value):
    """A value of an option as the program writes it: device objects by their selector, types such as float32 as f32."""
    if isinstance(value, Device):
        return value.selector
    text = getattr(value, "__name__", None) or str(value)
    match = re.fullmatch(r"(int|uint|float)(8|16|32|64)", text) if option == "types" else None
    return match[1][0] + match[2] if match else text


def _options(**options):
    arguments = []
    for name, value in options.items():
        if value is None:
            continue
        values = value if isinstance(value, (list, tuple, set, range)) or hasattr(value, "tolist") else [value]
        text = ",".join(_word(name, x) for x in values)
        arguments.append(f"--{name}={text}")  # one word, whatever the value begins with
    return arguments


def _names(call, algorithms):
    names = [algorithms] if isinstance(algorithms, str) else list(algorithms or [])
    for name in names:
        if not isinstance(name, str) or not re.fullmatch(r"\w+", name):
            raise InvalidArgument(f"concord: {call}: unknown algorithm, got {name!r}; expected names of concord.algorithms()")
    return names


def check(algorithms: _Values = None, *, devices: _Values = None, types: _Values = None, sizes: _Values = None,
          variants: _Values = None) -> Any:
    """Checks every variant against the reference; see `concord check --help` for the options.

    Returns a row for each algorithm, variant and device with its numbers of cases: a pandas.DataFrame if pandas is there, else
    a Table.
    """
    found = _measured("check", *_names("check", algorithms), *_options(devices=devices, types=types, sizes=sizes, variants=variants))
    return _table(found["matrix"])


def bench(algorithms: _Values = None, *, devices: _Values = None, types: _Values = None, sizes: _Values = None,
          baselines: bool = False) -> Any:
    """Measures variants; see `concord bench --help` for the options. Rows as from check()."""
    names = _names("bench", algorithms)
    flags = ["--baselines"] if baselines else []
    found = _measured("bench", *names, *flags, *_options(devices=devices, types=types, sizes=sizes))
    return _table(found["results"])
