"""Arrays of other libraries in and out, without copies."""

import array
import gc
import sys
import threading
import weakref

import numpy as np
import pytest

import concord as cc
from concord.testing import assert_same_bits

CPU = [s for s in cc.devices().column("selector") if not s.startswith("cuda")]


class OnlyDlpack:
    """A producer of DLPack without the buffer protocol."""

    def __init__(self, x, legacy=False):
        self.x, self.legacy = x, legacy

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, **arguments):
        if self.legacy and "max_version" in arguments:
            raise TypeError("unexpected keyword argument 'max_version'")
        return self.x.__dlpack__() if self.legacy else self.x.__dlpack__(**arguments)


def address(x):
    return np.asarray(x).__array_interface__["data"][0]


@pytest.mark.parametrize("selector", CPU)
def test_host_memory_is_used_in_place(selector):
    before = cc.device(selector).memory_use()[0]
    x = np.random.default_rng(1).standard_normal(1 << 20).astype("f4")
    expected = np.sort(x)
    at = address(x)
    assert cc.sort(x, out=x, device=selector) is x
    assert address(x) == at
    assert_same_bits(x, expected)
    odd = x[3:1003]  # any alignment
    assert_same_bits(cc.map("negate", odd, out=odd, device=selector), -expected[3:1003])
    assert_same_bits(x[3:1003], -expected[3:1003])
    # No array of that size was allocated: scratch memory of the sort may be.
    assert cc.device(selector).memory_use()[0] - before < x.nbytes


def test_results_have_the_type_of_the_first_argument():
    x = np.arange(4.0)
    assert type(cc.sum(x)) is np.float64
    assert type(cc.sort(x)) is np.ndarray
    y = cc.array(x, device="tbb")
    assert type(cc.sum(y)) is cc.Array
    assert type(cc.sort(memoryview(array.array("d", x)))) is cc.Array


def test_other_producers():
    x = np.arange(10, dtype="f8")
    for producer in (memoryview(x), array.array("d", x), OnlyDlpack(x), OnlyDlpack(x, legacy=True), cc.array(x, device="tbb")):
        assert float(cc.sum(producer)) == 45
    assert float(cc.sum(bytearray(b"\1\2\3"))) == 6
    assert cc.sum([1, 2, 3]) == 6
    assert cc.sum(4.5) == 4.5
    grid = OnlyDlpack(np.arange(12, dtype="f4").reshape(3, 4)[:, :2])
    assert_same_bits(cc.transpose(grid).numpy(), np.arange(12, dtype="f4").reshape(3, 4)[:, :2].T)


def test_the_exchange_api_of_another_library():
    tvm_ffi = pytest.importorskip("tvm_ffi")
    x = np.arange(12, dtype="f4").reshape(3, 4)
    tensor = tvm_ffi.core.DLTensorTestWrapper(tvm_ffi.from_dlpack(x))
    assert hasattr(type(tensor), "__dlpack_c_exchange_api__")
    assert_same_bits(np.from_dlpack(cc.sum(tensor)), np.float32(66).reshape(()))
    assert_same_bits(np.from_dlpack(cc.add(tensor, tensor)), x + x)
    # And the other direction.
    ours = cc.array(x, device="tbb")
    theirs = tvm_ffi.from_dlpack(ours)
    assert_same_bits(np.from_dlpack(theirs), x)


def test_array(device, dtype):
    x = np.arange(24).astype(dtype).reshape(2, 3, 4)
    y = cc.array(x, device=device)
    assert (y.shape, y.dtype, y.ndim, y.size, y.nbytes, len(y)) == (x.shape, dtype, 3, 24, x.nbytes, 2)
    assert y.device.selector == cc.device(device).selector
    assert_same_bits(y.numpy(), x)
    assert y.tolist() == x.tolist()
    assert f"dtype={dtype}" in repr(y) and "shape=(2, 3, 4)" in repr(y)
    total = cc.sum(y)
    assert type(total) is cc.Array and total.shape == () and total.item() == x.sum()
    assert int(total) == int(x.sum())
    assert_same_bits(y.copy().numpy(), x)
    for other in cc.devices().column("selector"):
        assert_same_bits(y.to(other).numpy(), x)
    assert_same_bits(cc.array(y, device="tbb").numpy(), x)
    with pytest.raises(ValueError, match="24 elements"):
        y.item()
    assert cc.empty((2, 0), dtype, device).numpy().shape == (2, 0)


def test_array_shares_its_memory():
    y = cc.array(np.arange(6.0), device="tbb")
    views = [np.asarray(y), np.from_dlpack(y), np.frombuffer(y)]
    assert len({address(v) for v in views}) == 1
    np.asarray(y)[0] = 42
    assert y.tolist()[0] == 42
    view = np.asarray(y)
    del y
    gc.collect()
    assert view[0] == 42
    back = cc.from_dlpack(view)
    assert back.numpy().__array_interface__["data"] == view.__array_interface__["data"]


def test_capsules():
    y = cc.array(np.arange(6, dtype="u2"), device="tbb")
    assert y.__dlpack_device__() == (1, 0)
    assert "dltensor_versioned" in repr(y.__dlpack__(max_version=(1, 3)))
    assert '"dltensor"' in repr(y.__dlpack__())  # both are deleted unused
    assert "dltensor_versioned" in repr(y.__dlpack__(copy=True, max_version=(1, 0)))
    with pytest.raises(BufferError, match="the array is on CPU device 0; copies are made on the host only"):
        y.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="without a copy it cannot be moved"):
        y.__dlpack__(dl_device=(2, 0), copy=False)
    with pytest.raises(AttributeError, match="tbb"):
        y.__cuda_array_interface__


def test_memory_is_released():
    x = np.arange(1000.0)
    references = sys.getrefcount(x)
    for _ in range(100):
        cc.sum(x)
        cc.sum(OnlyDlpack(x))
        with pytest.raises(ValueError):
            cc.sum(x, variant="foo")
    assert sys.getrefcount(x) == references
    use = cc.device("tbb").memory_use()
    for _ in range(100):
        cc.sort(cc.array(x, device="tbb")).__dlpack__()
    gc.collect()
    assert cc.device("tbb").memory_use()[0] <= use[0] + 100_000


@pytest.mark.parametrize("expression, message", [
    ("cc.sum(np.ones(3, 'f2'))", "x has dtype float16; supported are"),
    ("cc.sum(np.ones(3, complex))", "x has dtype complex128"),
    ("cc.from_dlpack(np.ones(6)[::-1])", "x has indices that descend in memory"),
    ("cc.sum(np.ones((2, 2)), 2)", "axis"),
    ("cc.sum(np.ones((2, 2)), (0, 0))", "axis"),
    ("cc.sort(np.ones((2, 2)), 2)", "axis"),
    ("cc.sort(np.float64(1))", "x has no dimensions"),
    ("cc.sum(np.ones(3), out=np.ones(1))", r"out has dtype float64 and shape \(1,\); expected float64 and \(\)"),
    ("cc.sort(np.ones(3), out=np.ones(3, 'f4'))", "out has dtype float32"),
    ("cc.sort(np.ones(3), out=np.frombuffer(bytes(24)))", "out is read-only"),
    ("cc.compress(np.ones(3), np.ones(3))", "condition has dtype float64; expected bool"),
    ("cc.compress(np.ones(4, bool), np.ones(3))", "condition has 4 elements, x has 3"),
    ("cc.compact(np.ones(3), '<')", "needs an operand"),
    ("cc.compact(np.ones(3), 'even')", "even"),
    ("cc.compact(np.ones(3), 'even', 2)", "does not accept an operand"),
    ("cc.reduce_by_key(np.ones(4), np.ones(3))", "keys has 4 elements, values has 3"),
    ("cc.reduce_by_key(np.ones(3), np.ones(3, bool))", "values has dtype bool"),
    ("cc.reduce_by_key(np.ones(3), np.ones(3), 'mean')", "unknown operator, got 'mean'"),
    ("cc.run_length_encode(np.ones((2, 2)))", r"x has the shape \(2, 2\); expected 1 dimension"),
    ("cc.unique_consecutive(np.ones(3), variant='frob')", "unique_consecutive: unknown variant"),
    ("cc.map('copy', np.ones(3), np.ones(3))", "unknown function of two arrays, got 'copy'"),
    ("cc.reduce(np.ones(3), 'sum', 0)", "identity"),
    ("cc.add(np.ones(3), np.ones(4))", "shapes do not broadcast, got 3 and 4"),
    ("cc.sum(np.ones(3), device='cuda:99')", "cuda:99|cuda"),
    ("cc.stencil(np.ones((2, 2, 2)), [1])", "coefficients"),
    ("cc.convolve(np.ones((3, 3)), np.ones((2, 3)))", "odd"),
    ("cc.empty(3, 'float16')", "unsupported dtype, got 'float16'"),
    ("cc.empty((2**40, 2**40))", "2\\^60"),
    ("cc.empty(-1)", "not negative"),
])
def test_errors_name_the_value(expression, message):
    with pytest.raises(cc.Error, match=message) as caught:
        eval(expression)
    assert caught.value.code


@pytest.mark.parametrize("x", ("text", object(), {}))
def test_no_arrays(x):
    with pytest.raises(TypeError, match="sum: x is a"):
        cc.sum(x)


def test_error_types():
    assert issubclass(cc.InvalidArgument, ValueError) and issubclass(cc.OutOfMemory, MemoryError)
    assert issubclass(cc.Unavailable, RuntimeError) and issubclass(cc.FileError, OSError)
    with pytest.raises(MemoryError):
        cc.empty(2**50, "uint8", "tbb")


def test_threads():
    """The interpreter's lock is released, and streams of threads do not disturb each other."""
    x = [np.random.default_rng(i).standard_normal(200_000) for i in range(8)]
    expected = [cc.sum(v) for v in x]
    found = [None] * 8

    def work(i):
        for _ in range(20):
            found[i] = cc.sum(x[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == expected


INPLACE = {
    "sort": lambda x, out: cc.sort(x, out=out),
    "cumsum": lambda x, out: cc.scan(x, out=out),
    "negate": lambda x, out: cc.map("negate", x, out=out),
    "add": lambda x, out: cc.add(x, x, out=out),
}


@pytest.mark.parametrize("name", INPLACE)
@pytest.mark.parametrize("n", (10, 1000, 100_003, 1_000_003))
def test_out_is_the_input(name, n, dtype, values):
    with np.errstate(over="ignore"):
        x = values(dtype, n)
        expected = INPLACE[name](x, np.empty_like(x))
        assert INPLACE[name](x, x) is x
        assert_same_bits(x, expected)


def test_out_overlaps_the_input():
    x = np.arange(10_000, dtype="f8")
    square = np.ones((100, 100))
    before = x.copy()
    for call in (
        lambda: cc.sort(x[:-1], out=x[1:]),
        lambda: cc.scan(x[:-1], out=x[1:]),
        lambda: cc.partition(x, ">", 5.0, out=x),
        lambda: cc.sum(x, out=x[5:6].reshape(())),
        lambda: cc.matmul(square, square, out=square),
        lambda: cc.stencil(x.reshape(10, 10, 100), [1, 1], out=x.reshape(10, 10, 100)),
        lambda: cc.bincount(x.view("i8")[:100], out=x.view("i8")[:100]),
        lambda: cc.bincount(x.view("i8")[:100], out=x.view("i8")[50:150]),
    ):
        with pytest.raises((ValueError, NotImplementedError), match="overlap|in place|in-place"):
            call()
    assert_same_bits(x, before)
    assert_same_bits(cc.transpose(square, out=square), np.ones((100, 100)))
    # Functions of elements compute as if their inputs were copies.
    cc.map("negate", x[:-1], out=x[1:])
    assert_same_bits(x[1:], -before[:-1])
    x[:] = before
    # Parts of one array that have no element in common.
    cc.map("negate", x[:5000], out=x[5000:])
    assert_same_bits(x[5000:], -before[:5000])


def test_failed_calls_release_their_arguments():
    wrong = [np.ones(3, complex), np.ones((1,) * 9), np.ones(3, "f2")]
    references = [sys.getrefcount(x) for x in wrong]
    for _ in range(10):
        for x in wrong:
            for argument in (x, OnlyDlpack(x)):
                with pytest.raises((cc.Error, BufferError)):
                    cc.sum(argument)
    del x, argument
    gc.collect()
    assert [sys.getrefcount(x) for x in wrong] == references
    for _ in range(5):
        with pytest.raises(ValueError):
            cc.histogram(np.ones(200_000), 100_000, (0, 1), variant="nonsense")


def test_views_of_arrays_are_current():
    y = cc.array(np.arange(1 << 20, dtype="f8"), device="tbb")
    view = np.asarray(y)
    for k in range(5):
        total = cc.sum(y)
        view[:] = k  # after the sum
        cc.map("square", y, out=y)
        assert view[-1] == k * k
        assert total.item() == ((1 << 19) * ((1 << 20) - 1) if k == 0 else (k - 1) ** 2 << 20)


def test_threads_wait_for_an_array():
    for _ in range(10):
        y = cc.cumsum(cc.array(np.ones(1 << 20), device="tbb"))
        found = []
        threads = [threading.Thread(target=lambda: (y.synchronize(), found.append(np.asarray(y)[-1]))) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert found == [1 << 20] * 3


def test_layouts_of_buffers():
    x = np.arange(12.0).reshape(3, 4)
    y = cc.from_dlpack(x.T)
    assert_same_bits(np.asarray(y), x.T)
    assert y.numpy().strides == x.T.strides
    with pytest.raises((BufferError, ValueError), match="order of elements|contiguous"):
        np.frombuffer(y)
    assert np.asarray(cc.from_dlpack(x[:, :2])).tolist() == x[:, :2].tolist()
    fixed = np.frombuffer(bytes(24))
    with pytest.raises(BufferError, match="read-only"):
        cc.from_dlpack(fixed).__dlpack__()
    assert cc.from_dlpack(fixed).numpy().flags.writeable is False


@pytest.mark.parametrize("call", (
    lambda: cc.sum(np.ones(3), variant=3), lambda: cc.sum(np.ones(3), order=3), lambda: cc.histogram(np.ones(3), range="ab"),
    lambda: cc.empty("x"), lambda: cc.reduce(np.ones(3), 3), lambda: cc.map(3, np.ones(3)), lambda: cc.sum(np.ones(3), device=3),
    lambda: cc.sum(np.ones(3), stream=object())))
def test_wrong_types(call):
    with pytest.raises(TypeError, match="expected"):
        call()


def test_bool_is_not_uint8():
    with pytest.raises(ValueError, match="out has dtype bool"):
        cc.sort(np.ones(3, "u1"), out=np.ones(3, bool))
    assert cc.scan(np.array([False, True, False]), "max").tolist() == [False, True, True]
    assert cc.reduce(np.array([False, True]), "max") == np.True_
    with pytest.raises(ValueError, match="cumsum"):
        cc.scan(np.ones(3, bool))
    odd = np.array([2, 1, 0], "u1").view(bool)
    assert cc.compress(odd, np.arange(3)).tolist() == [0, 1]


@pytest.mark.parametrize("x", (np.full(5, 1e10, "f4"), np.array([0, 1e-45], "f4"), np.array([-3e38, 0, 3e38], "f4"),
                               np.array([-1.7e308, 1.7e308]), np.full(5, 2**60)))
def test_histogram_ranges_that_the_type_cannot_hold(x):
    with pytest.raises(ValueError, match="bins for the range"):
        cc.histogram(x, 10)


def test_streams(device):
    stream = cc.device(device).stream()
    x = cc.array(np.arange(1000.0), device=device)
    y = cc.sort(x, descending=True, stream=stream)
    z = cc.cumsum(y)  # on another stream, after the sort
    assert z.tolist()[-1] == 499500 and z.tolist()[0] == 999
    stream.synchronize()


def test_array_as_a_value():
    import copy
    import pickle

    y = cc.array([3, 1, 2], device="tbb")
    assert cc.sum(y) == 6 and (y == [3, 1, 2]).all() and (y != y).sum() == 0
    assert y[0] == 3 and y[1:].tolist() == [1, 2] and list(y) == [3, 1, 2]
    for other in (copy.copy(y), copy.deepcopy(y), pickle.loads(pickle.dumps(y))):
        assert type(other) is cc.Array and other is not y and other.tolist() == [3, 1, 2]
    with pytest.raises(TypeError, match="out is a list"):
        cc.cumsum([1.0, 2.0], out=[0.0, 0.0])
    for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"):
        assert cc.empty(3, name).dtype == np.dtype(name).name
    assert cc.empty(3, "f32").dtype == "float32" and cc.empty(3, np.dtype("i8")).dtype == "int64"
    with pytest.raises(ValueError, match="inhomogeneous"):
        cc.sum([[1, 2], [3]])


def test_functions_of_bool():
    """As in NumPy: results are bool, any byte except 0 is true, and negative is refused."""
    x = np.array([True, False, True])
    for call in (cc.abs, cc.square, lambda v: cc.map("copy", v)):
        for argument in (x, cc.array(x, device="tbb")):
            result = np.asarray(call(argument))
            assert result.dtype == bool and (result == x).all()
    for call in (cc.negative, lambda v: cc.map("negate", v)):
        with pytest.raises(TypeError, match="has dtype bool"):
            call(x)
    assert_same_bits(cc.sqrt(x), x.astype("f4"))
    odd = np.array([2, 255, 0, 1], "u1").view(bool)
    plain = np.array([True, True, False, True])
    for call in (cc.sum, cc.prod, cc.min, cc.max, cc.cumsum, cc.sort, cc.argsort, cc.abs, cc.bincount,
                 lambda v: cc.sort(v, descending=True), lambda v: cc.scan(v, "max"), lambda v: cc.reduce(v, "min"),
                 lambda v: cc.sort_pairs(v, np.arange(4)), lambda v: cc.compress(v, v), lambda v: cc.compact(v, "nonzero")):
        for got, expected in zip(np.atleast_1d(call(odd)), np.atleast_1d(call(plain))):
            assert_same_bits(got, expected)


def test_array_copies_as_the_protocol_says(device):
    x = np.arange(3.0)
    y = cc.array(x, device=device)
    copy = y.__array__(copy=True)
    copy[0] = 7
    assert y.tolist() == [0, 1, 2]
    assert not np.shares_memory(copy, y.__array__())
    assert y.__array__("f4").dtype == np.float32
    with pytest.raises(ValueError, match="a copy is necessary: the"):
        y.__array__("f4", copy=False)
    if not device.startswith("cuda"):
        assert np.shares_memory(y.__array__(copy=False), y.__array__())
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        copy = np.from_dlpack(y, copy=True, device="cpu")
        copy[0] = 7
        assert y.tolist() == [0, 1, 2]
    with pytest.raises(BufferError, match="copies are made on the host"):
        y.__dlpack__(dl_device=(8, 0))
    with pytest.raises(TypeError, match="max_version"):
        y.__dlpack__(max_version="new")


def test_dlpack_errors_are_not_repeated():
    class Fails:
        calls = 0

        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **_):
            Fails.calls += 1
            raise TypeError("null values")

    with pytest.raises(TypeError, match="null values"):
        cc.sum(Fails())
    assert Fails.calls == 1


@pytest.mark.parametrize("kind, name", ((8, "Metal device 0"), (10, "ROCm device 0"), (14, "oneAPI device 0"), (99, r"DLPack device \(99, 0\)")))
def test_tensors_of_other_devices(kind, name):
    class Elsewhere(OnlyDlpack):
        def __dlpack_device__(self):
            return (kind, 0)

    with pytest.raises(cc.WrongDevice, match=f"x is on {name}; supported are"):
        cc.sum(Elsewhere(np.ones(3)))


def test_types_are_not_kept():
    def used():
        kind = type("Kind", (), {"payload": bytearray(10)})
        with pytest.raises(TypeError):
            cc.sum(kind())
        return weakref.ref(kind)

    references = [used() for _ in range(20)]
    gc.collect()
    assert not any(reference() for reference in references)


def test_options_of_the_program():
    """Values are not options, whatever they begin with."""
    with pytest.raises(cc.InvalidArgument, match="unknown algorithm, got '--junit=/tmp/x'"):
        cc.check("--junit=/tmp/x")
    with pytest.raises(cc.InvalidArgument, match="unknown algorithm"):
        cc.bench(["map", "--out"])
    for option in ("devices", "types", "sizes"):
        with pytest.raises(cc.Error, match="--list"):
            cc.check("map", **{option: "--list"})


def test_messages_that_are_not_utf8():
    with pytest.raises(cc.Error, match="é"):
        cc.device("é" * 1001)
    with pytest.raises(cc.Error, match="é"):
        cc.device("x" + "é" * 1001)
