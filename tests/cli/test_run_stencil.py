"""`concord run stencil`."""

import numpy as np
import pytest

from program import FLOATS, TYPES, gives, on_devices, refused, save, unknown_variant_is_refused

VOLUME = np.arange(1, 13).reshape(2, 2, 3)
STAR = np.array([2, -1, 3])
AFTER = {
    0: VOLUME,
    1: np.array([-2, -13, -8, 10, -13, 4, 22, -13, 16, 34, -13, 28]).reshape(2, 2, 3),
    2: np.array([-47, 10, -29, 13, -14, 31, 73, -38, 91, 133, -62, 151]).reshape(2, 2, 3),
}
SEEDS = [0, 7, 2**64 - 1]


def split_mix(seed, i):
    """The i-th number of SplitMix64."""
    z = (seed + (i + 1) * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


def random_volume(name, seed, shape):
    """The reference for --generate random: leading bits of SplitMix64, with a seed that is mixed the same way."""
    digits = 24 if name == "f32" else 53
    key = split_mix(seed, 0)
    values = [(split_mix(key, i) >> (64 - digits)) / 2**digits for i in range(np.prod(shape))]
    return np.array(values, TYPES[name]).reshape(shape)


@on_devices("steps, name", [(steps, name) for steps in AFTER for name in FLOATS], [(steps, "f32") for steps in AFTER])
def test_steps(device, steps, name):
    volume, star, expected = (x.astype(TYPES[name]) for x in (VOLUME, STAR, AFTER[steps]))
    gives(expected, f"run stencil --steps {steps} --in", volume, "--in", star, "--device", device)


def test_one_step_by_default(device):
    gives(AFTER[1].astype("f4"), "run stencil --in", VOLUME.astype("f4"), "--in", STAR.astype("f4"), "--device", device)


@on_devices("seed, name", [(seed, name) for seed in SEEDS for name in FLOATS], [(seed, "f32") for seed in SEEDS])
def test_random_volume(device, seed, name):
    options = f"run stencil --generate random --shape 2x3x5 --type {name} --seed {seed} --steps 0 --in"
    gives(random_volume(name, seed, (2, 3, 5)), options, STAR.astype(TYPES[name]), "--device", device)


def test_random_volume_by_default(device):
    options = "run stencil --generate random --shape 2x3x5 --steps 0 --in"
    gives(random_volume("f32", 0, (2, 3, 5)), options, STAR.astype("f4"), "--device", device)


@on_devices("name", FLOATS, ["f32"])
def test_response_to_a_point(device, name):
    response = np.zeros((5, 6, 7), TYPES[name])
    for axis in range(3):
        for distance in (-2, -1, 0, 1, 2):
            place = [2, 3, 3]
            place[axis] += distance
            response[tuple(place)] = STAR[abs(distance)]
    options = f"run stencil --generate point --shape 5x6x7 --type {name} --in"
    gives(response, options, STAR.astype(TYPES[name]), "--device", device)


HOLLOW = np.empty((2, 0, 3), "f4")


@pytest.mark.parametrize("kind", ["random", "point"])
def test_generated_volume_without_elements(device, kind):
    gives(HOLLOW, "run stencil --generate", kind, "--shape", "2x0x3", "--in", STAR.astype("f4"), "--device", device)


def test_volume_without_elements(device):
    gives(HOLLOW, "run stencil --in", HOLLOW, "--in", STAR.astype("f4"), "--steps", 3, "--device", device)


@pytest.fixture
def files():
    save("volume.npy", [[[1, 2], [3, 4]]], "f4")
    save("star.npy", [1, 2], "f4")
    save("double.npy", [1, 2], "f8")
    save("short.npy", [1], "f4")
    save("three.npy", [1, 4, 9], "f4")
    save("bytes.npy", [1, 2, 3], "u1")
    save("nested.npy", [[[1], [2], [3]]], "u1")


@pytest.mark.parametrize(
    "words, volume, star, options",
    [
        (["three.npy", "(3,)", "three dimensions"], "three.npy", "star.npy", ""),
        (["volume.npy", "(1, 2, 2)", "one dimension"], "volume.npy", "volume.npy", ""),
        (["nested.npy", "u8", "star.npy", "f32"], "nested.npy", "star.npy", ""),
        (["nested.npy", "u8", "f32", "f64"], "nested.npy", "bytes.npy", ""),
        (["short.npy", "2 to 9 coefficients", "radius 1 to 8", "got 1"], "volume.npy", "short.npy", ""),
        (["--steps", "'-1'"], "volume.npy", "star.npy", "--steps -1"),
        (["--steps", "'2.5'"], "volume.npy", "star.npy", "--steps 2.5"),
        (["--shape", "--generate"], "volume.npy", "star.npy", "--shape 4x4x4"),
        (["--type", "--generate"], "volume.npy", "star.npy", "--type f32"),
        (["--seed", "--generate"], "volume.npy", "star.npy", "--seed 1"),
        (["1 input", "--generate random", "got 2"], "volume.npy", "star.npy", "--generate random --shape 1x2x2"),
    ],
)
def test_refused_inputs(files, words, volume, star, options):
    refused(2, words, "run stencil --in", volume, "--in", star, "--out", "box/new.npy", *options.split())


def test_one_input(files):
    refused(2, ["2 inputs", "got 1"], "run stencil --in volume.npy --out box/new.npy")


def test_generated_volume_without_coefficients():
    refused(2, "--in", "run stencil --generate random --shape 1x2x2 --out box/new.npy")


def generate_is_refused(words, *options):
    refused(2, words, "run stencil --in star.npy --out box/new.npy", *options)


@pytest.mark.parametrize("kind", ["frob", "", "Random"])
def test_unknown_kind_of_volume(files, kind):
    generate_is_refused(["--generate", f"'{kind}'", "random", "point"], "--generate", kind, "--shape", "4x4x4")


@pytest.mark.parametrize(
    "shape", ["", "4", "4x4", "4x4x4x4", "4x4x", "x4x4", "4xx4", "4xax4", "-1x4x4", "4x4x4.5", "0x4x4x4", "4x4x4 "]
)
def test_malformed_shape(files, shape):
    generate_is_refused(["--shape", f"'{shape}'", "400x480x480"], "--generate", "random", "--shape", shape)


@pytest.mark.parametrize(
    "words, options",
    [
        (["'18446744073709551616x1x1'", "64 bits"], "--generate point --shape 18446744073709551616x1x1"),
        (["'1048576x1048576x1048576'", "f32", "2^60 bytes"], "--generate random --shape 1048576x1048576x1048576"),
        (["'4294967296x4294967296x2'", "f64"], "--generate random --shape 4294967296x4294967296x2 --type f64"),
        (["--generate", "--shape"], "--generate random"),
        (["--generate", "--shape"], "--generate random --seed 1"),
        ("56 bytes", "--generate random --shape 1x2x2 --memory-limit 55 --device tbb"),
        (["'star.npy'", "--in"], "--generate random --shape 1x2x2 --trace star.npy"),
        (["--generate point", "f64", "star.npy", "f32"], "--generate point --type f64 --shape 1x2x2"),
    ],
)
def test_refused_generator(files, words, options):
    generate_is_refused(words, *options.split())


def test_coefficients_of_another_type(files):
    words = ["--generate random", "f32", "double.npy", "f64"]
    refused(2, words, "run stencil --generate random --shape 1x2x2 --in double.npy --out box/new.npy")


@pytest.mark.parametrize("name", ["f16", "i32", "F32", ""])
def test_unknown_type(files, name):
    words = ["--type", f"'{name}'", "f32", "f64"]
    generate_is_refused(words, "--generate", "random", "--shape", "4x4x4", "--type", name)


@pytest.mark.parametrize("seed", ["-1", "1.5", "frob", str(2**64), ""])
def test_invalid_seed(files, seed):
    generate_is_refused(["--seed", f"'{seed}'", "2^64"], "--generate", "random", "--shape", "4x4x4", "--seed", seed)


def test_unknown_variant(files, device):
    unknown_variant_is_refused("stencil", device, "--in", "volume.npy", "--in", "star.npy")
