#pragma once
/// @file
/// Typed views of buffers, owned arrays, and the typed launch().

#include <concord/detail/checked_size.hpp>
#include <concord/device.hpp>

#include <concepts>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace concord {

namespace detail {
// Throws invalid_argument: a range or array has no buffer.
[[noreturn]] void refuse_no_buffer(const char* call);
[[noreturn]] void refuse_moved(const char* call);
// Throws unsupported if the stream is recording. For calls whose result reaches the host.
void check_delivers(const Stream& stream, const char* call);
}  // namespace detail

/// A range of elements in a buffer, whose type is known at run time. Does not own the buffer.
struct View {
    Buffer* buffer = nullptr;     ///< the buffer; may be null if count is 0
    u64 offset = 0;               ///< bytes from the buffer's base
    u64 count = 0;                ///< elements
    ElementType type = Type::u8;  ///< what the elements are

    /// The size in bytes. At most 2^60 for a range that lies in its buffer.
    u64 bytes() const { return count * size_of(type); }
    /// The device of the buffer. Throws invalid_argument without a buffer.
    Device& device() const {
        if (buffer == nullptr) [[unlikely]]
            detail::refuse_no_buffer("View::device");
        return buffer->device();
    }
    /// Elements [first, first + n). Throws invalid_argument if they are out of range.
    View part(u64 first, u64 n) const;
};

namespace detail {
// Throws invalid_argument unless the view's range lies in its buffer and is aligned to its elements.
void check_view(std::string_view call, std::string_view name, const View& view);
}  // namespace detail
/// Whether two views have a byte in common. Throws invalid_argument if they overlap in two buffers that alias
/// (Device::adopt), if that is detectable.
bool overlap(const View& a, const View& b);

namespace detail {
// The elements of a range of T.
template <class T>
constexpr ElementType range_type() {
    static_assert(is_element<std::remove_cv_t<T>> || sizeof(T) <= 64,
                  "a struct has more than 64 bytes, the limit of an element of a range");
    return element_type_of<T>();
}
}  // namespace detail

/// A range of elements of type T in a buffer. Does not own the buffer. A Span<T> converts to a Span<const T>.
template <class T>
class Span {
  public:
    /// The element type without const.
    using Element = std::remove_const_t<T>;

    /// An empty span.
    Span() = default;
    /// Elements [offset, offset + count) of a buffer of T. Throws invalid_argument if they are out of range.
    Span(Buffer& buffer, u64 offset, u64 count)
        : Span(View{&buffer, detail::checked_bytes("Span", offset, sizeof(T)), count,
                    detail::range_type<T>()}) {}
    /// The range of a view. Throws invalid_argument if the view has another type or exceeds its buffer.
    explicit Span(const View& view) : view_(view) {
        if (view.type != detail::range_type<T>())
            throw Error(ErrorCode::invalid_argument, "Span",
                        "wrong element type, got a view of " + std::string(name_of(view.type)) +
                            "; expected " + std::string(name_of(detail::range_type<T>())));
        detail::check_view("Span", "range", view_);
    }
    /// Converts a Span<T> to a Span<const T>.
    template <std::same_as<Element> U>
    requires(std::is_const_v<T>) Span(const Span<U>& other) : view_(other.view()) {}

    /// The number of elements.
    u64 size() const { return view_.count; }
    /// The span as a view.
    const View& view() const { return view_; }
    /// Elements [first, first + count). Throws invalid_argument if they are out of range.
    Span part(u64 first, u64 count) const { return Span(view_.part(first, count)); }

  private:
    View view_{nullptr, 0, 0, detail::range_type<T>()};
};

/// An array of T on a device, which owns its buffer. It moves, and clone() copies. An array that was moved from keeps
/// its size and has no buffer: calls that use its elements throw invalid_argument.
///
///     Array<f32> four(stream, 4);        // 4 elements, undefined
///     Array<f32> values(stream, {4});    // one element: 4
template <class T>
class Array {
  public:
    /// The element type.
    using Element = T;

    /// An array without a buffer.
    Array() = default;
    /// Allocates `count` elements. Contents are undefined. Throws out_of_memory, and invalid_argument if the size
    /// exceeds 2^60 bytes, more than any processor can address.
    Array(Device& device, u64 count) : buffer_(device.allocate(bytes_of(count))), count_(count) {}
    /// Allocates `count` elements whose first use is on the stream; see Device::allocate.
    Array(Stream& stream, u64 count) : buffer_(stream.scratch(bytes_of(count))), count_(count) {}
    /// The first `count` elements of a buffer that is shared with other owners. Throws invalid_argument if the buffer
    /// is too small, or if its memory is not aligned to the elements.
    Array(std::shared_ptr<Buffer> buffer, u64 count)
        : buffer_(std::move(buffer)), offset_(buffer_ ? buffer_->begin() : 0), count_(count) {
        detail::check_view("Array", "array", view());
    }
    /// Allocates an array and copies host values to it. Blocks until the values are copied.
    Array(Stream& stream, std::span<const T> values) : Array(stream, values.size()) {
        stream.write(*buffer_, 0, values.data(), values.size_bytes());
        stream.synchronize();
    }
    /// Allocates an array and copies host values to it. Blocks until the values are copied.
    Array(Stream& stream, const std::vector<T>& values) : Array(stream, values.size()) {
        if constexpr (std::is_same_v<T, bool>) {
            const std::vector<u8> bytes(values.begin(), values.end());
            stream.write(*buffer_, 0, bytes.data(), bytes.size());
            stream.synchronize();
        } else {
            stream.write(*buffer_, 0, values.data(), values.size() * sizeof(T));
            stream.synchronize();
        }
    }
    /// Allocates an array and copies the listed values to it. Blocks until the values are copied.
    Array(Stream& stream, std::initializer_list<T> values)
        : Array(stream, std::span<const T>(values.begin(), values.size())) {}
    Array(const Array&) = delete;             // arrays move; clone(stream) copies
    Array& operator=(const Array&) = delete;  // arrays move; clone(stream) copies
    /// Takes the other array's buffer.
    Array(Array&&) noexcept = default;
    /// Takes the other array's buffer.
    Array& operator=(Array&&) noexcept = default;
    ~Array() = default;

    /// An array on host memory of another owner, without a copy; see Device::adopt_host. The memory must stay valid
    /// until the work that uses it is done.
    static Array borrow(Device& device, std::span<T> memory) {
        if (memory.empty()) return {};
        return Array(device.adopt_host({.handle = memory.data(), .bytes = memory.size_bytes()}),
                     memory.size());
    }
    /// The same for memory that calls may only read.
    static Array borrow(Device& device, std::span<const T> memory) {
        if (memory.empty()) return {};
        return Array(
            device.adopt_host(
                {.handle = const_cast<T*>(memory.data()), .bytes = memory.size_bytes(), .read_only = true}),
            memory.size());
    }
    /// An array on memory of another owner, without a copy: all whole elements of the memory. See Device::adopt.
    static Array adopt(Device& device, ForeignMemory memory) {
        const u64 count = memory.bytes / sizeof(T);
        return Array(device.adopt(std::move(memory)), count);
    }

    /// A new array with a copy of the elements. Asynchronous. Moves 2 bytes per byte. Throws like Array and
    /// Stream::copy, and invalid_argument if the array was moved from.
    Array clone(Stream& stream) const {
        Array copy(stream, count_);
        if (count_ == 0) return copy;
        if (!buffer_) detail::refuse_no_buffer("Array::clone");
        stream.copy(*copy.buffer_, 0, *buffer_, offset_, count_ * sizeof(T));
        return copy;
    }

    /// The number of elements.
    u64 size() const { return count_; }
    /// The buffer. The elements begin at its begin(), which is 0 except for adopted memory.
    const std::shared_ptr<Buffer>& buffer() const { return buffer_; }
    /// All elements as a view.
    View view() const {
        return {.buffer = buffer_.get(), .offset = offset_, .count = count_, .type = detail::range_type<T>()};
    }
    /// All elements as a span. Not of a temporary array, which would be gone at the end of the statement.
    Span<T> span() const& { return Span<T>(view()); }
    Span<T> span() const&& = delete;  // keep the array in a variable
    /// All elements as a span. Not of a temporary array.
    operator Span<T>() const& { return span(); }
    operator Span<T>() const&& = delete;  // keep the array in a variable
    /// All elements as a span of constants. Not of a temporary array.
    operator Span<const T>() const& { return span(); }
    operator Span<const T>() const&& = delete;  // keep the array in a variable

    /// Copies the values to the host. Blocks until the stream has executed its work and the copy. Throws
    /// invalid_argument if the array was moved from, and unavailable on a compile-only device.
    std::vector<T> to_host(Stream& stream) const {
        if (count_ == 0) return {};
        if (!buffer_) detail::refuse_no_buffer("Array::to_host");
        std::vector<std::conditional_t<std::is_same_v<T, bool>, u8, T>> values(count_);
        stream.read(values.data(), *buffer_, offset_, count_ * sizeof(T));
        stream.synchronize();
        if constexpr (std::is_same_v<T, bool>) {
            std::vector<bool> truths(count_);
            for (u64 i = 0; i < count_; ++i)
                truths[i] = values[i] != 0;
            return truths;
        } else {
            return values;
        }
    }

  private:
    static u64 bytes_of(u64 count) { return detail::checked_bytes("Array", count, sizeof(T)); }

    std::shared_ptr<Buffer> buffer_;
    u64 offset_ = 0;  // bytes
    u64 count_ = 0;
};

/// A value that a stream delivers to the host later.
template <class T>
class Future {
  public:
    /// Enqueues a copy of the first element of `from` to page-locked memory. Asynchronous. Throws invalid_argument if
    /// `from` is empty, and unavailable on a compile-only device.
    Future(Stream& stream, Span<const T> from)
        : host_(stream.device().allocate_host(sizeof(T))), event_(stream.device().create_event()) {
        if (from.size() == 0)
            throw Error(ErrorCode::invalid_argument, "Future", "empty range; pass a range of one element");
        stream.copy(*host_, 0, *from.view().buffer, from.view().offset, sizeof(T));
        stream.record(*event_);
    }
    /// Whether the value has arrived. Does not block. Throws invalid_argument if the future was moved from.
    bool ready() const {
        if (!event_) detail::refuse_moved("Future::ready");
        return event_->done();
    }
    /// Blocks until the value has arrived, and returns it. Throws invalid_argument if the future was moved from.
    T get() const {
        if (!event_) detail::refuse_moved("Future::get");
        event_->synchronize();
        if constexpr (std::is_same_v<T, bool>) {
            return *static_cast<const u8*>(host_->host_pointer()) != 0;
        } else {
            return *static_cast<const T*>(host_->host_pointer());
        }
    }

  private:
    std::shared_ptr<Buffer> host_;
    std::shared_ptr<Event> event_;
};

namespace detail {
// Whether ranges have one element type, constant or not.
template <class First, class... Others>
inline constexpr bool same_elements = (std::is_same_v<std::remove_const_t<typename First::Element>,
                                                      std::remove_const_t<typename Others::Element>> &&
                                       ...);
}  // namespace detail

/// A range argument of an algorithm: a type with a member type Element and a view(), such as Span and Array.
template <class R>
concept Range = requires(const R& range) {
    typename R::Element;
    { range.view() } -> std::same_as<const View&>;
}
|| requires(const R& range) {
    typename R::Element;
    { range.view() } -> std::same_as<View>;
};

/// Whether an algorithm may write to a range of this type. Specialise it as false for your own ranges of constants.
template <class R>
inline constexpr bool is_writable_range = true;
/// Spans of constants are not writable.
template <class T>
inline constexpr bool is_writable_range<Span<const T>> = false;

/// A range to which an algorithm may write: elements are not constant.
template <class R>
concept OutputRange = Range<R> && is_writable_range<R>;

namespace detail {
// The bytes of one value as a kernel argument, for example an operator's bound values.
struct ValueBytes {
    std::span<const std::byte> bytes;
};
// The argument of a view whose buffer may be null.
inline KernelArgument unchecked_argument(const View& view) {
    return {.buffer = view.buffer,
            .offset = view.offset,
            .count = view.count,
            .element_size = size_of(view.type),
            .type = view.type};
}
inline KernelArgument argument(const View& view) {
    if (view.buffer == nullptr) refuse_no_buffer("launch");
    return unchecked_argument(view);
}
template <Range R>
KernelArgument argument(const R& range) {
    return argument(range.view());
}
inline KernelArgument argument(const ValueBytes& value) {
    return {.value = value.bytes.data(), .size = static_cast<u32>(value.bytes.size())};
}
template <class T>
requires(is_element<T> || IsStruct<T>) KernelArgument argument(const T& value) {
    return {.value = &value, .size = sizeof(T), .type = element_type_of<T>()};
}
}  // namespace detail

namespace detail {
// `value` points to an element of the view's type.
void fill_view(Stream& stream, const View& out, const void* value);
}  // namespace detail

/// Fills a range with a value. Asynchronous. A value whose bytes repeat after 1, 2, 4 or 8, as those of all element
/// types do, costs one Stream::fill. A struct with other bytes is written to the first element and copied from there
/// in steps of doubled length: each element is read and written once. Throws invalid_argument (range, read-only
/// memory), wrong_device.
template <OutputRange Out>
void fill(Stream& stream, const Out& out, const typename Out::Element& value) {
    detail::fill_view(stream, out.view(), &value);
}
/// The same for a view. Throws invalid_argument unless T is the type of its elements.
template <class T>
requires(is_element<T> || IsStruct<T>) void fill(Stream& stream, const View& out, const T& value) {
    (void)Span<T>(out);
    detail::fill_view(stream, out, &value);
}

/// Launches a kernel with spans, views, arrays and scalar values as arguments. Asynchronous.
///
/// Scalars must have exactly the type of the parameter: write u64{n} for a u64. The launch compares the types as
/// described at KernelArgument. Throws like Stream::launch.
template <class... A>
void launch(Stream& stream, const Kernel& kernel, const LaunchShape& shape, const A&... arguments) {
    const KernelArgument list[] = {detail::argument(arguments)..., KernelArgument{}};
    stream.launch(kernel, shape, std::span(list, sizeof...(A)));
}

}  // namespace concord
