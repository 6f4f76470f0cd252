"""`concord run compact`."""

import numpy as np
import pytest

from program import BYTES, FLOATS, THREE, TYPES, bits, gives, on_devices, refused, save, unknown_variant_is_refused

KEPT = {
    "even": [0, 100, 2, 2, 0, 8],
    "odd": [5, 7, 11, 3],
    "nonzero": [5, 100, 7, 2, 2, 11, 3, 8],
    "positive": [5, 100, 7, 2, 2, 11, 3, 8],
    "greater:7": [100, 11, 8],
    "less:5": [0, 2, 2, 3, 0],
}
KERNELS, MORE = ["u8", "f32"], ["i64"]


def with_rules(names):
    return [(rule, name) for name in names for rule in KEPT if name not in FLOATS or rule not in ("even", "odd")]


@on_devices("rule, name", with_rules(TYPES), with_rules(KERNELS), with_rules(MORE))
def test_rule(device, rule, name):
    values = np.array([5, 0, 100, 7, 2, 2, 11, 3, 0, 8], TYPES[name])
    gives(np.array(KEPT[rule], TYPES[name]), "run compact --keep", rule, "--in", values, "--device", device)


@on_devices("name", TYPES, KERNELS, MORE)
def test_nothing_is_kept(device, name):
    empty = np.empty(0, TYPES[name])
    gives(empty, "run compact --keep less:0 --in", empty, "--device", device)
    gives(empty, "run compact --keep less:0 --in", np.array([3], TYPES[name]), "--device", device)


SIGNED = [("positive", [127, 1]), ("odd", [127, -1, 1]), ("less:0", [-128, -1])]


@on_devices("rule, kept", SIGNED, SIGNED[2:], SIGNED[:2])
def test_signed_integers(device, rule, kept):
    values = np.array([-128, 127, -1, 0, 1], "i1")
    gives(np.array(kept, "i1"), "run compact --keep", rule, "--in", values, "--device", device)


@pytest.mark.parametrize("rule, kept", [("nonzero", [0, 3, 4, 5, 6]), ("less:0.25", [1, 2, 4])])
def test_special_floats(device, rule, kept):
    values = bits(
        [0x7FC12345, 0, 0x80000000, 0x7F800000, 0xBF800000, 0x3F000000, 0xFF812345], "f4"
    )  # nan 0 -0 inf -1 0.5 nan
    gives(values[kept], "run compact --keep", rule, "--in", values, "--device", device)


@pytest.mark.parametrize(
    "rule", [*"median greater less greater: less:x greater:1x less:256 greater:-1 greater:1.5 odd:1 even:".split(), ""]
)
def test_unknown_rule_for_integers(rule):
    refused(2, f"'{rule}'", "run compact --keep", rule, "--in", BYTES, "--out", "box/new.npy")


@pytest.mark.parametrize("rule", ["even", "odd", "greater:1e99", "less:1e-99", "greater:1,5"])
def test_unknown_rule_for_floats(rule):
    refused(2, f"'{rule}'", "run compact --keep", rule, "--in", THREE, "--out", "box/kept.npy")


@pytest.mark.parametrize("shape", [(1, 3), ()], ids=str)
def test_other_dimensions(shape):
    save("other.npy", np.ones(shape, "u1"))
    refused(2, ["compact", "other.npy", "dimension"], "run compact --keep odd --in other.npy --out box/new.npy")


def test_unknown_variant(device):
    unknown_variant_is_refused("compact", device, "--in", BYTES)


def test_bool(device):
    flags = np.array([1, 0, 2, 0, 255], "u1").view("?")
    gives(np.ones(3, "?"), "run compact --in", flags, "--device", device)
    refused(2, ["--keep", "greater"], "run compact --keep greater:0 --in", flags, "--out", "box/new.npy")
