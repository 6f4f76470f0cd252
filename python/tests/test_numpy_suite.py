"""NumPy's own tests with Concord's functions in the place of NumPy's.

The tests are those of the installed NumPy, rewritten when they are loaded: np.sum(a) and a.sum() call Concord if a is an
array. A call that Concord refuses is computed by NumPy, and its reason is counted: REASONS lists all of them. A test fails
if a result is wrong or a refusal has no reason here.
"""

import ast
import collections
import inspect
import re
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

import concord as cc

TESTS = Path(np.__file__).parent
if not (TESTS / "_core/tests/test_umath.py").exists():
    pytest.skip(f"NumPy {np.__version__} has no tests in numpy/_core", allow_module_level=True)

# By NumPy's names.
FUNCTIONS = {name: getattr(cc, name) for name in (
    "sum prod mean var std any all min max argmin argmax cumsum cumprod sort argsort where clip histogram bincount dot matmul "
    "add subtract multiply divide power minimum maximum equal not_equal less less_equal greater greater_equal logical_and "
    "logical_or logical_xor logical_not isnan isfinite isinf negative square sqrt exp exp2 expm1 log log2 log10 log1p sin cos "
    "tan sinh cosh tanh cbrt hypot floor ceil trunc sign signbit floor_divide remainder copysign nextafter logaddexp bitwise_and bitwise_or "
    "bitwise_xor").split() if hasattr(cc, name)}
FUNCTIONS.update(absolute=cc.abs, abs=cc.abs, true_divide=cc.divide, amin=cc.min, amax=cc.max, arcsin=cc.asin, arccos=cc.acos,
                 arctan=cc.atan, arctan2=cc.atan2)
METHODS = set("sum prod mean var std any all min max argmin argmax cumsum cumprod sort argsort clip dot".split())
NAMES = {"a": "x", "a_min": "min", "a_max": "max", "x1": "x", "x2": "y", "b": "y"}
SORTS = ("kind", "stable")  # Concord's sorts are stable

# Why calls are refused: a pattern of the error, and the reason that is counted.
REASONS = [
    (r"unknown argument '(\w+)'", r"keyword \1"),
    (r"has dtype (\w+).*; supported are", r"dtype \1"),
    (r"has dtype ([|<>\[]).*; supported are", r"dtype of strings, dates, records or the other byte order"),
    (r"DLPack only supports|unsupported dtype, got", "dtype of strings, dates, records or the other byte order"),
    (r"(dot|bincount|matmul): .* has dtype (\w+); expected", r"\1 of \2"),
    (r"mean: dtype: got|var: dtype: got|std: dtype: got", "dtype of a mean that is not float32 or float64"),
    (r"dot: . has the shape", "dot of arrays that are not vectors"),
    (r"where: missing argument", "where without values"),
    (r"condition is a|where: an argument has a wrong type", "dtype object"),
    (r"matmul: neither rows nor columns", "matmul into rows with strides"),
    (r"is not aligned|has a stride of", "arrays that are not aligned"),
    (r"dtype bool, which has no sums", "dtype bool of a sum"),
    (r"(\d+) dimensions; 0 to 8 are supported|too many dimensions", "more than 8 dimensions"),
    (r"(\w+): (x|y|a|b|condition|values|keys|min|max): (got|an? )", r"object"),
    (r": \w+ is an? \w+, which", "an object that is not an array"),
    (r"out has dtype", "out of another type"),
    (r"ddof: got", "ddof that is not a whole number"),
]
# Tests that differ, and why.
WARNS = "Concord has no warnings and no floating-point flags"
DIFFERENT = {
    "TestNonarrayArgs.test_mean": WARNS,
    "TestNonarrayArgs.test_std": WARNS,
    "TestNonarrayArgs.test_var": WARNS,
    "TestStdVar.test_correction": "NumPy's error for two names of ddof",
    "TestClip.test_clip_min_max_args": "NumPy's errors for two names of the limits",
    "TestLog2.test_log2_special": WARNS,
    "TestMethods.test_dot_errstate": WARNS,
    "TestStats.test_ddof_too_big": WARNS,
    "TestStats.test_empty": WARNS,
    "TestHistogram.test_bool_conversion": WARNS,
    "TestWhere.test_exotic": WARNS,
    "TestWhere.test_kwargs": "NumPy's where has no keywords",
    "TestNonarrayArgs.test_std_with_mean_keyword_keepdims_false": "NumPy's variance and Concord's must be bitwise identical there",
    "TestNonarrayArgs.test_var_with_mean_keyword_keepdims_false": "NumPy's variance and Concord's must be bitwise identical there",
    "TestMinMax.test_scalar": "NumPy has an axis 0 of scalars",
    "TestHistogram.test_invalid_range": "the words of NumPy's message",
    "TestHistogram.test_bin_array_dims": "the words of NumPy's message",
    "TestHistogram.test_small_value_range": "the words of NumPy's message",
    "TestBincount.test_with_incorrect_minlength": "the words of NumPy's message",
    "TestMatmul.test_out_contiguous": "the words of NumPy's message",
    "TestHistogram.test_object_array_of_0d": "bins whose edges are equal, which NumPy 2.1 counts and 2.4 refuses",
    "TestHistogram.test_precision": "edges of a range of another type have the type of the samples",
    "test_copysign": "a NaN that Concord computes is positive",
}
DIFFERENT.update({"TestSpecialFloats.test_" + name: WARNS for name in "log_values square_values tan arcsincos sinh cosh exp2 expm1".split()})


class Tally:
    def __init__(self):
        self.calls = self.refused = 0
        self.reasons = collections.Counter()
        self.tests = collections.Counter()

    def begin(self):
        self.before = self.calls, self.refused

    def end(self):
        calls, refused = self.calls - self.before[0], self.refused - self.before[1]
        self.tests["without calls" if not calls + refused else "passed" if not refused else "partly refused" if calls else "refused"] += 1


tally = Tally()


def named(name, function, arguments, keywords):
    """Concord's arguments for those of a call of NumPy's function."""
    if isinstance(function, np.ufunc):
        names = ["x", "y"][:function.nin] + ["out"]
    elif name == "where":
        names = ["condition", "x", "y"]
    elif name == "dot":
        names = ["a", "b", "out"]
    elif name == "bincount":
        names = ["x", "weights", "minlength"]
    else:
        names = list(inspect.signature(function).parameters)
    given = dict(zip(names, arguments))
    if len(arguments) > len(names):
        raise TypeError("unknown argument 'positional'")
    given.update(keywords)
    out = given.get("out")
    if isinstance(out, tuple) and len(out) == 1:
        given["out"] = out[0]
    given = {key: value for key, value in given.items() if value is not np._NoValue and not (key in SORTS and "sort" in name)}
    if name in ("matmul",):
        return {{"x": "a", "y": "b"}.get(key, key): value for key, value in given.items()}
    return {NAMES.get(key, key): value for key, value in given.items()}


class Substitute:
    """A function of Concord in the place of one of NumPy."""

    def __init__(self, name, function):
        self.name, self.numpy = name, function
        self.concord = FUNCTIONS[name]
        self.__name__ = name

    def __getattr__(self, name):
        return getattr(self.numpy, name)

    def __call__(self, *arguments, **keywords):
        return self.call(self.numpy, arguments, keywords)

    def call(self, otherwise, arguments, keywords):
        """Concord's result; that of `otherwise` if Concord refuses the call."""
        try:
            if any(isinstance(each, np.ndarray) and type(each) is not np.ndarray for each in (*arguments, *keywords.values())):
                raise cc.InvalidArgument("unknown argument 'subclass'")
            given = named(self.name, self.numpy, arguments, keywords)
            if "sort" in self.name:
                given["nan"] = "last"
            if "order" in given:
                raise cc.InvalidArgument("unknown argument 'order'")
            result = self.concord(**given)
        except (cc.Error, BufferError, TypeError, OverflowError) as error:
            reason = reason_of(error)
            if reason is None:
                if "axis out of range" in str(error):
                    raise np.exceptions.AxisError(str(error)) from error
                raise
            tally.refused += 1
            tally.reasons[reason] += 1
            return otherwise(*arguments, **keywords)
        tally.calls += 1
        return result


def reason_of(error):
    for pattern, reason in REASONS:
        match = re.search(pattern, str(error))
        if match:
            return match.expand(reason)
    return None


class Namespace(types.ModuleType):
    """A module of NumPy with functions of Concord."""

    def __init__(self, module):
        super().__init__(module.__name__)
        self.__dict__["_module"] = module

    def __getattr__(self, name):
        found = getattr(self._module, name)
        if name in FUNCTIONS and callable(found):
            found = Substitute(name, found)
            setattr(self, name, found)
        return found


def method(owner, name, *arguments, **keywords):
    if type(owner) is not np.ndarray:
        return getattr(owner, name)(*arguments, **keywords)
    if name == "sort":
        owner[...] = numpy_names.sort(owner, *arguments, **keywords)
        return None
    own = getattr(owner, name)
    return getattr(numpy_names, name).call(lambda x, *given, **named: own(*given, **named), (owner, *arguments), keywords)


numpy_names = Namespace(np)


class Rewriter(ast.NodeTransformer):
    MODULES = {"numpy": "_numpy", "numpy._core.umath": "_umath"}

    def visit_Import(self, node):
        nodes = [node]
        for alias in node.names:
            if alias.name in self.MODULES and (alias.asname or "." not in alias.name):
                nodes.append(ast.Assign([ast.Name(alias.asname or alias.name, ast.Store())], ast.Name(self.MODULES[alias.name], ast.Load())))
        return nodes

    def visit_ImportFrom(self, node):
        nodes = [node]
        if node.module == "numpy":
            for alias in node.names:
                if alias.name in FUNCTIONS:
                    nodes.append(ast.Assign([ast.Name(alias.asname or alias.name, ast.Store())],
                                            ast.Attribute(ast.Name("_numpy", ast.Load()), alias.name, ast.Load())))
        return nodes

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            node.args = [node.func.value, ast.Constant(node.func.attr), *node.args]
            node.func = ast.Name("_method", ast.Load())
        return node


def load(path):
    """The rewritten module of tests."""
    name = "numpy." + path.replace("/", ".")
    module = types.ModuleType(name + "_with_concord")
    module.__package__ = name.rpartition(".")[0]
    module.__file__ = str(TESTS / (path + ".py"))
    module.__dict__.update(_numpy=numpy_names, _umath=Namespace(sys.modules["numpy._core.umath"]), _method=method)
    sys.modules[module.__name__] = module
    tree = ast.fix_missing_locations(Rewriter().visit(ast.parse(Path(module.__file__).read_text())))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(tree, module.__file__, "exec"), module.__dict__)
    return module


SELECTED = {
    "_core/tests/test_numeric": "TestNonarrayArgs TestClip TestStdVar TestArrayComparisons TestBoolArray",
    "_core/tests/test_umath": "TestOut TestComparisons TestAdd TestDivision TestRemainder TestCbrt TestPower TestLog2 TestExp2 TestLog TestExp "
    "TestSpecialFloats TestAVXFloat32Transcendental TestLog1p TestExpm1 TestHypot TestHypotSpecialValues TestArctan2SpecialValues TestMaximum "
    "TestMinimum TestBool TestBitwiseUFuncs TestFPClass TestSign TestAbsoluteNegative TestMinMax TestRoundingFunctions test_copysign test_nextafter",
    "_core/tests/test_ufunc": "TestUfunc(_sum|_true_divide|_broadcast|_cumsum|_endian|_incontiguous)",
    "_core/tests/test_multiarray": "TestMethods(_all|_any|_prod|_sort|_argsort|_arr_mult|_dot|_matmul) TestArgmaxArgminCommon TestArgmax TestArgmin "
    "TestMinMax TestClip TestStats TestDot TestMatmul TestWhere test_sort_float test_sort_int test_sort_uint test_argsort_float test_argsort_int",
    "lib/tests/test_function_base": "TestAny TestAll test_any_and_all_result_dtype TestAmax TestAmin TestCumsum TestProd TestCumprod TestBincount",
    "lib/tests/test_histograms": "TestHistogram",
}
# Tests of other things: floating-point flags, warnings, pickles, the machinery of ufuncs.
OTHERS = re.compile("spurious|exceptions|errors|pickle|refleak|memleak|memory|overflow_warn|huge_vectordot")

for path, selection in SELECTED.items():
    module = load(path)
    for name, part in re.findall(r"(\w+)(?:\((\S+)\))?", selection):
        found = getattr(module, name, None)
        if found is None:
            continue  # of another version
        if inspect.isclass(found):
            for each in dir(found):
                if each.startswith("test") and (OTHERS.search(each) or part and not re.match("test(" + part + ")", each)):
                    setattr(found, each, None)
                elif each.startswith("test") and name + "." + each in DIFFERENT:
                    setattr(found, each, pytest.mark.xfail(reason=DIFFERENT[name + "." + each])(getattr(found, each)))
        elif name.endswith(("sort_float", "sort_int")):  # some of the lengths
            found.pytestmark = [pytest.mark.parametrize(mark.args[0], list(mark.args[1])[::25 if mark.args[0] == "N" else 1])
                                if mark.name == "parametrize" else mark for mark in found.pytestmark]
        elif name in DIFFERENT:
            found = pytest.mark.xfail(reason=DIFFERENT[name])(found)
        globals()[("Test_" if inspect.isclass(found) else "test_") + path.rpartition("/")[2] + "_" + name] = found


@pytest.fixture(autouse=True)
def counted(request):
    tally.begin()
    yield
    tally.end()


def test_counts():
    """Shows what was counted (pytest -rP)."""
    print(f"{tally.calls} calls computed by Concord, {tally.refused} refused; tests:", dict(tally.tests))
    for reason, count in tally.reasons.most_common():
        print(f"{count:6} refused: {reason}")
    assert tally.calls > 10000
    assert tally.tests["passed"] > 500
