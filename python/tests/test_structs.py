"""Structs that other libraries hand over, wrong ones too: an error or the right result, never a crash.

`pytest --structs 1000000` tries as many random ones of each kind.
"""

import ctypes
import multiprocessing
import random
import sys

import numpy as np
import pytest

import concord as cc

api = ctypes.pythonapi
BLOCK = (ctypes.c_double * 512)()
AT, BYTES = ctypes.addressof(BLOCK), ctypes.sizeof(BLOCK)
# What a library that means no harm never says, and what makes arithmetic overflow.
ODD = (-(2**63), 2**63 - 1, -1, 2**62, 2**32, 2**61 + 1, -8, 2**40)


@pytest.mark.parametrize("make", (lambda t: (t * 3)(3, 1, 2), lambda t: multiprocessing.RawArray(t, [3, 1, 2]),
                                  lambda t: memoryview((t * 3)(3, 1, 2))))
@pytest.mark.parametrize("kind", (ctypes.c_int, ctypes.c_double, ctypes.c_ubyte, ctypes.c_longlong))
def test_arrays_of_ctypes(make, kind, device):
    assert cc.sum(make(kind), device=device) == 6
    assert cc.array(make(kind), device=device).tolist() == [3, 1, 2]
    out = make(kind)
    cc.sort(make(kind), out=out, device=device)
    assert np.asarray(out).tolist() == [1, 2, 3]
    assert cc.sum((kind * 0)()) == 0
    assert cc.sum((kind * 3 * 2)((1, 2, 3), (4, 5, 6))) == 21


class PyBuffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]


class Exporter:
    """Objects of a type whose getbuffer() copies `view`."""

    view = None

    class Slot(ctypes.Structure):
        _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]

    class Spec(ctypes.Structure):
        _fields_ = [("name", ctypes.c_char_p), ("basicsize", ctypes.c_int), ("itemsize", ctypes.c_int), ("flags", ctypes.c_uint),
                    ("slots", ctypes.c_void_p)]

    @staticmethod
    @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(PyBuffer), ctypes.c_int)
    def get(object_, view, flags):
        ctypes.memmove(view, ctypes.byref(Exporter.view), ctypes.sizeof(PyBuffer))
        view[0].obj = object_
        api.Py_IncRef(ctypes.c_void_p(object_))
        return 0

    slots = (Slot * 2)(Slot(1, ctypes.cast(get.__func__, ctypes.c_void_p).value), Slot(0, None))
    spec = Spec(b"outside.Exporter", 0, 0, 0, ctypes.addressof(slots))
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.POINTER(Spec))(("PyType_FromSpec", api))


EXPORTER = Exporter.make(Exporter.spec)


def is_inside(address, shape, strides, size):
    """Whether all elements are in BLOCK."""
    if 0 in shape:
        return True
    if any(s < 0 for s in (*shape, *strides)):
        return False
    end = address + size * (1 + sum((n - 1) * s for n, s in zip(shape, strides)))
    return AT <= address and end <= AT + BYTES


def number(choice):
    """An extent or a stride: mostly small."""
    return choice.choice(ODD) if choice.random() < 0.05 else choice.randrange(4)


def rows(shape):
    """The strides of a row-major array."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.insert(0, step)
        step *= max(n, 1)
    return strides


def integers(values):
    return (ctypes.c_int64 * max(len(values), 1))(*values)


def tried(make, inside, expected=None):
    """A call that reads the elements if they are in BLOCK, else one that takes the memory only."""
    try:
        result = cc.from_dlpack(make())
        assert 0 <= result.ndim <= 8
        if inside:
            total = cc.sum(make())
            if expected is not None:
                assert float(np.asarray(total)) == expected
    except (cc.Error, ValueError, TypeError, BufferError, MemoryError):
        return False
    return True


def test_random_buffers(structs):
    choice = random.Random(1)
    accepted = 0
    for i in range(len(BLOCK)):
        BLOCK[i] = i % 5
    for _ in range(structs):
        ndim = choice.randrange(4) if choice.random() < 0.95 else choice.choice((-1, 9, 64, -(2**31), 2**31 - 1))
        count = ndim if 0 <= ndim <= 64 else 0
        code, size = choice.choice(((b"d", 8), (b"f", 4), (b"i", 4), (b"<q", 8), (b"B", 1), (b"?", 1), (b"l", 8), (None, 1)))
        itemsize = size if choice.random() < 0.9 else choice.choice((0, -1, 3, 8, 33, 264, 2**62))
        shape = [number(choice) for _ in range(count)]
        strides = rows(shape) if choice.random() < 0.6 else [number(choice) for _ in range(count)]
        length = size
        for n in shape:
            length *= n
        if choice.random() < 0.1 or not -(2**63) <= length < 2**63:
            length = choice.choice((0, -8, 8, 2**62))
        keep = [integers(shape), integers([max(min(s * itemsize, 2**63 - 1), -(2**63)) for s in strides]), integers([-1] * count)]
        has_shape, has_strides = choice.random() < 0.9, choice.random() < 0.8
        address = AT if choice.random() < 0.9 else choice.choice((0, 2**64 - 16, AT + 1))
        view = PyBuffer(address, None, length, itemsize, 0, ndim, code if choice.random() < 0.95 else choice.choice((b"", b"xx", b"d" * 99)),
                        ctypes.addressof(keep[0]) if has_shape else None, ctypes.addressof(keep[1]) if has_strides else None,
                        ctypes.addressof(keep[2]) if choice.random() < 0.1 else None, None)
        Exporter.view = view
        if not has_shape and ndim == 1 and itemsize > 0:
            shape = [length // itemsize]
        inside = is_inside(address, shape, strides if has_strides else rows(shape), size)
        accepted += tried(EXPORTER, inside)
    assert accepted > structs // 20
    assert sys.getrefcount(EXPORTER) < 100


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_uint64), ("device", ctypes.c_int32), ("id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", Tensor)]


class Legacy(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


DELETED = []


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def deleter(managed):
    DELETED.append(managed)


DELETER = ctypes.cast(deleter, ctypes.c_void_p).value
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def random_tensor(choice, keep):
    """A tensor, and whether its elements are in BLOCK."""
    ndim = choice.randrange(4) if choice.random() < 0.95 else choice.choice((-1, 9, 64, -(2**31), 2**31 - 1))
    count = ndim if 0 <= ndim <= 64 else 0
    shape, strides = ([number(choice) for _ in range(count)] for _ in range(2))
    if choice.random() < 0.5:
        strides = rows(shape)
    strides = [max(min(s, 2**63 - 1), -(2**63)) for s in strides]
    keep += [integers(shape), integers(strides)]
    size = choice.choice((1, 4, 8))
    code = 2 if size > 1 and choice.random() < 0.5 else choice.randrange(2)
    tensor = Tensor(AT, 1, 0, ndim, code, size * 8, 1, ctypes.addressof(keep[-2]), ctypes.addressof(keep[-1]), 0)
    address, has_strides = AT, True
    what = choice.randrange(16)
    if what == 0:
        tensor.shape = None
    elif what == 1:
        tensor.strides, has_strides = None, False
    elif what == 2:
        tensor.data = address = 0
        tensor.byte_offset = choice.choice((0, 64, 2**64 - 1))
    elif what == 3:
        tensor.byte_offset = choice.choice((2**64 - 4096, 2**64 - AT, 2**63, 8, 1))
        address = AT + tensor.byte_offset
    elif what == 4:
        tensor.data = address = choice.choice((2**64 - 8, 2**63, 1))
    elif what == 5:
        tensor.device = choice.choice((0, -1, 2, 3, 4, 7, 8, 10, 13, 14, 99, 2**31 - 1))
        tensor.id = choice.choice((0, -1, 7, 2**31 - 1))
    elif what == 6:
        tensor.code, tensor.bits, tensor.lanes = (choice.randrange(256) for _ in range(3))
    inside = tensor.device == 1 and is_inside(address, shape, strides if has_strides else rows(shape), tensor.bits // 8)
    return tensor, inside


class Producer:
    def __init__(self, struct, name, device):
        self.struct, self.name, self.device = struct, name, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        return api.PyCapsule_New(ctypes.addressof(self.struct), self.name, None)


def test_random_dlpack_capsules(structs):
    choice, accepted = random.Random(2), 0
    for _ in range(structs):
        keep = []
        tensor, inside = random_tensor(choice, keep)
        if choice.random() < 0.7:
            struct = Managed(1, 0, None, DELETER, choice.randrange(4), tensor)
            if choice.random() < 0.05:
                struct.major = choice.choice((0, 2, 2**32 - 1))
            name = b"dltensor_versioned"
        else:
            struct, name = Legacy(tensor, None, DELETER), b"dltensor"
        if choice.random() < 0.02:
            name = choice.choice((b"used_dltensor", b"", b"x"))
        device = (tensor.device, tensor.id) if choice.random() < 0.9 else choice.choice(((1, 0), (4, 0), (10, 0), (2**31, 0), (-1, -1)))
        before = len(DELETED)
        made = []

        def make():
            made.append(Producer(struct, name, device))
            return made[-1]

        accepted += tried(make, inside)
        assert len(DELETED) - before <= len(made)
        DELETED.clear()
    assert accepted > structs // 20


def test_random_tensors_of_the_exchange_api(structs):
    class Exchange(ctypes.Structure):
        _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p), ("allocate", ctypes.c_void_p),
                    ("take", ctypes.c_void_p), ("make_object", ctypes.c_void_p), ("describe", ctypes.c_void_p),
                    ("current_stream", ctypes.c_void_p)]

    state = {}

    @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Tensor))
    def describe(_, out):
        ctypes.memmove(out, ctypes.byref(state["tensor"]), ctypes.sizeof(Tensor))
        return 0

    @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Tensor), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_void_p)
    def allocate(_, out, *__):
        out[0] = state["made"]
        return 0

    @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
    def make_object(_, out):
        api.Py_IncRef(ctypes.py_object(state))
        out[0] = id(state)
        return 0

    exchange = Exchange(1, 3, None, *(ctypes.cast(f, ctypes.c_void_p) for f in (allocate, None, make_object, describe)), None)
    kind = type("Outside", (), {"__dlpack_c_exchange_api__": api.PyCapsule_New(ctypes.addressof(exchange), b"dlpack_exchange_api", None)})
    choice, accepted = random.Random(3), 0
    for _ in range(structs):
        keep = []
        state["tensor"], inside = random_tensor(choice, keep)
        result, result_inside = random_tensor(choice, keep)
        struct = Managed(1, 3, None, DELETER, 0, result)
        state["made"] = ctypes.addressof(struct) if choice.random() < 0.9 else None
        try:
            cc.from_dlpack(kind())
            accepted += 1
            if inside and (result_inside or state["made"] is None):
                cc.map("copy", kind())
        except (cc.Error, ValueError, TypeError, BufferError, MemoryError):
            pass
    assert accepted > structs // 20
    # The same functions of concord.Array, called by another library.
    capsule = cc.Array.__dlpack_c_exchange_api__
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
    ours = Exchange.from_address(pointer(capsule, b"dlpack_exchange_api"))
    errors = []

    @ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
    def error(_, name, text):
        errors.append(text)

    make = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Tensor), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, type(error))(ours.allocate)
    take_over = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))(ours.make_object)
    for _ in range(structs):
        keep, out = [], ctypes.c_void_p()
        like, inside = random_tensor(choice, keep)
        if make(like, out, None, error) == 0:
            Managed.from_address(out.value)  # not null
            assert inside or like.device in (2, 13) or 0 <= like.ndim <= 8
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(Managed.from_address(out.value).deleter)(out.value)
        struct = Managed(1, 3, None, DELETER, 0, like)
        try:
            status = take_over(ctypes.addressof(struct) if choice.random() < 0.95 else None, out)
        except (cc.Error, ValueError, TypeError, BufferError, MemoryError):
            continue
        if status == 0:
            api.Py_DecRef(ctypes.c_void_p(out.value))
    assert errors


@pytest.mark.parametrize("interface", (
    {}, {"shape": (1,)}, {"shape": (3,), "typestr": "<f4", "data": (None, False), "version": 3},
    {"shape": (3, 4), "typestr": "<f4", "data": (8, False), "strides": (4,), "version": 3},
    {"shape": (3,) * 99, "typestr": "<f4", "data": (8, False), "version": 3},
    {"shape": (-3,), "typestr": "<f4", "data": (8, False), "version": 3},
    {"shape": (3,), "typestr": "", "data": (8, False), "version": 3},
    {"shape": (3,), "typestr": "<f4", "data": (8,), "version": 3},
    {"shape": (3,), "typestr": "<f4", "data": (2**64 - 4, False), "version": 3},
    {"shape": (3,), "typestr": "<f4", "data": (8, False), "mask": 3, "version": 3},
    {"shape": (3,), "typestr": "<f4", "data": (8, False), "stream": 0xdead0, "version": 3}))
def test_cuda_array_interfaces(interface):
    holder = type("Holder", (), {"__cuda_array_interface__": interface})
    with pytest.raises((cc.Error, ValueError, TypeError, KeyError)):
        cc.sum(holder())


@pytest.mark.parametrize("stream", (3, 7, 12345672, AT, id(type), 2**64 - 8, 2**70, -1))
def test_integers_that_are_not_streams(stream, device):
    """Of another library, for example: the driver would follow the pointer."""
    with pytest.raises((cc.Error, ValueError, TypeError)):
        cc.sum(np.ones(3), device=device, stream=stream)
