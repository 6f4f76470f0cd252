"""`concord run histogram`."""

import numpy as np
import pytest

from program import BYTES, THREE, TYPES, gives, on_devices, refused, save, unknown_variant_is_refused

UNSIGNED = [name for name in TYPES if name[0] == "u"]
ONES = np.ones(200000, "u1")


def samples_of(name):
    values = [[0, 1, 2, 3], [4, 5, 11, 100]] if name in UNSIGNED else [[-5, -4, -1, 0], [1, 3, 5, 100]]
    return np.array(values, TYPES[name])


@on_devices("name", TYPES, ["f32", "u8"], ["i64"])
def test_even_bins(device, name):
    low, high, counts = (0, 10, [2, 2, 2, 0, 0]) if name in UNSIGNED else (-5, 5, [2, 0, 2, 1, 1])
    options = f"run histogram --bins 5 --range {low} {high} --in"
    gives(np.array(counts, "u8"), options, samples_of(name), "--device", device)


@on_devices("name", UNSIGNED, ["u8"])
def test_modulo(device, name):
    options = "run histogram --bins 3 --modulo --counter u32 --in"
    gives(np.array([2, 3, 3], "u4"), options, samples_of(name), "--device", device)


@on_devices("name", UNSIGNED, ["u8"])
def test_identity(device, name):
    options = "run histogram --bins 3 --identity --counter u16 --in"
    gives(np.array([1, 1, 1], "u2"), options, samples_of(name), "--device", device)


@on_devices("name", TYPES, ["f32", "u8"], ["i64"])
def test_given_edges(device, name):
    x = samples_of(name)
    for edges in (np.array([0, 1, 4, 11]), np.array([0, 0.5, 3.5, 11])):
        np.save("edges.npy", edges.astype("f8"))
        expected = np.histogram(x, edges)[0].astype("u8")
        gives(expected, "run histogram --edges edges.npy --in", x, "--device", device)
    np.save("edges.npy", np.array([0, 1, 4, 11], x.dtype))
    gives(np.histogram(x, [0, 1, 4, 11])[0].astype("u4"), "run histogram --counter u32 --edges edges.npy --in", x,
          "--device", device)


@pytest.mark.parametrize("name", TYPES)
def test_exact_bins(device, name):
    tenths = np.arange(12 if name in UNSIGNED else 120)
    x = tenths.astype(TYPES[name]) if name[0] != "f" else (tenths / 10).astype(TYPES[name])
    for bins, high in ((10, 1), (49, 11), (3, 100)):
        expected = np.histogram(x, bins, (0, high))[0].astype("u8")
        gives(expected, f"run histogram --bins {bins} --range 0 {high} --exact --in", x, "--device", device)


@pytest.mark.parametrize("name", TYPES)
def test_no_samples(device, name):
    empty = np.empty(0, TYPES[name])
    gives(np.zeros(5, "u8"), "run histogram --bins 5 --range 0 1 --in", empty, "--device", device)


def test_identity_of_signed_samples(device):
    expected = np.array([1, 1, 0, 1, 0], "u8")
    gives(expected, "run histogram --bins 5 --identity --in", samples_of("i32"), "--device", device)


def test_limits_that_are_fractions(device):
    samples = np.array([-0.5, -0.25, 0.25, 0.5], "f4")
    gives(np.array([2, 0, 1, 1], "u8"), "run histogram --bins 4 --range -.5 .50001 --in", samples, "--device", device)


def test_counters_of_16_bits_saturate(device):
    expected = np.array([0, 65535, 0], "u2")
    gives(expected, "run histogram --bins 3 --identity --counter u16 --in", ONES, "--device", device)


def test_counters_of_32_bits(device):
    expected = np.array([0, 200000, 0], "u4")
    gives(expected, "run histogram --bins 3 --range 0 3 --counter u32 --in", ONES, "--device", device)


@pytest.mark.parametrize(
    "words, file, options",
    [
        ("--bins", "bytes", "--identity"),
        (["--range", "--modulo", "--identity"], "bytes", "--bins 3"),
        ("no bins given; pass --bins N or --edges FILE", "three", "--range 0 1"),
        ("'0'", "bytes", "--bins 0 --identity"),
        ("excludes", "three", "--bins 3 --edges three.npy"),
        (["--edges", "leave out --range"], "three", "--edges three.npy --range 0 1"),
        (["--edges", "square.npy", "one axis"], "bytes", "--edges square.npy"),
        (["--edges", "descending.npy: got 2 before 1", "must ascend"], "three", "--edges descending.npy"),
        (["--edges", "equal.npy: got 1 before 1", "must ascend"], "three", "--edges equal.npy"),
        (["--edges", "requires a file, got '-'"], "three", "--edges -"),
        (["--edges", "bytes.npy: got u8", "f64 or the samples' type f32"], "three", "--edges bytes.npy"),
        (["--edges", "missing.npy"], "three", "--edges missing.npy"),
        ("--exact: requires --range", "three", "--bins 3 --exact"),
        (["too many bins", "from 1 to 1.0000001"], "three", "--bins 9 --range 1 1.0000001 --exact"),
        ("'-1'", "bytes", "--bins -1 --identity"),
        ("'3.5'", "bytes", "--bins 3.5 --identity"),
        ("'many'", "bytes", "--bins many --identity"),
        ("at most 281474976710656", "bytes", "--bins 9223372036854775808 --identity"),
        ("excludes", "bytes", "--bins 3 --identity --modulo"),
        ("excludes", "bytes", "--bins 3 --range 0 1 --modulo"),
        ("excludes", "bytes", "--bins 3 --range 0 1 --identity"),
        ("--range: expected 2 values, got 1", "bytes", "--bins 3 --range 0"),
        ("u24", "bytes", "--bins 3 --identity --counter u24"),
        ("'lo'", "bytes", "--bins 3 --range lo 1"),
        ("'1x'", "three", "--bins 3 --range 0 1x"),
        ("'lo'", "bytes", "--bins 3 --range lo hi"),
        (["from 1 to 1", "empty"], "three", "--bins 3 --range 1 1"),
        (["from 5 to -1", "empty"], "bytes", "--bins 3 --range 5 -1"),
        ("from 0 to inf", "three", "--bins 3 --range 0 inf"),
        ("from nan to 1", "three", "--bins 3 --range nan 1"),
        ("from -inf to 1", "three", "--bins 3 --range -inf 1"),
        ("1e+39", "three", "--bins 3 --range 0 1e39"),
        (["1.5", "whole number"], "bytes", "--bins 3 --range 0 1.5"),
        (["--modulo", "unsigned", "three.npy", "f32"], "three", "--bins 3 --modulo"),
        (["--identity", "integer", "three.npy", "f32"], "three", "--bins 3 --identity"),
    ],
)
def test_refused_options(words, file, options):
    save("three.npy", THREE)
    save("bytes.npy", BYTES)
    save("square.npy", np.ones((2, 2)))
    save("descending.npy", np.array([0, 2, 1.0]))
    save("equal.npy", np.array([0, 1, 1.0]))
    refused(2, words, "run histogram --in", f"{file}.npy", "--out", "box/new.npy", *options.split())


def test_unknown_variant(device):
    unknown_variant_is_refused("histogram", device, "--bins", 3, "--identity", "--in", BYTES)
