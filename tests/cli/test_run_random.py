"""`concord run random`."""

import numpy as np
import pytest

from program import concord, fresh_box, gives, holds, on_devices, refused, unknown_variant_is_refused


def words(n, seed=0, first=0):
    """Words first to first + n - 1 of Philox4x32-10."""
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    block = np.arange(first // 4, (first + n + 3) // 4, dtype="u8")
    x, y, z, w = block & low, block >> shift, 0 * block, 0 * block
    a, b = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        even, odd = np.uint64(0xD2511F53) * x, np.uint64(0xCD9E8D57) * z
        x, y, z, w = odd >> shift ^ y ^ np.uint64(a), odd & low, even >> shift ^ w ^ np.uint64(b), even & low
        a, b = (a + 0x9E3779B9) & 0xFFFFFFFF, (b + 0xBB67AE85) & 0xFFFFFFFF
    all_words = np.stack([x, y, z, w], axis=1).astype("<u4").reshape(-1)
    return all_words[first % 4 :][:n]


def test_bits(device):
    assert words(4).tolist() == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    gives(words(1001), "run random --shape 1001 --distribution bits --device", device)


@on_devices("name", ["u32", "f32", "u64", "f64"], ["f32"], ["u64", "f64"])
def test_shapes_seeds_and_offsets(device, name):
    wide = 2 if name.endswith("64") else 1
    seed, offset = 0x123456789ABCDEF, 12345678901
    expected = words(wide * 600, seed, wide * offset).view(f"<u{4 * wide}")
    kind = "bits"
    if name[0] == "f":
        kind = "uniform"
        expected = np.ldexp((expected >> (8 if wide == 1 else 11)).astype(f"<f{4 * wide}"), -24 if wide == 1 else -53)
    gives(
        expected.reshape(20, 30),
        f"run random --shape 20x30 --type {name} --distribution {kind} --seed {seed} --offset {offset} --device",
        device,
    )


def test_defaults(device):
    uniform = np.ldexp((words(7) >> 8).astype("f4"), -24)
    result = gives(uniform, "run random --shape 7 --device", device)
    assert "random/philox (uniform)" in result.out and ": f32 (7,) ->" in result.out, result


def test_normal_numbers(device):
    a = words(2000, 3)
    u, v = a[::2].astype("f4").astype("f8") * 2.0**-32 + 2.0**-33, np.ldexp((a[1::2] >> 8).astype("f8"), -23)
    r = np.sqrt(-2 * np.log(u))
    expected = np.stack([r * np.cos(np.pi * v), r * np.sin(np.pi * v)], axis=1).reshape(-1)
    fresh_box()
    result = concord("run random --shape 2000 --distribution normal --seed 3 --out box/new.npy --device", device)
    assert result.status == 0, result
    numbers = np.load("box/new.npy")
    assert numbers.dtype == "f4"
    np.testing.assert_allclose(numbers, expected, rtol=1e-6, atol=1e-6)
    fresh_box()
    concord("run random --shape 2000 --distribution normal --seed 3 --out box/new.npy --device tbb")
    holds("box/new.npy", numbers)


def test_json():
    fresh_box()
    report = concord("run random --shape 3x4 --out box/new.npy --device tbb --json").json()
    assert report["type"] == "f32" and report["shape"] == [3, 4] and report["order"] == "canonical"


def test_nothing():
    gives(np.empty((0, 5), "f4"), "run random --shape 0x5 --device tbb")


@pytest.mark.parametrize(
    "options, message",
    [
        ("--shape 3y", ["--shape", "invalid shape '3y'"]),
        ("--shape x3", ["--shape", "invalid shape 'x3'"]),
        ("--shape 3x", ["--shape", "invalid shape '3x'"]),
        ("--shape 99999999999999999999", ["--shape", "does not fit 64 bits"]),
        ("--shape 4294967296x4294967296", ["--shape", "more than 2^60 bytes"]),
        ("--shape " + "x".join(["1"] * 65), ["--shape", "more than 64 dimensions"]),
        ("--shape 3 --type i32", ["--type", "unsupported type 'i32' of uniform; available: f32, f64"]),
        ("--shape 3 --type f32 --distribution bits", ["--type", "available: u32, u64"]),
        ("--shape 3 --distribution gamma", ["--distribution", "gamma"]),
        ("--shape 3 --seed -1", ["--seed", "invalid seed '-1'"]),
        ("--shape 3 --offset 1.5", ["--offset", "invalid offset '1.5'"]),
        ("--shape 3 --in x.npy", ["--in"]),
    ],
)
def test_wrong_options(options, message):
    refused(2, message, f"run random {options} --out box/new.npy --device tbb")


def test_unknown_variant(device):
    unknown_variant_is_refused("random", device, "--shape", "3")
