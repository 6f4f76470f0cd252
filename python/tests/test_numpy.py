"""What a user of NumPy calls first: axes, layouts, broadcasting, promotion, indices and operators, against NumPy."""

import itertools
import warnings

import numpy as np
import pytest

import concord as cc

RANDOM = np.random.default_rng(5)
CUBE = RANDOM.integers(-9, 9, (4, 5, 6))
# Arrays of all layouts: views with steps, reversed, transposed, in Fortran's order, repeated, without elements.
LAYOUTS = {
    "rows": lambda x: x,
    "steps": lambda x: x[::2, 1:, ::3],
    "reversed": lambda x: x[::-1, :, ::-2],
    "transposed": lambda x: x.transpose(2, 0, 1),
    "fortran": np.asfortranarray,
    "repeated": lambda x: np.broadcast_to(x[:, :1], x.shape),
    "empty": lambda x: x[:, :0],
}
AXES = (None, 0, -1, (0, 2), (), (0, 1, 2))


def host(x):
    return x.numpy() if isinstance(x, cc.Array) else np.asarray(x)


def same(made, expected):
    made, expected = host(made), np.asarray(expected)
    assert made.dtype == expected.dtype and made.shape == expected.shape, (made.dtype, made.shape, expected.dtype, expected.shape)
    np.testing.assert_array_equal(made, expected)


@pytest.fixture
def some(device, request):
    """Whether a test of a layout runs few of its calls: each compiles kernels of its own on OpenCL."""
    if not device.startswith("opencl") or request.config.getoption("-m") != "not long":
        return False
    return True


@pytest.mark.every_case
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all", "mean", "argmin", "argmax"])
def test_reductions_over_axes(name, layout, device, some):
    function, expected = getattr(cc, name), getattr(np, name)
    for dtype in ("int16",) if some else ("int16", "float64", "bool"):
        x = LAYOUTS[layout]((CUBE % 3).astype(dtype))
        for axis in AXES:
            if name.startswith("arg") and isinstance(axis, tuple):
                continue
            needs = name in ("min", "max", "argmin", "argmax")
            lines = x.shape if axis is None else [x.shape[k] for k in np.atleast_1d(axis).astype(int)]
            if needs and (0 in lines or (axis == () and x.size == 0)):
                if 0 in lines and np.empty(x.shape).sum(axis).size:
                    with pytest.raises(ValueError, match="no elements"):
                        function(x, axis, device=device)
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the mean of no elements
                wanted, kept = expected(x, axis), expected(x, axis, keepdims=True)
            same(function(x, axis, device=device), wanted)
            same(function(x, axis, keepdims=True, device=device), kept)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "empty"])
def test_statistics(layout, device, some):
    x = LAYOUTS[layout](RANDOM.standard_normal(CUBE.shape))
    for axis in (None, 0) if some else AXES:
        for ddof in (0, 1):
            if ddof == 1 and axis == ():
                continue
            np.testing.assert_allclose(host(cc.var(x, axis, ddof=ddof, device=device)), np.var(x, axis, ddof=ddof), rtol=1e-12)
            np.testing.assert_allclose(host(cc.std(x, axis, correction=ddof, device=device)), np.std(x, axis, ddof=ddof), rtol=1e-12)
        np.testing.assert_allclose(host(cc.norm(x, axis, device=device)), np.sqrt((x * x).sum(axis)), rtol=1e-12)
    np.testing.assert_allclose(cc.dot(x[0, 0], x[1, 1], device=device), x[0, 0] @ x[1, 1], rtol=1e-12)
    assert cc.mean(x.astype("f4"), dtype="f8", device=device).dtype == "float64"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_scans_and_sorts_over_an_axis(layout, device, some):
    for dtype in ("float32",) if some else ("int32", "float32", "bool"):
        x = LAYOUTS[layout]((CUBE % 5).astype(dtype))
        for axis in (0, 1, -1):
            same(cc.cumsum(x, axis, device=device), np.cumsum(x, axis))
            same(cc.cumprod(x, axis, device=device), np.cumprod(x, axis))
            same(cc.sort(x, axis, device=device), np.sort(x, axis))
            same(cc.argsort(x, axis, device=device), np.argsort(x, axis, kind="stable"))
        same(cc.cumsum(x, device=device), np.cumsum(x))
        same(cc.sort(x, None, device=device), np.sort(x, None))
        same(cc.argsort(x, None, device=device), np.argsort(x, None, kind="stable"))


def test_nan_last(device):
    x = np.array([3, np.nan, -np.nan, 0.0, -0.0, 1, -np.inf, np.inf, -0.0, 0.0], "f4")
    made, expected = cc.sort(x, nan="last", device=device), np.sort(x, kind="stable")
    np.testing.assert_array_equal(np.signbit(made[~np.isnan(made)]), np.signbit(expected[~np.isnan(expected)]))
    np.testing.assert_array_equal(made, expected)
    same(cc.argsort(x, nan="last", device=device), np.argsort(x, kind="stable"))
    grid = np.stack([x, x[::-1]])
    same(cc.argsort(grid, 1, nan="last", device=device), np.argsort(grid, 1, kind="stable"))
    np.testing.assert_array_equal(cc.sort(grid, 0, nan="last", device=device), np.sort(grid, 0))
    down = np.array([np.inf, 3, 1, 0.0, -0.0, -0.0, 0.0, -np.inf, np.nan, np.nan], "f4")
    np.testing.assert_array_equal(cc.sort(x, descending=True, nan="last", device=device), down)
    np.testing.assert_array_equal(cc.argsort(x, descending=True, nan="last", device=device), [7, 0, 5, 3, 4, 8, 9, 6, 1, 2])
    for wrong in ("first", 3):
        with pytest.raises((ValueError, TypeError), match="nan"):
            cc.sort(x, nan=wrong, device=device)


TYPES = ("bool", "int8", "int32", "int64", "uint8", "uint16", "uint64", "float32", "float64")
TWO = ("add", "subtract", "multiply", "divide", "minimum", "maximum", "equal", "not_equal", "less", "less_equal", "greater",
       "greater_equal", "logical_and", "logical_or", "logical_xor")


@pytest.mark.parametrize("name", TWO)
def test_promotion_and_broadcasting(name):
    """On one device: the conversions are those of the expressions, which the tests in C++ compare on all devices."""
    function, expected = getattr(cc, name), getattr(np, name)
    comparison = name in TWO[6:12]
    for a, b in itertools.product(TYPES, TYPES):
        x, y = (RANDOM.integers(0, 5, shape).astype(kind) for shape, kind in (((3, 1, 4), a), ((5, 1), b)))
        if name == "subtract" and a == b == "bool":
            with pytest.raises(TypeError, match="logical_xor"):
                function(x, y)
            continue
        if comparison and "uint64" in (a, b) and {"int8", "int32", "int64"} & {a, b}:
            # No integers of both signs have both types.
            for array in (x, y):
                array.flat[:3] = (2**64 - 1, 2**63, 0) if array.dtype == "uint64" else (-1, np.iinfo(array.dtype).max, np.iinfo(array.dtype).min)
        with np.errstate(all="ignore"):
            same(function(x, y), expected(x, y))


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two(name, device):
    function, expected = getattr(cc, name), getattr(np, name)
    x, y = RANDOM.standard_normal((6, 7)).astype("f4"), RANDOM.standard_normal(7).astype("f4")
    same(function(x, y, device=device), expected(x, y))
    same(function(x[::-1].T, 2, device=device), expected(x[::-1].T, 2))
    same(function(0.5, x, device=device), expected(np.float32(0.5), x))
    out = np.zeros((6, 14), expected(x, y).dtype)[:, ::2]
    assert function(x, y, out=out, device=device) is out
    same(out, expected(x, y))


def test_numbers():
    x = np.array([0, 5, 255], "u1")
    same(cc.add(x, 1), np.add(x, np.uint8(1)))
    same(cc.less(x, 300), np.less(x, 300))
    same(cc.equal(x, -1), np.equal(x, -1))
    same(cc.greater(-1, x), np.greater(-1, x))
    same(cc.add(x, 1.5), np.add(x, 1.5))
    same(cc.add(x, np.float32(1.5)), np.add(x, np.float32(1.5)))
    assert cc.add(2, 3) == 5
    with pytest.raises(OverflowError, match="300 is not a value of uint8"):
        cc.add(x, 300)
    same(cc.pow(np.array([2, 3]), 5), np.array([32, 243]))
    with pytest.raises(ValueError, match="negative"):
        cc.pow(np.array([2, 3]), np.array([1, -1]))
    same(cc.exp(np.array([0, 0])), np.array([1.0, 1.0]))


def test_where_clip_and_tests(device):
    x = np.array([[1, np.nan, -np.inf], [0, -2, np.inf]], "f4")
    same(cc.where(x > 0, x, 0, device=device), np.where(x > 0, x, np.float32(0)))
    same(cc.where([True, False, True], x, x[1], device=device), np.where([True, False, True], x, x[1]))
    same(cc.clip(x, -1, 1, device=device), np.clip(x, -1, 1))
    same(cc.clip(x, max=x[1], device=device), np.clip(x, None, x[1]))
    for name in ("isnan", "isfinite", "isinf", "logical_not"):
        same(getattr(cc, name)(x, device=device), getattr(np, name)(x))
        same(getattr(cc, name)(np.arange(3), device=device), getattr(np, name)(np.arange(3)))


def test_other_sources():
    class Column:
        """As a column of a table."""

        def __array__(self, dtype=None, copy=None):
            return np.arange(5.0)

    assert cc.sum(Column()) == 10
    same(cc.sort(np.array([3, 1, 2], ">i4")), np.array([1, 2, 3], "i4"))
    same(cc.histogram(np.arange(9.0)[::-2], 2)[0], np.histogram(np.arange(9.0)[::-2], 2)[0])
    same(cc.compress(np.array([True, False] * 3)[::2], np.arange(6)[::-2]), np.array([5, 3, 1]))


def test_matmul_of_vectors_and_batches(device):
    a, b = RANDOM.integers(0, 5, (2, 1, 3, 4)).astype("f4"), RANDOM.integers(0, 5, (5, 4, 6)).astype("f4")
    same(cc.matmul(a, b, device=device), a @ b)
    same(cc.matmul(a[0, 0], b[0], device=device), a[0, 0] @ b[0])
    same(cc.matmul(a[0, 0, 0], b[0], device=device), a[0, 0, 0] @ b[0])
    same(cc.matmul(a, b[0, :, 0], device=device), a @ b[0, :, 0])
    same(cc.matmul(b[0, :, 0], b[0, :, 1], device=device), b[0, :, 0] @ b[0, :, 1])
    same(cc.matmul(a[0, 0][::-1], b[0][:, ::-2].astype("f8"), device=device), a[0, 0][::-1] @ b[0][:, ::-2].astype("f8"))
    with pytest.raises(ValueError, match="do not match"):
        cc.matmul(a, b[:, :3], device=device)


KEYS = (0, -1, slice(1, 3), slice(None, None, 2), (0, 1), (slice(None), 1), (..., 0), (None, 1), (slice(3, 1),), (1, ..., slice(1, None)),
        slice(None, None, -1), (slice(None), slice(4, None, -2)))


def test_indices(device):
    x = np.arange(60).reshape(3, 4, 5)
    y = cc.array(x, device)
    for key in KEYS:
        same(y[key], x[key])
        changed, there = x.copy(), cc.array(x, device)
        changed[key] = 7
        there[key] = 7
        same(there, changed)
        changed[key] = -changed[key]
        there[key] = -there[key]
        same(there, changed)
    same(y[y > 30], x[x > 30])
    same(y[cc.asarray([2, 0], device=device)], x[[2, 0]])
    there = cc.array(x, device)
    there[there > 30] = 0
    same(there, np.where(x > 30, 0, x))
    view = there[1]
    view[...] = 5
    same(there[1], np.full((4, 5), 5))
    for wrong in (3, (0, 0, 0, 0), (slice(None), 4)):
        with pytest.raises(IndexError):
            y[wrong]
    with pytest.raises(ValueError, match="extents"):
        there[0] = np.ones(3, int)
    with pytest.raises((ValueError, TypeError)):
        there[0] = 1.5


def test_operators(device):
    x, y = np.arange(6.0).reshape(2, 3), np.arange(3.0) + 1
    a, b = cc.array(x, device), cc.array(y, device)
    for made, expected in ((a + b, x + y), (a - 1, x - 1), (2 * a, 2 * x), (a / b, x / y), (1 - a, 1 - x), (a ** 2, x ** 2), (-a, -x),
                           (abs(-a), x), (a @ b, x @ y), (a == b, x == y), (a < b, x < y), (a >= 2, x >= 2), (y + a, y + x),
                           (a + y, x + y), ((a > 1) & (a < 4), (x > 1) & (x < 4)), (~(a > 1), ~(x > 1)), (a.T, x.T),
                           (a.T + 1, x.T + 1), (a.reshape(3, -1), x.reshape(3, -1)), (a.T.reshape(-1), x.T.reshape(-1)),
                           (a.astype("i4"), x.astype("i4"))):
        assert isinstance(made, cc.Array)
        same(made, expected)
    c = a
    c += b
    assert c is a
    same(a, x + y)
    assert (a == "text") is False and float(a[0, 0]) == 1
    with pytest.raises(TypeError):
        a + "text"
    same(cc.array(np.arange(3), device) & 1, np.arange(3) & 1)
    with pytest.raises(TypeError, match="integers or bool"):
        cc.array(np.arange(3.0), device) & 1


def test_functions_of_the_standard(device):
    x = np.arange(24).reshape(2, 3, 4)
    y = cc.asarray(x, device=device)
    assert y.__array_namespace__() is cc
    for made, expected in (
        (cc.zeros((2, 3), device=device), np.zeros((2, 3))), (cc.ones(3, "int8", device=device), np.ones(3, "i1")),
        (cc.full(2, 7, device=device), np.full(2, 7)), (cc.arange(5, device=device), np.arange(5)),
        (cc.arange(5, 0, -2, device=device), np.arange(5, 0, -2)), (cc.linspace(0, 1, 5, device=device), np.linspace(0, 1, 5)),
        (cc.eye(3, 4, k=1, device=device), np.eye(3, 4, k=1)), (cc.concat([y, y[:, :1]], axis=1), np.concatenate([x, x[:, :1]], 1)),
        (cc.stack([y, y], axis=-1), np.stack([x, x], -1)), (cc.flip(y, axis=1), np.flip(x, 1)), (cc.roll(y, 2), np.roll(x, 2)),
        (cc.roll(y, (1, -1), axis=(0, 2)), np.roll(x, (1, -1), (0, 2))), (cc.expand_dims(y, axis=-1), x[..., None]),
        (cc.squeeze(y[:1], 0), x[0]), (cc.moveaxis(y, 0, -1), np.moveaxis(x, 0, -1)),
        (cc.permute_dims(y, (2, 0, 1)), x.transpose(2, 0, 1)), (cc.matrix_transpose(y), x.swapaxes(1, 2)),
        (cc.take(y, cc.asarray([2, 0, -1], device=device), axis=1), x.take([2, 0, -1], 1)),
        (cc.broadcast_to(y[0, 0], (3, 4)), np.broadcast_to(x[0, 0], (3, 4))),
        (cc.cumulative_sum(y, axis=1, include_initial=True), np.concatenate([np.zeros((2, 1, 4), int), x.cumsum(1)], 1)),
        (cc.reshape(y, (4, 6)), x.reshape(4, 6)), (cc.astype(y, cc.float32), x.astype("f4")),
    ):
        same(made, expected)
    info = cc.__array_namespace_info__()
    assert info.capabilities()["max dimensions"] == 8 and set(info.dtypes(kind="real floating")) == {"float32", "float64"}
    assert cc.finfo("float32").eps == np.finfo("f4").eps and cc.iinfo("int16").min == -(1 << 15)
    assert cc.result_type("int8", "uint8") == "int16" and cc.isdtype("int8", "integral") and not cc.can_cast("float64", "int8")
    with pytest.raises(IndexError):
        cc.take(y, [5], axis=1)
