"""Errors name the function that was called, the wrong argument and what is accepted."""

import types

import numpy as np
import pytest

import concord as cc

X = np.ones(8, "f4")
# Built by concord._concord; those in Python have Python's own messages.
CALLS = {name: getattr(cc, name) for name in cc.__all__ if type(getattr(cc, name)).__name__ == "nb_func"}
CALLS |= {f"Array.{name}": getattr(cc.array(X, "tbb"), name) for name in ("copy", "numpy", "to", "tolist", "item", "synchronize")}
CALLS |= {f"Device.{name}": getattr(cc.device("tbb"), name) for name in ("stream", "memory_use", "trim")}
CALLS["Stream.synchronize"] = cc.device("tbb").stream().synchronize


def message(call, *args, error=TypeError, **keywords):
    with pytest.raises(error) as raised:
        call(*args, **keywords)
    text = str(raised.value)
    assert "incompatible function arguments" not in text and "\n" not in text, text
    return text


def test_calls_are_found():
    assert {"sum", "matmul", "kernel", "device", "empty"} <= set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_unknown_keyword(name):
    text = message(CALLS[name], wrong_keyword=1)
    assert text.startswith(f"{name}: unknown argument 'wrong_keyword'; accepted: "), text


@pytest.mark.parametrize("name", CALLS)
def test_wrong_type(name):
    """Objects of a type that no argument has."""
    if name.startswith(("Array.", "Device.", "Stream.")) and name != "Array.to":
        assert message(CALLS[name], object()).startswith(f"{name}: 1 positional arguments; expected at most 0")
        return
    text = message(CALLS[name], types.SimpleNamespace(), error=Exception)
    assert text.startswith((f"{name}: ", "device: ")), text
    assert "expected" in text or "missing argument" in text, text


@pytest.mark.parametrize("call, words", [
    (lambda: cc.compact(X, "even", axis=0), ["compact: unknown argument 'axis'", "call compact() for each row", "transpose() first", "accepted: x, rule"]),
    (lambda: cc.sum(X, dtypes="f4"), ["did you mean 'dtype'?"]),
    (lambda: cc.sum(), ["sum: missing argument 'x'"]),
    (lambda: cc.sum(X, X, X), ["sum: 3 positional arguments; expected at most 2, and by keyword: dtype, keepdims, out"]),
    (lambda: cc.sum(X, x=X), ["sum: two values of argument 'x'"]),
    (lambda: cc.sort(X, descending="yes"), ["sort: descending: got 'yes'; expected True or False"]),
    (lambda: cc.matmul(X, X, alpha="a"), ["matmul: alpha: got 'a'; expected a number"]),
    (lambda: cc.convolve(X, X, border=4), ["convolve: border: got 4; expected 'zero' or 'clamp'"]),
    (lambda: cc.bincount(X, minlength=None), ["bincount: minlength: got None; expected an integer, 0 or greater"]),
    (lambda: cc.stencil(X, [1.0, "b"]), ["stencil: coefficients: got [1.0, 'b']; expected a sequence of numbers"]),
    (lambda: cc.stencil(X, [1.0], -1), ["stencil: steps: got -1; expected an integer, 0 or greater"]),
])
def test_argument(call, words):
    text = message(call)
    assert all(word in text for word in words), text


@pytest.mark.parametrize("call, begin", [
    (lambda: cc.sum(X, device="foo"), "sum: unknown backend, got 'foo'; available"),
    (lambda: cc.device("foo"), "device: unknown backend, got 'foo'"),
    (lambda: cc.array(X, "tbb").to("foo"), "Array.to: unknown backend"),
    (lambda: cc.sum(X, order="foo"), "sum: unknown order 'foo'; available: canonical"),
    (lambda: cc.exp(X, variant="foo"), "exp: unknown variant 'foo'; available"),
    (lambda: cc.cumsum(X, variant="foo"), "cumsum: unknown variant 'foo'; available"),
    (lambda: cc.map("sqrt", X, variant="foo"), "map: unknown variant 'foo'; available"),
])
def test_errors_of_other_functions(call, begin):
    with pytest.raises(cc.Error) as raised:
        call()
    assert str(raised.value).startswith(begin)
    assert raised.value.code in ("unavailable", "invalid_argument")
