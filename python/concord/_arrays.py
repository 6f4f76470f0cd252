"""Functions that make and arrange objects of concord.Array, by the names of NumPy and the array API standard."""

import math as _math
import operator as _operator
from typing import Any

from . import _concord
from ._concord import Array

_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_FLOATS = ("float32", "float64")


def asarray(x: Any, dtype: Any = None, *, device: Any = None, copy: Any = None) -> Array:
    """An array of x: the same memory if that is possible, else a copy. copy=True always copies, copy=False never."""
    if isinstance(x, (bool, int, float, list, tuple)) or not (hasattr(x, "__dlpack__") or hasattr(x, "__cuda_array_interface__")):
        if copy is False and not hasattr(x, "__dlpack__"):
            raise ValueError(f"asarray: copy=False for an object of type {type(x).__name__}, which has no memory to share")
        import numpy

        host = numpy.asarray(x) if dtype is None else numpy.asarray(x, dtype=str(dtype))
        made = _concord.array(host, device)
        return made
    made = x if isinstance(x, _concord.Array) else _of_memory(x, copy)
    if device is not None and made.device.selector != _concord.device(device).selector:
        if copy is False:
            raise ValueError(f"asarray: copy=False, and the array is on {made.device.selector}")
        made = made.to(device)
        copy = None
    if dtype is not None and made.dtype != _name(dtype):
        if copy is False:
            raise ValueError(f"asarray: copy=False, and the dtype is {made.dtype}")
        return made.astype(dtype)
    return made.copy() if copy else made


def _of_memory(x, copy):
    try:
        return _concord.from_dlpack(x)
    except (ValueError, BufferError):
        if copy is False:
            raise
        return _concord.array(x)


def _name(dtype):
    """The name of a type: 'float32' of numpy.float32, 'float32' and numpy.dtype('float32')."""
    return _concord.empty(0, dtype).dtype


def _filled(shape, value, dtype, device):
    dtype = "float64" if dtype is None else dtype
    value = value != 0 if _name(dtype) == "bool" else value
    made = _concord.empty(shape, dtype, device)
    if made.size:
        made[...] = value
    return made


def zeros(shape: Any, dtype: Any = "float64", *, device: Any = None) -> Array:
    """An array of zeros."""
    return _filled(shape, 0, dtype, device)


def ones(shape: Any, dtype: Any = "float64", *, device: Any = None) -> Array:
    """An array of ones."""
    return _filled(shape, 1, dtype, device)


def full(shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """An array of one value, whose type is int64, float64 or bool unless a dtype is given."""
    if dtype is None:
        dtype = "bool" if isinstance(fill_value, bool) else "int64" if isinstance(fill_value, int) else getattr(fill_value, "dtype", "float64")
    return _filled(shape, fill_value, dtype, device)


def zeros_like(x: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """An array of zeros with the shape, and unless given the dtype and device, of x."""
    return _filled(x.shape, 0, dtype or x.dtype, device or x.device)


def ones_like(x: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """An array of ones with the shape, and unless given the dtype and device, of x."""
    return _filled(x.shape, 1, dtype or x.dtype, device or x.device)


def full_like(x: Any, fill_value: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """An array of one value with the shape, and unless given the dtype and device, of x."""
    return _filled(x.shape, fill_value, dtype or x.dtype, device or x.device)


def empty_like(x: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """An array of undefined elements with the shape, and unless given the dtype and device, of x."""
    return _concord.empty(x.shape, dtype or x.dtype, device or x.device)


def arange(start: Any, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Array:
    """The numbers start, start + step, ... below stop; arange(stop) begins at 0."""
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ValueError("arange: step: got 0")
    if dtype is None:
        dtype = "int64" if all(isinstance(value, int) for value in (start, stop, step)) else "float64"
    if all(isinstance(value, int) for value in (start, stop, step)):
        count = max(0, -((start - stop) // step))
    else:
        count = max(0, _math.ceil((stop - start) / step))
    return _concord._arange(count, start, step, _name(dtype), device)


def linspace(start: Any, stop: Any, num: Any, *, dtype: Any = None, device: Any = None, endpoint: Any = True) -> Array:
    """num numbers at equal distances from start to stop, which is the last one unless endpoint is False."""
    if num < 0:
        raise ValueError(f"linspace: num: got {num}; expected 0 or more")
    parts = num - 1 if endpoint else num
    made = arange(num, dtype="float64", device=device)
    made = made * ((stop - start) / parts if parts > 0 else 0.0) + float(start)
    if endpoint and num > 1:
        made[-1] = float(stop)
    return made if dtype is None else made.astype(dtype)


def eye(n_rows: Any, n_cols: Any = None, *, k: Any = 0, dtype: Any = "float64", device: Any = None) -> Array:
    """A matrix with ones on a diagonal, k above the main one, and zeros elsewhere."""
    columns = n_rows if n_cols is None else n_cols
    made = zeros((n_rows, columns), dtype, device=device)
    first = max(k, 0) + max(-k, 0) * columns
    length = min(n_rows - max(-k, 0), columns - max(k, 0))
    if length > 0:
        made.reshape(-1)[first:first + (length - 1) * (columns + 1) + 1:columns + 1] = 1
    return made


def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Array:
    """The elements of x as another type."""
    made = asarray(x).astype(dtype, copy=copy)
    return made if device is None else made.to(device)


def reshape(x: Any, /, shape: Any, *, copy: Any = None) -> Array:
    """The elements of x in row-major order with another shape."""
    x = asarray(x)
    return (x.copy() if copy else x).reshape(shape)


def permute_dims(x: Any, /, axes: Any) -> Array:
    """x with its axes in another order, on the same memory."""
    return asarray(x).transpose(tuple(axes))


def matrix_transpose(x: Any, /) -> Array:
    """x with its last two axes exchanged, on the same memory."""
    return asarray(x).mT


def moveaxis(x: Any, source: Any, destination: Any, /) -> Array:
    """x with axes moved to other places, on the same memory."""
    x = asarray(x)
    source, destination = ((value,) if isinstance(value, int) else tuple(value) for value in (source, destination))
    source, destination = (tuple(_axis("moveaxis", axis, x.ndim) for axis in value) for value in (source, destination))
    order = [axis for axis in range(x.ndim) if axis not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return x.transpose(order)


class _AxisError(ValueError, IndexError):
    """An axis that is out of range, as numpy.exceptions.AxisError."""


def _axis(call, axis, rank):
    place = _operator.index(axis)
    if not -rank <= place < rank:
        raise _AxisError(f"{call}: axis {axis} of {rank} dimensions")
    return place % rank


def expand_dims(x: Any, /, *, axis: Any = 0) -> Array:
    """x with an axis of one element."""
    x = asarray(x)
    place = _axis("expand_dims", axis, x.ndim + 1)
    return x[(slice(None),) * place + (None,)]


def squeeze(x: Any, /, axis: Any) -> Array:
    """x without axes of one element."""
    x = asarray(x)
    places = {_axis("squeeze", each, x.ndim) for each in ((axis,) if isinstance(axis, int) else axis)}
    for place in places:
        if x.shape[place] != 1:
            raise ValueError(f"squeeze: axis {place} has {x.shape[place]} elements")
    return x[tuple(0 if place in places else slice(None) for place in range(x.ndim))]


def flip(x: Any, /, *, axis: Any = None) -> Array:
    """A copy of x with the order of the elements along axes reversed; along all of them without axis."""
    x = asarray(x)
    places = range(x.ndim) if axis is None else {_axis("flip", each, x.ndim) for each in ((axis,) if isinstance(axis, int) else axis)}
    return x[tuple(slice(None, None, -1) if place in places else slice(None) for place in range(x.ndim))].copy()


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Array:
    """A copy of x whose elements have moved along an axis; those that leave it come back at its other end."""
    x = asarray(x)
    if axis is None:
        return roll(x.reshape(-1), shift, axis=0).reshape(x.shape)
    shifts, places = ((value,) if isinstance(value, int) else tuple(value) for value in (shift, axis))
    if len(shifts) == 1:
        shifts *= len(places)
    for moved, each in zip(shifts, places):
        place = _axis("roll", each, x.ndim)
        cut = -moved % x.shape[place] if x.shape[place] else 0
        before = (slice(None),) * place
        x = concat([x[before + (slice(cut, None),)], x[before + (slice(None, cut),)]], axis=place)
    return x.copy() if x.size else x


def result_type(*arrays_and_dtypes: Any) -> str:
    """The type in which functions compute elements of several arrays, types and numbers."""
    first = None
    numbers = []
    for each in arrays_and_dtypes:
        if isinstance(each, (bool, int, float)):
            numbers.append(each)
            continue
        name = each.dtype if isinstance(each, _concord.Array) else _name(getattr(each, "dtype", each))
        first = name if first is None else _concord._promoted(first, name)
    if first is None:
        raise ValueError("result_type: expected an array or a dtype")
    for each in numbers:
        first = _concord._promoted_number(first, each)
    return first


def concat(arrays: Any, /, *, axis: Any = 0) -> Array:
    """Arrays one behind the other along an axis; of their elements in row-major order with axis=None."""
    arrays = [asarray(each) for each in arrays]
    if not arrays:
        raise ValueError("concat: expected an array")
    if axis is None:
        arrays, axis = [each.reshape(-1) for each in arrays], 0
    first = arrays[0]
    place = _axis("concat", axis, first.ndim)
    for each in arrays:
        if each.ndim != first.ndim or any(each.shape[k] != first.shape[k] for k in range(first.ndim) if k != place):
            raise ValueError(f"concat: shapes {first.shape} and {each.shape} differ in more than axis {place}")
    shape = list(first.shape)
    shape[place] = sum(each.shape[place] for each in arrays)
    made = _concord.empty(shape, result_type(*arrays), first.device)
    begin = 0
    for each in arrays:
        end = begin + each.shape[place]
        if each.size:
            made[(slice(None),) * place + (slice(begin, end),)] = each
        begin = end
    return made


def stack(arrays: Any, /, *, axis: Any = 0) -> Array:
    """Arrays of one shape along a new axis."""
    return concat([expand_dims(each, axis=axis) for each in arrays], axis=axis)


def broadcast_to(x: Any, /, shape: Any) -> Array:
    """A copy of x, repeated to a shape."""
    x = asarray(x)
    made = _concord.empty(tuple(shape), x.dtype, x.device)
    made[...] = x
    return made


def broadcast_arrays(*arrays: Any) -> list[Array]:
    """Copies of arrays, repeated to their common shape."""
    arrays = [asarray(each) for each in arrays]
    rank = max((each.ndim for each in arrays), default=0)
    shape = [1] * rank
    for each in arrays:
        for k, extent in enumerate(each.shape, rank - each.ndim):
            if extent != 1 and shape[k] not in (1, extent):
                raise ValueError(f"broadcast_arrays: shapes {', '.join(str(one.shape) for one in arrays)} do not match")
            shape[k] = extent if extent != 1 else shape[k]
    return [broadcast_to(each, shape) for each in arrays]


def take(x: Any, indices: Any, /, *, axis: Any = None) -> Array:
    """Elements of x at indices along an axis; without one x has one dimension. Negative indices count from the end."""
    x = asarray(x)
    if axis is None and x.ndim == 1:
        axis = 0
    if axis is None:
        raise ValueError(f"take: x has the shape {x.shape}; pass axis")
    place = _axis("take", axis, x.ndim)
    indices = asarray(indices, device=x.device)
    if x.ndim == 1:
        return _concord._take(x, indices)
    front = moveaxis(x, place, 0)
    rest = front.shape[1:]
    width = _math.prod(rest)
    n = front.shape[0]
    flat = indices.reshape(-1).astype("int64")
    if flat.size and not (-n <= int(_concord.min(flat)) and int(_concord.max(flat)) < n):
        raise IndexError(f"take: an index is out of range for axis {place} of {n} elements")
    flat = _concord.where(flat < 0, flat + n, flat)
    places = flat.reshape(-1, 1) * width + arange(width, device=x.device)
    taken = _concord._take(front.reshape(-1), places.reshape(-1)) if places.size else _concord.empty(0, x.dtype, x.device)
    made = taken.reshape(indices.shape + rest)
    order = list(range(indices.ndim, indices.ndim + place)) + list(range(indices.ndim)) + list(range(indices.ndim + place, made.ndim))
    return made.transpose(order)


def cumulative_sum(x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False) -> Array:
    """Sums of the elements up to each one along an axis; see cumsum()."""
    return _cumulative(_concord.cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False) -> Array:
    """Products of the elements up to each one along an axis; see cumsum()."""
    return _cumulative(_concord.cumprod, 1, x, axis, dtype, include_initial)


def _cumulative(function, initial, x, axis, dtype, include_initial):
    if axis is None:
        if len(x.shape) != 1:
            raise ValueError(f"{function.__name__}: x has the shape {tuple(x.shape)}; pass axis")
        axis = 0
    made = function(x, axis, dtype=dtype)
    if not include_initial:
        return made
    made = asarray(made)
    shape = list(made.shape)
    shape[_axis(function.__name__, axis, made.ndim)] = 1
    return concat([full(shape, initial, made.dtype, device=made.device), made], axis=axis)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a type is of a kind of the array API standard ('integral', 'real floating', ...), or is another type."""
    name = _name(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(name, each) for each in kind)
    kinds = {"bool": ("bool",), "signed integer": _INTEGERS[:4], "unsigned integer": _INTEGERS[4:], "integral": _INTEGERS,
             "real floating": _FLOATS, "complex floating": (), "numeric": _INTEGERS + _FLOATS}
    return name in kinds[kind] if kind in kinds else name == _name(kind)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether promotion gives the second type for both."""
    return result_type(from_, to) == _name(to)


class _Limits:
    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{key}={value}' for key, value in vars(self).items())})"


class finfo(_Limits):
    """Limits of a type of floats."""

    def __init__(self, type: Any, /) -> None:
        name = _name(getattr(type, "dtype", type))
        if name not in _FLOATS:
            raise ValueError(f"finfo: {name} is not a type of floats")
        bits, digits, exponent = (32, 23, 127) if name == "float32" else (64, 52, 1023)
        super().__init__(bits=bits, eps=2.0 ** -digits, max=(2 - 2.0 ** -digits) * 2.0 ** exponent,
                         min=-(2 - 2.0 ** -digits) * 2.0 ** exponent, smallest_normal=2.0 ** (1 - exponent), dtype=name)


class iinfo(_Limits):
    """Limits of a type of integers."""

    def __init__(self, type: Any, /) -> None:
        name = _name(getattr(type, "dtype", type))
        if name not in _INTEGERS:
            raise ValueError(f"iinfo: {name} is not a type of integers")
        bits = int(name.lstrip("uint"))
        low = 0 if name.startswith("u") else -(1 << bits - 1)
        super().__init__(bits=bits, max=low + (1 << bits) - 1, min=low, dtype=name)


class _Information:
    """What is there of the array API standard."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self):
        return _concord.device()

    def devices(self):
        return [_concord.device(selector) for selector in _concord._selectors()]

    def default_dtypes(self, *, device=None):
        return {"real floating": "float64", "complex floating": None, "integral": "int64", "indexing": "int64"}

    def dtypes(self, *, device=None, kind=None):
        names = ("bool",) + _INTEGERS + _FLOATS
        return {name: name for name in names if kind is None or isdtype(name, kind)}


def __array_namespace_info__() -> Any:
    """What is there of the array API standard: types, devices and capabilities."""
    return _Information()


def _put(x, mask, values):
    """Writes values, one for each true element of the mask, to these elements of x."""
    values = asarray(values, device=x.device)
    if tuple(mask.shape) != tuple(x.shape):
        raise IndexError(f"Array: a mask of shape {mask.shape} for the shape {x.shape}")
    flat = mask.reshape(-1)
    count = int(_concord.sum(flat))
    if values.shape != (count,):
        raise ValueError(f"Array.__setitem__: value has the shape {values.shape}, the mask selects {count} elements")
    if count:
        places = _concord.where(flat, _concord.cumsum(flat) - 1, 0)
        x[...] = _concord.where(mask, take(values.astype(x.dtype), places).reshape(x.shape), x)


def nonzero(x: Any, /) -> tuple[Array, ...]:
    """The indices of the elements that are not 0, an array for each axis. Waits for their number."""
    x = asarray(x)
    if x.ndim == 0:
        raise ValueError("nonzero: x has no dimensions; expected 1 or more")
    flat = x.reshape(-1)
    at = _concord.compress(flat if x.dtype == "bool" else flat != 0, arange(flat.size, device=x.device))
    places = []
    for extent in reversed(x.shape):
        places.append(at % extent if extent else at)
        at = at // extent if extent else at
    return tuple(reversed(places))


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: Any = False) -> Array:
    """The number of elements that are not 0, over axes or of all."""
    x = asarray(x)
    return _concord.sum(x if x.dtype == "bool" else x != 0, axis, keepdims=keepdims)


def argwhere(x: Any, /) -> Array:
    """The indices of the elements that are not 0, a row for each."""
    return stack(nonzero(x), axis=1)


def unstack(x: Any, /, *, axis: Any = 0) -> tuple[Array, ...]:
    """The parts of x along an axis, on the same memory."""
    front = moveaxis(x, axis, 0)
    return tuple(front[place] for place in range(front.shape[0]))


def tile(x: Any, repetitions: Any, /) -> Array:
    """Copies of x side by side, a number for each axis."""
    x = asarray(x)
    repetitions = (repetitions,) if isinstance(repetitions, int) else tuple(repetitions)
    rank = max(x.ndim, len(repetitions))
    x = x.reshape((1,) * (rank - x.ndim) + x.shape)
    for axis, count in enumerate((1,) * (rank - len(repetitions)) + repetitions):
        if count != 1:
            shape = x.shape[:axis] + (0,) + x.shape[axis + 1:]
            x = concat([x] * count, axis=axis) if count > 0 else _concord.empty(shape, x.dtype, x.device)
    return x.copy()


def repeat(x: Any, repeats: Any, /, *, axis: Any = None) -> Array:
    """x with each element along an axis repeated, a number of times or those of an array; in row-major order without axis."""
    x = asarray(x)
    x, axis = (x.reshape(-1), 0) if axis is None else (x, _axis("repeat", axis, x.ndim))
    extent = x.shape[axis]
    counts = broadcast_to(asarray(repeats, device=x.device).astype("int64"), (extent,))
    if extent and int(_concord.min(counts)) < 0:
        raise ValueError("repeat: repeats: a number is negative")
    ends = _concord.cumsum(counts)
    total = int(ends[-1]) if extent else 0
    if total == 0:
        return _concord.empty(x.shape[:axis] + (0,) + x.shape[axis + 1:], x.dtype, x.device)
    # The place of an element is the number of parts that end at it or before.
    places = _concord.cumsum(_concord.bincount(ends, minlength=total)[:total])
    return take(x, places, axis=axis)


def vecdot(x1: Any, x2: Any, /, *, axis: Any = -1) -> Array:
    """Sums of the products of vectors along an axis, in the order of sum()."""
    x1, x2 = asarray(x1), asarray(x2)
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: shapes {x1.shape} and {x2.shape} differ in axis {axis}")
    return _concord.sum(_concord.multiply(x1, x2), axis, dtype=result_type(x1, x2))


def positive(x: Any, /) -> Array:
    """A copy of x."""
    return asarray(x).copy()


def conj(x: Any, /) -> Array:
    """A copy of x, which has no imaginary part."""
    return positive(x)
