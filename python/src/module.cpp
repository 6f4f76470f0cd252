// The extension module concord._concord: arrays, devices, errors. Functions are in functions.cpp and operators.cpp.
#include "array.hpp"
#include "elementwise.hpp"
#include "indexing.hpp"

#include <concord/log.hpp>
#include <concord/random.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

using namespace nanobind::literals;

namespace concord::python {
namespace {

// --- Errors --------------------------------------------------------------------------------------------------------

struct ErrorTypes {
    nb::object of[8];
};
ErrorTypes& error_types() {
    static auto* const types = new ErrorTypes();
    return *types;
}

// Names of files, and what drivers and compilers say, may not be UTF-8.
nb::object text_object(std::string_view text) {
    return nb::steal(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

void set_error(const Error& error) {
    const nb::object& type = error_types().of[static_cast<std::size_t>(error.code())];
    try {
        const nb::object exception = type(text_object(error.what()));
        exception.attr("code") = nb::str(std::string(name_of(error.code())).c_str());
        exception.attr("native") = text_object(error.native());
        PyErr_SetObject(type.ptr(), exception.ptr());
    } catch (nb::python_error& failed) {
        failed.restore();
    }
}

// --- Export --------------------------------------------------------------------------------------------------------

// A managed tensor of an Array for its consumer.
dlpack::ManagedTensor* exported(const ArrayObject& array) {
    dlpack::ManagedTensor* managed = to_dlpack(array.tensor());
    if (array.boolean()) managed->tensor.type.code = dlpack::TypeCode::boolean;
    return managed;
}

void delete_capsule(PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned") == 0) return;
    auto* managed = static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    managed->deleter(managed);
}

struct Legacy {
    dlpack::LegacyTensor legacy;
    dlpack::ManagedTensor* managed;
};

void delete_legacy(dlpack::LegacyTensor* legacy) {
    const std::unique_ptr<Legacy> owner(static_cast<Legacy*>(legacy->context));
    owner->managed->deleter(owner->managed);
}

void delete_legacy_capsule(PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, "dltensor") == 0) return;
    auto* legacy = static_cast<dlpack::LegacyTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
    legacy->deleter(legacy);
}

// Orders the consumer's stream after the array's work. None: the consumer waits on the host; -1: no ordering.
void hand_over(ArrayObject& array, nb::handle stream) {
    if (!array.writer()) return;
    const bool by_number = is_given(stream);
    if (!is_cuda(array.device()) || !by_number) {
        array.wait();
        return;
    }
    const auto number = nb::cast<i64>(stream);
    if (number == -1) return;
    const std::shared_ptr<Stream> consumer =
        // NOLINTNEXTLINE(performance-no-int-to-ptr): Python passes handles as integers
        adopted_stream(array.device(), number <= 1 ? nullptr : reinterpret_cast<void*>(number));
    array.use(consumer, false);
}

// The capsule of an array's own memory.
nb::object capsule_of_own(ArrayObject& array, nb::handle stream, nb::handle max_version, u64 flags) {
    hand_over(array, stream);
    const bool versioned =
        is_given(max_version) &&
        keyword<std::pair<i64, i64>>("__dlpack__", "max_version", max_version, "two integers").first >= 1;
    if (!versioned && array.tensor().buffer() && array.tensor().buffer()->read_only())
        throw nb::buffer_error(
            "the array is read-only, which DLPack before 1.0 cannot say; ask for max_version=(1, 0)");
    if (versioned) {
        dlpack::ManagedTensor* const managed = exported(array);
        managed->flags |= flags;
        return nb::steal(PyCapsule_New(managed, "dltensor_versioned", delete_capsule));
    }
    auto legacy = std::make_unique<Legacy>();
    legacy->managed = exported(array);
    legacy->legacy.tensor = legacy->managed->tensor;
    legacy->legacy.context = legacy.get();
    legacy->legacy.deleter = delete_legacy;
    return nb::steal(PyCapsule_New(&legacy.release()->legacy, "dltensor", delete_legacy_capsule));
}

nb::object copied(const char* call, nb::handle x, nb::handle device);

nb::object capsule_of(nb::handle self, nb::handle stream, nb::handle max_version, nb::handle dl_device,
                      nb::handle copy) {
    ArrayObject& array = nb::cast<ArrayObject&>(self);
    const dlpack::Device where = array.described().device;
    const auto asked = is_given(dl_device) ? keyword<std::pair<i32, i32>>("__dlpack__", "dl_device",
                                                                          dl_device, "two integers")
                                           : std::pair(static_cast<i32>(where.type), where.id);
    const bool moves = asked != std::pair(static_cast<i32>(where.type), where.id);
    const bool forbids = is_given(copy) && !nb::cast<bool>(copy);
    if (moves && (forbids || asked.first != static_cast<i32>(dlpack::DeviceType::cpu)))
        throw nb::buffer_error(
            ("concord.Array.__dlpack__: the array is on " + dlpack::name_of(where) +
             (forbids ? "; without a copy it cannot be moved" : "; copies are made on the host only"))
                .c_str());
    if (moves || (is_given(copy) && nb::cast<bool>(copy))) {
        const nb::object copied_array =
            moves ? copied("__dlpack__", self, nb::str("tbb")) : copied("__dlpack__", self, {});
        return capsule_of_own(nb::cast<ArrayObject&>(copied_array), moves ? nb::handle() : stream,
                              max_version, dlpack::flag_copied);
    }
    return capsule_of_own(array, stream, max_version, 0);
}

// --- The C exchange API of concord.Array ---------------------------------------------------------------------------

template <class F>
int guarded(F f) {
    try {
        f();
        return 0;
    } catch (const Error& error) {
        set_error(error);
    } catch (nb::python_error& error) {
        error.restore();
    } catch (const nb::builtin_exception& error) {
        PyErr_SetString(PyExc_BufferError, error.what());
    } catch (const std::bad_alloc&) {
        PyErr_SetString(PyExc_MemoryError, "not enough memory");
    } catch (const std::exception& error) {
        PyErr_SetObject(PyExc_RuntimeError, text_object(error.what()).ptr());
    }
    return -1;
}

// The array for a consumer that goes on, on the stream that api_current_stream() tells.
ArrayObject& api_array(void* object) {
    auto& array = nb::cast<ArrayObject&>(nb::handle(static_cast<PyObject*>(object)));
    if (array.writer()) array.use(own_stream(array.device()), false);
    return array;
}

int api_take(void* object, dlpack::ManagedTensor** out) {
    return guarded([&] { *out = exported(api_array(object)); });
}

int api_describe(void* object, dlpack::Tensor* out) {
    return guarded([&] { *out = api_array(object).described(); });
}

int api_current_stream(dlpack::DeviceType type, i32 id, void** out) {
    return guarded([&] {
        *out = nullptr;
        if (type == dlpack::DeviceType::cuda)
            *out = own_stream(*open_device("cuda:" + std::to_string(id)))->native_handle();
    });
}

bool is_cuda_memory(const dlpack::Tensor& tensor) {
    return tensor.device.type == dlpack::DeviceType::cuda ||
           tensor.device.type == dlpack::DeviceType::cuda_managed;
}

int api_allocate(dlpack::Tensor* like, dlpack::ManagedTensor** out, void* context,
                 void (*set_message)(void* context, const char* kind, const char* message)) {
    try {
        const detail::DescribedTensor described = detail::described("Array", "the prototype", *like);
        detail::check_memory("Array", "the prototype", *like, 0);
        const std::span<const i64> shape(described.shape.data(), described.rank);
        const auto device = open_device(is_cuda_memory(*like) ? "cuda:" + std::to_string(like->device.id)
                                                              : std::string("tbb"));
        u64 count = 1;
        for (const i64 extent : shape)
            count = detail::checked_bytes("Array", count, static_cast<u64>(extent));
        std::shared_ptr<Buffer> buffer;
        if (count > 0)
            buffer = device->allocate(detail::checked_bytes("Array", count, size_of(described.type)));
        *out = to_dlpack(Tensor(std::move(buffer), 0, described.type, shape));
        (*out)->tensor.type = like->type;
        return 0;
    } catch (const std::exception& error) {
        set_message(context, "MemoryError", error.what());
        return -1;
    }
}

int api_make_object(dlpack::ManagedTensor* managed, void** out) {
    return guarded([&] {
        auto source = std::make_shared<Argument>("Array", "the tensor", managed);
        try {
            *out = source->as_array(source).release().ptr();
        } catch (...) {
            source->give_back();
            throw;
        }
    });
}

constexpr ExchangeApi exchange_api = {.version = {1, 3},
                                      .previous = nullptr,
                                      .allocate = api_allocate,
                                      .take = api_take,
                                      .make_object = api_make_object,
                                      .describe = api_describe,
                                      .current_stream = api_current_stream};

// --- The buffer protocol -------------------------------------------------------------------------------------------

const char* format_of(const ArrayObject& array) {
    static constexpr const char *integers[] = {"b", "h", "i", "q"}, *naturals[] = {"B", "H", "I", "Q"};
    const Type type = array.tensor().type();
    if (array.boolean()) return "?";
    if (is_float(type)) return size_of(type) == 4 ? "f" : "d";
    return (is_unsigned(type) ? naturals : integers)[std::countr_zero(size_of(type))];
}

int get_buffer(PyObject* object, Py_buffer* view, int flags) {
    view->obj = nullptr;
    return guarded([&] {
        ArrayObject& array = nb::cast<ArrayObject&>(nb::handle(object));
        const Tensor& tensor = array.tensor();
        void* host = tensor.buffer() ? tensor.buffer()->host_pointer() : nullptr;
        static std::byte nothing{};
        if (tensor.buffer() && host == nullptr)
            throw nb::buffer_error(
                ("the array is on " + array.device().info().selector + "; use Array.numpy()").c_str());
        if (tensor.buffer() && tensor.buffer()->read_only() && (flags & PyBUF_WRITABLE) != 0)
            throw nb::buffer_error("the array is read-only");
        const bool needs_rows = (flags & PyBUF_STRIDES) != PyBUF_STRIDES ||
                                (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS ||
                                (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS;
        const bool needs_columns = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS &&
                                   tensor.shape().size() > 1 && tensor.size() > 1;
        if ((needs_rows && !tensor.contiguous()) || needs_columns)
            throw nb::buffer_error("the array does not have the order of elements that was asked for");
        array.wait();
        struct Shape {
            Py_ssize_t shape[Tensor::max_dimensions], strides[Tensor::max_dimensions];
        };
        auto shape = std::make_unique<Shape>();
        const auto size = static_cast<Py_ssize_t>(size_of(tensor.type()));
        for (std::size_t i = 0; i < tensor.shape().size(); ++i) {
            shape->shape[i] = tensor.shape()[i];
            shape->strides[i] = tensor.strides()[i] * size;
        }
        view->buf = host != nullptr ? static_cast<std::byte*>(host) + tensor.offset() : &nothing;
        view->len = static_cast<Py_ssize_t>(tensor.size()) * size;
        view->itemsize = size;
        view->readonly = tensor.buffer() && tensor.buffer()->read_only() ? 1 : 0;
        view->ndim = static_cast<int>(tensor.shape().size());
        view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format_of(array)) : nullptr;
        view->shape = (flags & PyBUF_ND) != 0 ? shape->shape : nullptr;
        view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? shape->strides : nullptr;
        view->suboffsets = nullptr;
        view->internal = shape.release();
        struct Owner {
            static void keep(PyObject* o) { Py_INCREF(o); }
        };
        Owner::keep(object);
        view->obj = object;
    });
}

void release_buffer(PyObject* /*object*/, Py_buffer* view) {
    ::operator delete(view->internal);
}

PyType_Slot array_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                             {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                             {0, nullptr}};

// --- Making and reading arrays -------------------------------------------------------------------------------------

nb::object made(const char* call, nb::handle shape, nb::handle dtype, nb::handle device) {
    bool boolean = false;
    const Type type = type_named_by(call, dtype, &boolean);
    const std::vector<i64> extents = shape_of(call, shape);
    u64 count = 1;
    for (const i64 extent : extents) {
        if (extent < 0)
            refuse(call, "shape: got " + nb::cast<std::string>(nb::str(shape)) +
                             "; expected extents that are not negative");
        count = detail::checked_bytes(call, count, static_cast<u64>(extent));
    }
    const auto on = is_given(device) ? device_named(device) : open_device();
    std::shared_ptr<Buffer> buffer;
    const auto stream = own_stream(*on);
    if (count > 0) buffer = on->allocate(detail::checked_bytes(call, count, size_of(type)), stream.get());
    return nb::cast(ArrayObject(Tensor(std::move(buffer), 0, type, extents), boolean, on));
}

// first, first + step, ...
nb::object sequence(i64 count, nb::handle first, nb::handle step, nb::handle dtype, nb::handle device) {
    constexpr const char* name = "arange";
    nb::object result = made(name, nb::int_(count), dtype, device);
    ArrayObject& to = nb::cast<ArrayObject&>(result);
    if (count == 0) return result;
    const Type type = to.tensor().type();
    if (to.boolean()) refuse(name, "dtype bool, which has no sequences");
    const auto begin = number_bytes(name, "start", first, type),
               distance = number_bytes(name, "step", step, type);
    const nb::object there = nb::cast(to.device().shared_from_this());
    Call call(name, Common{there, {}, {}, {}});
    call.begin();
    const std::array<i64, 1> shape{count};
    Argument& out = call.output(result, type, shape);
    call.run([&] {
        const std::array<u64, 1> extents{static_cast<u64>(count)};
        const std::array<i64, 1> strides{1};
        call.write(out, detail::strided_node(detail::counting_node(type, begin.data(), distance.data()),
                                             extents, strides, 0));
    });
    return result;
}

nb::object random_numbers(nb::handle shape, u64 seed, const std::string& distribution, nb::handle dtype,
                          u64 offset, nb::handle device) {
    constexpr const char* name = "random";
    const auto known = distribution_named(distribution);
    if (!known)
        refuse(name, "distribution: got '" + distribution + "'; expected 'uniform', 'normal' or 'bits'");
    const nb::object usual = nb::str(*known == Distribution::bits ? "uint64" : "float64");
    nb::object result = made(name, shape, is_given(dtype) ? dtype : nb::handle(usual), device);
    ArrayObject& to = nb::cast<ArrayObject&>(result);
    if (to.tensor().size() == 0) return result;
    const nb::object there = nb::cast(to.device().shared_from_this());
    Call call(name, Common{there, {}, {}, {}});
    call.begin();
    Argument& out = call.output(result, to.tensor().type(), to.tensor().shape(), to.boolean());
    call.run([&] { random(call.stream(), out.view(), *known, seed, offset); });
    return result;
}

// Copies the elements of an array to host memory and waits for them, without the interpreter's lock.
void read_array(ArrayObject& array, void* to) {
    const View from = array.tensor().view("numpy");
    if (from.count == 0) return;
    array.wait();
    const auto stream = own_stream(array.device());
    const Unlocked unlocked;
    transfer(*stream, from.bytes(), [&](u64 at, u64 bytes) {
        stream->read(static_cast<std::byte*>(to) + at, *from.buffer, from.offset + at, bytes);
    });
}

// A copy of the elements on the device.
nb::object copied(const char* call, nb::handle x, nb::handle device) {
    ArrayObject* const from = nb::isinstance<ArrayObject>(x) ? &nb::cast<ArrayObject&>(x) : nullptr;
    const auto target = is_given(device)  ? device_named(device)
                        : from != nullptr ? from->device().shared_from_this()
                                          : open_device();
    Type type = Type::u8;
    std::vector<i64> shape;
    nb::object dtype;
    bool on_host = false;
    {
        const Argument source(call, "x", x);
        type = source.type();
        shape.assign(source.shape().begin(), source.shape().end());
        dtype = nb::str(source.dtype().c_str());
        on_host = source.on_host();
    }
    nb::object result = made(call, tuple_of(shape), dtype, nb::cast(target));
    ArrayObject& to = nb::cast<ArrayObject&>(result);
    if (to.tensor().size() == 0) return result;
    if (!on_host && from != nullptr && &from->device() != target.get()) {
        // Through the host.
        std::vector<std::byte> host(to.tensor().size() * size_of(type));
        read_array(*from, host.data());
        const auto writer = own_stream(*target);
        const Unlocked unlocked;
        transfer(*writer, host.size(), [&](u64 at, u64 bytes) {
            writer->write(*to.tensor().buffer(), at, host.data() + at, bytes);
        });
        return result;
    }
    if (!on_host && from == nullptr && !is_cuda(*target))
        return copied(call, copied(call, x, nb::str("cuda")), nb::cast(target));
    const nb::object there = nb::cast(target);
    Call copy(call, Common{there, {}, {}, {}});
    const Argument& in = copy.input(x, "x");
    copy.begin();
    Argument& out = copy.output(result, in.type(), in.shape(), in.boolean());
    copy.run([&] { copy.write(out, copy.elements(in)); });
    return result;
}

nb::object to_numpy(nb::handle self) {
    ArrayObject& array = nb::cast<ArrayObject&>(self);
    const nb::module_ numpy = nb::module_::import_("numpy");
    if (!array.tensor().buffer() || array.tensor().buffer()->host_pointer() != nullptr)
        return in_python([&] { return numpy.attr("asarray")(self); });
    const nb::object result = numpy.attr("empty")(
        tuple_of(array.tensor().shape()), array.boolean() ? "bool" : numpy_name(array.tensor().type()));
    Held held;
    auto view = std::make_unique<Py_buffer>();
    if (PyObject_GetBuffer(result.ptr(), view.get(), PyBUF_WRITABLE) != 0) throw nb::python_error();
    held.buffer = std::move(view);
    read_array(array, held.buffer->buf);
    return result;
}

std::string dtype_of(const ArrayObject& array) {
    return array.boolean() ? "bool" : numpy_name(array.tensor().type());
}

// The only element.
template <class T>
T element_of(ArrayObject& array) {
    T value{};
    read_array(array, &value);
    return value;
}

nb::object item_of(nb::handle self) {
    ArrayObject& array = nb::cast<ArrayObject&>(self);
    if (array.tensor().size() != 1)
        throw nb::value_error(("item: an array of " + std::to_string(array.tensor().size()) +
                               " elements is not a number; use tolist()")
                                  .c_str());
    if (array.boolean()) return nb::bool_(element_of<u8>(array) != 0);
    return detail::visit_type(array.tensor().type(), [&]<class T>(detail::TypeTag<T>) -> nb::object {
        if constexpr (std::is_floating_point_v<T>) {
            return nb::float_(static_cast<f64>(element_of<T>(array)));
        } else {
            return nb::int_(element_of<T>(array));
        }
    });
}

nb::object cuda_interface(nb::handle self) {
    ArrayObject& array = nb::cast<ArrayObject&>(self);
    if (!is_cuda(array.device()))
        throw nb::attribute_error(("the array is on " + array.device().info().selector).c_str());
    const Tensor& tensor = array.tensor();
    nb::dict interface;
    interface["shape"] = tuple_of(tensor.shape());
    const Type type = tensor.type();
    const char kind = array.boolean() ? 'b' : is_float(type) ? 'f' : is_unsigned(type) ? 'u' : 'i';
    interface["typestr"] =
        (size_of(type) == 1 ? "|" : "<") + std::string(1, kind) + std::to_string(size_of(type));
    const dlpack::Tensor where = array.described();
    interface["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(where.data),
                                       tensor.buffer() && tensor.buffer()->read_only());
    interface["strides"] = nb::none();
    if (!tensor.contiguous()) {
        std::vector<i64> strides(tensor.strides().begin(), tensor.strides().end());
        for (i64& stride : strides)
            stride *= size_of(tensor.type());
        interface["strides"] = tuple_of(strides);
    }
    interface["version"] = 3;
    const std::uintptr_t stream = array.writer()
                                      ? reinterpret_cast<std::uintptr_t>(array.writer()->native_handle())
                                      : std::uintptr_t{0};
    interface["stream"] =
        array.writer() ? nb::object(nb::int_(stream == 0 ? 1 : stream)) : nb::object(nb::none());
    return interface;
}

}  // namespace

void define_errors(nb::module_& m) {
    static const struct {
        ErrorCode code;
        const char* name;
        PyObject* base;
        const char* text;
    } rows[] = {
        {ErrorCode::invalid_argument, "InvalidArgument", PyExc_ValueError,
         "An argument violates the contract of the call."},
        {ErrorCode::unsupported, "Unsupported", PyExc_NotImplementedError,
         "This device, variant or dtype does not support the call."},
        {ErrorCode::unavailable, "Unavailable", PyExc_RuntimeError,
         "The device or backend is not available on this machine."},
        {ErrorCode::wrong_device, "WrongDevice", PyExc_ValueError,
         "Arrays of one call are on different devices."},
        {ErrorCode::out_of_memory, "OutOfMemory", PyExc_MemoryError,
         "The device or the host has too little free memory."},
        {ErrorCode::compile_failed, "CompileFailed", PyExc_RuntimeError,
         "A function's text does not compile; the message holds the compiler's log."},
        {ErrorCode::device_failed, "DeviceFailed", PyExc_RuntimeError, "The driver reported a failure."},
        {ErrorCode::io, "FileError", PyExc_OSError, "A file cannot be read or written."},
    };
    const nb::object type = nb::borrow(reinterpret_cast<PyObject*>(&PyType_Type));
    const nb::object base = nb::exception<Error>(m, "Error");
    base.attr("code") = "";
    base.attr("native") = "";
    base.attr("__doc__") =
        "Base of all errors of Concord. code: kind as in C++, such as 'invalid_argument'; native: the "
        "driver's own error.";
    for (const auto& row : rows) {
        nb::dict members;
        members["__doc__"] = row.text;
        members["__module__"] = "concord";
        members["code"] = std::string(name_of(row.code));  // of errors that Python code raises
        members["native"] = "";
        const nb::object made = type(row.name, nb::make_tuple(base, nb::borrow(row.base)), members);
        error_types().of[static_cast<std::size_t>(row.code)] = made;
        m.attr(row.name) = made;
    }
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Error& error) {
            set_error(error);
        } catch (const std::bad_cast&) {
            PyErr_SetString(PyExc_TypeError, "an argument has a wrong type");
        } catch (const std::bad_alloc&) {
            PyErr_SetString(PyExc_MemoryError, "not enough memory");
        } catch (const std::exception& error) {
            PyErr_SetObject(PyExc_RuntimeError, text_object(error.what()).ptr());
        } catch (...) {
            PyErr_SetString(PyExc_RuntimeError,
                            "a module or driver threw an object that is not a std::exception");
        }
    });
}

void define_devices(nb::module_& m) {
    nb::class_<Stream>(m, "Stream", "An in-order queue of work on a device; see Device.stream().")
        .def(
            "synchronize",
            [](Stream& s) {
                end_interrupted(s.shared_from_this());
                const Unlocked unlocked;
                s.synchronize();
            },
            "Waits until the stream is empty.")
        .def_prop_ro(
            "handle", [](Stream& s) { return reinterpret_cast<std::uintptr_t>(s.native_handle()); },
            "The CUstream or cl_command_queue as an integer; 0 on CPUs.")
        .def_prop_ro(
            "device", [](Stream& s) { return s.device().shared_from_this(); }, "The stream's device.")
        .def(
            "__cuda_stream__",
            [](Stream& s) { return nb::make_tuple(0, reinterpret_cast<std::uintptr_t>(s.native_handle())); },
            nb::sig("def __cuda_stream__(self) -> tuple[int, int]"))
        .def("__repr__", [](Stream& s) { return "<concord.Stream on " + s.device().info().selector + ">"; });
    nb::class_<Device>(m, "Device", "A device, opened by device() or listed by devices().")
        .def_prop_ro(
            "selector", [](const Device& d) { return d.info().selector; },
            "Name for device=, such as 'cuda:0'.")
        .def_prop_ro(
            "name", [](const Device& d) { return d.info().name; }, "The chip.")
        .def_prop_ro(
            "backend", [](const Device& d) { return d.info().backend; },
            "The name of the backend, such as cuda.")
        .def_prop_ro(
            "driver", [](const Device& d) { return d.info().driver; }, "Driver with its version.")
        .def_prop_ro(
            "memory", [](const Device& d) { return d.traits().global_memory; }, "Memory in bytes.")
        .def(
            "stream", [](Device& d) { return d.create_stream(); }, "A new stream, for stream=.")
        .def(
            "memory_use",
            [](const Device& d) {
                const MemoryUse use = d.memory_use();
                return nb::make_tuple(use.in_use, use.cached);
            },
            nb::sig("def memory_use(self) -> tuple[int, int]"),
            "Bytes of live arrays, and bytes that the pool keeps for reuse.")
        .def("trim", &Device::trim, "Returns the memory that the pool keeps to the driver.")
        .def("__repr__", [](const Device& d) {
            return "<concord.Device " + d.info().selector + ": " + d.info().name + ">";
        });
    m.def(
        "device",
        [](nb::handle selector) { return is_given(selector) ? device_named(selector) : open_device(); },
        "selector"_a = nb::none(), nb::sig("def device(selector: _Device | None = None) -> Device"),
        "Opens a device: 'cuda', 'cuda:1', 'opencl:0', 'tbb', 'auto'. Without a selector: CONCORD_DEVICE, "
        "else 'auto'.");
    m.def("_selectors", [] { return device_selectors(); });
    m.def("_synchronize", [](nb::handle device) {
        const auto stream = own_stream(*device_named(device));
        const Unlocked unlocked;
        stream->synchronize();
    });
}

void define_arrays(nb::module_& m) {
    nb::class_<ArrayObject> array(
        m, "Array", nb::type_slots(array_slots),
        "Elements of one dtype in row-major order on a device.\n\n"
        "numpy.asarray(a), torch.from_dlpack(a), cupy.from_dlpack(a) and jax.dlpack.from_dlpack(a) use\n"
        "the same memory.");
    array
        .def_prop_ro(
            "shape", [](const ArrayObject& a) { return tuple_of(a.tensor().shape()); },
            nb::sig("def shape(self) -> tuple[int, ...]"), "Extents of the dimensions.")
        .def_prop_ro(
            "ndim", [](const ArrayObject& a) { return a.tensor().shape().size(); }, "Number of dimensions.")
        .def_prop_ro(
            "size", [](const ArrayObject& a) { return a.tensor().size(); }, "Number of elements.")
        .def_prop_ro(
            "nbytes", [](const ArrayObject& a) { return a.tensor().size() * size_of(a.tensor().type()); },
            "Size in bytes.")
        .def_prop_ro(
            "dtype", [](const ArrayObject& a) { return dtype_of(a); },
            "Type of the elements by NumPy's name.")
        .def_prop_ro(
            "device", [](const ArrayObject& a) { return a.device().shared_from_this(); },
            "Where the elements are.")
        .def(
            "numpy", [](nb::handle self) { return to_numpy(self); },
            nb::sig("def numpy(self) -> NDArray[Any]"),
            "The elements as an array of NumPy: the same memory on CPUs, a copy of it from GPUs. Waits for "
            "them.")
        .def(
            "__array__",
            [](nb::handle self, nb::handle dtype, nb::handle copy) {
                const nb::object values = to_numpy(self);
                const nb::object numpy = nb::module_::import_("numpy");
                const nb::object kind = dtype.is_none() ? values.attr("dtype") : numpy.attr("dtype")(dtype);
                const bool converts = !kind.equal(values.attr("dtype"));
                const ArrayObject& array = nb::cast<ArrayObject&>(self);
                const bool is_copy =
                    array.tensor().buffer() && array.tensor().buffer()->host_pointer() == nullptr;
                if (!copy.is_none() && !nb::cast<bool>(copy) && (converts || is_copy))
                    throw nb::value_error((std::string("concord.Array.__array__: a copy is necessary: ") +
                                           (is_copy ? "the array is on " + array.device().info().selector
                                                    : "the dtype is " + dtype_of(array)) +
                                           "; leave out copy=False")
                                              .c_str());
                if (converts) return nb::object(values.attr("astype")(kind));
                return !copy.is_none() && nb::cast<bool>(copy) && !is_copy ? nb::object(values.attr("copy")())
                                                                           : values;
            },
            "dtype"_a = nb::none(), "copy"_a = nb::none(),
            nb::sig("def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]"))
        .def(
            "tolist", [](nb::handle self) { return to_numpy(self).attr("tolist")(); },
            nb::sig("def tolist(self) -> Any"), "The elements as nested lists.")
        .def("item", &item_of, nb::sig("def item(self) -> Any"), "The only element as a number.")
        .def("__float__", [](nb::handle self) { return nb::float_(item_of(self)); })
        .def("__int__", [](nb::handle self) { return nb::int_(item_of(self)); })
        .def("__bool__", [](nb::handle self) { return nb::cast<bool>(nb::bool_(item_of(self))); })
        .def(
            "__iter__", [](nb::handle self) { return nb::steal(PyObject_GetIter(to_numpy(self).ptr())); },
            nb::sig("def __iter__(self) -> Iterator[Any]"))
        .def("__hash__", [](nb::handle self) { return reinterpret_cast<std::uintptr_t>(self.ptr()) >> 4; })
        .def(
            "__copy__", [](nb::handle self) { return copied("copy", self, {}); },
            nb::sig("def __copy__(self) -> Array"))
        .def(
            "__deepcopy__", [](nb::handle self, nb::handle) { return copied("copy", self, {}); },
            nb::sig("def __deepcopy__(self, memo: Any) -> Array"))
        .def(
            "__reduce__",
            [](nb::handle self) {
                const nb::object make = nb::module_::import_("concord").attr("_restored");
                return nb::make_tuple(
                    make,
                    nb::make_tuple(to_numpy(self), nb::cast<ArrayObject&>(self).device().info().selector));
            },
            nb::sig("def __reduce__(self) -> Any"))
        .def("__len__",
             [](const ArrayObject& a) {
                 if (a.tensor().shape().empty())
                     throw nb::type_error("an array without dimensions has no length");
                 return a.tensor().shape()[0];
             })
        .def(
            "copy", [](nb::handle self) { return copied("copy", self, {}); },
            nb::sig("def copy(self) -> Array"), "A copy on the same device.")
        .def(
            "to",
            [](nb::handle self, nb::handle device) {
                const auto target = device_named(device);
                if (&nb::cast<ArrayObject&>(self).device() == target.get()) return nb::borrow(self);
                return copied("to", self, device);
            },
            "device"_a, nb::sig("def to(self, device: _Device) -> Array"),
            "The array on that device: itself, or a copy.")
        .def(
            "synchronize", [](ArrayObject& a) { a.wait(); }, "Waits until the elements are there.")
        .def("__dlpack__", &capsule_of, nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(),
             "dl_device"_a = nb::none(), "copy"_a = nb::none(),
             nb::sig("def __dlpack__(self, *, stream: int | None = None, "
                     "max_version: tuple[int, int] | None = None, dl_device: tuple[int, int] | None = None, "
                     "copy: bool | None = None) -> Any"))
        .def(
            "__dlpack_device__",
            [](const ArrayObject& a) {
                const dlpack::Device where = a.described().device;
                return nb::make_tuple(static_cast<i32>(where.type), where.id);
            },
            nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
        .def_prop_ro("__cuda_array_interface__", &cuda_interface,
                     nb::sig("def __cuda_array_interface__(self) -> dict[str, Any]"))
        .def("__repr__", [](nb::handle self) {
            const ArrayObject& a = nb::cast<ArrayObject&>(self);
            std::string text = "concord.Array(";
            if (a.tensor().size() <= 1000 && a.device().traits().dlpack_type != dlpack::DeviceType::opencl) {
                try {
                    text += nb::cast<std::string>(nb::module_::import_("numpy").attr("array2string")(
                                to_numpy(self), "separator"_a = ", ")) +
                            ", ";
                } catch (
                    const std::exception&) {  // NOLINT(bugprone-empty-catch): without NumPy only the shape
                }
            }
            return text + "shape=" + text_of(a.tensor().shape()) + ", dtype=" + dtype_of(a) + ", device='" +
                   a.device().info().selector + "')";
        });
    define_indexing(array);
    PyObject_SetAttrString(array.ptr(), "__dlpack_c_exchange_api__",
                           nb::capsule(&exchange_api, exchange_capsule).ptr());
    m.def(
        "empty",
        [](nb::handle shape, nb::handle dtype, nb::handle device) {
            return made("empty", shape, dtype, device);
        },
        "shape"_a, "dtype"_a = "float32", "device"_a = nb::none(),
        nb::sig("def empty(shape: int | Sequence[int], dtype: Any = 'float32', "
                "device: _Device | None = None) -> Array"),
        "An array with undefined elements.");
    m.def(
        "_arange",
        [](i64 count, nb::handle first, nb::handle step, nb::handle dtype, nb::handle device) {
            return sequence(count, first, step, dtype, device);
        },
        "count"_a, "first"_a, "step"_a, "dtype"_a, "device"_a.none());
    m.def(
        "random", random_numbers, "shape"_a, "seed"_a = 0, nb::kw_only(), "distribution"_a = "uniform",
        "dtype"_a = nb::none(), "offset"_a = 0, "device"_a = nb::none(),
        nb::sig("def random(shape: int | Sequence[int], seed: int = 0, *, distribution: Literal['uniform', "
                "'normal', 'bits'] = 'uniform', dtype: Any = None, offset: int = 0, device: _Device | None = "
                "None) -> Array"),
        "An array of random numbers: elements offset, offset + 1, ... of the sequence of the seed, in "
        "row-major order.\n\n"
        "'uniform' in [0, 1), 'normal' with mean 0 and variance 1 (float64 or float32), or 'bits' (uint64 "
        "or uint32).\n"
        "An element depends on seed and index alone, and has the same bits on every device.");
    m.def(
        "array", [](nb::handle x, nb::handle device) { return copied("array", x, device); }, "x"_a,
        "device"_a = nb::none(), nb::sig("def array(x: _Values, device: _Device | None = None) -> Array"),
        "A copy of the elements on a device: CONCORD_DEVICE, else 'auto', if none is named.");
    m.def(
        "from_dlpack",
        [](nb::handle x) {
            if (nb::isinstance<ArrayObject>(x)) return nb::borrow(x);
            // As an argument of a call, whose owners the array then keeps.
            auto source = std::make_shared<Argument>("from_dlpack", "x", x);
            return source->as_array(source);
        },
        "x"_a, nb::sig("def from_dlpack(x: _Exchangeable | _Memory) -> Array"),
        "An array on the memory of another library's array, which stays its owner.");
}

}  // namespace concord::python

NB_MODULE(_concord, m) {
    using namespace concord::python;
    nb::set_leak_warnings(false);  // streams and devices live until the process ends
    m.doc() = "Data-parallel algorithms with the same bits on CUDA, OpenCL and CPUs.";
    m.attr("__version__") = CONCORD_VERSION;
    define_errors(m);
    define_devices(m);
    define_arrays(m);
    define_functions(m);
    define_elementwise(m);
    define_arithmetic(m);
    define_reductions(m);
    define_runs(m);
    define_operators(m);
    define_kernels(m);
    explain_errors(m);
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(end_with_interpreter));
}
