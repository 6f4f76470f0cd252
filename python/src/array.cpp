#include "array.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

namespace concord::python {
namespace {

CONCORD_FUNCTION(u8, truth_of, (u8 x), return x != 0;)

// A global that is never destroyed: at the end of the process, destructors would run after the interpreter is gone.
template <class T>
T& immortal() {
    static T* const object = new T();
    return *object;
}

// Owners that are deleted as soon as a thread has the interpreter's lock.
struct Dropped {
    std::mutex mutex;
    std::vector<std::shared_ptr<Argument>> owners;
    std::atomic<bool> any = false;
    bool ending = false;
};

thread_local int locks_held = 0;
std::atomic<int> unlocked_scopes = 0;  // of all threads

nb::object attribute(nb::handle object, const char* name) {
    PyObject* found = in_python([&] { return PyObject_GetAttrString(object.ptr(), name); });
    if (found == nullptr) PyErr_Clear();
    return nb::steal(found);
}

// A function of an imported module, looked up once; null if the module is not imported or lacks it.
nb::handle function_of(const std::string& module, const char* name) {
    auto& functions = immortal<std::unordered_map<std::string, nb::object>>();
    static thread_local std::string key;  // keeps its memory
    key.assign(module).append(".").append(name);
    nb::object& function = functions[key];
    if (!function.is_valid()) {
        const nb::object modules = nb::module_::import_("sys").attr("modules");
        if (!PyMapping_HasKeyString(modules.ptr(), module.c_str())) return {};
        nb::object at = modules[module.c_str()];
        const std::string path = name;
        for (std::size_t begin = 0; begin < path.size();) {
            const std::size_t end = std::min(path.find('.', begin), path.size());
            at = attribute(at, path.substr(begin, end - begin).c_str());
            if (!at.is_valid()) return {};
            begin = end + 1;
        }
        function = at;
    }
    return function;
}

// What calls print before the message of an exception of ours.
std::string where_text(const char* call, const char* name) {
    return std::string(call) + ": " + name;
}

}  // namespace

void stay_for_ever() {
    for (;;)
        ::pause();
}

// --- The interpreter's lock ----------------------------------------------------------------------------------------

namespace {

thread_local u64 interruptions = 0;  // of calls by signal handlers

void run_signal_handlers() {
    const nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() == 0) return;
    ++interruptions;
    throw nb::python_error();
}

bool in_main_thread() {
    static const auto main =
        nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
    return PyThread_get_thread_ident() == main;
}

}  // namespace

Unlocked::Unlocked()
    : had_locks_(std::exchange(locks_held, 0)),
      interruptible_(in_main_thread() ? &run_signal_handlers : nullptr),
      state_(PyEval_SaveThread()) {
    ++unlocked_scopes;
}

Unlocked::~Unlocked() {
    --unlocked_scopes;
    try {
        PyEval_RestoreThread(state_);
    } catch (abi::__forced_unwind&) {
        stay_for_ever();
    }
    locks_held = had_locks_;
}

HasLock::HasLock() {
    ++locks_held;
}

HasLock::~HasLock() {
    --locks_held;
}

void drop(std::shared_ptr<Argument>* owner) noexcept {
    if (locks_held > 0) {
        delete owner;
        return;
    }
    auto& dropped = immortal<Dropped>();
    const std::lock_guard lock(dropped.mutex);
    if (dropped.ending) return;  // the process ends with it
    try {
        dropped.owners.push_back(std::move(*owner));
    } catch (const std::bad_alloc&) {
        return;
    }
    delete owner;  // empty
    // If Python's list of such calls is full, the next call of Concord deletes it.
    if (!dropped.any.exchange(true))
        Py_AddPendingCall(
            [](void*) {
                delete_dropped();
                return 0;
            },
            nullptr);
}

void delete_dropped() {
    auto& dropped = immortal<Dropped>();
    if (!dropped.any.load(std::memory_order_relaxed)) return;
    std::vector<std::shared_ptr<Argument>> owners;
    {
        const std::lock_guard lock(dropped.mutex);
        owners.swap(dropped.owners);
        dropped.any = false;
    }
}

namespace {

// What the work of an interrupted call uses.
struct Interrupted {
    std::shared_ptr<Stream> stream;
    std::vector<std::unique_ptr<Argument>> arguments;
    std::vector<std::shared_ptr<Buffer>> buffers;
};
using InterruptedCalls = std::vector<Interrupted>;  // immortal, under the interpreter's lock

// Threads that can no longer return to Python may still be in calls of a driver, whose destructors come next. Does not
// wait longer than the limit, because the process should end.
void wait_for_calls() {
    constexpr auto limit = std::chrono::seconds(5);
    const auto start = std::chrono::steady_clock::now();
    const auto is_busy = [] {
        return unlocked_scopes > 0 || std::ranges::any_of(immortal<InterruptedCalls>(), [](const auto& call) {
                   return !call.stream->idle();
               });
    };
    while (is_busy() && std::chrono::steady_clock::now() - start < limit)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

void end_with_interpreter() {
    // Exit handlers run in the reverse order of their registration: this one before those of all drivers.
    std::atexit(wait_for_calls);
    auto& dropped = immortal<Dropped>();
    {
        const std::lock_guard lock(dropped.mutex);
        dropped.ending = true;
    }
    delete_dropped();
}

namespace {

// --- Libraries -----------------------------------------------------------------------------------------------------

const ExchangeApi* exchange_api_of(nb::handle type) {
    const nb::object capsule = attribute(type, "__dlpack_c_exchange_api__");
    if (!capsule.is_valid() || !PyCapsule_IsValid(capsule.ptr(), exchange_capsule)) return nullptr;
    const auto* api = static_cast<const ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), exchange_capsule));
    while (api != nullptr && api->version.major != 1)
        api = api->previous;
    return api;
}

}  // namespace

const Library& library_of(nb::handle object) {
    struct Entry {
        nb::object end;  // a weak reference to the type, which removes the entry
        Library library;
    };
    using Libraries = std::unordered_map<PyObject*, std::unique_ptr<Entry>>;
    auto& libraries = immortal<Libraries>();
    const nb::handle type = object.type();
    if (const auto found = libraries.find(type.ptr()); found != libraries.end())
        return found->second->library;
    auto made = std::make_unique<Entry>();
    made->end = nb::weakref(
        type, nb::cpp_function([key = type.ptr()](nb::handle) { immortal<Libraries>().erase(key); }));
    Library& library = made->library;
    const nb::object module = attribute(type, "__module__");
    if (module.is_valid() && nb::isinstance<nb::str>(module)) library.name = nb::cast<std::string>(module);
    library.name = library.name.substr(0, library.name.find('.'));
    library.is_concord = nb::isinstance<ArrayObject>(object);
    library.api = library.is_concord ? nullptr : exchange_api_of(type);
    library.has_buffer = PyObject_CheckBuffer(object.ptr()) != 0;
    library.has_dlpack = attribute(type, "__dlpack__").is_valid();
    library.has_cuda_interface = attribute(type, "__cuda_array_interface__").is_valid();
    // Another thread may have been here while Python code ran: its entry stays.
    return libraries.emplace(type.ptr(), std::move(made)).first->second->library;
}

// --- Types ---------------------------------------------------------------------------------------------------------

const char* numpy_name(Type type) {
    return detail::row_of(type).numpy.data();  // a literal
}

Type type_named_by(const char* call, nb::handle dtype, bool* boolean) {
    std::string name;
    if (nb::isinstance<nb::str>(dtype)) {
        name = nb::cast<std::string>(dtype);
    } else if (PyType_Check(dtype.ptr())) {
        name = nb::cast<std::string>(dtype.attr("__name__"));  // numpy.float32, float, int
        if (name == "float") name = "float64";
        if (name == "int") name = "int64";
    } else {
        name = nb::cast<std::string>(nb::str(dtype));  // numpy.dtype("float32"), torch.float32
    }
    if (const std::size_t dot = name.rfind('.'); dot != std::string::npos) name.erase(0, dot + 1);
    // NumPy's short names count bytes: "i8" is int64, not Concord's i8.
    static constexpr std::string_view bits_of_bytes[] = {"", "8", "16", "", "32", "", "", "", "64"};
    if (name.size() == 2 && std::string_view("iuf").find(name[0]) != std::string_view::npos &&
        name[1] >= '1' && name[1] <= '8')
        name = name[0] + std::string(bits_of_bytes[name[1] - '0']);
    if (boolean != nullptr) *boolean = name == "bool" || name == "bool_";
    if (boolean != nullptr && *boolean) return Type::u8;
    if (const std::optional<Type> type = type_named(name)) return *type;
    for (const Type type : all_types) {
        if (!name.empty() && name == numpy_name(type)) return type;
    }
    refuse(call, detail::error_message("unsupported dtype", detail::quoted(name),
                                       "expected int8 to int64, uint8 to uint64, float32 or float64"));
}

std::vector<i64> shape_of(const char* call, nb::handle shape) {
    if (PyIndex_Check(shape.ptr()) != 0) return {nb::cast<i64>(nb::int_(shape))};
    return keyword<std::vector<i64>>(call, "shape", shape, "integers");
}

nb::tuple tuple_of(std::span<const i64> values) {
    nb::list list;
    for (const i64 value : values)
        list.append(value);
    return nb::tuple(list);
}

std::string short_text(nb::handle value) {
    const auto text = nb::cast<std::string>(nb::repr(value));
    return text.size() <= 60 ? text
                             : "a value of type " + nb::cast<std::string>(value.type().attr("__name__"));
}

std::string text_of(std::span<const i64> values) {
    return nb::cast<std::string>(nb::str(tuple_of(values)));
}

void refuse(const std::string& call, const std::string& wrong) {
    throw Error(ErrorCode::invalid_argument, call, wrong);
}

// --- Devices and streams -------------------------------------------------------------------------------------------

std::shared_ptr<Device> device_named(nb::handle selector) {
    if (nb::isinstance<ArrayObject>(selector))
        return nb::cast<ArrayObject&>(selector).device().shared_from_this();
    if (nb::isinstance<nb::str>(selector)) return open_device(nb::cast<std::string>(selector));
    if (nb::isinstance<Device>(selector)) return nb::cast<Device&>(selector).shared_from_this();
    throw nb::type_error("device: expected a selector such as 'tbb' or 'cuda:0', or a concord.Device");
}

namespace {
std::shared_ptr<Stream> stream_of_thread(Device& device) {
    // Streams of threads that have ended serve new threads.
    struct Pool {
        std::mutex mutex;
        std::vector<std::shared_ptr<Stream>> idle;
    };
    struct OfThread {
        std::vector<std::shared_ptr<Stream>> streams;
        ~OfThread() {
            auto& pool = immortal<Pool>();
            const std::lock_guard lock(pool.mutex);
            for (auto& stream : streams)
                pool.idle.push_back(std::move(stream));
        }
    };
    thread_local OfThread own;
    for (const auto& stream : own.streams) {
        if (&stream->device() == &device) return stream;
    }
    auto& pool = immortal<Pool>();
    {
        const std::lock_guard lock(pool.mutex);
        const auto found = std::find_if(pool.idle.begin(), pool.idle.end(),
                                        [&](const auto& stream) { return &stream->device() == &device; });
        if (found != pool.idle.end()) {
            own.streams.push_back(std::move(*found));
            pool.idle.erase(found);
            return own.streams.back();
        }
    }
    own.streams.push_back(device.create_stream());
    return own.streams.back();
}
}  // namespace

std::shared_ptr<Stream> own_stream(Device& device) {
    std::shared_ptr<Stream> stream = stream_of_thread(device);
    end_interrupted(stream);
    return stream;
}

std::shared_ptr<Stream> adopted_stream(Device& device, void* handle, nb::handle owner) {
    struct Entry {
        Device* device;
        void* handle;
        std::thread::id thread;
        std::shared_ptr<Stream> stream;
        nb::object owner;  // a stream that is gone could not be told from a new one at its address
    };
    auto& entries = immortal<std::vector<Entry>>();  // under the interpreter's lock
    // The default stream of a thread is another one in each thread.
    const bool of_thread = reinterpret_cast<std::uintptr_t>(handle) == 2;
    const std::thread::id thread = of_thread ? std::this_thread::get_id() : std::thread::id();
    for (const Entry& entry : entries) {
        if (entry.device == &device && entry.handle == handle && entry.thread == thread) return entry.stream;
    }
    entries.push_back({&device, handle, thread, device.adopt_stream(handle), nb::borrow(owner)});
    return entries.back().stream;
}

namespace {

// DLPack and the CUDA array interface number the default streams 1 and 2.
void* stream_of_number(std::uintptr_t number) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): Python passes handles as integers
    return number <= 1 ? nullptr : reinterpret_cast<void*>(number);
}

// The handle in a stream of another library.
void* handle_of(nb::handle stream) {
    if (nb::isinstance<nb::int_>(stream)) return stream_of_number(nb::cast<std::uintptr_t>(stream));
    if (const nb::object protocol = attribute(stream, "__cuda_stream__"); protocol.is_valid()) {
        const nb::object pair = nb::isinstance<nb::tuple>(protocol) ? protocol : protocol();
        return stream_of_number(nb::cast<std::uintptr_t>(pair[1]));
    }
    for (const char* name : {"cuda_stream", "ptr", "handle", "int_ptr"}) {
        if (const nb::object handle = attribute(stream, name); handle.is_valid())
            return stream_of_number(nb::cast<std::uintptr_t>(nb::int_(handle)));
    }
    throw nb::type_error(
        "stream: expected a handle as an integer, or a stream of PyTorch, CuPy or another library with "
        "__cuda_stream__");
}

std::shared_ptr<Device> cuda_device(i32 id) {
    auto& devices = immortal<std::unordered_map<i32, std::shared_ptr<Device>>>();
    if (const auto found = devices.find(id); found != devices.end()) return found->second;
    return devices[id] = open_device("cuda:" + std::to_string(id));
}

const std::shared_ptr<Device>& host_device() {
    auto& device = immortal<std::shared_ptr<Device>>();
    if (!device) device = open_device("tbb");
    return device;
}

// The stream on which a library enqueues now; null if it is not known.
std::shared_ptr<Stream> current_stream(const Library& library, const dlpack::Device& where) {
    if (library.api != nullptr && library.api->current_stream != nullptr) {
        void* handle = nullptr;
        if (library.api->current_stream(where.type, where.id, &handle) != 0) throw nb::python_error();
        return adopted_stream(*cuda_device(where.id), handle);
    }
    if (library.name == "cupy") {
        const nb::handle current = function_of("cupy", "cuda.get_current_stream");
        if (!current.is_valid()) return nullptr;
        const nb::object stream = current(where.id);
        return adopted_stream(*cuda_device(where.id),
                              stream_of_number(nb::cast<std::uintptr_t>(stream.attr("ptr"))), stream);
    }
    return nullptr;
}

}  // namespace

bool host_device_is_open() {
    return immortal<std::shared_ptr<Device>>() != nullptr;
}

nb::handle numpy_function(const char* name) {
    return function_of("numpy", name);
}

namespace {

// numpy.dtype of a type: NumPy finds an object faster than a name.
nb::handle numpy_dtype(Type type, bool boolean) {
    auto& made = immortal<std::unordered_map<int, nb::object>>();
    nb::object& dtype = made[boolean ? -1 : static_cast<int>(type)];
    if (!dtype.is_valid()) dtype = numpy_function("dtype")(boolean ? "bool" : numpy_name(type));
    return dtype;
}

}  // namespace

// --- concord.Array -------------------------------------------------------------------------------------------------

ArrayObject::ArrayObject(Tensor tensor, bool boolean, std::shared_ptr<Device> device)
    : tensor_(std::move(tensor)), boolean_(boolean), device_(std::move(device)) {
    std::copy(tensor_.shape().begin(), tensor_.shape().end(), shape_.begin());
    std::copy(tensor_.strides().begin(), tensor_.strides().end(), strides_.begin());
}

ArrayObject ArrayObject::with(Tensor tensor) const {
    ArrayObject other(std::move(tensor), boolean_, device_);
    other.uses_ = uses_;
    return other;
}

// Python objects end with the lock.
ArrayObject::~ArrayObject() {
    const HasLock locked;
    tensor_ = {};
    uses_.reset();
}

namespace {
// Work that `later` enqueues from now on comes after what `earlier` has enqueued.
void order(Stream& earlier, Stream& later) {
    const auto mark = earlier.device().create_event();
    earlier.record(*mark);
    if (&earlier.device() == &later.device()) {
        later.wait(*mark);
    } else {
        const Unlocked unlocked;
        mark->synchronize();
    }
}
}  // namespace

void ArrayObject::use(const std::shared_ptr<Stream>& stream, bool writes) {
    if (uses_->writer && uses_->writer != stream) order(*uses_->writer, *stream);
    // Calls on other devices have done their work when they return.
    if (!is_cuda(stream->device())) return;
    if (writes) {
        for (const auto& reader : uses_->readers) {
            if (reader != stream) order(*reader, *stream);
        }
        uses_->readers.clear();
        uses_->writer = stream;
    } else if (std::find(uses_->readers.begin(), uses_->readers.end(), stream) == uses_->readers.end()) {
        uses_->readers.push_back(stream);
    }
}

void ArrayObject::wait() {
    const std::shared_ptr<Stream> writer = uses_->writer;
    if (!writer) return;
    {
        const Unlocked unlocked;
        writer->synchronize();
    }
    if (uses_->writer == writer) uses_->writer.reset();
}

dlpack::Tensor ArrayObject::described() const {
    dlpack::Tensor out;
    out.rank = static_cast<i32>(tensor_.shape().size());
    out.type = dlpack::data_type_of(tensor_.type());
    if (boolean_) out.type.code = dlpack::TypeCode::boolean;
    out.shape = shape_.data();
    out.strides = strides_.data();
    out.device = detail::dlpack_device(*device_);
    if (tensor_.buffer()) {
        out.device = detail::dlpack_device(*tensor_.buffer());
        out.data = tensor_.buffer()->native_handle();
        if (out.device.type == dlpack::DeviceType::opencl) {
            out.byte_offset = tensor_.offset();
        } else {
            out.data = static_cast<std::byte*>(out.data) + tensor_.offset();
        }
    }
    return out;
}

// --- Arguments -----------------------------------------------------------------------------------------------------

namespace {
// Another major version has another layout.
void check_version(const char* call, const char* name, const dlpack::ManagedTensor& managed) {
    if (managed.version.major != 1)
        throw Error(ErrorCode::unsupported, call,
                    std::string(name) + " has DLPack version " + std::to_string(managed.version.major) +
                        "; supported is 1.x");
}
}  // namespace

Argument::Argument(const char* call, const char* name, nb::handle object)
    : call_(call), name_(name), library_(&library_of(object)), object_(nb::borrow(object)) {
    if (library_->is_concord) {
        array_ = &nb::cast<ArrayObject&>(object);
        boolean_ = array_->boolean();
        take(array_->described(), array_->tensor().buffer() && array_->tensor().buffer()->read_only());
    } else if (library_->api != nullptr && library_->api->describe != nullptr) {
        dlpack::Tensor tensor;
        if (library_->api->describe(object.ptr(), &tensor) != 0) throw nb::python_error();
        take(tensor, false);
        if (where_.type == dlpack::DeviceType::cuda) home_ = current_stream(*library_, where_);
    } else if (library_->has_buffer && from_buffer(object)) {
    } else if (library_->name == "numpy" && library_->has_buffer) {  // no buffer of dates
        refuse_type(nb::cast<std::string>(nb::str(attribute(object, "dtype"))));
    } else if (library_->has_dlpack) {
        from_capsule(object);
    } else if (library_->has_cuda_interface) {
        from_cuda_interface(object);
    } else if (nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object) ||
               PyNumber_Check(object.ptr()) != 0 || attribute(object.type(), "__array__").is_valid() ||
               attribute(object, "__array_interface__").is_valid()) {
        from_numpy(object);
    } else {
        throw nb::type_error(
            (where_text(call, name) + " is a " + nb::cast<std::string>(object.type().attr("__name__")) +
             "; expected an array of NumPy, PyTorch, CuPy, JAX or another library with DLPack, the "
             "buffer protocol or the CUDA array interface")
                .c_str());
    }
}

Argument::Argument(const char* call, const char* name, dlpack::ManagedTensor* managed)
    : call_(call), name_(name) {
    static const Library none;
    library_ = &none;
    if (managed == nullptr) refuse(call_, std::string(name_) + " is a null pointer");
    check_version(call_, name_, *managed);
    take(managed->tensor, (managed->flags & dlpack::flag_read_only) != 0);
    held_.managed = managed;
}

Held::~Held() {
    if (buffer) PyBuffer_Release(buffer.get());
    if (managed != nullptr && managed->deleter != nullptr) managed->deleter(managed);
    if (legacy != nullptr && legacy->deleter != nullptr) legacy->deleter(legacy);
}

void Argument::check_rank(std::size_t rank) const {
    if (rank_ == rank) return;
    refuse(call_, std::string(name_) + " has the shape " + text_of(shape()) + "; expected " +
                      std::to_string(rank) + (rank == 1 ? " dimension" : " dimensions"));
}

u64 Argument::size() const {
    u64 count = 1;
    for (const i64 extent : shape())
        count *= static_cast<u64>(extent);
    return count;
}

NdView Argument::array() const {
    const ElementType type = boolean_ ? Type::boolean : type_;
    NdExtents extents;
    NdStrides strides;
    u64 origin = 0;
    for (u32 k = 0; k < rank_; ++k) {
        const bool turned = (reversed_ >> k & 1) != 0;
        extents.add(static_cast<u64>(shape_[k]));
        strides.add(turned ? -tensor_.strides()[k] : tensor_.strides()[k]);
        if (turned) origin += static_cast<u64>(shape_[k] - 1) * static_cast<u64>(tensor_.strides()[k]);
    }
    if (bytes_ == 0) return {detail::no_elements(type), extents};
    return {View{tensor_.buffer().get(), tensor_.offset(), bytes_ / size_of(type_), type}, extents, strides,
            origin};
}

View Argument::view() const {
    if (reversed_ != 0) refuse_this("has indices that descend in memory; pass a copy");
    return tensor_.view(call_);
}

std::string Argument::dtype() const {
    return boolean_ ? "bool" : numpy_name(type_);
}

nb::object Argument::as_array(const std::shared_ptr<Argument>& self) const {
    const auto device = this->device();
    const std::span<const i64> strides(strides_.data(), rank_);
    if (bytes_ == 0) return nb::cast(ArrayObject(Tensor(nullptr, 0, type_, shape()), boolean_, device));
    if (reversed_ != 0) refuse_this("has indices that descend in memory; pass a copy");
    check_aligned();
    dlpack::Tensor tensor;
    tensor.data = data_;
    tensor.byte_offset = byte_offset_;
    tensor.device = where_;
    auto keep = std::make_unique<std::shared_ptr<Argument>>(self);
    const auto memory =
        detail::adopt_tensor(*device, tensor, bytes_, read_only_, true, [kept = keep.get()] { drop(kept); });
    static_cast<void>(keep.release());
    ArrayObject array(Tensor(memory.first, memory.second, type_, shape(), strides), boolean_, device);
    if (!on_host()) array.use(home_ ? home_ : own_stream(*device), true);
    return nb::cast(std::move(array));
}

void Argument::check_aligned() const {
    const std::uintptr_t base =
        where_.type == dlpack::DeviceType::opencl ? 0 : reinterpret_cast<std::uintptr_t>(data_);
    if ((base + byte_offset_) % size_of(type_) != 0)
        refuse_this("is not aligned to its elements; pass a copy");
}

void Argument::refuse_this(const std::string& wrong) const {
    refuse(call_, std::string(name_) + " " + wrong);
}

void Argument::refuse_type(const std::string& dtype) const {
    refuse_this("has dtype " + dtype +
                "; supported are int8 to int64, uint8 to uint64, float32, float64 and bool");
}

std::shared_ptr<Device> Argument::device() const {
    if (on_host()) return host_device();
    if (where_.type == dlpack::DeviceType::opencl)
        throw Error(ErrorCode::wrong_device, call_,
                    std::string(name_) + " is on " + dlpack::name_of(where_) +
                        ", whose number libraries choose; pass device= with the device of Concord");
    return cuda_device(where_.id);
}

void Argument::take(const dlpack::Tensor& given, bool read_only) {
    dlpack::Tensor tensor = given;
    std::array<i64, Tensor::max_dimensions> ascending{};
    reversed_ = 0;
    // The same memory with positive strides, from its lowest element on.
    for (i32 k = 0; given.strides != nullptr && given.shape != nullptr && k < given.rank && k < 8; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const i64 stride = given.strides[k], extent = given.shape[k];
        ascending[at] = stride;
        if (stride >= 0) continue;
        if (extent <= 1) {
            ascending[at] = 1;
            continue;
        }
        const detail::CheckedSize below = detail::CheckedSize(u64{0} - static_cast<u64>(stride)) *
                                          static_cast<u64>(extent - 1) *
                                          std::max<u64>(1, given.type.bits / 8U);
        const bool has_bytes =
            std::none_of(given.shape, given.shape + given.rank, [](i64 e) { return e <= 0; });
        if (!below.fits() || below.value() > u64{1} << 62)
            refuse_this("has strides that exceed the address space");
        ascending[at] = -stride;
        reversed_ |= 1U << k;
        if (!has_bytes) continue;
        if (given.device.type == dlpack::DeviceType::opencl) {
            if (below.value() > tensor.byte_offset) refuse_this("begins before its memory");
            tensor.byte_offset -= below.value();
        } else {
            tensor.data = static_cast<std::byte*>(tensor.data) - below.value();
        }
    }
    if (reversed_ != 0) tensor.strides = ascending.data();
    const detail::DescribedTensor described = detail::described(call_, name_, tensor);
    detail::check_memory(call_, name_, tensor, described.bytes);
    type_ = described.type;
    boolean_ = described.boolean;
    where_ = tensor.device;
    data_ = tensor.data;
    byte_offset_ = tensor.byte_offset;
    read_only_ = read_only;
    rank_ = described.rank;
    shape_ = described.shape;
    strides_ = described.strides;
    bytes_ = described.bytes;
}

// An object that NumPy makes an array of: numbers, sequences, and columns of tables.
void Argument::from_numpy(nb::handle object) {
    if (std::string_view(name_) == "out")
        throw nb::type_error((where_text(call_, name_) + " is a " +
                              nb::cast<std::string>(object.type().attr("__name__")) +
                              ", which calls cannot write to; expected an array")
                                 .c_str());
    nb::object numpy;
    try {
        numpy = in_python([] { return nb::module_::import_("numpy"); });
    } catch (nb::python_error&) {
        throw nb::type_error((where_text(call_, name_) + " is a " +
                              nb::cast<std::string>(object.type().attr("__name__")) + ", which needs NumPy")
                                 .c_str());
    }
    nb::object array = in_python([&] { return numpy.attr("asarray")(object); });
    const nb::object dtype = array.attr("dtype");
    if (nb::cast<std::string>(dtype.attr("byteorder")) == ">")
        array = in_python([&] { return array.attr("astype")(dtype.attr("newbyteorder")("=")); });
    library_ = &library_of(array);
    object_ = array;
    if (!from_buffer(array)) refuse_type(nb::cast<std::string>(nb::str(nb::object(array.attr("dtype")))));
}

// False if the object has no buffer after all, as arrays on GPUs.
bool Argument::from_buffer(nb::handle object) {
    auto buffer = std::make_unique<Py_buffer>();
    if (in_python([&] {
            return PyObject_GetBuffer(object.ptr(), buffer.get(), PyBUF_STRIDED_RO | PyBUF_FORMAT);
        }) != 0) {
        PyErr_Clear();
        return false;
    }
    held_.buffer = std::move(buffer);
    const Py_buffer& b = *held_.buffer;
    const std::string_view format = b.format != nullptr ? b.format : "B";
    if (format[0] == '>' && b.itemsize > 1 && std::string_view(name_) != "out") {
        PyBuffer_Release(held_.buffer.get());
        held_.buffer.reset();
        from_numpy(object);
        return true;
    }
    const std::string_view code =
        !format.empty() && (format[0] == '@' || format[0] == '=' || format[0] == '<') ? format.substr(1)
                                                                                      : format;
    // Sizes by the code: 'l' has 4 bytes in the standard's sizes and 8 in those of the machine.
    static constexpr struct {
        std::string_view codes;
        dlpack::TypeCode type;
        std::string_view sizes;
    } rows[] = {{"bhilqn", dlpack::TypeCode::signed_integer, "124888"},
                {"BHILQN", dlpack::TypeCode::unsigned_integer, "124888"},
                {"fd", dlpack::TypeCode::floating_point, "48"},
                {"?", dlpack::TypeCode::boolean, "1"}};
    dlpack::DataType type{};
    type.bits = 0;
    for (const auto& row : rows) {
        const std::size_t at = code.size() == 1 ? row.codes.find(code[0]) : std::string_view::npos;
        if (at == std::string_view::npos) continue;
        const int size = row.sizes[at] - '0';
        if (b.itemsize == size || (b.itemsize == 4 && (code[0] == 'l' || code[0] == 'L')))
            type = {row.type, static_cast<u8>(b.itemsize * 8), 1};
    }
    if (type.bits == 0) {
        const nb::object dtype = attribute(object, "dtype");
        refuse_type(dtype.is_valid() ? nb::cast<std::string>(nb::str(dtype))
                                     : "'" + std::string(format) + "' of " + std::to_string(b.itemsize) +
                                           " bytes (format of the buffer protocol)");
    }
    if (b.ndim < 0 || b.ndim > static_cast<int>(Tensor::max_dimensions))
        refuse_this("has " + std::to_string(b.ndim) + " dimensions; 0 to 8 are supported");
    dlpack::Tensor tensor;
    std::array<i64, Tensor::max_dimensions> shape{}, strides{};
    detail::CheckedSize bytes(static_cast<u64>(b.itemsize));
    for (int i = 0; i < b.ndim; ++i) {
        const auto at = static_cast<std::size_t>(i);
        // Without a shape there is one dimension of all bytes.
        shape[at] = b.shape != nullptr ? b.shape[i] : b.len / b.itemsize;
        if (b.shape == nullptr && b.ndim > 1)
            refuse_this("has " + std::to_string(b.ndim) + " dimensions and a null pointer as its shape");
        bytes = bytes * static_cast<u64>(std::max<i64>(shape[at], 0));
        if (b.suboffsets != nullptr && b.suboffsets[i] >= 0)
            refuse_this("is an array of pointers to rows; pass a copy");
        // ctypes has no strides.
        if (b.strides == nullptr) continue;
        strides[at] = b.strides[i] / b.itemsize;
        if (b.strides[i] % b.itemsize != 0 && shape[at] > 1)
            refuse_this("has a stride of " + std::to_string(b.strides[i]) +
                        " bytes; expected a multiple of its element size");
    }
    if (b.len < 0 || !bytes.fits() || bytes.value() != static_cast<u64>(b.len))
        refuse_this("has the shape " + text_of({shape.data(), static_cast<std::size_t>(b.ndim)}) + " and " +
                    std::to_string(b.len) + " bytes, which contradict each other");
    tensor.data = b.buf;
    tensor.rank = b.ndim;
    tensor.type = type;
    tensor.shape = shape.data();
    tensor.strides = b.strides != nullptr ? strides.data() : nullptr;
    take(tensor, b.readonly != 0);
    return true;
}

namespace {
// Whether a method does not have the keyword argument max_version, instead of failing by itself.
bool refuses_keyword(const nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) return false;
    const std::string_view text = error.what();
    for (const char* words : {"max_version", "keyword arg", "incompatible function arguments"}) {
        if (text.find(words) != std::string_view::npos) return true;
    }
    return false;
}
}  // namespace

void Argument::from_capsule(nb::handle object) {
    const auto [kind, id] =
        in_python([&] { return nb::cast<std::pair<i32, i32>>(object.attr("__dlpack_device__")()); });
    const dlpack::Device where{static_cast<dlpack::DeviceType>(kind), id};
    dlpack::Tensor announced;
    announced.device = where;
    detail::check_memory(call_, name_, announced, 0);
    nb::dict arguments;
    if (where.type == dlpack::DeviceType::cuda || where.type == dlpack::DeviceType::cuda_managed) {
        home_ = current_stream(*library_, where);
        const std::shared_ptr<Stream> stream = home_ ? home_ : own_stream(*cuda_device(id));
        const auto number = reinterpret_cast<std::uintptr_t>(stream->native_handle());
        arguments["stream"] = number == 0 ? std::uintptr_t{1} : number;
    }
    const nb::object method = object.attr("__dlpack__");
    nb::object capsule;
    try {
        nb::dict versioned;
        versioned.update(arguments);
        versioned["max_version"] = nb::make_tuple(1, 3);
        capsule = in_python([&] { return method(**versioned); });
    } catch (nb::python_error& error) {
        if (!refuses_keyword(error)) throw;
        capsule = in_python([&] { return method(**arguments); });  // a library of before DLPack 1.0
    }
    if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
        auto* managed =
            static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
        check_version(call_, name_, *managed);
        PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
        held_.managed = managed;
        take(managed->tensor, (managed->flags & dlpack::flag_read_only) != 0);
    } else {
        auto* legacy = static_cast<dlpack::LegacyTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
        if (legacy == nullptr) throw nb::python_error();
        PyCapsule_SetName(capsule.ptr(), "used_dltensor");
        held_.legacy = legacy;
        take(legacy->tensor, false);
    }
}

void Argument::from_cuda_interface(nb::handle object) {
    const nb::dict interface =
        in_python([&] { return nb::cast<nb::dict>(object.attr("__cuda_array_interface__")); });
    const auto typestr = nb::cast<std::string>(interface["typestr"]);
    const nb::tuple data = nb::cast<nb::tuple>(interface["data"]);
    if (data.size() != 2)
        refuse_this("has " + short_text(data) + " as its data; expected an address and a flag");
    if (interface.contains("mask") && !interface["mask"].is_none())
        refuse_this("has a mask, which is not supported");
    const std::vector<i64> shape = nb::cast<std::vector<i64>>(interface["shape"]);
    dlpack::Tensor tensor;
    const char kind = typestr.size() > 2 ? typestr[1] : ' ';
    u32 size = 0;
    std::from_chars(typestr.data() + std::min<std::size_t>(2, typestr.size()),
                    typestr.data() + typestr.size(), size);
    tensor.type = {kind == 'f'   ? dlpack::TypeCode::floating_point
                   : kind == 'u' ? dlpack::TypeCode::unsigned_integer
                   : kind == 'b' ? dlpack::TypeCode::boolean
                                 : dlpack::TypeCode::signed_integer,
                   static_cast<u8>(size * 8), 1};
    const bool is_size = size == 1 || size == 2 || size == 4 || size == 8;
    if (std::string_view("fubi").find(kind) == std::string_view::npos || typestr[0] == '>' || !is_size)
        refuse_type("'" + typestr + "'");
    std::vector<i64> strides;
    if (interface.contains("strides") && !interface["strides"].is_none()) {
        strides = nb::cast<std::vector<i64>>(interface["strides"]);
        if (strides.size() != shape.size())
            refuse_this("has " + std::to_string(strides.size()) + " strides for " +
                        std::to_string(shape.size()) + " dimensions");
        for (i64& stride : strides) {
            if (stride % static_cast<i64>(size) != 0)
                refuse_this("has a stride of " + std::to_string(stride) +
                            " bytes; expected a multiple of its element size");
            stride /= static_cast<i64>(size);
        }
        tensor.strides = strides.data();
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): Python passes addresses as integers
    if (!data[0].is_none()) tensor.data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(data[0]));
    tensor.rank = static_cast<i32>(std::min<std::size_t>(shape.size(), Tensor::max_dimensions + 1));
    tensor.shape = const_cast<i64*>(shape.data());
    tensor.device = {dlpack::DeviceType::cuda, 0};
    // The interface does not name the device; the driver knows.
    const auto selectors = device_selectors("cuda:*");
    for (std::size_t id = 0; selectors.size() > 1 && tensor.data != nullptr && id < selectors.size(); ++id) {
        try {
            cuda_device(static_cast<i32>(id))->adopt({.handle = tensor.data, .bytes = 1});
            tensor.device.id = static_cast<i32>(id);
            break;
        } catch (const Error& error) {
            if (error.code() != ErrorCode::wrong_device) throw;
        }
    }
    take(tensor, nb::cast<bool>(data[1]));
    // Without a stream the work is done, or on the legacy default stream.
    const bool has_stream = interface.contains("stream") && !interface["stream"].is_none();
    home_ = adopted_stream(
        *cuda_device(where_.id),
        has_stream ? stream_of_number(nb::cast<std::uintptr_t>(interface["stream"])) : nullptr);
}

// --- Calls ---------------------------------------------------------------------------------------------------------

namespace {

// Waits for a stream whose errors its call has reported. Signals end that with nb::python_error.
void wait_quietly(Stream& stream) {
    try {
        stream.synchronize();
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
    }
}

bool is_idle_within(Stream& stream, std::chrono::milliseconds limit) {
    const auto start = std::chrono::steady_clock::now();
    while (!stream.idle()) {
        if (std::chrono::steady_clock::now() - start > limit) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

}  // namespace

void end_interrupted(const std::shared_ptr<Stream>& stream) {
    auto& calls = immortal<InterruptedCalls>();
    if (calls.empty()) return;
    InterruptedCalls ending, others;
    for (Interrupted& call : calls)
        (call.stream == stream || call.stream->idle() ? ending : others).push_back(std::move(call));
    calls = std::move(others);
    try {
        for (const Interrupted& call : ending) {
            const Unlocked unlocked;
            wait_quietly(*call.stream);
        }
    } catch (const nb::python_error&) {
        std::ranges::move(ending, std::back_inserter(calls));
        throw;
    }
}

Call::Call(const char* name, const Common& common)
    : name_(name), common_(common), interruptions_(interruptions) {}

Call::~Call() {
    // Work that a failed call has enqueued may use memory of its caller.
    if (!pending_ || !stream_) return;
    bool ended = false;
    try {
        const Unlocked unlocked;
        const bool was_interrupted = interruptions != interruptions_;
        if (was_interrupted) detail::cancel(*stream_);
        ended = !was_interrupted || is_idle_within(*stream_, std::chrono::milliseconds(50));
        if (ended) wait_quietly(*stream_);
    } catch (const std::exception&) {
        ended = false;  // a signal; the call reports its own error
    }
    if (!ended) immortal<InterruptedCalls>().push_back({stream_, std::move(arguments_), std::move(truths_)});
}

Argument& Call::input(nb::handle object, const char* name, std::optional<std::size_t> rank) {
    auto argument = std::make_unique<Argument>(name_, name, object);
    if (rank) argument->check_rank(*rank);
    arguments_.push_back(std::move(argument));
    inputs_ = arguments_.size();
    return *arguments_.back();
}

Argument& Call::buffer(nb::handle object, const char* name, bool writes) {
    const Library& library = library_of(object);
    const bool is_array = library.is_concord || library.api != nullptr || library.has_buffer ||
                          library.has_dlpack || library.has_cuda_interface;
    const bool is_number = !is_array && PyNumber_Check(object.ptr()) != 0;
    if (!is_array && (writes || is_number || object.is_none()))
        throw nb::type_error((where_text(name_, name) + ": got " + short_text(object) +
                              "; expected an array" + (writes ? ", to which the kernel may write" : ""))
                                 .c_str());
    Argument& argument = input(object, name);
    argument.writes_ = writes;
    argument.in_kernel_ = true;
    return argument;
}

void Call::begin() {
    if (is_given(common_.variant))
        options_.variant = keyword<std::string>(name_, "variant", common_.variant, "a name");
    if (is_given(common_.order))
        options_.order = operation_order_named(keyword<std::string>(name_, "order", common_.order, "a name"));
    delete_dropped();
    const Argument* first = inputs_ > 0 ? arguments_[0].get() : nullptr;
    if (is_given(common_.device)) {
        device_ = device_named(common_.device);
    } else if (first == nullptr) {
        device_ = host_device();
    } else {
        device_ = first->array_ != nullptr ? first->array_->device().shared_from_this() : first->device();
    }
    const bool on_cuda = is_cuda(*device_);
    if (is_given(common_.stream)) {
        if (nb::isinstance<Stream>(common_.stream)) {
            stream_ = nb::cast<Stream&>(common_.stream).shared_from_this();
        } else {
            const bool by_number = nb::isinstance<nb::int_>(common_.stream);
            stream_ = adopted_stream(*device_, handle_of(common_.stream),
                                     by_number ? nb::handle() : common_.stream);
        }
    } else if (on_cuda) {
        for (std::size_t i = 0; i < inputs_ && !stream_; ++i) {
            const auto& home = arguments_[i]->home_;
            if (home && &home->device() == device_.get()) stream_ = home;
        }
    }
    if (!stream_) stream_ = own_stream(*device_);
    end_interrupted(stream_);
    blocking_ = !on_cuda;
    for (const auto& argument : arguments_)
        bind(*argument, argument->writes_, true);
}

// The call comes after the work of another stream, which then waits for the call.
void Call::order_after(const std::shared_ptr<Stream>& home) {
    if (home == stream_ || std::find(homes_.begin(), homes_.end(), home) != homes_.end()) return;
    order(*home, *stream_);
    homes_.push_back(home);
}

// Buffers of a kernel with the same host memory use one copy of it. False if there is no other one.
bool Call::share_staged(Argument& argument, u64 bytes) {
    std::byte *const first = argument.address(), *const last = first + bytes;
    const Argument* same = nullptr;
    for (const auto& other : arguments_) {
        if (other.get() == &argument || !other->staged_ || other->address() >= last ||
            first >= other->address() + other->bytes_)
            continue;
        if (other->address() == first && other->bytes_ == bytes)
            same = other.get();
        else if (argument.writes_ || other->writes_)
            refuse(name_, std::string(argument.name_) + " overlaps " + other->name_ + " in part, and " +
                              device_->info().selector + " computes on copies of host arrays; pass copies");
    }
    if (same == nullptr) return false;
    argument.tensor_ = Tensor(same->tensor_.buffer(), 0, argument.type_, argument.shape(),
                              {argument.strides_.data(), argument.rank_});
    argument.staged_ = true;
    return true;
}

// Arguments that have memory in common use one buffer, so that Concord knows. False if there is no other one.
bool Call::share_buffer(Argument& argument, u64 bytes) {
    const std::span<const i64> strides(argument.strides_.data(), argument.rank_);
    std::byte *first = argument.address(), *last = first + bytes;
    std::vector<Argument*> shared;
    for (const auto& other : arguments_) {
        if (!other || other.get() == &argument || other->staged_ || other->bytes_ == 0 ||
            !other->tensor_.buffer() || other->where_.type == dlpack::DeviceType::opencl)
            continue;
        if (other->address() >= last || first >= other->address() + other->bytes_) continue;
        const Buffer& buffer = *other->tensor_.buffer();
        std::byte* const base = other->address() - other->tensor_.offset();
        if (first >= base + buffer.begin() && last <= base + buffer.size()) {
            argument.tensor_ = Tensor(other->tensor_.buffer(), static_cast<u64>(first - base), argument.type_,
                                      argument.shape(), strides);
            return true;
        }
        if (other->array_ != nullptr)
            refuse(name_, std::string(argument.name_) + " overlaps " + other->name_ + " in part");
        first = std::min(first, other->address());
        last = std::max(last, other->address() + other->bytes_);
        shared.push_back(other.get());
    }
    if (shared.empty()) return false;
    dlpack::Tensor tensor;
    tensor.data = first;
    tensor.device = argument.where_;
    const auto adopted = detail::adopt_tensor(*device_, tensor, static_cast<u64>(last - first),
                                              argument.read_only_, false, {});
    shared.push_back(&argument);
    for (Argument* each : shared)
        each->tensor_ = Tensor(adopted.first, adopted.second + static_cast<u64>(each->address() - first),
                               each->type_, each->shape(), {each->strides_.data(), each->rank_});
    return true;
}

void Call::bind(Argument& argument, bool is_output, bool is_read) {
    const dlpack::DeviceType type = argument.where_.type;
    const std::string what = std::string(argument.name_);
    if (is_output && argument.read_only_) refuse(name_, what + " is read-only");
    const u64 bytes = argument.bytes_;
    if (argument.array_ != nullptr) argument.array_->use(stream_, is_output);
    if (argument.home_) {
        order_after(argument.home_);
    } else if (argument.held_.managed != nullptr || argument.held_.legacy != nullptr) {
        // Its library has ordered its work with that stream.
        if (is_cuda(*device_) && !argument.on_host()) order_after(own_stream(*device_));
    }
    if (bytes == 0) {
        argument.tensor_ = Tensor(nullptr, 0, argument.type_, argument.shape());
        return;
    }
    if (argument.array_ != nullptr && &argument.array_->device() == device_.get()) {
        argument.tensor_ = argument.array_->tensor();
        return;
    }
    // Libraries without a stream of their own wait for the results.
    if (!argument.home_) blocking_ = true;
    dlpack::Tensor tensor;
    tensor.data = argument.data_;
    tensor.byte_offset = argument.byte_offset_;
    tensor.device = argument.where_;
    const std::span<const i64> strides(argument.strides_.data(), argument.rank_);
    if (argument.on_host() && !device_->traits().shares_host_memory) {
        if (argument.in_kernel_ && share_staged(argument, bytes)) return;
        // A copy on the device, padding included.
        pending_ = true;
        auto buffer = device_->allocate(bytes, stream_.get());
        argument.staged_ = true;
        argument.tensor_ = Tensor(buffer, 0, argument.type_, argument.shape(), strides);
        if (is_read || !argument.tensor_.contiguous()) {
            const Unlocked unlocked;
            for (u64 at = 0; at < bytes; at += transfer_bytes)
                stream_->write(*buffer, at, argument.address() + at, std::min(transfer_bytes, bytes - at));
        }
        return;
    }
    const bool fits =
        argument.on_host() || (type == dlpack::DeviceType::opencl && argument.array_ == nullptr) ||
        (is_cuda(*device_) &&
         (type == dlpack::DeviceType::cuda_managed ||
          (type == dlpack::DeviceType::cuda && &*cuda_device(argument.where_.id) == device_.get())));
    if (!fits)
        throw Error(ErrorCode::wrong_device, name_,
                    what + " is on " +
                        (argument.array_ != nullptr ? argument.array_->device().info().selector
                                                    : dlpack::name_of(argument.where_)) +
                        ", the call runs on " + device_->info().selector + "; copy it there first");
    argument.check_aligned();
    if (type != dlpack::DeviceType::opencl && share_buffer(argument, bytes)) return;
    auto adopted = detail::adopt_tensor(*device_, tensor, bytes, argument.read_only_, false, {});
    argument.tensor_ =
        Tensor(std::move(adopted.first), adopted.second, argument.type_, argument.shape(), strides);
}

void Call::check_output(const Argument& out, Type type, std::span<const i64> shape, bool boolean) const {
    if (out.type_ != type || out.boolean_ != boolean || !std::ranges::equal(shape, out.shape()))
        refuse(name_, std::string(out.name_) + " has dtype " + out.dtype() + " and shape " +
                          text_of(out.shape()) + "; expected " + (boolean ? "bool" : numpy_name(type)) +
                          " and " + text_of(shape));
}

Argument& Call::output(nb::handle out, Type type, std::span<const i64> shape, bool boolean, bool is_read) {
    std::unique_ptr<Argument>& slot = arguments_.emplace_back();
    if (is_given(out)) {
        slot = std::make_unique<Argument>(name_, "out", out);
        check_output(*slot, type, shape, boolean);
    } else {
        static const Library none;
        const Library& library = inputs_ > 0 ? *arguments_[0]->library_ : none;
        const dlpack::Device where = inputs_ > 0 ? arguments_[0]->where_ : dlpack::Device{};
        const bool of_numpy = library.name == "numpy";
        const nb::handle empty =
            of_numpy || library.name == "cupy" ? function_of(library.name, "empty") : nb::handle();
        if (library.api != nullptr && library.api->allocate != nullptr &&
            library.api->make_object != nullptr) {
            dlpack::Tensor like;
            std::array<i64, Tensor::max_dimensions> extents{};
            std::copy(shape.begin(), shape.end(), extents.begin());
            like.device = where;
            like.rank = static_cast<i32>(shape.size());
            like.type = dlpack::data_type_of(type);
            if (boolean) like.type.code = dlpack::TypeCode::boolean;
            like.shape = extents.data();
            dlpack::ManagedTensor* made = nullptr;
            std::string message = "the library of the arguments";
            const int status = library.api->allocate(&like, &made, &message,
                                                     [](void* context, const char*, const char* text) {
                                                         *static_cast<std::string*>(context) = text;
                                                     });
            if (status != 0) {
                PyErr_Clear();
                throw Error(ErrorCode::out_of_memory, name_, "cannot allocate the result", message);
            }
            slot = std::make_unique<Argument>(name_, "the result", made);
            slot->library_ = &library;
            check_output(*slot, type, shape, boolean);
            slot->home_ = arguments_[0]->home_;
        } else if (empty.is_valid()) {
            const nb::object made = in_python([&] {
                const nb::object dtype = of_numpy ? nb::borrow(numpy_dtype(type, boolean))
                                                  : nb::object(nb::str(boolean ? "bool" : numpy_name(type)));
                return shape.size() == 1 ? empty(shape[0], dtype) : empty(tuple_of(shape), dtype);
            });
            slot = std::make_unique<Argument>(name_, "the result", made);
        } else {
            Device& home = inputs_ > 0 && arguments_[0]->array_ == nullptr && arguments_[0]->on_host()
                               ? *host_device()
                               : *device_;
            const bool is_here = &home == device_.get();
            u64 count = 1;
            for (const i64 extent : shape)
                count *= static_cast<u64>(extent);
            std::shared_ptr<Buffer> buffer;
            if (count > 0)
                buffer = home.allocate(detail::checked_bytes(name_, count, size_of(type)),
                                       is_here ? stream_.get() : nullptr);
            const nb::object made = nb::cast(
                ArrayObject(Tensor(std::move(buffer), 0, type, shape), boolean, home.shared_from_this()));
            slot = std::make_unique<Argument>(name_, "the result", made);
        }
    }
    slot->writes_ = true;
    bind(*slot, true, is_read);
    return *slot;
}

View Call::values(const Argument& input) {
    if (input.contiguous()) return input.boolean() ? truths(input.view()) : input.view();
    View copies = copied(input, elements(input), input.boolean() ? Type::boolean : input.type());
    copies.type = input.type();
    return copies;
}

View Call::converted_values(const Argument& input, Type type) {
    if (input.type() == type) return values(input);
    return copied(input, detail::convert_node(type, elements(input)), type);
}

View Call::copied(const Argument& input, const detail::ExpressionPointer& elements, Type type) {
    const u64 count = input.size();
    truths_.push_back(stream_->scratch(std::max<u64>(1, count * size_of(type))));
    const View copies{truths_.back().get(), 0, count, type};
    detail::evaluate(*stream_, detail::Input(elements), copies, {});
    return copies;
}

detail::ExpressionPointer Call::elements(const Argument& input) const {
    const NdView array = input.array();
    return detail::broadcast_node({nullptr, array, array.extents()}, array.extents());
}

void Call::write(const NdView& to, const detail::ExpressionPointer& elements, const Options& options) {
    if (to.size() == 0) return;
    const detail::Input in(elements);
    const auto is_read = [&](const std::unique_ptr<Argument>& input) {
        if (input->bytes_ == 0) return false;
        const NdView from = input->array();
        const bool same = from.is_contiguous() && to.is_contiguous() && from.extents() == to.extents() &&
                          from.range().offset == to.range().offset;
        return overlap(from.range(), to.range()) && !same;
    };
    const bool is_input =
        std::any_of(arguments_.begin(), arguments_.begin() + static_cast<i64>(inputs_), is_read);
    if (!is_input) {
        detail::evaluate(*stream_, in, to.extents(), to, options);
        return;
    }
    truths_.push_back(stream_->scratch(to.size() * to.type().size()));
    const View results{truths_.back().get(), 0, to.size(), to.type()};
    detail::evaluate(*stream_, in, results, options);
    detail::evaluate(*stream_, detail::Input(results), to.extents(), to, {});
}

View Call::truths(const View& bytes) {
    if (bytes.count == 0) return bytes;
    truths_.push_back(stream_->scratch(bytes.bytes()));
    const View copies{truths_.back().get(), 0, bytes.count, Type::u8};
    map(*stream_, Span<const u8>(bytes), Span<u8>(copies), truth_of);
    return copies;
}

void Call::fetch(void* to, const View& from) {
    transfer(*stream_, from.bytes(), [&](u64 at, u64 bytes) {
        stream_->read(static_cast<std::byte*>(to) + at, *from.buffer, from.offset + at, bytes);
    });
}

void Call::store(const View& to, const void* from) {
    transfer(*stream_, to.bytes(), [&](u64 at, u64 bytes) {
        stream_->write(*to.buffer, to.offset + at, static_cast<const std::byte*>(from) + at, bytes);
    });
}

void Call::finish() {
    for (const auto& argument : arguments_) {
        Argument& out = *argument;
        if (!out.staged_ || !out.writes_) continue;
        transfer(*stream_, out.bytes_, [&](u64 at, u64 bytes) {
            stream_->read(out.address() + at, *out.tensor_.buffer(), at, bytes);
        });
    }
    for (const auto& home : homes_) {
        const auto mark = device_->create_event();
        stream_->record(*mark);
        home->wait(*mark);
    }
    if (blocking_) stream_->synchronize();
}

nb::object Call::result(Argument& output) {
    const Library& library = *output.library_;
    if (output.held_.managed != nullptr && !output.object_.is_valid()) {
        output.tensor_ = {};
        void* object = nullptr;
        if (library.api->make_object(std::exchange(output.held_.managed, nullptr), &object) != 0)
            throw nb::python_error();
        return nb::steal(static_cast<PyObject*>(object));
    }
    // NumPy's functions return scalars where arrays would have no dimensions.
    if (output.rank_ == 0 && library.name == "numpy" && output.name_ != std::string_view("out"))
        return output.object_[nb::tuple()];
    if (output.array_ != nullptr && inputs_ > 0 && arguments_[0]->array_ == nullptr &&
        output.name_ != std::string_view("out")) {
        const std::string& name = arguments_[0]->library_->name;
        const nb::handle import = name == "jaxlib" || name == "jax" ? function_of("jax", "dlpack.from_dlpack")
                                                                    : function_of(name, "from_dlpack");
        if (import.is_valid()) return in_python([&] { return import(output.object_); });
    }
    return output.object_;
}

}  // namespace concord::python
