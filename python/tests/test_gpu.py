"""PyTorch, CuPy, JAX and Numba on a GPU: no copies, order of streams, and the bits of the CPU. Skipped without them."""

import gc

import numpy as np
import pytest

import concord as cc
from concord.testing import assert_same_bits

HAS_CUDA = any(s.startswith("cuda") for s in cc.devices().column("selector"))
pytestmark = pytest.mark.skipif(not HAS_CUDA, reason="needs a CUDA device")


def library(name):
    return pytest.importorskip(name, exc_type=ImportError)


def numbers(n, kind="f4"):
    return np.random.default_rng(7).standard_normal(n).astype(kind)


NEXT = cc.function("float next_one(float x) { return exp(x) + 1; }")
ADD_TO = cc.kernel("void add_to(u64 i, f32* sums, const f32* x, f32 by) { sums[i] = sums[i] + erf(x[i]) * by; }")

CALLS = {
    "sum": lambda x: cc.sum(x),
    "cumsum": lambda x: cc.cumsum(x),
    "sort": lambda x: cc.sort(x),
    "argsort": lambda x: cc.argsort(x),
    "histogram": lambda x: cc.histogram(x, 100, (-3, 3))[0],
    "matmul": lambda x: cc.matmul(x[:90000].reshape(300, 300), x[:90000].reshape(300, 300)),
    "compact": lambda x: cc.compact(x, ">", 0.25),
    "unique_consecutive": lambda x: cc.unique_consecutive(cc.floor(x)),
    "reduce_by_key": lambda x: cc.reduce_by_key(cc.floor(x), x)[1],
    "exp": lambda x: cc.exp(x),
    "pow": lambda x: cc.pow(cc.abs(x), 1.5),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", ("f4", "f8"))
def test_bits_of_the_cpu(name, kind):
    host = numbers(300_001, kind)
    expected = CALLS[name](host)
    torch = library("torch")
    x = torch.from_numpy(host).cuda()
    result = CALLS[name](x)
    assert type(result) is torch.Tensor and result.is_cuda
    assert_same_bits(result, np.asarray(expected))
    cupy = library("cupy")
    result = CALLS[name](cupy.asarray(host))
    assert type(result) is cupy.ndarray
    assert_same_bits(result, np.asarray(expected))


def test_no_copies():
    """2^28 elements in place: the pointer stays, and no memory of that size is allocated by Concord."""
    torch = library("torch")
    x = torch.arange(1 << 28, device="cuda", dtype=torch.float32)
    at = x.data_ptr()
    before = cc.device("cuda").memory_use()
    assert cc.map("negate", x, out=x) is x
    torch.cuda.synchronize()
    assert x.data_ptr() == at and x[5].item() == -5 and x[-2**20].item() == -(2**28 - 2**20)
    after = cc.device("cuda").memory_use()
    assert sum(after) - sum(before) < 1 << 24
    y = cc.from_dlpack(x)
    assert y.__cuda_array_interface__["data"][0] == at
    assert torch.from_dlpack(y).data_ptr() == at
    cupy = library("cupy")
    assert cupy.from_dlpack(y).data.ptr == at
    z = cupy.asarray(y)
    assert z.data.ptr == at
    assert cc.map("negate", z, out=z) is z
    cupy.cuda.Device().synchronize()
    assert x[5].item() == 5


def test_current_stream():
    """Work of the library before and after a call is ordered with it, without synchronising."""
    torch = library("torch")
    x = torch.ones(1 << 26, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    for stream in (torch.cuda.current_stream(), side):
        with torch.cuda.stream(stream):
            for k in range(5):
                x.fill_(float(k))
                total = cc.sum(x)
                x.fill_(-1.0)
                doubled = total * 2
            assert doubled.item() == 2 * 4 * 2**26
    cupy = library("cupy")
    y = cupy.ones(1 << 26, dtype="f4")
    with cupy.cuda.Stream(non_blocking=True):
        for k in range(5):
            y.fill(k)
            total = cc.sum(y)
            y.fill(-1)
        assert float(total) == 4 * 2**26


def test_kernels_in_place():
    """Arrays of PyTorch and CuPy, on the current stream, with the bits of the CPU."""
    torch = library("torch")
    x, sums = numbers(1 << 20), np.ones(1 << 20, "f4")
    there, sums_there = torch.from_numpy(x).cuda(), torch.from_numpy(sums).cuda()
    for _ in range(3):
        ADD_TO(len(x), sums, x, 0.5)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            ADD_TO(len(x), sums_there, there, 0.5)
        doubled = sums_there * 2
    side.synchronize()
    assert_same_bits(sums_there, sums)
    assert_same_bits(doubled, sums * 2)
    on_host = np.ones(1 << 20, "f4")
    ADD_TO(len(x), on_host, x, 0.5, device="cuda")
    ADD_TO(len(x), on_host, x, 0.5, device="cuda")
    ADD_TO(len(x), on_host, x, 0.5, device="cuda")
    assert_same_bits(on_host, sums)
    cupy = library("cupy")
    with_cupy = cupy.ones(1 << 20, "f4")
    for _ in range(3):
        ADD_TO(len(x), with_cupy, cupy.asarray(x), 0.5)
    assert_same_bits(with_cupy, sums)
    assert_same_bits(NEXT(there), NEXT(x))


def test_explicit_streams():
    torch = library("torch")
    x = torch.ones(1 << 24, device="cuda")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    for given in (stream, stream.cuda_stream):
        total = cc.sum(x, stream=given)
        stream.synchronize()
        assert total.item() == 1 << 24


def test_capture_in_a_graph():
    torch = library("torch")
    x = torch.ones(1 << 20, device="cuda")
    out = torch.zeros((), device="cuda")
    cc.sum(x, out=out)  # compiles, and allocates scratch memory
    graph = torch.cuda.CUDAGraph()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        cc.sum(x, out=out)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=side):
        cc.sum(x, out=out)
    x.fill_(3)
    graph.replay()
    assert out.item() == 3 << 20


def test_jax():
    jax = library("jax")
    host = numbers(100_000)
    x = jax.device_put(host, jax.devices("gpu")[0])
    result = cc.cumsum(x)
    assert isinstance(result, jax.Array)
    assert_same_bits(np.asarray(result), cc.cumsum(host))


def test_numba():
    cuda = library("numba.cuda")
    host = numbers(100_000)
    result = cc.sort(cuda.to_device(host))
    assert type(result) is cc.Array
    assert_same_bits(result, np.sort(host))
    assert_same_bits(cuda.as_cuda_array(result).copy_to_host(), np.sort(host))


def test_memory_is_released():
    torch = library("torch")
    x = torch.ones(1 << 24, device="cuda")
    cc.sort(x)
    torch.cuda.synchronize()
    gc.collect()
    used = torch.cuda.memory_allocated()
    for _ in range(20):
        cc.sort(x)
        cc.sum(x)
    gc.collect()
    assert torch.cuda.memory_allocated() == used


def test_devices_of_a_call():
    torch = library("torch")
    x = torch.ones(10, device="cuda")
    with pytest.raises(ValueError, match="x is on cuda:0, the call runs on tbb:0"):
        cc.sum(x, device="tbb")
    with pytest.raises(ValueError, match="out"):
        cc.sort(x, out=torch.ones(11, device="cuda"))
    assert float(cc.sum(np.ones(10, "f4"), device="cuda")) == 10
