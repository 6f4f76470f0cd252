"""NumPy's own tests of histograms, with Concord's function in place of NumPy's."""

import inspect
import itertools
import types
import warnings

import numpy as np
import pytest
from numpy.lib.tests import test_histograms as numpy_tests

import concord as cc

# What Concord's histogram does not support, by NumPy's test. Each of these must fail.
UNSUPPORTED = {
    "test_arr_weights_mismatch": "weights",
    "test_weights": "weights",
    "test_exotic_weights": "weights",
    "test_outliers": "weights",
    "test_type": "weights",
    "test_datetime": "dates",
    "test_bool_conversion": "a warning about bool",
    "test_precision": "float16 and longdouble",
}
# These pass except for the words of NumPy's errors.
OTHER_WORDS = {"test_bin_array_dims", "test_invalid_range", "test_small_value_range"}
# Not of histogram: histogramdd of 2.4 GB.
OTHERS = {"test_big_arrays"}
CASES = [name for name, _ in inspect.getmembers(numpy_tests.TestHistogram, inspect.isfunction) if name.startswith("test_") and name not in OTHERS]


class Unsupported(Exception):
    pass


def histogram(a, bins=10, range=None, density=None, weights=None):
    if weights is not None:
        raise Unsupported("weights")
    return cc.histogram(np.asarray(a), bins, range, density=bool(density))


@pytest.mark.parametrize("name", CASES)
def test_of_numpy(name, monkeypatch):
    monkeypatch.setattr(numpy_tests, "histogram", histogram)
    monkeypatch.setattr(np, "histogram", histogram)
    if name in OTHER_WORDS:
        monkeypatch.setattr(numpy_tests, "assert_raises_regex", lambda kind, words: pytest.raises(kind))
        monkeypatch.setattr(numpy_tests, "pytest", types.SimpleNamespace(raises=lambda kind, match: pytest.raises(kind)))
    test = getattr(numpy_tests.TestHistogram(), name)
    if name not in UNSUPPORTED:
        return test()
    with pytest.raises(BaseException):  # pytest.warns fails with one
        test()


def test_every_exception_is_a_test_of_numpy():
    assert set(UNSUPPORTED) | OTHER_WORDS <= set(CASES) and len(CASES) >= 20


def same(x, bins, range=None, device=None, density=False):
    expected, expected_edges = np.histogram(x, bins, range, density=density)
    counts, edges = cc.histogram(x, bins, range, density, device=device)
    assert edges.dtype == expected_edges.dtype and counts.dtype == expected.dtype
    np.testing.assert_array_equal(edges, expected_edges)
    np.testing.assert_array_equal(counts, expected)


def test_samples_on_edges(device):
    random = np.random.default_rng(0)
    cents = np.round(random.uniform(0, 5, 20000), 2)
    for x, bins, range in ((cents, 50, (0, 5)), (cents.astype("f4"), 50, (0, 5)), (cents.astype("f4"), 50, None),
                           (np.arange(101) / 100, 100, (0, 1)), (np.arange(1000), 30, None), (np.arange(101, dtype="u1"), 49, None),
                           (np.array([337, 404, 739, 806, 1007, 1811, 2012]), 8296, (2, 2280)), (np.array([0, 1e-45], "f4"), 1, None),
                           (1e8 + np.arange(64, dtype="f4") * 8, 9, None), (cents.astype("f4"), 7, (np.float64(0.1), 3))):
        same(x, bins, range, device)
        same(x, bins, range, device, density=True)


def test_random_samples_and_bins(device, dtype, values):
    random = np.random.default_rng(1)
    x = values(dtype, 3000) if dtype[0] == "f" else (values(dtype, 3000) % 250).astype(dtype)
    for bins, bounds in itertools.product((1, 3, 10, 77, 1000), (None, (0, 1), (-0.3, 2.1), (0.1, 100))):
        same(x, bins, bounds, device)
    for edges in (np.sort(random.uniform(0, 100, 30)), np.array([0, 1, 1, 5, 9], dtype), [0, 2, 50], [0.5, 1, 1, 2.5],
                  np.array([0, 3, 7], "i4"), np.array([-2, 3, 700], "i8"), np.array([0.25, 3], "f4")):
        same(x, edges, None, device)
    same(np.empty(0, dtype), 5, None, device)


def test_parts_of_unsupported_cases(device, monkeypatch):
    """What NumPy's cases test besides."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        same(np.array([True, True, False]), 10, None, device)
        same(np.array([True, False, True, True]), 3, (0, 2), device, density=True)
    same(np.array([-0.9e-308]), 2, (-1e-308, -2e-313), device)
    same(np.arange(10) + 0.5, 10, (0, 9), device)
    monkeypatch.setattr(np, "histogram", histogram)
    numpy_tests.TestHistogram().do_precision(np.single, np.double)


@pytest.mark.parametrize("name", ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"))
def test_estimators(name, device):
    random = np.random.default_rng(2)
    for x in (random.standard_normal(2000), random.standard_normal(2000).astype("f4"), random.integers(-40, 40, 2000), np.full(9, 3.5)):
        same(x, name, None, device)
        same(x, name, (-1, 2), device)
    counts, edges = cc.histogram(cc.array(x, device=device), name)
    assert counts.tolist() == np.histogram(x, name)[0].tolist()


@pytest.mark.parametrize("bins, error, text", (("no estimator", ValueError, "not a valid estimator"), (0, ValueError, "1 to 2"), ([1, 0], ValueError, "ascend"),
                                               (np.ones((2, 2)), ValueError, "bins"), (2.5, TypeError, "bins"), ([], ValueError, "at least 2")))
def test_refused_bins(bins, error, text):
    with pytest.raises(error, match=text):
        cc.histogram(np.arange(5.0), bins)
