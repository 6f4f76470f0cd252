"""Every public call checks its operands: outputs that are read-only, too short, of another type, of another device or that
overlap an input, and empty arrays. A public name that is in neither table fails."""

import numpy as np
import pytest

import concord as cc

N = 16
ROW, SQUARE, CUBE = (N,), (4, 4), (2, 4, 4)
TWICE = cc.kernel("void twice(u64 i, f32* out, const f32* x) { out[i] = 2 * x[i]; }")
UNARY = ("ceil floor reciprocal round sign trunc abs acos asin atan cbrt cos cosh cospi erf erfc exp exp2 expm1 lgamma log log10 log1p log2 negative rsqrt sin sinh "
         "sinpi sqrt square tan tanh tgamma").split()

# The calls with an output: the shape of their inputs, and the call.
CALLS = {name: (ROW, lambda x, out, f=getattr(cc, name), **more: f(x, out=out, **more)) for name in UNARY}
BINARY = ("add atan2 divide equal greater greater_equal hypot less less_equal logical_and logical_or logical_xor maximum minimum "
          "multiply not_equal pow power subtract copysign floor_divide logaddexp nextafter remainder").split()
TESTS = ("isfinite", "isinf", "isnan", "logical_not", "signbit")
BITS = ("bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor")
CALLS |= {name: (ROW, lambda x, out, f=getattr(cc, name), **more: f(x, x, out=out, **more)) for name in BINARY + ["dot"]}
CALLS |= {name: (ROW, lambda x, out, f=getattr(cc, name), **more: f(x, out=out, **more))
          for name in ("sum", "prod", "min", "max", "cumsum", "cumprod", "sort", "any", "all", "mean", "var", "std", "norm", "argmin",
                       "argmax") + TESTS}
CALLS |= {name: (ROW, lambda x, out, f=getattr(cc, name), **more: f(x.astype("int32"), 1, out=out, **more)) for name in BITS}
CALLS |= {
    "bitwise_invert": (ROW, lambda x, out, **more: cc.bitwise_invert(x.astype("int32"), out=out, **more)),
    "clip": (ROW, lambda x, out, **more: cc.clip(x, 0, 2, out=out, **more)),
    "where": (ROW, lambda x, out, **more: cc.where(x, x, x, out=out, **more)),
    "argsort": (ROW, lambda x, out, **more: cc.argsort(x, out=out, **more)),
    "bincount": (ROW, lambda x, out, **more: cc.bincount(x.astype("i4") if isinstance(x, np.ndarray) else x, out=out, **more)),
    "map": (ROW, lambda x, out, **more: cc.map("negate", x, out=out, **more)),
    "partition": (ROW, lambda x, out, **more: cc.partition(x, ">", 0, out=out, **more)[0]),
    "reduce": (ROW, lambda x, out, **more: cc.reduce(x, "sum", out=out, **more)),
    "segmented_reduce": (ROW, lambda x, out, **more: cc.segmented_reduce(x, np.array([0, 1, 3]), out=out, **more)),
    "segmented_scan": (ROW, lambda x, out, **more: cc.segmented_scan(x, np.array([0, 1, x.size]), out=out, **more)),
    "scan_by_key": (ROW, lambda x, out, **more: cc.scan_by_key(np.arange(x.size), x, out=out, **more)),
    "segmented_sort": (ROW, lambda x, out, **more: cc.segmented_sort(x, np.array([0, 1, N]), out=out, **more)),
    "scan": (ROW, lambda x, out, **more: cc.scan(x, out=out, **more)),
    "transpose": (SQUARE, lambda x, out, **more: cc.transpose(x, out=out, **more)),
    "matmul": (SQUARE, lambda x, out, **more: cc.matmul(x, x, out=out, **more)),
    "convolve": (SQUARE, lambda x, out, **more: cc.convolve(x, np.ones((3, 3), "f4"), out=out, **more)),
    "stencil": (CUBE, lambda x, out, **more: cc.stencil(x, [1, 1], out=out, **more)),
}
# These compute as if their inputs were copies.
ELEMENTWISE = {*UNARY, *BINARY, *TESTS, *BITS, "bitwise_invert", "clip", "map", "where"}
# Calls whose results are new arrays; kernels, whose outputs are arguments; and what takes no arrays.
NEW_RESULTS = {
    "compact": lambda x, **more: cc.compact(x, "nonzero", **more),
    "compress": lambda x, **more: cc.compress(x, x, **more),
    "histogram": lambda x, **more: cc.histogram(x, 3, **more),
    "reduce_by_key": lambda x, **more: cc.reduce_by_key(x, np.arange(x.size), **more),
    "run_length_encode": lambda x, **more: cc.run_length_encode(x, **more),
    "sort_pairs": lambda x, **more: cc.sort_pairs(x, x, **more),
    "unique_consecutive": lambda x, **more: cc.unique_consecutive(x, **more),
}
KERNELS = {"kernel", "Kernel"}
WITHOUT = {"Array", "CompileFailed", "Device", "DeviceFailed", "Error", "FileError", "Function", "InvalidArgument", "OutOfMemory",
           "Stream", "Table", "Unavailable", "Unsupported", "WrongDevice", "algorithms", "array", "bench", "check", "device",
           "devices", "empty", "from_dlpack", "function", "testing"}
# Compositions of other calls and indices, in Python, and constants.
WITHOUT |= set(("argwhere bool conj count_nonzero nonzero positive repeat tile unstack vecdot arange asarray astype bool_ broadcast_arrays broadcast_to can_cast concat cumulative_prod cumulative_sum e empty_like "
                "expand_dims eye finfo flip float32 float64 full full_like iinfo inf int16 int32 int64 int8 isdtype linspace random "
                "matrix_transpose moveaxis nan ones ones_like permute_dims pi reshape result_type roll squeeze stack take "
                "uint16 uint32 uint64 uint8 zeros zeros_like").split())
REFUSED = (ValueError, cc.WrongDevice, cc.Unsupported)


def test_every_public_name_is_known():
    tables = (set(CALLS), set(NEW_RESULTS), KERNELS, WITHOUT)
    assert sum(map(len, tables)) == len(set().union(*tables))
    assert set().union(*tables) == set(cc.__all__)


@pytest.fixture(params=CALLS)
def call(request):
    return CALLS[request.param]


def input_of(shape):
    return np.ones(shape, "f4")


def result_of(call, device):
    shape, run = call
    return np.asarray(run(input_of(shape), None, device=device))


def test_read_only_outputs(call, device):
    result = result_of(call, device)
    out = np.full_like(result, 7)
    out.flags.writeable = False
    before = out.copy()
    with pytest.raises(ValueError, match="read-only"):
        call[1](input_of(call[0]), out, device=device)
    assert (out == before).all()


def test_outputs_of_another_shape_or_type(call, device):
    result = result_of(call, device)
    shorter = np.empty(np.array(result.shape) - 1 if result.ndim else (1,), result.dtype)
    other = np.empty(result.shape, "i2")
    # The length of bincount's output is the number of bins. Truths and integers are also stored as other integers, as
    # in NumPy.
    for out in (other,) if call is CALLS["bincount"] else (shorter,) if result.dtype in (bool, "i4") else (shorter, other):
        with pytest.raises(ValueError, match="out has dtype|counters|out has the shape"):
            call[1](input_of(call[0]), out, device=device)


def test_outputs_that_overlap_an_input(call, device):
    result = result_of(call, device)
    if result.dtype != np.float32:
        pytest.skip("the result has another type")
    shape = call[0]
    memory = np.ones(2 * np.prod(shape) + 1, "f4")
    x = memory[:np.prod(shape)].reshape(shape)
    out = memory[1:1 + result.size].reshape(result.shape)
    if call in [CALLS[name] for name in ELEMENTWISE]:
        call[1](x, out, device=device)
        assert np.array_equal(out, result)
        return
    with pytest.raises((ValueError, NotImplementedError), match="overlap|in place|in-place"):
        call[1](x, out, device=device)


def test_kernels():
    x, out = input_of(ROW), np.full(ROW, 7, "f4")
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        TWICE(N, out, x, device="tbb")
    assert (out == 7).all()
    TWICE(0, np.empty(0, "f4"), np.empty(0, "f4"), device="tbb")


IDENTITY = "u8 same(u8 x) { return x; }"
LARGER = "u8 larger(u8 x, u8 y) { return x > y ? x : y; }"
SAME = "void same(u64 i, u8* out, const u8* x) { out[i] = x[i]; }"


def copied_by_kernel(x, **more):
    out = np.empty(x.shape, "u1")
    cc.kernel(SAME)(x.size, out, x, **more)
    return out


# The calls of arrays with their shapes, and forms of them that read the elements in another way.
OF_BOOL = {name: (shape, lambda x, run=run, **more: run(x, None, **more)) for name, (shape, run) in CALLS.items()}
OF_BOOL |= {name: (ROW, run) for name, run in NEW_RESULTS.items()}
OF_BOOL |= {
    "reduce, max": (ROW, lambda x, **more: cc.reduce(x, "max", **more)),
    "scan, max": (ROW, lambda x, **more: cc.scan(x, "max", **more)),
    "sort, descending": (ROW, lambda x, **more: cc.sort(x, descending=True, **more)),
    "histogram, range": (ROW, lambda x, **more: cc.histogram(x, 4, (0, 2), **more)),
    "histogram, edges": (ROW, lambda x, **more: cc.histogram(x, [0, 1, 2, 300], **more)),
    "histogram, edges of bool": (ROW, lambda x, **more: cc.histogram(np.arange(9) % 3, np.sort(x)[[0, -1]], **more)),
    "histogram, density": (ROW, lambda x, **more: cc.histogram(x, 2, density=True, **more)),
    "map, copy": (ROW, lambda x, **more: cc.map("copy", x, **more)),
    "function": (ROW, lambda x, **more: cc.function(IDENTITY)(x, **more)),
    "reduce, function": (ROW, lambda x, **more: cc.reduce(x, cc.function(LARGER), identity=0, **more)),
    "scan, function": (ROW, lambda x, **more: cc.scan(x, cc.function(LARGER), identity=0, **more)),
    "convolve, pitch": (SQUARE, lambda x, **more: cc.convolve(np.tile(x, 2)[:, 1:5], np.ones((3, 3)), **more)),
    "kernel": (ROW, copied_by_kernel),
}


@pytest.mark.parametrize("name", OF_BOOL)
def test_any_byte_of_bool_except_0_is_true(name, device):
    shape, run = OF_BOOL[name]
    outcomes = []
    for values in ([1, 1, 0, 1], [2, 255, 0, 1]):
        x = np.resize(np.array(values, "u1"), shape).view(bool)
        try:
            result = run(x, device=device)
        except (TypeError, ValueError, NotImplementedError) as error:
            outcomes.append(type(error))
            continue
        for part in result if isinstance(result, tuple) else (result,):
            part = np.asarray(part)
            outcomes.append((part.dtype, str((part.view("u1") != 0 if part.dtype == bool else part).tolist())))
    assert outcomes[:len(outcomes) // 2] == outcomes[len(outcomes) // 2:]


def test_names_of_kernels_have_a_limit(device):
    x = np.zeros(4, "f4")
    for length in (200, 201, 260):
        fill = cc.kernel("void %s(u64 i, f32* x) { x[i] = 1; }" % ("a" * length))
        if length <= 200:
            fill(4, x, device=device)
            assert (x == 1).all()
        else:
            with pytest.raises(ValueError, match=f"got {length} characters"):
                fill(4, x, device=device)


def test_devices_of_arrays(call, device):
    others = [name for name in cc.devices().column("selector") if name.split(":")[0] != device.split(":")[0]]
    if not others:
        pytest.skip("one device only")
    if call is CALLS["bincount"]:
        pytest.skip("takes integers")
    result = result_of(call, device)
    x = cc.array(input_of(call[0]), device=device)
    out = cc.empty(result.shape, result.dtype.name, others[0])
    try:
        call[1](x, out)
    except REFUSED as error:
        assert others[0].split(":")[0] in str(error)
    else:
        # Devices of the CPU write each other's memory in place.
        assert np.array_equal(np.asarray(out), result)
