"""Kernels over an index space and of work-groups from source."""

import gc
import shutil
import threading

import numpy as np
import pytest

import concord as cc
from concord.testing import assert_same_bits

pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler for the CPU device")

WAVE = cc.kernel("""void wave(u64 x, u64 y, f32* next, const f32* now, float c, u64 width) {
    const u64 i = y * width + x;
    if (x > 0 && x + 1 < width)
        next[i] = 2 * now[i] - next[i] + c * (now[i - 1] - 2 * now[i] + now[i + 1]);
}""")
SCALE = cc.kernel("void scale(u64 i, f32* x, f32 a) { x[i] *= a; }")
COPY = cc.kernel("void copy_of(u64 i, u8* out, const u8* in) { out[i] = in[i]; }")

# Sums and centred values of the rows of a matrix, a work-group per row.
CENTER = cc.kernel("""void center(f32* out, f64* sums, const f32* x, u64 width) {
    CONCORD_PRIVATE(f64, sum) = 0;
    const u64 begin = group.x * width, end = begin + width;
    CONCORD_STRIDED((i, begin, end), sum) { sum += x[i]; }
    const f64 total = group_sum(sum);
    CONCORD_STRIDED((i, begin, end)) { out[i] = x[i] - f32(total / width); }
    CONCORD_ITEMS((t)) { if (t == 0) sums[group.x] = total; }
}""", group_size=64)
# The transpose of a matrix, by tiles of 8 x 4 elements.
TRANSPOSE = """void transpose(TYPE* out, const TYPE* in, u64 width, u64 height) {
    CONCORD_LOCAL(TYPE, tile, [4][8]);
    const u64 column = group.x * 8, row = group.y * 4;
    CONCORD_ITEMS((x, y)) {
        if (column + x < width && row + y < height) tile[y][x] = in[(row + y) * width + column + x];
    }
    CONCORD_ITEMS((x, y)) {
        if (column + x < width && row + y < height) out[(column + x) * height + row + y] = tile[y][x];
    }
}"""


def wave(next, now, c):
    """One step in NumPy, with the roundings of the kernel."""
    f, result = np.float32, next.copy()
    middle = f(2) * now[:, 1:-1]
    result[:, 1:-1] = middle - next[:, 1:-1] + f(c) * (now[:, :-2] - middle + now[:, 2:])
    return result


def test_description():
    assert WAVE.name == "wave" and WAVE.rank == 2 and "next[i]" in WAVE.text
    assert WAVE.signature == "wave(u64, u64, f32*, const f32*, f32, u64)"
    assert WAVE.signature in repr(WAVE)


def test_arrays_in_place(device, values):
    next, now = values("float32", 37 * 103, 1).reshape(37, 103), values("float32", 37 * 103, 2).reshape(37, 103)
    expected, unchanged = wave(next, now, 0.25), now.copy()
    on_device = cc.array(next, device=device)
    assert WAVE((103, 37), next, now, 0.25, 103, device=device) is None
    assert_same_bits(next, expected)
    assert_same_bits(now, unchanged)
    WAVE([np.int64(103), 37], on_device, cc.array(now, device=device), 0.25, 103)
    assert_same_bits(on_device, expected)


def test_one_and_three_dimensions(device):
    x = np.arange(1000, dtype="f4")
    SCALE(10, x, 3, device=device)
    SCALE((5,), x, 2, device=device)
    assert_same_bits(x, np.r_[np.arange(5) * 6, np.arange(5, 10) * 3, np.arange(10, 1000)].astype("f4"))
    place = cc.kernel("void place(u64 x, u64 y, u64 z, i32* out, i32 by) { out[(z * 5 + y) * 7 + x] = i32(x + 10 * y + 100 * z) + by; }")
    out = np.zeros((3, 5, 7), "i4")
    place((7, 5, 3), out, -4, device=device)
    z, y, x = np.indices(out.shape, dtype="i4")
    assert_same_bits(out, x + 10 * y + 100 * z - 4)


def test_vocabulary(device):
    """The functions of bodies have the bits of the functions of arrays."""
    x = np.linspace(0.1, 9, 1001).astype("f4")
    out, counts, total = np.empty_like(x), np.empty(1001, "u4"), np.zeros(1, "u4")
    cc.kernel("void k(u64 i, f32* out, const f32* x) { out[i] = f32(erf(x[i])) + clamp(log(x[i]), -1.0f, 1.0f); }")(1001, out, x, device=device)
    assert_same_bits(out, cc.erf(x) + np.clip(cc.log(x), np.float32(-1), np.float32(1)))
    cc.kernel("void k(u64 i, u32* n, u32* total, const f32* x) {"
              "n[i] = u32(popcount(as_u32(x[i]))); atomic_add(total, n[i]); }")(1001, counts, total, x, device=device)
    assert_same_bits(counts, np.array([int(b).bit_count() for b in x.view("u4")], "u4"))
    assert total[0] == counts.sum()


def test_one_array_for_two_parameters(device, values):
    x = values("uint8", 5000)
    same = x.copy()
    COPY(5000, same, same, device=device)
    assert_same_bits(same, x)
    # The second input sees what the kernel has written, on devices that compute on copies, too.
    twice = cc.kernel("void k(u64 i, f32* out, const f32* a, const f32* b) { out[i] = a[i] + 1; out[i] = b[i] * 2; }")
    z = np.arange(4, dtype="f4")
    twice(4, z, z, z, device=device)
    assert_same_bits(z, (np.arange(4, dtype="f4") + 1) * 2)
    swap = cc.kernel("void swap(u64 i, f32* a, f32* b) { const f32 t = a[i]; a[i] = b[i + 5]; b[i + 5] = t; }")
    y = np.arange(10, dtype="f4")
    swap(5, y, y, device=device)
    assert_same_bits(y, np.roll(np.arange(10, dtype="f4"), 5))


def test_parts_of_an_array(device):
    x = np.arange(100, dtype="u1")
    COPY(10, x[3:20], x[50:], device=device)
    assert_same_bits(x, np.r_[0:3, 50:60, 13:100].astype("u1"))
    y = np.arange(100, dtype="u1")
    if device.startswith("cuda"):
        with pytest.raises(ValueError, match="in overlaps out in part"):
            COPY(10, y[:50], y[40:], device=device)
    else:
        COPY(10, y[:50], y[40:], device=device)
        assert_same_bits(y, np.r_[40:50, 10:100].astype("u1"))


def test_groups(device, values):
    assert CENTER.rank == 0 and CENTER.signature == "center(f32*, f64*, const f32*, u64)"
    x = np.floor(values("float32", 5 * 200) * 100).astype("f4").reshape(5, 200)
    out, sums = np.empty_like(x), np.full(5, np.nan)
    assert CENTER(5, out, sums, x, 200, device=device) is None
    expected = x.astype("f8").sum(axis=1)  # exact
    assert_same_bits(sums, expected)
    assert_same_bits(out, x - (expected / 200).astype("f4")[:, None])
    on_device = cc.array(x, device=device)
    CENTER((5,), on_device, sums, on_device, 200)  # in place
    assert_same_bits(on_device, out)
    CENTER(0, out, sums, x, 200, device=device)


@pytest.mark.parametrize("dtype, name", (("uint8", "u8"), ("int16", "i16"), ("float32", "f32"), ("float64", "f64")))
def test_groups_of_two_dimensions(device, values, dtype, name):
    kernel = cc.kernel(TRANSPOSE.replace("TYPE", name), group_size=(8, 4))
    x = values(dtype, 13 * 21).reshape(13, 21)
    out = np.zeros((21, 13), dtype)
    kernel((3, 4), out, x, 21, 13, device=device)
    assert_same_bits(out, x.T.copy())
    with pytest.raises(ValueError, match=f"out has dtype int8; expected {dtype}"):
        kernel((3, 4), out.astype("i1"), x, 21, 13, device=device)


def test_groups_of_three_dimensions(device):
    place = cc.kernel("""void place(u32* out) {
        const u64 g = (group.z * group.count_y + group.y) * group.count_x + group.x;
        CONCORD_ITEMS((x, y, z)) { out[g * 24 + (z * 3 + y) * 2 + x] = u32(1000 * g + 100 * z + 10 * y + x); }
    }""", group_size=[2, 3, 4])
    out = np.zeros((6, 4, 3, 2), "u4")
    place((1, 2, 3), out, device=device)
    g, z, y, x = np.indices(out.shape, dtype="u4")
    assert_same_bits(out, 1000 * g + 100 * z + 10 * y + x)


def test_groups_whose_size_the_device_chooses(device, values):
    histogram = cc.kernel("""void histogram(u32* bins, const u8* x, u64 n) {
        CONCORD_LOCAL(u32, counts, [256]);
        CONCORD_STRIDED((i, 0, 256)) { counts[i] = 0; }
        const u64 part = (n + group.count_x - 1) / group.count_x, begin = min(n, group.x * part);
        CONCORD_STRIDED((i, begin, min(n, begin + part))) { atomic_add(&counts[x[i]], 1u); }
        CONCORD_STRIDED((i, 0, 256)) { atomic_add(&bins[i], counts[i]); }
    }""", group_size=0)
    x, bins = values("uint8", 10007), np.zeros(256, "u4")
    histogram(7, bins, x, x.size, device=device)
    assert_same_bits(bins, np.bincount(x, minlength=256).astype("u4"))


def test_errors_of_groups(device):
    out, sums, x = np.ones((2, 4), "f4"), np.ones(2), np.ones((2, 4), "f4")

    def refused(kind, match, *arguments):
        with pytest.raises(kind, match=match):
            CENTER(*arguments, device=device)

    refused(ValueError, r"center: got 3 arguments after the groups; center\(.*\) takes 4", 2, out, sums, x)
    refused(ValueError, "groups: got -1; expected counts that are not negative", -1, out, sums, x, 4)
    refused(ValueError, r"groups: got \(1, 1, 1, 1\); expected one to three integers", (1, 1, 1, 1), out, sums, x, 4)
    refused(TypeError, "groups: got 1.5; expected one to three integers", 1.5, out, sums, x, 4)
    refused(ValueError, "sums has dtype float32; expected float64", 2, out, out, x, 4)
    refused(ValueError, "width: -1 is not a value of uint64", 2, out, sums, x, -1)


@pytest.mark.parametrize("body, match", (
    ("CONCORD_ITEMS((t)) {\n if (t > 3) return; }", "k: line 2, 'return': a phase cannot return; 'continue' ends it for a work-item"),
    ("CONCORD_ITEMS((x, y)) { }", "k: line 1, 'CONCORD_ITEMS': CONCORD_ITEMS takes as many names as the group has dimensions"),
    ("CONCORD_LOCAL(f32, t);\n\nconst f32 y = t;", "k: line 3, 't': only phases use local memory"),
))
def test_errors_of_text_of_groups(body, match):
    with pytest.raises(ValueError, match=match):
        cc.kernel(f"void k(f32* x) {{ {body} }}", group_size=64)


@pytest.mark.parametrize("size, kind, match", (
    ((32, 33), ValueError, "invalid group size, got 32 x 33 x 1; expected 1 to 1024 work-items"),
    ((), ValueError, r"kernel: group_size: got \(\); expected one to three integers"),
    ((0, 8), ValueError, "invalid group size, got 0 x 8 x 1"),
    (-8, ValueError, "kernel: group_size: got -8; expected counts that are not negative"),
    ("64", TypeError, "kernel: group_size: got '64'; expected one to three integers"),
))
def test_errors_of_group_sizes(size, kind, match):
    with pytest.raises(kind, match=match):
        cc.kernel("void k(f32* x) { }", group_size=size)


def test_nothing(device):
    empty = np.empty((0, 4), "f4")
    SCALE(0, empty, 1, device=device)
    WAVE((0, 5), empty, empty, 1, 4, device=device)
    first = cc.kernel("void first(u64 i, f32* out, const f32* x, u64 n) { out[i] = n > 0 ? x[0] : -1; }")
    assert first.rank == 1
    out = np.zeros(3, "f4")
    first(3, out, empty, 0, device=device)
    assert_same_bits(out, np.full(3, -1, "f4"))


def test_many_buffers(device):
    arrays = [np.full(4, i, "f4") for i in range(12)]
    names = [f"x{i}" for i in range(12)]
    text = f"void sum(u64 i, f32* out, {', '.join('const f32* ' + name for name in names)}) {{ out[i] = {' + '.join(name + '[i]' for name in names)}; }}"
    out = np.empty(4, "f4")
    cc.kernel(text)(4, out, *arrays, device=device)
    assert_same_bits(out, np.full(4, 66, "f4"))


def test_bools_and_lists_are_read(device):
    count = cc.kernel("void count(u64 i, u8* out, const u8* flags, const f64* x) { out[i] = u8(flags[i] + x[i]); }")
    out = np.empty(3, "u1")
    count(3, out, np.array([True, False, True]), [1.0, 2.0, 3.0], device=device)
    assert_same_bits(out, np.array([2, 2, 4], "u1"))


def test_errors_of_arguments(device):
    a, b = np.ones((2, 4), "f4"), np.ones((2, 4), "f4")
    read_only = a.copy()
    read_only.flags.writeable = False

    def refused(kind, match, *arguments):
        with pytest.raises(kind, match=match):
            WAVE(*arguments, device=device)

    refused(ValueError, r"extents: got 8; wave\(.*\) has 2 dimensions", 8, a, b, 1, 4)
    refused(ValueError, r"extents: got \(4, -2\); expected counts that are not negative", (4, -2), a, b, 1, 4)
    refused(TypeError, r"extents: got \(4, 1.5\); expected one to three integers", (4, 1.5), a, b, 1, 4)
    refused(ValueError, r"got 3 arguments after the extents; wave\(.*\) takes 4", (4, 2), a, b, 1)
    refused(ValueError, "next has dtype float64; expected float32", (4, 2), a.astype("f8"), b, 1, 4)
    refused(ValueError, "next is read-only", (4, 2), read_only, b, 1, 4)
    refused(ValueError, r"now: elements are not contiguous, got the shape \(2, 2\)", (4, 2), a, b[:, ::2], 1, 4)
    refused(TypeError, "next: got .1, 2.; expected an array, to which the kernel may write", (4, 2), [1, 2], b, 1, 4)
    refused(TypeError, "now: got 3; expected an array", (4, 2), a, 3, 1, 4)
    refused(ValueError, r"c: 1e\+300 is not a value of float32", (4, 2), a, b, 1e300, 4)
    refused(ValueError, "c: 'x' is not a value of float32", (4, 2), a, b, "x", 4)
    refused(ValueError, "width: -1 is not a value of uint64", (4, 2), a, b, 1, -1)
    refused(ValueError, "width: 4.5 is not a value of uint64", (4, 2), a, b, 1, 4.5)
    refused(ValueError, "width: a value of type ndarray is not a value of uint64", (4, 2), a, b, 1, np.ones(20))
    with pytest.raises(ValueError, match="out has dtype bool; expected uint8"):
        COPY(3, np.zeros(3, bool), np.zeros(3, "u1"), device=device)
    # Finite values only: infinities and NaN are values.
    WAVE((4, 2), a, b, np.inf, 4, device=device)
    assert np.isnan(a[0, 1])


@pytest.mark.parametrize("text, match", (
    ("", "missing parameter list"),
    ("float f(u64 i) { return 1; }", "expected the result type void instead of 'float'"),
    ("void f(f32* x, u64 i) { }", "expected one, two or three parameters of type u64 first"),
    ("void f(u64 i, Star s) { }", "unknown element type 'Star'"),
    ("void f(u64 i, f32* x)", "missing body"),
))
def test_errors_of_text(text, match):
    with pytest.raises(ValueError, match=match):
        cc.kernel(text)


def test_errors_of_compilers(device):
    wrong = cc.kernel("void wrong(u64 i,\n    f32* x) {\n    x[i] = undefined_name;\n}")
    with pytest.raises(cc.CompileFailed, match=r"wrong[:(]3(.|\n)*undefined_name"):
        wrong(1, np.ones(1, "f4"), device=device)


def test_errors_of_compilers_in_groups(device):
    wrong = cc.kernel("void wrong(f32* x) {\n    CONCORD_ITEMS((t)) {\n        x[t] = undefined_name;\n    }\n}", group_size=8)
    with pytest.raises(cc.CompileFailed, match=r"wrong[:(]3(.|\n)*undefined_name"):
        wrong(1, np.ones(8, "f4"), device=device)


def test_threads_and_lifetime():
    results = [np.arange(1000, dtype="f4") for _ in range(3)]
    kernel = cc.kernel("void by_threads(u64 i, f32* x) { x[i] += 1; }")
    threads = [threading.Thread(target=lambda x=x: kernel(1000, x)) for x in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for x in results:
        assert_same_bits(x, np.arange(1, 1001, dtype="f4"))
    del kernel
    gc.collect()
