"""Every function against NumPy, with the same bits on every device."""

import numpy as np
import pytest

import concord as cc
from concord.testing import assert_same_bits, assert_within

SIZES = (1, 2, 1000, 100_003)


def test_sum_and_prod(device, dtype, values):
    for n in (0, *SIZES):
        x = values(dtype, n)
        result = cc.sum(x, device=device)
        if x.dtype.kind == "f":
            assert result.dtype == x.dtype
            assert_within(result, x.astype("f8").sum(), 64 * np.finfo(dtype).eps * np.abs(x.astype("f8")).sum())
            assert_same_bits(result, cc.sum(x))
        else:
            assert_same_bits(result, x.sum())
            assert_same_bits(cc.sum(x, dtype=dtype, device=device), x.sum(dtype=dtype))
            assert_same_bits(cc.prod(x, device=device), x.prod())


def test_sums_of_many_narrow_integers(device):
    n = 2**24 + 5  # more than one part
    x = np.full(n, 200, "u1")
    assert cc.sum(x, device=device) == 200 * n


def test_bool(device):
    x = np.arange(1000) % 3 == 0
    assert_same_bits(cc.sum(x, device=device), x.sum())
    assert_same_bits(cc.cumsum(x, device=device), x.cumsum())
    assert_same_bits(cc.sort(x, device=device), np.sort(x))
    assert_same_bits(cc.max(x, device=device), x.max())
    assert_same_bits(cc.argsort(x, device=device), np.argsort(x, kind="stable"))


def test_min_and_max(device, dtype, values):
    for n in SIZES:
        x = values(dtype, n)
        assert_same_bits(cc.min(x, device=device), x.min())
        assert_same_bits(cc.max(x, device=device), x.max())
    if np.dtype(dtype).kind == "f":
        assert np.isnan(cc.min(np.array([1, np.nan, 2], dtype), device=device))
    with pytest.raises(ValueError, match="max: x has no elements"):
        cc.max(np.empty(0, dtype), device=device)


def test_cumsum_and_scan(device, dtype, values):
    for n in (0, *SIZES):
        x = values(dtype, n)
        result = cc.cumsum(x, device=device)
        if x.dtype.kind == "f":
            wide = x.astype("f8")
            assert_within(result, wide.cumsum(), 64 * np.finfo(dtype).eps * np.abs(wide).cumsum())
            assert_same_bits(result, cc.cumsum(x))
        else:
            assert_same_bits(result, x.cumsum())
            assert_same_bits(cc.scan(x, device=device), x.cumsum(dtype=dtype))
        assert_same_bits(cc.scan(x, "max", device=device), np.maximum.accumulate(x) if n else x)
        before = cc.scan(x, "min", exclusive=True, device=device)
        assert_same_bits(before[1:], np.minimum.accumulate(x)[:-1] if n else x[1:])


def test_sorts(device, dtype, values):
    for n in (0, *SIZES):
        x = values(dtype, n)
        x[n // 2 :] = x[: n - n // 2]  # equal keys
        assert_same_bits(cc.sort(x, device=device), np.sort(x))
        assert_same_bits(cc.sort(x, descending=True, device=device), np.sort(x)[::-1].copy())
        order = np.argsort(x, kind="stable")
        assert_same_bits(cc.argsort(x, device=device), order)
        assert cc.argsort(x, device=device).dtype == np.int64
        keys, moved = cc.sort_pairs(x, np.arange(n, dtype="i4"), device=device)
        assert_same_bits(keys, np.sort(x))
        assert_same_bits(moved, order.astype("i4"))


def test_floats_sort_in_total_order(device):
    x = np.array([np.nan, 1, -0.0, 0.0, -np.inf, -np.nan, np.inf], "f4")
    expected = np.array([-np.nan, -np.inf, -0.0, 0.0, 1, np.inf, np.nan], "f4")
    assert_same_bits(cc.sort(x, device=device), expected)


@pytest.mark.parametrize("bins", (1, 7, 256))
def test_histogram(device, dtype, values, bins):
    x = values(dtype, 10_000)
    counts, edges = cc.histogram(x, bins, device=device)
    expected, expected_edges = np.histogram(x, bins)
    assert_same_bits(counts, expected)
    assert_same_bits(edges, expected_edges)


def test_histogram_with_range(device):
    x = np.array([0, 1, 1, 2, 3, 4, 4, 9, -3], "i4")
    counts, edges = cc.histogram(x, 4, (0, 4), device=device)
    assert counts.tolist() == [1, 2, 1, 3] and edges.tolist() == [0, 1, 2, 3, 4]
    counts, edges = cc.histogram(np.full(5, 7.0), 3, device=device)
    assert counts.tolist() == np.histogram(np.full(5, 7.0), 3)[0].tolist()
    with pytest.raises(ValueError, match="range"):
        cc.histogram(np.array([1, np.nan]), device=device)


@pytest.mark.parametrize("offsets", ["int32", "uint32", "int64", "uint64"])
def test_segmented_reduce(device, offsets, values):
    x = values("float32", 5000)
    at = np.array([3, 3, 10, 200, 2300, 4990], offsets)
    pieces = [x[a:b] for a, b in zip(at[:-1], at[1:])]
    assert_same_bits(cc.segmented_reduce(x, at, device=device),
                     np.array([cc.sum(piece, device=device) for piece in pieces], "f4"))
    out = np.empty(5, "i8")
    integers = np.arange(5000)
    assert cc.segmented_reduce(integers, at, "min", out=out, device=device) is out
    assert out[1:].tolist() == at[1:-1].tolist() and out[0] == np.iinfo("i8").max
    assert_same_bits(cc.segmented_reduce(integers[::-1], at[1:], "sum", device=device),
                     np.add.reduceat(integers[::-1], at[1:].astype("i8"))[:-1])
    spread = np.zeros(10, "i8")
    cc.segmented_reduce(integers, at, "max", out=spread[::-2], device=device)
    assert spread[1::2][::-1].tolist() == [np.iinfo("i8").min] + (at[2:].astype("i8") - 1).tolist()
    assert cc.segmented_reduce(x, at[:1], device=device).tolist() == []
    for wrong, message in (([0, 4, 3], "offset 3 at index 2 is less than the one before it, 4"),
                           ([0, 6000], "offset 6000 at index 1 exceeds the 5000 elements")):
        with pytest.raises(ValueError, match=message):
            cc.segmented_reduce(x, np.array(wrong, offsets), device=device)


@pytest.mark.parametrize("offsets", ["int32", "uint64"])
def test_segmented_scan(device, offsets, values):
    x = values("float32", 5000)
    at = np.array([0, 0, 10, 200, 2300, 5000], offsets)
    for exclusive in (False, True):
        assert_same_bits(cc.segmented_scan(x, at, exclusive=exclusive, device=device),
                         np.concatenate([cc.scan(x[a:b], exclusive=exclusive, device=device) for a, b in zip(at[:-1], at[1:])]))
    integers = np.arange(5000)
    expected = np.concatenate([np.maximum.accumulate(integers[::-1][a:b]) for a, b in zip(at[:-1], at[1:])])
    spread = np.zeros(10000, "i8")
    cc.segmented_scan(integers[::-1], at, "max", out=spread[::2], device=device)
    assert_same_bits(spread[::2], expected)
    assert not spread[1::2].any()
    assert cc.segmented_scan(integers, at, out=integers, device=device) is integers
    assert integers[2300] == 2300 and integers[4999] == sum(range(2300, 5000))
    assert cc.segmented_scan(x[:0], np.zeros(3, offsets), device=device).tolist() == []
    for wrong, message in (([0, 4, 3], "offset 3 at index 2 is less than the one before it, 4"),
                           ([0, 6000], "offset 6000 at index 1 exceeds the 5000 elements"),
                           ([1, 5000], "the first offset must be 0, got 1; each element must be in a segment"),
                           ([0, 4999], "the last offset must be 5000, got 4999; each element must be in a segment")):
        with pytest.raises(ValueError, match=message):
            cc.segmented_scan(x, np.array(wrong, offsets), device=device)


@pytest.mark.parametrize("op", ["sum", "product", "min", "max"])
def test_scan_by_key_has_the_bits_of_scan(device, op, values):
    x = values("float32", 5000)
    lengths = [1, 9, 290, 4700]
    keys = np.repeat([3, 5, 3, 0], lengths)
    for exclusive in (False, True):
        parts = np.split(x, np.cumsum(lengths)[:-1])
        assert_same_bits(cc.scan_by_key(keys, x, op, exclusive=exclusive, device=device),
                         np.concatenate([cc.scan(part, op, exclusive=exclusive, device=device) for part in parts]))
    backwards = np.concatenate([cc.scan(part, op, device=device) for part in np.split(x[::-1], np.cumsum(lengths)[:-1])])
    assert_same_bits(cc.scan_by_key(keys, np.repeat(x, 2)[::-2], op, device=device), backwards)
    flags = np.array([1, 2, 0, 0, 255], "u1").view(bool)
    assert cc.scan_by_key(flags, [1, 1, 1, 1, 1], device=device).tolist() == [1, 2, 1, 2, 1]
    nan = np.full(3, np.nan)
    assert cc.scan_by_key(nan, [1, 1, 1], device=device).tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="keys has 5 elements, values has 4"):
        cc.scan_by_key(flags, [1, 1, 1, 1], device=device)


@pytest.mark.parametrize("offsets", ["int32", "uint32", "int64", "uint64"])
def test_segmented_sort(device, offsets, values):
    x = values("float32", 5000)
    at = np.array([0, 3, 3, 10, 200, 4300, 5000], offsets)
    in_order = np.concatenate([cc.sort(x[a:b], device=device) for a, b in zip(at[:-1], at[1:])])
    assert_same_bits(cc.segmented_sort(x, at, device=device), in_order)
    spread = np.zeros(10000, "f4")
    cc.segmented_sort(x, at, out=spread[::-2], device=device)
    assert_same_bits(spread[::-2].copy(), in_order)
    moved = x.copy()
    assert cc.segmented_sort(moved, at, out=moved, device=device) is moved
    assert_same_bits(moved, in_order)
    keys = np.array([3, np.nan, -0.0, 0.0, 5, 1, 1], "f8")
    sorted_keys, places = cc.segmented_sort(keys, np.array([0, 4, 7], offsets), values=np.arange(7), descending=True,
                                            nan="last", device=device)
    assert_same_bits(sorted_keys, np.array([3, -0.0, 0.0, np.nan, 5, 1, 1]))
    assert places.tolist() == [0, 2, 3, 1, 4, 5, 6]
    flags = cc.segmented_sort(np.array([True, False, True, False]), np.array([0, 4], offsets), device=device)
    assert flags.tolist() == [False, False, True, True]
    assert cc.segmented_sort(x[:0], at[:1], device=device).size == 0
    for wrong, message in (([0, 4, 3, 5000], "offset 3 at index 2 is less than the one before it, 4"),
                           ([1, 5000], "the first offset must be 0, got 1"),
                           ([0, 4999], "the last offset must be 5000, got 4999")):
        with pytest.raises(ValueError, match=message):
            cc.segmented_sort(x, np.array(wrong, offsets), device=device)
    with pytest.raises(ValueError, match="pass one value per element"):
        cc.segmented_sort(x, at, values=x[1:], device=device)
    with pytest.raises(ValueError, match="out is not supported with values"):
        cc.segmented_sort(x, at, values=x, out=x, device=device)


def test_random(device):
    bits = cc.random(4, 0, distribution="bits", dtype="uint32", device=device)
    assert [hex(x) for x in bits.numpy()] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]
    for distribution, kind in (("uniform", "float64"), ("uniform", "float32"), ("normal", "float64"), ("normal", "float32")):
        x = cc.random((30, 50), 7, distribution=distribution, dtype=kind, device=device).numpy()
        assert x.shape == (30, 50) and x.dtype == kind
        assert_same_bits(x, cc.random((30, 50), 7, distribution=distribution, dtype=kind, device="tbb").numpy())
        part = cc.random(600, 7, distribution=distribution, dtype=kind, offset=801, device=device)
        assert_same_bits(part.numpy(), x.reshape(-1)[801:1401])
        assert (0 <= x).all() and (x < 1).all() if distribution == "uniform" else abs(x.mean()) < 0.1 and abs(x.var() - 1) < 0.2
    assert_same_bits(cc.random(5, device=device).numpy(), cc.random(5, 0, distribution="uniform", dtype="float64", device=device).numpy())
    assert cc.random(5, distribution="bits", device=device).dtype == "uint64"
    assert cc.random((0, 3), device=device).shape == (0, 3)
    with pytest.raises(ValueError, match="random: distribution: got 'gamma'"):
        cc.random(3, distribution="gamma", device=device)
    with pytest.raises(cc.Unsupported, match="random: bits supports u32 and u64, got f32"):
        cc.random(3, distribution="bits", dtype="float32", device=device)


def starts_of_runs(x):
    """The positions at which runs of equal neighbours begin: elements differ bitwise, or are NaN."""
    bits = x.view(f"u{x.itemsize}")
    begins = np.append(np.ones(min(x.size, 1), bool), bits[1:] != bits[:-1])
    return np.flatnonzero(begins | np.isnan(x))


def test_runs(device, dtype, values):
    for n in (0, *SIZES):
        for length in (1, 7, 3000):
            x = np.repeat(values(dtype, n // length + 1), length)[:n]
            starts = starts_of_runs(x)
            lengths = np.diff(np.append(starts, n))
            assert_same_bits(cc.unique_consecutive(x, device=device), x[starts])
            for got in (cc.unique_consecutive(x, return_counts=True, device=device), cc.run_length_encode(x, device=device)):
                assert_same_bits(got[0], x[starts])
                assert_same_bits(got[1], lengths)
            keys, largest = cc.reduce_by_key(x, np.arange(n)[::-1], "max", device=device)
            assert_same_bits(keys, x[starts])
            assert_same_bits(largest, n - 1 - starts)


def test_runs_of_special_elements(device):
    nan = np.array([0x7FC00000, 0x7FC00000, 0, 1 << 31, 1 << 31, 0x7F800000, 0x7F800000, 0xFFC00001], "u4").view("f4")
    elements, lengths = cc.run_length_encode(nan, device=device)
    assert_same_bits(elements, nan[[0, 1, 2, 3, 5, 7]])
    assert lengths.tolist() == [1, 1, 1, 2, 2, 1]
    table = np.array([[1, 1, 2], [2, 2, 3]], "i4")
    assert cc.unique_consecutive(table, device=device).tolist() == [1, 2, 3]
    assert cc.unique_consecutive(table.T, device=device).tolist() == [1, 2, 1, 2, 3]
    flags = np.array([1, 2, 0, 0, 255], "u1").view(bool)
    elements, lengths = cc.unique_consecutive(flags, return_counts=True, device=device)
    assert elements.dtype == bool and elements.tolist() == [True, False, True] and lengths.tolist() == [2, 2, 1]
    keys, counts = cc.reduce_by_key(flags, [1, 1, 1, 1, 1], device=device)
    assert keys.dtype == bool and counts.tolist() == [2, 2, 1]


@pytest.mark.parametrize("op", ["sum", "product", "min", "max"])
def test_reduce_by_key_has_the_bits_of_reduce(device, op, values):
    x = values("float32", 5000)
    lengths = [1, 9, 290, 4700]
    keys, results = cc.reduce_by_key(np.repeat([3, 5, 3, 0], lengths), x, op, device=device)
    assert keys.tolist() == [3, 5, 3, 0]
    assert_same_bits(results, np.array([cc.reduce(part, op, device=device) for part in np.split(x, np.cumsum(lengths)[:-1])]))
    _, backwards = cc.reduce_by_key(np.repeat([3, 5, 3, 0], lengths), np.repeat(x, 2)[::-2], op, device=device)
    assert_same_bits(backwards, np.array([cc.reduce(part, op, device=device) for part in np.split(x[::-1], np.cumsum(lengths)[:-1])]))


def test_bincount(device):
    for kind in ("u1", "i4", "u8"):
        x = (np.arange(5000) * 7919 % 251).astype(kind)
        assert_same_bits(cc.bincount(x, device=device), np.bincount(x))
        assert_same_bits(cc.bincount(x, 300, device=device), np.bincount(x, minlength=300))
        counts = np.empty(100, "i8")
        assert cc.bincount(x, out=counts, device=device) is counts
        assert_same_bits(counts, np.bincount(x)[:100])
    assert cc.bincount(np.empty(0, "i4"), device=device).tolist() == []
    with pytest.raises(ValueError, match="values from -1"):
        cc.bincount(np.array([-1, 2]), device=device)


def test_compress_compact_partition(device, dtype, values):
    for n in (0, *SIZES):
        x = values(dtype, n)
        condition = np.arange(n) % 3 != 1
        assert_same_bits(cc.compress(condition, x, device=device), np.compress(condition, x))
        limit = x[n // 3] if n else x.dtype.type(0)
        assert_same_bits(cc.compact(x, "<", limit, device=device), x[x < limit])
        assert_same_bits(cc.compact(x, "nonzero", device=device), x[x != 0])
        parts, count = cc.partition(x, ">", limit, device=device)
        assert count == (x > limit).sum()
        assert_same_bits(parts, np.concatenate([x[x > limit], x[~(x > limit)]]))
    assert_same_bits(cc.compress(np.zeros(9, bool), np.ones(9), device=device), np.ones(0))


def test_transpose(device, dtype, values):
    x = values(dtype, 53 * 78).reshape(53, 78)
    assert_same_bits(cc.transpose(x, device=device), x.T)
    assert_same_bits(cc.transpose(x.T, device=device), x)
    assert_same_bits(cc.transpose(x[3:40, 5:60], device=device), x[3:40, 5:60].T)


@pytest.mark.parametrize("kind", ("f4", "f8"))
def test_matmul(device, kind, values):
    a, b = values(kind, 70 * 50).reshape(70, 50), values(kind, 50 * 60, 2).reshape(50, 60)

    def chain(p, q):
        t = np.zeros((p.shape[0], q.shape[1]), np.longdouble)
        return t + p.astype(np.longdouble) @ q.astype(np.longdouble)

    def check(p, q):
        bound = 2 * p.shape[-1] * np.finfo(kind).eps * (np.abs(p).astype("f8") @ np.abs(q).astype("f8"))
        result = cc.matmul(p, q, device=device)
        assert result.dtype == np.dtype(kind)
        assert_within(result, p.astype(np.longdouble) @ q.astype(np.longdouble), bound)
        assert_same_bits(result, cc.matmul(p, q))

    check(a, b)
    check(b.T, a.T)
    check(a[:, 3:40], b[3:40])  # with a pitch
    check(np.stack([a, a + 1]), b)  # one matrix for all products
    out = np.ones((70, 60), kind)
    assert cc.matmul(a, b, alpha=2, beta=3, out=out, device=device) is out
    assert_within(out, 2 * chain(a, b) + 3, 1e3 * np.finfo(kind).eps * np.ones_like(out) * 60)
    with pytest.raises(ValueError, match=r"shapes \(70, 50\) and \(70, 50\) do not match"):
        cc.matmul(a, a, device=device)
    with pytest.raises(ValueError, match="a has dtype int64"):
        cc.matmul(np.ones((2, 2), int), b, device=device)


def test_convolve(device):
    image = np.arange(30 * 41, dtype="f4").reshape(30, 41) % 17
    mask = [[0, 1, 0], [2, 3, 4], [0, 5, 0]]
    padded = np.pad(image, 1)
    expected = sum(
        mask[j][i] * padded[j : j + 30, i : i + 41] for j in range(3) for i in range(3)
    )
    assert_same_bits(cc.convolve(image, mask, device=device), expected.astype("f4"))  # whole numbers: exact
    assert_same_bits(cc.convolve(image.astype("u1"), mask, device=device), expected.astype("f4"))
    edge = np.pad(image, 1, mode="edge")
    expected = sum(mask[j][i] * edge[j : j + 30, i : i + 41] for j in range(3) for i in range(3))
    assert_same_bits(cc.convolve(image, mask, border="clamp", device=device), expected.astype("f4"))
    with pytest.raises(ValueError, match="unknown border, got 'wrap'"):
        cc.convolve(image, mask, border="wrap", device=device)


def test_stencil(device):
    volume = (np.arange(9 * 10 * 11) % 13).astype("f8").reshape(9, 10, 11)
    padded = np.pad(volume, 1)
    inside = slice(1, -1)
    neighbours = sum(
        padded[tuple(slice(1 + d, padded.shape[k] - 1 + d) if k == axis else inside for k in range(3))]
        for axis in range(3)
        for d in (-1, 1)
    )
    assert_same_bits(cc.stencil(volume, [2, 0.5], device=device), 2 * volume + 0.5 * neighbours)
    twice = cc.stencil(cc.stencil(volume, [2, 0.5]), [2, 0.5])
    assert_same_bits(cc.stencil(volume, [2, 0.5], 2, device=device), twice)


def test_elements(device, dtype, values):
    x, y = values(dtype, 1003), values(dtype, 1003, 2)
    with np.errstate(over="ignore"):
        assert_same_bits(cc.add(x, y, device=device), x + y)
        assert_same_bits(cc.map("negate", x, device=device), -x)
        assert_same_bits(cc.map("square", x.reshape(17, 59), device=device), (x * x).reshape(17, 59))
    out = np.empty_like(x)
    assert cc.add(x, y, out=out, device=device) is out


def test_variants_and_orders(device):
    x = np.random.default_rng(3).standard_normal(50_000).astype("f4")
    assert_same_bits(cc.sum(x, variant="fixed", device=device), cc.sum(x))
    assert_same_bits(cc.sum(x, order="canonical", device=device), cc.sum(x))
    assert abs(cc.sum(x, order="unspecified", device=device) - cc.sum(x)) < 0.1
    with pytest.raises(ValueError, match="unknown variant 'foo'; available: "):
        cc.sum(x, variant="foo", device=device)
    with pytest.raises(ValueError, match="order"):
        cc.sum(x, order="any", device=device)
