#include <concord/dlpack.hpp>

#include <algorithm>
#include <charconv>
#include <vector>

namespace concord {

namespace dlpack {

namespace {

// The codes' names, which with the number of bits are NumPy's names of types.
constexpr std::string_view codes[] = {"int", "uint", "float", "opaque", "bfloat", "complex"};

}  // namespace

std::optional<Type> type_of(const DataType& type) {
    const std::string name = name_of(type);
    for (const Type candidate : detail::stored_types) {
        if (detail::row_of(candidate).numpy == name) return candidate;
    }
    return std::nullopt;
}

DataType data_type_of(Type type) {
    if (is_boolean(type)) return {.code = TypeCode::boolean, .bits = 8};
    const std::string_view name = detail::row_of(type).numpy;
    const std::string_view code = name.substr(0, name.find_first_of("0123456789"));
    const auto* const found = std::find(std::begin(codes), std::end(codes), code);
    if (found == std::end(codes))
        throw Error(ErrorCode::unsupported, concord::name_of(type), "DLPack has no such element type");
    return {.code = static_cast<TypeCode>(found - std::begin(codes)),
            .bits = static_cast<u8>(size_of(type) * 8)};
}

std::string name_of(const DataType& type) {
    const auto code = static_cast<std::size_t>(type.code);
    if (type.code == TypeCode::boolean && type.bits == 8 && type.lanes == 1) return "bool";
    std::string name =
        code < std::size(codes) ? std::string(codes[code]) : "type" + std::to_string(code) + "_";
    name += std::to_string(type.bits);
    if (type.lanes != 1) name += "x" + std::to_string(type.lanes);
    return name;
}

std::string name_of(const Device& device) {
    // Those of DLDeviceType.
    constexpr std::string_view names[] = {"",         "CPU",
                                          "CUDA",     "page-locked CUDA",
                                          "OpenCL",   "",
                                          "",         "Vulkan",
                                          "Metal",    "VPI",
                                          "ROCm",     "page-locked ROCm",
                                          "external", "managed CUDA",
                                          "oneAPI",   "WebGPU",
                                          "Hexagon",  "MAIA",
                                          "Trainium"};
    const auto at = static_cast<std::size_t>(device.type);
    if (at < std::size(names) && !names[at].empty())
        return std::string(names[at]) + " device " + std::to_string(device.id);
    return "DLPack device (" + std::to_string(static_cast<i32>(device.type)) + ", " +
           std::to_string(device.id) + ")";
}

}  // namespace dlpack

namespace {

std::string text_of(std::span<const i64> values) {
    std::string text = "(";
    for (const i64 value : values) {
        if (text.size() > 1) text += ", ";
        text += std::to_string(value);
    }
    return text + (values.size() == 1 ? ",)" : ")");
}

std::array<i64, Tensor::max_dimensions> row_major(std::span<const i64> shape) {
    std::array<i64, Tensor::max_dimensions> strides{};
    i64 stride = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
        strides[i] = stride;
        // A tensor without elements may have any other extents.
        if (__builtin_mul_overflow(stride, std::max<i64>(shape[i], 1), &stride)) stride = 0;
    }
    return strides;
}

void check_rank(const char* call, std::size_t rank) {
    if (rank > Tensor::max_dimensions)
        throw Error(ErrorCode::invalid_argument, call,
                    "too many dimensions, got " + std::to_string(rank) + "; at most " +
                        std::to_string(Tensor::max_dimensions) + " are supported");
}

// The index of the device in its selector, such as "cuda:1".
i32 index_of(const Device& device) {
    const std::string& selector = device.info().selector;
    const std::size_t colon = selector.find(':');
    i32 index = 0;
    if (colon != std::string::npos)
        std::from_chars(selector.data() + colon + 1, selector.data() + selector.size(), index);
    return index;
}

struct Exported {
    dlpack::ManagedTensor managed;
    Tensor tensor;
    std::array<i64, Tensor::max_dimensions> shape, strides;
};

}  // namespace

u64 detail::tensor_bytes(const char* call, std::span<const i64> shape, std::span<const i64> strides,
                         u32 element_size) {
    check_rank(call, shape.size());
    const bool negative = std::any_of(shape.begin(), shape.end(), [](i64 extent) { return extent < 0; });
    if (negative)
        throw Error(ErrorCode::invalid_argument, call, "negative extent, got the shape " + text_of(shape));
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
    CheckedSize elements(1);
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 1) continue;
        if (strides[i] < 0)
            throw Error(ErrorCode::invalid_argument, call,
                        "negative strides, got " + text_of(strides) + "; pass a copy in row-major order");
        elements = elements + CheckedSize(static_cast<u64>(shape[i] - 1)) * static_cast<u64>(strides[i]);
    }
    const CheckedSize bytes = elements * element_size;
    if (!bytes.fits(max_bytes)) refuse_size(call, elements.value(), element_size);
    return bytes.value();
}

Tensor::Tensor(std::shared_ptr<Buffer> buffer, u64 offset, Type type, std::span<const i64> shape,
               std::span<const i64> strides)
    : buffer_(std::move(buffer)), offset_(offset), type_(type), rank_(static_cast<u32>(shape.size())) {
    check_rank("Tensor", shape.size());
    if (!strides.empty() && strides.size() != shape.size())
        throw Error(
            ErrorCode::invalid_argument, "Tensor",
            std::to_string(strides.size()) + " strides for " + std::to_string(shape.size()) + " dimensions");
    std::copy(shape.begin(), shape.end(), shape_.begin());
    if (strides.empty()) {
        strides_ = row_major(shape);
    } else {
        std::copy_n(strides.begin(), shape.size(), strides_.begin());
    }
    const u64 count =
        detail::tensor_bytes("Tensor", this->shape(), this->strides(), size_of(type)) / size_of(type);
    // Broadcast tensors have more elements than memory.
    detail::CheckedSize elements(1);
    for (const i64 extent : this->shape())
        elements = elements * static_cast<u64>(extent);
    if (!elements.fits(detail::max_bytes)) detail::refuse_size("Tensor", elements.value(), size_of(type));
    detail::check_view("Tensor", "tensor", {buffer_.get(), offset_, count, type_});
}

u64 Tensor::size() const {
    u64 count = 1;
    for (const i64 extent : shape())
        count *= static_cast<u64>(extent);
    return count;
}

bool Tensor::contiguous() const {
    if (size() <= 1) return true;
    i64 expected = 1;
    for (u32 i = rank_; i-- > 0;) {
        if (shape_[i] == 1) continue;
        if (strides_[i] != expected) return false;
        expected *= shape_[i];
    }
    return true;
}

// Elements from the first to the last one.
u64 Tensor::extent() const {
    return detail::tensor_bytes("Tensor", shape(), strides(), size_of(type_)) / size_of(type_);
}

View Tensor::view(const char* call) const {
    if (!contiguous())
        throw Error(ErrorCode::invalid_argument, call,
                    "elements are not contiguous, got the shape " + text_of(shape()) + " with strides " +
                        text_of(strides()) + "; pass a copy in row-major order");
    return {buffer_.get(), offset_, size(), type_};
}

MatrixView Tensor::matrix(const char* call) const {
    if (rank_ != 2)
        throw Error(ErrorCode::invalid_argument, call,
                    "expected a matrix, got the shape " + text_of(shape()));
    const VolumeView plane = volume(call);
    return {.range = plane.range,
            .rows = plane.rows,
            .columns = plane.columns,
            .pitch = plane.pitch,
            .layout = plane.layout};
}

VolumeView Tensor::volume(const char* call) const {
    if (rank_ != 2 && rank_ != 3)
        throw Error(ErrorCode::invalid_argument, call,
                    "expected two or three dimensions, got the shape " + text_of(shape()));
    const u32 at = rank_ - 2;
    const i64 rows = shape_[at], columns = shape_[at + 1];
    i64 down = strides_[at], right = strides_[at + 1];
    const i64 depth = rank_ == 3 ? shape_[0] : 1;
    // The product of two extents may overflow if the third one is 0.
    if (size() == 0)
        return {.range = {buffer_.get(), offset_, extent(), type_},
                .depth = static_cast<u64>(depth),
                .rows = static_cast<u64>(rows),
                .columns = static_cast<u64>(columns),
                .pitch = static_cast<u64>(columns)};
    // The stride of a dimension with one index says nothing.
    if (columns == 1) {
        right = 1;
        if (rows == 1) down = 1;
    } else if (rows == 1) {
        down = right == 1 ? columns : 1;
    }
    const bool by_rows = right == 1 && down >= columns, by_columns = down == 1 && right >= rows;
    if (!by_rows && !by_columns)
        throw Error(ErrorCode::invalid_argument, call,
                    "neither rows nor columns are contiguous, got the shape " + text_of(shape()) +
                        " with strides " + text_of(strides()) + "; pass a copy in row-major order");
    const i64 plane = by_rows ? (rows - 1) * down + columns : (columns - 1) * right + rows;
    const i64 between = depth > 1 ? strides_[0] : plane;
    if (between < plane)
        throw Error(ErrorCode::invalid_argument, call,
                    "planes share elements, got the shape " + text_of(shape()) + " with strides " +
                        text_of(strides()) + "; pass a copy in row-major order");
    return {.range = {buffer_.get(), offset_, extent(), type_},
            .depth = static_cast<u64>(depth),
            .rows = static_cast<u64>(rows),
            .columns = static_cast<u64>(columns),
            .pitch = static_cast<u64>(by_rows ? down : right),
            .plane_pitch = static_cast<u64>(between),
            .layout = by_rows ? Layout::row_major : Layout::column_major};
}

dlpack::Device detail::dlpack_device(const Device& device) {
    const dlpack::DeviceType type = device.traits().dlpack_type;
    return {type, type == dlpack::DeviceType::cpu ? 0 : index_of(device)};
}

dlpack::Device detail::dlpack_device(const Buffer& buffer) {
    const dlpack::Device where = dlpack_device(buffer.device());
    if (buffer.kind() == Buffer::Kind::device) return where;
    if (where.type == dlpack::DeviceType::cuda) return {dlpack::DeviceType::cuda_host, where.id};
    return {dlpack::DeviceType::cpu, 0};
}

detail::DescribedTensor detail::described(const char* call, std::string_view subject,
                                          const dlpack::Tensor& tensor) {
    const auto refuse = [&](const std::string& wrong) {
        throw Error(ErrorCode::invalid_argument, call, std::string(subject) + wrong);
    };
    const std::optional<Type> type = dlpack::type_of(tensor.type);
    if (!type)
        refuse(" has dtype " + dlpack::name_of(tensor.type) +
               "; supported are int8 to int64, uint8 to uint64, float32, float64 and bool");
    if (tensor.rank < 0 || tensor.rank > static_cast<i32>(Tensor::max_dimensions))
        refuse(" has " + std::to_string(tensor.rank) + " dimensions; 0 to " +
               std::to_string(Tensor::max_dimensions) + " are supported");
    DescribedTensor out{.type = detail::kernel_type(*type),
                        .boolean = tensor.type.code == dlpack::TypeCode::boolean,
                        .rank = static_cast<u32>(tensor.rank)};
    if (out.rank > 0 && tensor.shape == nullptr)
        refuse(" has " + std::to_string(out.rank) + " dimensions and a null pointer as its shape");
    std::copy_n(tensor.shape, out.rank, out.shape.begin());
    const std::span<const i64> shape(out.shape.data(), out.rank);
    if (tensor.strides != nullptr)
        std::copy_n(tensor.strides, out.rank, out.strides.begin());
    else
        out.strides = row_major(shape);
    out.bytes = tensor_bytes(call, shape, {out.strides.data(), out.rank}, size_of(*type));
    // Broadcast tensors have more elements than memory.
    CheckedSize elements(1);
    for (const i64 extent : shape)
        elements = elements * static_cast<u64>(extent);
    if (out.bytes > 0 && !elements.fits(max_bytes)) refuse_size(call, elements.value(), size_of(*type));
    return out;
}

void detail::check_memory(const char* call, std::string_view subject, const dlpack::Tensor& tensor,
                          u64 bytes) {
    using dlpack::DeviceType;
    constexpr DeviceType known[] = {DeviceType::cpu, DeviceType::cuda, DeviceType::cuda_host,
                                    DeviceType::opencl, DeviceType::cuda_managed};
    if (std::find(std::begin(known), std::end(known), tensor.device.type) == std::end(known))
        throw Error(ErrorCode::wrong_device, call,
                    std::string(subject) + " is on " + dlpack::name_of(tensor.device) +
                        "; supported are CPU, CUDA and OpenCL devices");
    if (bytes == 0) return;
    if (tensor.data == nullptr)
        throw Error(ErrorCode::invalid_argument, call,
                    std::string(subject) + " has " + std::to_string(bytes) + " bytes at a null pointer");
    // The data of OpenCL are a handle.
    const u64 base =
        tensor.device.type == DeviceType::opencl ? 0 : reinterpret_cast<std::uintptr_t>(tensor.data);
    const CheckedSize end = CheckedSize(base) + tensor.byte_offset + bytes;
    if (!end.fits(max_bytes))
        throw Error(ErrorCode::invalid_argument, call,
                    std::string(subject) + " has a byte offset of " + std::to_string(tensor.byte_offset) +
                        ", with which " + std::to_string(bytes) + " bytes exceed the address space");
    // No system has memory in the first page. Rounded down to the alignment of a base, the address would be null.
    constexpr u64 first_page = 4096;
    if (tensor.device.type != DeviceType::opencl && base + tensor.byte_offset < first_page)
        throw Error(ErrorCode::invalid_argument, call,
                    std::string(subject) + " has " + std::to_string(bytes) + " bytes at the address " +
                        std::to_string(base + tensor.byte_offset) + ", where no memory is");
}

std::pair<std::shared_ptr<Buffer>, u64> detail::adopt_tensor(Device& device, const dlpack::Tensor& tensor,
                                                             u64 bytes, bool read_only, bool verify,
                                                             Task release) {
    constexpr const char* call = "from_dlpack";
    using dlpack::DeviceType;
    const DeviceType type = tensor.device.type;
    const dlpack::Device own = dlpack_device(device);
    const bool on_host = type == DeviceType::cpu || type == DeviceType::cuda_host;
    // The number of an OpenCL device differs between libraries; its context tells.
    const bool fits = on_host || (type == DeviceType::cuda_managed && own.type == DeviceType::cuda) ||
                      (type == own.type && type != DeviceType{} &&
                       (type == DeviceType::opencl || tensor.device.id == own.id));
    if (!fits)
        throw Error(
            ErrorCode::wrong_device, call,
            "tensor on " + dlpack::name_of(tensor.device) + "; the device is " + device.info().selector);
    if (type == DeviceType::opencl) {
        auto buffer = device.adopt({.handle = tensor.data,
                                    .bytes = tensor.byte_offset + bytes,
                                    .read_only = read_only,
                                    .release = std::move(release)});
        return {buffer, tensor.byte_offset};
    }
    ForeignMemory memory{.handle = static_cast<std::byte*>(tensor.data) + tensor.byte_offset,
                         .bytes = bytes,
                         .read_only = read_only,
                         .verify = verify,
                         .release = std::move(release)};
    auto buffer = on_host ? device.adopt_host(std::move(memory)) : device.adopt(std::move(memory));
    const u64 begin = buffer->begin();
    return {std::move(buffer), begin};
}

namespace {

template <class Managed>
Tensor import_tensor(Device& device, Managed* managed, const dlpack::Tensor& tensor, bool read_only) {
    constexpr const char* call = "from_dlpack";
    const detail::DescribedTensor described = detail::described(call, "the tensor", tensor);
    detail::check_memory(call, "the tensor", tensor, described.bytes);
    const std::span<const i64> shape(described.shape.data(), described.rank),
        strides(described.strides.data(), described.rank);
    const Type type = described.boolean ? Type::boolean : described.type;
    // Until all checks have passed, the caller keeps the tensor.
    const auto is_ours = std::make_shared<bool>(false);
    auto release = [managed, is_ours] {
        if (*is_ours && managed->deleter != nullptr) managed->deleter(managed);
    };
    if (described.bytes == 0) {
        Tensor empty(nullptr, 0, type, shape, strides);
        *is_ours = true;
        release();
        return empty;
    }
    // The data of OpenCL are a handle.
    const std::uintptr_t base =
        tensor.device.type == dlpack::DeviceType::opencl ? 0 : reinterpret_cast<std::uintptr_t>(tensor.data);
    if ((base + tensor.byte_offset) % size_of(described.type) != 0)
        throw Error(ErrorCode::invalid_argument, call,
                    "memory that is not aligned to its elements of " + std::string(name_of(described.type)));
    auto adopted = detail::adopt_tensor(device, tensor, described.bytes, read_only, true, release);
    Tensor imported(std::move(adopted.first), adopted.second, type, shape, strides);
    *is_ours = true;
    return imported;
}

}  // namespace

Tensor from_dlpack(Device& device, dlpack::ManagedTensor* managed) {
    if (managed == nullptr)
        throw Error(ErrorCode::invalid_argument, "from_dlpack", "null pointer; pass a tensor");
    if (managed->version.major != 1)
        throw Error(ErrorCode::unsupported, "from_dlpack",
                    "DLPack version " + std::to_string(managed->version.major) + "." +
                        std::to_string(managed->version.minor) + "; supported is 1.x");
    return import_tensor(device, managed, managed->tensor, (managed->flags & dlpack::flag_read_only) != 0);
}

Tensor from_dlpack(Device& device, dlpack::LegacyTensor* managed) {
    if (managed == nullptr)
        throw Error(ErrorCode::invalid_argument, "from_dlpack", "null pointer; pass a tensor");
    return import_tensor(device, managed, managed->tensor, false);
}

dlpack::ManagedTensor* to_dlpack(const Tensor& tensor) {
    if (!tensor.buffer() && tensor.size() > 0)
        throw Error(ErrorCode::invalid_argument, "to_dlpack",
                    "tensor without a buffer; it was never allocated");
    auto exported = std::make_unique<Exported>();
    exported->tensor = tensor;
    std::copy(tensor.shape().begin(), tensor.shape().end(), exported->shape.begin());
    std::copy(tensor.strides().begin(), tensor.strides().end(), exported->strides.begin());
    dlpack::ManagedTensor& managed = exported->managed;
    managed.context = exported.get();
    managed.deleter = [](dlpack::ManagedTensor* self) { delete static_cast<Exported*>(self->context); };
    managed.tensor.rank = static_cast<i32>(tensor.shape().size());
    managed.tensor.type = dlpack::data_type_of(tensor.type());
    managed.tensor.shape = exported->shape.data();
    managed.tensor.strides = exported->strides.data();
    if (const std::shared_ptr<Buffer>& buffer = tensor.buffer(); buffer != nullptr) {
        managed.tensor.device = detail::dlpack_device(*buffer);
        if (managed.tensor.device.type == dlpack::DeviceType{})
            throw Error(ErrorCode::unsupported, "to_dlpack",
                        "other libraries do not know the memory of " + buffer->device().info().selector +
                            "; copy it to the host");
        const bool by_address = managed.tensor.device.type != dlpack::DeviceType::opencl;
        managed.tensor.data = by_address && buffer->kind() == Buffer::Kind::host ? buffer->host_pointer()
                                                                                 : buffer->native_handle();
        managed.tensor.byte_offset = tensor.size() == 0 ? 0 : tensor.offset();
        if (buffer->read_only()) managed.flags |= dlpack::flag_read_only;
    }
    // Many consumers ignore byte_offset.
    if (managed.tensor.device.type != dlpack::DeviceType::opencl && managed.tensor.data != nullptr) {
        managed.tensor.data = static_cast<std::byte*>(managed.tensor.data) + managed.tensor.byte_offset;
        managed.tensor.byte_offset = 0;
    }
    return &exported.release()->managed;
}

namespace {

// The last `rank` dimensions of a volume in the memory of its owner.
dlpack::ManagedTensor* exported_view(const VolumeView& v, const std::shared_ptr<Buffer>& owner,
                                     std::size_t rank) {
    if (v.range.buffer != owner.get())
        throw Error(ErrorCode::invalid_argument, "to_dlpack", "the view is in another buffer than its owner");
    const bool by_rows = v.layout == Layout::row_major;
    const i64 pitch = static_cast<i64>(v.pitch);
    const i64 shape[] = {static_cast<i64>(v.depth), static_cast<i64>(v.rows), static_cast<i64>(v.columns)};
    const i64 strides[] = {static_cast<i64>(v.plane_pitch), by_rows ? pitch : 1, by_rows ? 1 : pitch};
    return to_dlpack(Tensor(owner, v.range.offset, v.range.type, std::span(shape).last(rank),
                            std::span(strides).last(rank)));
}

}  // namespace

dlpack::ManagedTensor* to_dlpack(const VolumeView& volume, const std::shared_ptr<Buffer>& owner) {
    return exported_view(detail::checked_volume("to_dlpack", "volume", volume), owner, 3);
}

dlpack::ManagedTensor* to_dlpack(const MatrixView& matrix, const std::shared_ptr<Buffer>& owner) {
    return exported_view(detail::checked_matrix("to_dlpack", "matrix", matrix), owner, 2);
}

}  // namespace concord
