"""Words the errors of calls for their callers: the function that was called, the argument that is wrong, what is accepted."""

import ast
import difflib
import operator
import re

from . import _concord

# Functions whose names begin errors of C++. Other words there, such as those of variables, stay.
_CALLS = {name for name, value in vars(_concord).items() if isinstance(value, type(_concord.sum))}
_CALLS |= {"open_device", "operation_order_named", "unique"}
_ELSEWHERE = {
    "axis": "calls use all elements in row-major order; call {name}() for each row, such as x[i], and transpose() first for "
            "columns",
}
_ELSEWHERE["keepdims"] = _ELSEWHERE["axis"]


def _is_integer(value):
    return 0 <= operator.index(value) < 1 << 64


def _is_number(value):
    float(value)
    return not isinstance(value, str)


def _is_bool(value):
    return type(value).__name__ in ("bool", "bool_")


# By annotation: whether a value is accepted, or an exception, and what is accepted.
_TYPES = {
    "bool": (_is_bool, "True or False"),
    "float": (_is_number, "a number"),
    "int": (_is_integer, "an integer, 0 or greater"),
    "str": (lambda value: isinstance(value, str), "a string"),
    "Sequence[float]": (lambda value: all(map(_is_number, value)), "a sequence of numbers"),
}


def _rule(annotation):
    if annotation.startswith("Literal[") and annotation.endswith("]"):
        words = ast.literal_eval(f"({annotation[len('Literal['):-1]},)")
        return (lambda value: value in words), " or ".join(map(repr, words))
    return _TYPES.get(annotation, (lambda value: True, ""))


def _accepts(annotation, value):
    try:
        return _rule(annotation)[0](value)
    except (TypeError, ValueError, OverflowError):
        return False


def _shown(value):
    text = repr(value)
    return text if len(text) < 60 else type(value).__name__


def _wrong(name, signature, values, keywords):
    """What is wrong with the arguments of a call, by the signature that nanobind prints."""
    found = ast.parse(f"def {signature}: ...").body[0].args
    places = found.posonlyargs + found.args
    first = 1 if places and places[0].arg == "self" else 0
    known = [part.arg for part in places + found.kwonlyargs]
    for key in keywords:
        if key in known:
            continue
        near = difflib.get_close_matches(key, known, 1)
        hint = _ELSEWHERE[key].format(name=name) if key in _ELSEWHERE else f"did you mean '{near[0]}'?" if near else ""
        return f"unknown argument '{key}'; {hint}{'; ' if hint else ''}accepted: {', '.join(known[first:]) or 'none'}"
    if len(values) > len(places):
        by_name = [part.arg for part in found.kwonlyargs]
        return (f"{len(values) - first} positional arguments; expected at most {len(places) - first}"
                + (f", and by keyword: {', '.join(by_name)}" if by_name else ""))
    given = dict(zip(known, values))
    for key in keywords:
        if key in given:
            return f"two values of argument '{key}'"
    given.update(keywords)
    required = places[: len(places) - len(found.defaults)]
    required += [part for part, default in zip(found.kwonlyargs, found.kw_defaults) if default is None]
    for part in required:
        if part.arg not in given:
            return f"missing argument '{part.arg}'"
    for part in places + found.kwonlyargs:
        annotation = ast.unparse(part.annotation) if part.annotation else ""
        if part.arg in given and not _accepts(annotation, given[part.arg]):
            return f"{part.arg}: got {_shown(given[part.arg])}; expected {_rule(annotation)[1]}"
    return f"an argument has a wrong type, got {', '.join(map(_shown, given.values()))}; expected {signature}"


def explain(function, error, values, keywords):
    """The error to raise instead of `error`."""
    name = getattr(function, "__qualname__", function.__name__)
    text = str(error)
    signature = re.search(r"^    1\. (?:def )?(.*?)(?:: \.\.\.)?$", text, re.MULTILINE)
    if type(error) is TypeError and "incompatible function arguments" in text and signature:
        return TypeError(f"{name}: {_wrong(name, signature.group(1), values, keywords)}")
    call, separator, rest = text.partition(": ")
    if separator and call in _CALLS and call != name and hasattr(error, "native"):
        error.args = (f"{name}: {rest}",)
    return error
