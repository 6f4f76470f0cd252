"""inspect.signature of functions, methods and classes of the extension module."""

import gc
import re

from . import _concord


def _of_definition(function):
    """The last overload as Python reads it."""
    import inspect

    text, _, defaults = function.__nb_signature__[-1]
    for i, value in enumerate(defaults or ()):
        text = text.replace(f"\\{i}", repr(value), 1)
    scope = {}
    exec("from __future__ import annotations\n" + re.sub(r"(?s).*\n", "", text) + ": ...", scope)
    return inspect.signature(scope[function.__name__])


class _Signature:
    """__signature__ of a callable."""

    def __init__(self, make):
        self.make = make

    def __get__(self, function, owner=None):
        return self.make(owner if function is None else function)


def _of_bound(method):
    signature = _of_definition(method)
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def _of_class(_):
    """Classes are not called: functions make their objects."""
    import inspect

    return inspect.Signature()


def _of_error(_):
    import inspect

    return inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)])


def install():
    """Types of nanobind refuse new attributes, but not from their dictionary. They are this module's own (NB_DOMAIN)."""
    bound = _concord.function("float f(float x) { return x; }").bind
    for kind, make in ((type(_concord.sum), _of_definition), (type(_concord.Array.copy), _of_definition), (type(bound), _of_bound),
                       (type(_concord.Array), _of_class)):
        gc.get_referents(kind.__dict__)[0]["__signature__"] = _Signature(make)
    _concord.Error.__signature__ = _Signature(_of_error)
