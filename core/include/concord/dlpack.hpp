#pragma once
/// @file
/// Exchange of arrays with other libraries through DLPack, without a copy.
///
///     // In: a tensor of PyTorch, CuPy, NumPy, JAX, ... as DLManagedTensorVersioned*
///     const Tensor tensor = from_dlpack(*device, managed);
///     sort(*stream, Span<f32>(tensor.view()), out);
///
///     // Out: the array's memory lives until the other library calls the deleter
///     dlpack::ManagedTensor* managed = to_dlpack(array);
///
/// The structs have the binary layout of <dlpack/dlpack.h>, version 1.3, so that pointers convert by reinterpret_cast.
/// Both directions exchange pointers only: work on the memory must be ordered by the caller, for example by an adopted
/// stream (Device::adopt_stream) or an event.
///
/// Source: DLPack 1.3, dmlc.github.io/dlpack.

#include <concord/matrix.hpp>

#include <array>
#include <memory>

namespace concord {

/// The binary interface of DLPack 1.3.
namespace dlpack {

/// Version of the interface. Another major version has another layout.
struct Version {
    u32 major = 1;  ///< changes with the layout
    u32 minor = 3;  ///< grows with the values of the enumerations
};

/// Kind of memory. Others exist; Concord has no devices for them.
enum class DeviceType : i32 {
    cpu = 1,           ///< host memory
    cuda = 2,          ///< memory of a CUDA device
    cuda_host = 3,     ///< page-locked host memory
    opencl = 4,        ///< a cl_mem
    cuda_managed = 13  ///< managed memory of CUDA
};

/// Where a tensor is.
struct Device {
    DeviceType type = DeviceType::cpu;  ///< kind of memory
    i32 id = 0;                         ///< index of the device
};

/// Kind of an element.
enum class TypeCode : u8 {
    signed_integer = 0,    ///< two's complement
    unsigned_integer = 1,  ///< unsigned
    floating_point = 2,    ///< IEEE 754
    boolean = 6            ///< one byte, 0 or 1
};

/// Type of an element.
struct DataType {
    TypeCode code = TypeCode::floating_point;  ///< kind
    u8 bits = 32;                              ///< bits of one lane
    u16 lanes = 1;                             ///< elements of a short vector
};

/// A tensor without an owner.
struct Tensor {
    void* data = nullptr;    ///< address, or cl_mem
    Device device;           ///< where it is
    i32 rank = 0;            ///< number of dimensions
    DataType type;           ///< type of the elements
    i64* shape = nullptr;    ///< elements of each dimension
    i64* strides = nullptr;  ///< elements from one index to the next; null: row-major without padding
    u64 byte_offset = 0;     ///< of the first element from data
};

/// Bits of ManagedTensor::flags.
inline constexpr u64 flag_read_only = 1;
/// The producer copied the memory.
inline constexpr u64 flag_copied = 2;

/// A tensor that its consumer owns: DLManagedTensorVersioned.
struct ManagedTensor {
    Version version;                            ///< of the producer
    void* context = nullptr;                    ///< the producer's
    void (*deleter)(ManagedTensor*) = nullptr;  ///< called once by the consumer; may be null
    u64 flags = 0;                              ///< flag_read_only, flag_copied
    Tensor tensor;                              ///< the memory
};

/// The same before DLPack 1.0: DLManagedTensor.
struct LegacyTensor {
    Tensor tensor;                             ///< the memory
    void* context = nullptr;                   ///< the producer's
    void (*deleter)(LegacyTensor*) = nullptr;  ///< called once by the consumer; may be null
};

/// The element type of Concord, Type::boolean among them; nothing if there is none.
std::optional<Type> type_of(const DataType& type);
/// The type of DLPack.
DataType data_type_of(Type type);
/// The name of a type for messages: "float16", "complex64", "bool".
std::string name_of(const DataType& type);
/// The name of a place for messages: "CUDA device 1", "ROCm device 0", "DLPack device (99, 0)".
std::string name_of(const Device& device);

}  // namespace dlpack

/// Elements with a shape of up to 8 dimensions in a buffer, which it shares with other owners.
class Tensor {
  public:
    /// Maximum number of dimensions.
    static constexpr u32 max_dimensions = 8;

    /// A tensor of zero dimensions without a buffer.
    Tensor() = default;
    /// A tensor whose first element is `offset` bytes from the base of the buffer. Without strides it is row-major and
    /// has no padding. A tensor without elements accepts a null buffer. Throws invalid_argument for too many
    /// dimensions, negative extents or strides, and a tensor that exceeds its buffer.
    Tensor(std::shared_ptr<Buffer> buffer, u64 offset, Type type, std::span<const i64> shape,
           std::span<const i64> strides = {});

    /// The buffer. Null for a tensor without elements.
    const std::shared_ptr<Buffer>& buffer() const { return buffer_; }
    /// Type of the elements.
    Type type() const { return type_; }
    /// Elements of each dimension.
    std::span<const i64> shape() const { return {shape_.data(), rank_}; }
    /// Elements from one index to the next, of each dimension.
    std::span<const i64> strides() const { return {strides_.data(), rank_}; }
    /// Bytes from the base of the buffer to the first element.
    u64 offset() const { return offset_; }
    /// Number of elements.
    u64 size() const;
    /// Whether the elements are row-major without padding.
    bool contiguous() const;

    /// All elements in row-major order. Throws invalid_argument unless the tensor is contiguous; `call` begins the
    /// message.
    View view(const char* call = "Tensor::view") const;
    /// The matrix of two dimensions with its pitch, row-major or column-major. Throws invalid_argument for another
    /// number of dimensions, and unless one of the strides is 1 and the other at least the extent.
    MatrixView matrix(const char* call = "Tensor::matrix") const;
    /// The volume of three dimensions with its pitches, or of two with one plane. Throws like matrix(), and for planes
    /// that share elements.
    VolumeView volume(const char* call = "Tensor::volume") const;

  private:
    u64 extent() const;

    std::shared_ptr<Buffer> buffer_;
    u64 offset_ = 0;  // bytes
    Type type_ = Type::u8;
    u32 rank_ = 0;
    std::array<i64, max_dimensions> shape_{}, strides_{};
};

/// Takes over a tensor of another library without a copy: host memory on CPUs (also through OpenCL), page-locked
/// memory, device memory and managed memory on CUDA, a cl_mem of the device's context on OpenCL. The deleter is called
/// when the last owner of the buffer is gone and its work is done; if the call throws, the caller keeps the tensor.
/// Throws invalid_argument (null pointers, element type, negative strides, memory that exceeds the address space or
/// that the driver does not know), unsupported (another major version), and wrong_device.
Tensor from_dlpack(Device& device, dlpack::ManagedTensor* managed);
/// The same for a tensor of a version before 1.0.
Tensor from_dlpack(Device& device, dlpack::LegacyTensor* managed);

/// Describes a tensor for other libraries without a copy. Its deleter, which the consumer calls once, releases the
/// buffer. The memory is that of Buffer::native_handle() and its device. Throws invalid_argument for a tensor without a
/// buffer that has elements, and unsupported for memory that DLPack does not know (DeviceTraits::dlpack_type).
dlpack::ManagedTensor* to_dlpack(const Tensor& tensor);

/// The same for an array.
template <class T>
dlpack::ManagedTensor* to_dlpack(const Array<T>& array) {
    const i64 count = static_cast<i64>(array.size());
    return to_dlpack(Tensor(array.buffer(), array.view().offset, type_of<T>(), std::span(&count, 1)));
}
/// The same for a matrix in the memory of `owner`, with its pitch. Throws invalid_argument if it is in another buffer.
dlpack::ManagedTensor* to_dlpack(const MatrixView& matrix, const std::shared_ptr<Buffer>& owner);
/// The same for a volume.
dlpack::ManagedTensor* to_dlpack(const VolumeView& volume, const std::shared_ptr<Buffer>& owner);

namespace detail {
// Where buffers of a device are, and where a buffer is, in DLPack's terms.
dlpack::Device dlpack_device(const Device& device);
dlpack::Device dlpack_device(const Buffer& buffer);
// What another library's description says, after all of it has been checked.
struct DescribedTensor {
    Type type = Type::u8;
    bool boolean = false;
    u32 rank = 0;
    std::array<i64, Tensor::max_dimensions> shape{}, strides{};
    u64 bytes = 0;  // from the first element to the end of the last one
};
// Checks type, number of dimensions, extents, strides and their pointers. `subject` begins the messages after the call:
// "x". Throws invalid_argument.
DescribedTensor described(const char* call, std::string_view subject, const dlpack::Tensor& tensor);
// Checks that `bytes` bytes at the tensor's place may be memory: not null, within the address space. Throws
// invalid_argument, and wrong_device for devices that Concord does not know.
void check_memory(const char* call, std::string_view subject, const dlpack::Tensor& tensor, u64 bytes);
// The buffer of a description that its owner keeps alive, and of its offset in bytes. `verify`: ask the driver about
// the memory.
std::pair<std::shared_ptr<Buffer>, u64> adopt_tensor(Device& device, const dlpack::Tensor& tensor, u64 bytes,
                                                     bool read_only, bool verify, Task release);
// The bytes from the first element to the end of the last one. Throws invalid_argument for negative strides or extents
// and for more than Tensor::max_dimensions dimensions.
u64 tensor_bytes(const char* call, std::span<const i64> shape, std::span<const i64> strides,
                 u32 element_size);
}  // namespace detail

}  // namespace concord
