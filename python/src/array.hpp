#pragma once
// Arguments and results of calls: memory of NumPy, PyTorch, CuPy, JAX and others as tensors of Concord, without a copy.

#include <concord/concord.hpp>
#include <concord/detail/float_environment.hpp>
#include <concord/detail/interruption.hpp>
#include <concord/dlpack.hpp>
#include <concord/expression.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace concord::python {

namespace nb = nanobind;

// Releases the interpreter's lock in a scope. In the main thread, Python's signal handlers run there about every 50 ms;
// what they raise, such as KeyboardInterrupt, ends waits and calls that enqueue as nb::python_error.
// If the interpreter has begun to end meanwhile, the thread stays in the destructor for ever, as all threads do from
// Python 3.14 on: earlier ones end it by unwinding its stack, which aborts the process.
class Unlocked {
  public:
    Unlocked();
    ~Unlocked();
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

  private:
    int had_locks_;
    detail::Interruptible interruptible_;
    PyThreadState* state_;
};

[[noreturn]] void stay_for_ever();
// Calls f, which runs code of Python. If the interpreter ends meanwhile, the thread stays there for ever, as in
// Unlocked.
template <class F>
auto in_python(F f) {
    try {
        return f();
    } catch (abi::__forced_unwind&) {
        stay_for_ever();
    }
}

class Argument;
// Deletes the owner of an argument, from any thread: at once if this thread has the interpreter's lock for sure
// (HasLock), else soon in the main thread or in the next call. Never waits for the lock, so that callbacks of streams
// may call it while a thread with the lock waits for the stream. Owners that are dropped while the interpreter ends are
// not deleted.
void drop(std::shared_ptr<Argument>* owner) noexcept;
// Deletes what waits for that. Needs the interpreter's lock.
void delete_dropped();
// While it lives, this thread has the interpreter's lock.
class HasLock {
  public:
    HasLock();
    ~HasLock();
    HasLock(const HasLock&) = delete;
    HasLock& operator=(const HasLock&) = delete;
};

// Whether the device's buffers are CUDA memory, and its streams CUDA streams that other libraries share.
inline bool is_cuda(const Device& device) {
    return device.traits().dlpack_type == dlpack::DeviceType::cuda;
}

// The C exchange API of DLPack 1.3, which the attribute __dlpack_c_exchange_api__ of a type points to. Functions return
// 0, or -1 with a Python exception. A library sets the functions that it does not have to null.
struct ExchangeApi {
    dlpack::Version version;
    ExchangeApi* previous;
    int (*allocate)(dlpack::Tensor* like, dlpack::ManagedTensor** out, void* context,
                    void (*set_error)(void* context, const char* kind, const char* message));
    int (*take)(void* object, dlpack::ManagedTensor** out);         // a tensor with an owner
    int (*make_object)(dlpack::ManagedTensor* tensor, void** out);  // takes the tensor over
    int (*describe)(void* object, dlpack::Tensor* out);             // valid while the object lives
    int (*current_stream)(dlpack::DeviceType type, i32 id, void** out);
};
inline constexpr const char* exchange_capsule = "dlpack_exchange_api";

// What the type of a Python object says about its library. Never destroyed.
struct Library {
    std::string name;                  // "numpy"; the first part of the module's name
    const ExchangeApi* api = nullptr;  // null: none
    bool is_concord = false;
    bool has_buffer = false;          // the buffer protocol
    bool has_dlpack = false;          // __dlpack__
    bool has_cuda_interface = false;  // __cuda_array_interface__
};
const Library& library_of(nb::handle object);

// Where and in what order a call runs: the keyword arguments that all functions share.
struct Common {
    nb::handle device, stream, order, variant;
};

// concord.Array: elements in row-major order on a device.
class ArrayObject {
  public:
    ArrayObject(Tensor tensor, bool boolean, std::shared_ptr<Device> device);
    ArrayObject(ArrayObject&&) = default;
    ArrayObject& operator=(ArrayObject&&) = delete;
    ~ArrayObject();

    const Tensor& tensor() const { return tensor_; }
    Device& device() const { return *device_; }
    bool boolean() const { return boolean_; }
    // Another array on the memory of this one.
    ArrayObject with(Tensor tensor) const;
    // The stream that last wrote the elements; null: none, or its work is done.
    const std::shared_ptr<Stream>& writer() const { return uses_->writer; }
    // A call on the stream reads or writes the elements: its work comes after that of other streams.
    void use(const std::shared_ptr<Stream>& stream, bool writes);
    // Waits until the elements are there, without the interpreter's lock.
    void wait();
    // The description for other libraries, valid while the object lives.
    dlpack::Tensor described() const;

  private:
    Tensor tensor_;
    bool boolean_;
    std::shared_ptr<Device> device_;
    // Of all arrays on this memory.
    struct Uses {
        std::shared_ptr<Stream> writer;
        std::vector<std::shared_ptr<Stream>> readers;  // since the last write
    };
    std::shared_ptr<Uses> uses_ = std::make_shared<Uses>();
    mutable std::array<i64, Tensor::max_dimensions> shape_{}, strides_{};
};

// Waits for work of interrupted calls on the stream, and deletes what it used.
void end_interrupted(const std::shared_ptr<Stream>& stream);
inline constexpr u64 transfer_bytes = u64{256} << 20;
// Calls f(offset, bytes) for parts of a transfer of host memory, and waits for each one. Signals interrupt it between
// two parts, so that no part is on its way when the memory is freed.
template <class F>
void transfer(Stream& stream, u64 bytes, F f) {
    for (u64 at = 0; at < bytes; at += transfer_bytes) {
        stream.synchronize();
        const detail::Interruptible off(nullptr);
        f(at, std::min(transfer_bytes, bytes - at));
        stream.synchronize();
    }
}

// The streams of a thread, one per device, and adopted ones by handle.
std::shared_ptr<Stream> own_stream(Device& device);
// `owner`: the object that owns the stream, kept for ever; may be null.
std::shared_ptr<Stream> adopted_stream(Device& device, void* handle, nb::handle owner = {});
// The device of a selector.
std::shared_ptr<Device> device_named(nb::handle selector);
// Whether a call has run on the CPU.
bool host_device_is_open();
// A function of NumPy, which is imported; kept for ever.
nb::handle numpy_function(const char* name);

// What keeps the memory of an argument besides its object.
struct Held {
    std::unique_ptr<Py_buffer> buffer;
    dlpack::ManagedTensor* managed = nullptr;
    dlpack::LegacyTensor* legacy = nullptr;

    Held() = default;
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
};

// One argument of a call.
class Argument {
  public:
    Argument() = default;
    // Describes a tensor, which it takes over unless it throws.
    Argument(const char* call, const char* name, dlpack::ManagedTensor* managed);
    // Describes the object. Raises TypeError or ValueError, which name the call and the argument.
    Argument(const char* call, const char* name, nb::handle object);
    Argument(const Argument&) = delete;
    Argument& operator=(const Argument&) = delete;

    Type type() const { return type_; }
    bool boolean() const { return boolean_; }
    std::span<const i64> shape() const { return {shape_.data(), rank_}; }
    u64 size() const;
    const Library& library() const { return *library_; }
    // The memory as a tensor on the device of the call, once the call has begun.
    const Tensor& tensor() const { return tensor_; }
    // The elements as an array view; bool as Type::boolean.
    NdView array() const;
    // Whether the elements are in row-major order without padding.
    bool contiguous() const { return reversed_ == 0 && tensor_.contiguous(); }
    // Whether the indices of an axis descend in memory.
    bool reversed() const { return reversed_ != 0; }
    // Raises InvalidArgument unless they are contiguous.
    View view() const;
    // Raises ValueError for another number of dimensions.
    void check_rank(std::size_t rank) const;
    // Leaves the tensor that it took over to its owner.
    void give_back() { held_.managed = nullptr; }
    // A concord.Array on the memory of the argument, which it keeps.
    nb::object as_array(const std::shared_ptr<Argument>& self) const;
    // The device of the memory.
    std::shared_ptr<Device> device() const;
    // The name of the type in NumPy's terms.
    std::string dtype() const;
    // Whether the memory is host memory.
    bool on_host() const {
        return where_.type == dlpack::DeviceType::cpu || where_.type == dlpack::DeviceType::cuda_host;
    }

  private:
    friend class Call;
    // The address of the first element; not of a cl_mem.
    std::byte* address() const { return static_cast<std::byte*>(data_) + byte_offset_; }
    bool from_buffer(nb::handle object);
    void from_numpy(nb::handle object);
    void from_cuda_interface(nb::handle object);
    void from_capsule(nb::handle object);
    void take(const dlpack::Tensor& tensor, bool read_only);
    [[noreturn]] void refuse_type(const std::string& dtype) const;
    // Raises ValueError unless the first element is aligned to its size.
    void check_aligned() const;
    // Refuses the argument: "CALL: NAME WRONG".
    [[noreturn]] void refuse_this(const std::string& wrong) const;

    const char* call_ = "";
    const char* name_ = "";
    const Library* library_ = nullptr;
    nb::object object_;
    ArrayObject* array_ = nullptr;  // if it is a concord.Array
    dlpack::Device where_;
    void* data_ = nullptr;
    u64 byte_offset_ = 0;
    Type type_ = Type::u8;
    bool boolean_ = false, read_only_ = false;
    u32 rank_ = 0;
    std::array<i64, Tensor::max_dimensions> shape_{}, strides_{};
    u32 reversed_ = 0;  // bit k: the indices of axis k descend in memory
    u64 bytes_ = 0;     // from the lowest element to the end of the highest one
    Held held_;
    // On CUDA: the stream on which the library of the argument orders its work; null: none is known.
    std::shared_ptr<Stream> home_;

    Tensor tensor_;
    bool staged_ = false;     // the tensor is a copy on the device
    bool writes_ = false;     // the call writes its elements
    bool in_kernel_ = false;  // of a kernel, which sees that other arguments have the same memory
};

// One call of an algorithm: finds device and stream, brings arguments there and results back. If a signal interrupts
// it, arguments stay until the device no longer uses them.
class Call {
  public:
    Call(const char* name, const Common& common);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // Inputs come first. References stay valid. Raises ValueError unless the input has `rank` dimensions.
    Argument& input(nb::handle object, const char* name, std::optional<std::size_t> rank = {});
    // A buffer of a kernel of the user, which reads it and may write to it. They are inputs.
    Argument& buffer(nb::handle object, const char* name, bool writes);
    // Opens device and stream: those that are named, else those of the first input.
    void begin();
    // The object `out`, or if it is None a new array of the first input's library.
    // `is_read`: the call reads its elements, too.
    Argument& output(nb::handle out, Type type, std::span<const i64> shape, bool boolean = false,
                     bool is_read = false);

    // The elements of an input in row-major order. Those of bool are 0 and 1, copies if the input is bool: any byte
    // except 0 is true. Copies also of an array that is not contiguous. For use in run().
    View values(const Argument& input);
    // The same as elements of another type.
    View converted_values(const Argument& input, Type type);
    // The same in the kernel that reads them, without a copy; bool as Type::boolean.
    detail::ExpressionPointer elements(const Argument& input) const;
    // Writes the elements to an output of any strides, or to a part of one, which may have memory in common with an
    // input. For use in run().
    void write(const Argument& output, const detail::ExpressionPointer& elements) {
        write(output.array(), elements);
    }
    void write(const NdView& to, const detail::ExpressionPointer& elements) { write(to, elements, options_); }
    // The same for a call that then computes there: its variants are not those of evaluate().
    void prepare(const Argument& output, const detail::ExpressionPointer& elements) {
        write(output.array(), elements, {.order = options_.order});
    }
    // Copies of bytes of bool, 0 and 1.
    View truths(const View& bytes);

    Device& device() { return *device_; }
    Stream& stream() { return *stream_; }
    const Options& options() const { return options_; }
    // Runs f without the interpreter's lock, then brings results to the host if they belong there.
    template <class F>
    void run(F f) {
        const Unlocked unlocked;
        pending_ = true;
        f();
        finish();
        pending_ = false;
    }
    // The same, and returns the Python object of an output.
    template <class F>
    nb::object run(Argument& output, F f) {
        run(f);
        return result(output);
    }
    // The Python object of an output.
    nb::object result(Argument& output);
    // Copies elements between the host and the device, and waits for them. For use in run().
    void fetch(void* to, const View& from);
    void store(const View& to, const void* from);

  private:
    void write(const NdView& to, const detail::ExpressionPointer& elements, const Options& options);
    View copied(const Argument& input, const detail::ExpressionPointer& elements, Type type);
    void bind(Argument& argument, bool is_output, bool is_read);
    void check_output(const Argument& out, Type type, std::span<const i64> shape, bool boolean) const;
    bool share_buffer(Argument& argument, u64 bytes);
    bool share_staged(Argument& argument, u64 bytes);
    void order_after(const std::shared_ptr<Stream>& home);
    void finish();
    nb::object make_result(Argument& output);

    detail::DefaultFloatEnvironment environment_;  // also for scalars that are computed before a launch
    const char* name_;
    Common common_;
    Options options_;
    std::shared_ptr<Device> device_;
    std::shared_ptr<Stream> stream_;
    std::vector<std::unique_ptr<Argument>> arguments_;
    std::size_t inputs_ = 0;                       // arguments that are inputs, which come first
    std::vector<std::shared_ptr<Buffer>> truths_;  // of values()
    bool blocking_ = false;  // wait for the results, which the library of the arguments does not order
    std::vector<std::shared_ptr<Stream>> homes_;  // other streams, which wait for the call
    bool pending_ = false;                        // work was enqueued that may use memory of the caller
    const u64 interruptions_;                     // of this thread when the call began
};

// The value as Python writes it; its type if that is long.
std::string short_text(nb::handle value);

// The value of a keyword argument. Raises TypeError, which names it.
template <class T>
T keyword(const char* call, const char* name, nb::handle value, const char* expected) {
    T result{};
    if (!nb::try_cast(value, result))
        throw nb::type_error(
            (std::string(call) + ": " + name + ": got " + short_text(value) + "; expected " + expected)
                .c_str());
    return result;
}

// The shape of a sequence of integers or of one integer.
std::vector<i64> shape_of(const char* call, nb::handle shape);
// The type of a name such as "float32" or "f32", or of an object whose text is such a name (numpy.dtype).
Type type_named_by(const char* call, nb::handle dtype, bool* boolean = nullptr);
// NumPy's name of a type.
const char* numpy_name(Type type);
nb::tuple tuple_of(std::span<const i64> values);
// The tuple as Python writes it: "(2, 3)".
std::string text_of(std::span<const i64> values);
// Whether the caller passed a value other than None.
inline bool is_given(nb::handle argument) {
    return argument.is_valid() && !argument.is_none();
}
// Throws an error of an argument of the call.
[[noreturn]] void refuse(const std::string& call, const std::string& wrong);

// The built-in operator of this name. Throws an error of the call for an unknown one.
ReduceOp reduce_op(const char* call, const std::string& name);
// reduce() and scan() with a built-in operator.
nb::object reduced_builtin(nb::handle x, const std::string& op, nb::handle axis, bool keepdims,
                           nb::handle out, const Common& common);
nb::object scanned_builtin(nb::handle x, const std::string& op, nb::handle axis, bool exclusive,
                           nb::handle out, const Common& common);

// At the end of the interpreter: deletes what was dropped, and keeps what is dropped from now on. The process then
// waits for calls of other threads before it ends the drivers.
void end_with_interpreter();

void define_arrays(nb::module_& module);
void define_errors(nb::module_& module);
void define_devices(nb::module_& module);
void define_functions(nb::module_& module);
void define_elementwise(nb::module_& module);
void define_arithmetic(nb::module_& module);
void define_reductions(nb::module_& module);
void define_runs(nb::module_& module);
void define_kernels(nb::module_& module);
// Words the errors of all functions that the module has. Call it last.
void explain_errors(nb::module_& module);
void define_operators(nb::module_& module);

}  // namespace concord::python

// The keyword arguments that all functions have.
#define CONCORD_COMMON \
    "device"_a = nb::none(), "stream"_a = nb::none(), "order"_a = nb::none(), "variant"_a = nb::none()
#define CONCORD_HANDLES nb::handle device, nb::handle stream, nb::handle order, nb::handle variant
#define CONCORD_PASSED \
    { device, stream, order, variant }
