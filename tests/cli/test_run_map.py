"""`concord run map`."""

import numpy as np
import pytest

from program import BYTES, FLOATS, THREE, TYPES
from program import bits, gives, on_devices, pairs, refused, says, unknown_variant_is_refused, values_of

FUNCTIONS = {"copy": np.positive, "negate": np.negative, "square": np.square, "abs": np.abs}
ALL = [(function, name) for function in FUNCTIONS for name in TYPES]
ELSEWHERE = pairs("copy.f32 negate.i16 square.u8 abs.f64")
MORE = pairs("copy.i8 negate.u64 negate.f64 square.i64 square.f32 abs.i32 abs.u16")


@on_devices("function, name", ALL, ELSEWHERE, MORE)
def test_function(device, function, name):
    """Integers wrap."""
    values = values_of(name)
    gives(FUNCTIONS[function](values), "run map --function", function, "--in", values, "--device", device)


SQUARES = ["u8", "f32"]


@on_devices("name", TYPES, SQUARES, ["i64"])
def test_scalar(device, name):
    gives(np.array(9, TYPES[name]), "run map --function square --in", np.array(3, TYPES[name]), "--device", device)


@on_devices("name", TYPES, SQUARES)
def test_no_elements(device, name):
    hollow = np.empty((2, 0, 3), TYPES[name])
    gives(hollow, "run map --function negate --in", hollow, "--device", device)


@pytest.mark.parametrize("name, two", [("f32", 0x3FB504F3), ("f64", 0x3FF6A09E667F3BCD)])
def test_roots_are_correctly_rounded(device, name, two):
    values = np.array([0.0, -0.0, 1, 4, 9, 2, 1000000, np.inf], TYPES[name])
    roots = np.array([0.0, -0.0, 1, 2, 3, 0, 1000, np.inf], TYPES[name])
    roots[5] = bits([two], name.replace("32", "4").replace("64", "8"))[0]
    gives(roots, "run map --function sqrt --in", values, "--device", device)


@on_devices("name", FLOATS, ["f32"])
def test_copies_keep_the_bits_of_nans(device, name):
    nans = bits([0x7FC12345, 0x3F800000, 0xFF812345], "f4")
    if name == "f64":
        nans = bits([0x7FF8000012345678, 0x3FF0000000000000, 0xFFF0000012345678], "f8")
    gives(nans, "run map --function copy --in", nans, "--device", device)


def test_shape_is_kept(device):
    volume = np.arange(1, 7, dtype="i2").reshape(2, 1, 3)
    gives(-volume, "run map --function negate --in", volume, "--device", device)


def test_roots_of_integers(device):
    refused(2, ["sqrt", "u8"], "run map --function sqrt --in", BYTES, "--out", "box/kept.npy", "--device", device)


def test_unknown_variant(device):
    unknown_variant_is_refused("map", device, "--in", THREE)


def test_unknown_function():
    refused(2, "cube", "run map --function cube --in", THREE, "--out", "box/new.npy")


def test_unknown_option():
    refused(2, "--frob", "run map --in", THREE, "--out", "box/new.npy", "--frob")


def test_two_inputs():
    refused(2, "got 2", "run map --in", THREE, "--in", THREE, "--out", "box/new.npy")


SQUARE_TEXT = "float f(float x) { return x * x; }"


@pytest.mark.parametrize("device", ["opencl", "cuda"], indirect=True)
class TestTextOnDevicesThatCompileIt:
    def test_text(self, device):
        gives(THREE * THREE, "run map --text", SQUARE_TEXT, "--in", THREE, "--device", device)

    def test_result_of_another_type(self, device):
        gives(
            THREE.astype("i4"), "run map --text", "int g(float x) { return (int)x; }", "--in", THREE, "--device", device
        )

    def test_input_of_another_type(self, device):
        refused(2, "f32", "run map --text", SQUARE_TEXT, "--in", BYTES, "--out", "box/new.npy", "--device", device)

    def test_order_with_a_function_that_devices_compute_differently(self, device):
        text = ["--text", "float f(float x) { return native::exp(x); }", "--in", THREE, "--device", device]
        refused(2, ["'exp'", "devices"], "run map", *text, "--out", "box/new.npy", "--order", "canonical")
        says("", "run map", *text, "--out", "box/new.npy")
        gives(THREE, "run map --text", "float f(float x) { return floor(x); }", "--in", THREE, "--order", "canonical")

    @pytest.mark.parametrize(
        "text, place",
        [
            ("float f(float x) { return no_such_name; }", (1, 27)),
            ("float f(float x) {\n    float y = x;\n    return no_such_name;\n}", (3, 12)),
            ("float\nfunction_of_x(float x) { return no_such_name; }", (2, 33)),
            ("float f(float x) { float y = x; int y = 1; return y; }", (1, 37)),
        ],
    )
    def test_error_names_line_and_column(self, device, text, place):
        words = f"concord: --text: line {place[0]}, column {place[1]}: "
        result = refused(2, words, "run map --text", text, "--in", THREE, "--out", "box/kept.npy", "--device", device)
        assert ("no_such_name" in result.err) == ("no_such_name" in text), result

    def test_error_behind_the_text(self, device):
        text = "float f(float x) { return x;"
        refused(2, ["--text: ", "'}'"], "run map --out box/kept.npy --text", text, "--in", THREE, "--device", device)


@pytest.mark.parametrize("device", ["opencl"], indirect=True)
def test_text_selects_a_device_that_compiles_it(device):
    gives(THREE * THREE, "run map --text", SQUARE_TEXT, "--in", THREE)


@pytest.mark.parametrize(
    "text, words",
    [
        (SQUARE_TEXT, ["tbb:0", "compile"]),
        ("", "--text: missing parameter list"),
        ("float f(float x)", "body"),
        ("floot f(float x) { return x; }", "'floot'"),
    ],
)
def test_unusable_text(text, words):
    refused(2, words, "run map --text", text, "--in", THREE, "--out", "box/kept.npy", "--device", "tbb")


def test_text_and_function_exclude_each_other():
    refused(2, "--text", "run map --text", SQUARE_TEXT, "--function", "abs", "--in", THREE, "--out", "box/new.npy")


COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
LOGIC = ["logical_and", "logical_or", "logical_xor"]
TABLE = np.array([[0, 1, 5], [7, 2, 0]], "i4")
ROW = np.array([2, 1, 0], "i4")
COLUMN = np.array([[5], [0]], "i4")
MASK = np.array([[True, False, True], [False, True, False]])


def two(function, a, b, device="tbb"):
    return ["run map --function", function, "--in", a, "--in", b, "--device", device]


@pytest.mark.parametrize("function", COMPARISONS + LOGIC)
def test_predicate(function):
    for name in TYPES:
        a, b = TABLE.astype(TYPES[name]), ROW.astype(TYPES[name])
        gives(getattr(np, function)(a, b), *two(function, a, b))
    with np.errstate(invalid="ignore"):
        special = np.array([np.nan, 0, -0.0, np.inf, 1], "f4")
        gives(getattr(np, function)(special[:, None], special), *two(function, special[:, None].copy(), special))
    gives(getattr(np, function)(MASK, MASK[0]), *two(function, MASK, MASK[0].copy()))


@pytest.mark.parametrize("function", ["add", "subtract", "multiply", "minimum", "maximum", "power"])
@pytest.mark.parametrize("shapes", ["same", "row", "column", "outer", "scalar"])
def test_function_of_two_inputs(function, shapes):
    a = ROW if shapes == "outer" else TABLE
    b = {"same": TABLE, "row": ROW, "column": COLUMN, "outer": COLUMN, "scalar": np.array(3, "i4")}[shapes]
    for name in ("i32", "u8", "i64") if function == "power" else ("i8", "u64", "f32"):
        x, y = a.astype(TYPES[name]), b.astype(TYPES[name])
        gives(getattr(np, function)(x, y), *two(function, x, y))


def test_function_of_two_inputs_on_a_device(device):
    gives(TABLE < ROW, *two("less", TABLE, ROW, device))
    gives(TABLE + COLUMN, *two("add", TABLE, COLUMN, device))


def test_quotients():
    gives(np.array([0.5, 2.5, np.inf], "f4"), *two("divide", np.array([1, 5, 1], "f4"), np.array([2, 2, 0], "f4")))
    gives(np.array([0.5, 2.5, -np.inf], "f8"), *two("divide", np.array([1, 5, -1], "i2"), np.array([2, 2, 0], "i2")))


def test_powers_wrap():
    gives(np.array([1, 243, 0, 255], "u1"), *two("power", np.array([0, 3, 2, 255], "u1"), np.array([0, 5, 8, 3], "u1")))
    words = ["power", "-1", "element 2 of input7.npy"]
    refused(2, words, *two("power", ROW, np.array([1, 0, -1], "i4")), "--out", "box/kept.npy")


def test_functions_with_one_result_of_bool():
    values = np.array([np.nan, 0, 2], "f4")
    gives(np.array([True, False, False]), "run map --function is_nan --in", values)
    gives(np.array([False, True, False]), "run map --function logical_not --in", values)
    refused(2, ["is_nan", "i32"], "run map --function is_nan --in", ROW, "--out", "box/kept.npy")


def test_any_byte_but_0_is_true():
    values = np.array([0, 1, 2, 255], "u1").view("?")
    gives(np.array([True, False, False, False]), "run map --function logical_not --in", values)
    ones, zeros = np.ones(4, "u1"), np.zeros(4, "u1")
    gives(np.array([0, 1, 1, 1], "u1"), "run map --function where --in", values, "--in", ones, "--in", zeros)


def test_where():
    command = ["run map --function where --in", MASK, "--in", TABLE, "--in", ROW]
    gives(np.where(MASK, TABLE, ROW), *command)
    command[1] = MASK.astype("u1")
    gives(np.where(MASK, TABLE, ROW), *command)
    command[1] = MASK.astype("f4")
    refused(2, ["condition", "bool or u8", "f32"], *command, "--out", "box/kept.npy")
    refused(2, "got 2", *command[:4], "--out", "box/kept.npy")


def test_clip():
    values = np.array([-5, 0, 7, 100], "i4")
    gives(np.clip(values, -2, 50), "run map --function clip --low -2 --high 50 --in", values)
    gives(np.array([np.nan, 1, 0.5], "f4"), "run map --function clip --low 0.5 --high 1 --in", np.array([np.nan, 3, 0], "f4"))
    refused(2, ["--low", "i32", "'0.5'"], "run map --function clip --low 0.5 --high 1 --in", values, "--out", "box/kept.npy")
    refused(2, ["--high", "clip"], "run map --function clip --low 0 --in", values, "--out", "box/kept.npy")
    refused(2, ["--low", "clip", "negate"], "run map --function negate --low 0 --in", values, "--out", "box/kept.npy")
    refused(2, ["bool"], "run map --function clip --low 0 --high 1 --in", MASK, "--out", "box/kept.npy")


def test_inputs_that_do_not_fit():
    words = ["broadcast", "(2, 3)", "(2,)", "input5.npy", "input7.npy"]
    refused(2, words, *two("less", TABLE, np.zeros(2, "i4")), "--out", "box/kept.npy")
    refused(2, ["one type", "i32", "f32"], *two("less", TABLE, TABLE.astype("f4")), "--out", "box/kept.npy")
    refused(2, "add does not support bool", *two("add", MASK, MASK), "--out", "box/kept.npy")
    refused(2, "expects 2 inputs, got 1", "run map --function less --in", ROW, "--out", "box/kept.npy")
    refused(2, "8 dimensions", *two("less", np.zeros((1,) * 9, "i4"), ROW), "--out", "box/kept.npy")
    gives(np.zeros((1,) * 9, "?"), *two("less", np.zeros((1,) * 9, "i4"), np.zeros((1,) * 9, "i4")))
    refused(2, "segments", *two("less", ROW, ROW), "--chunk", "4", "--out", "box/kept.npy")


def test_no_elements_of_two_inputs():
    gives(np.empty((0, 3), "?"), *two("less", np.empty((0, 3), "i4"), ROW))


def test_bool_elsewhere():
    gives(MASK, "run map --in", MASK)
    gives(MASK.T.copy(), "run transpose --in", MASK)
    for algorithm in ("reduce", "scan"):
        refused(2, "bool", "run", algorithm, "--in", MASK[0].copy(), "--out", "box/kept.npy")
