#pragma once
/// Typed views of buffers, and the typed forms of what core does in bytes.

#include <concord/device.hpp>

#include <concepts>
#include <span>
#include <string>
#include <vector>

namespace concord {

/// A range of elements in a buffer, type known at run time only. Does not own.
struct View {
    Buffer* buffer = nullptr;
    u64 offset = 0;  ///< bytes from the buffer's base
    u64 count = 0;   ///< elements
    Type type = Type::u8;

    u64 bytes() const { return count * size_of(type); }
    Device& device() const { return buffer->device(); }
    /// Elements [first, first + n); throws invalid_argument if they are not there.
    View part(u64 first, u64 n) const;
};

namespace detail {
/// Throws invalid_argument unless the view's range lies in its buffer and is aligned to its element.
void check_view(const char* call, const char* name, const View& view);
}  // namespace detail
/// Whether two views share a byte.
bool overlap(const View& a, const View& b);

/// A range of T in a buffer. Does not own; any element offset works. A Span<T> converts to a Span<const T>.
template <class T>
class Span {
  public:
    using Element = std::remove_const_t<T>;

    Span() = default;
    /// Throws invalid_argument if the range is not inside the buffer.
    Span(Buffer& buffer, u64 offset, u64 count)
        : Span(View{&buffer, bytes_at(offset), count, type_of<T>()}) {}
    /// The same range, typed. Throws invalid_argument if the view is of another type or not inside its
    /// buffer.
    explicit Span(const View& view) : view_(view) {
        if (view.type != type_of<T>())
            throw Error(ErrorCode::invalid_argument, "Span",
                        "the view is of " + std::string(name_of(view.type)) + ", the span of " +
                            std::string(name_of(type_of<T>())));
        detail::check_view("Span", "range", view_);
    }
    /// A Span<T> is a Span<const T>.
    Span(const Span<Element>& other) requires(std::is_const_v<T>) : view_(other.view()) {}

    u64 size() const { return view_.count; }
    const View& view() const { return view_; }
    /// Elements [first, first + count); throws invalid_argument if they are not there.
    Span part(u64 first, u64 count) const { return Span(view_.part(first, count)); }

  private:
    static u64 bytes_at(u64 offset) {
        if (offset > ~u64{0} / sizeof(T))
            throw Error(ErrorCode::invalid_argument, "Span",
                        "offset " + std::to_string(offset) + " overflows 64-bit sizes");
        return offset * sizeof(T);
    }

    View view_{nullptr, 0, 0, type_of<T>()};
};

/// An owned array of T on a device: a buffer and its count.
template <class T>
class Array {
  public:
    using Element = T;

    Array() = default;
    /// Contents undefined. Throws invalid_argument if the size overflows 64 bits, out_of_memory.
    Array(Device& device, u64 count) : buffer_(device.allocate(bytes_of(count))), count_(count) {}
    /// Scratch of a stream, see Device::allocate.
    Array(Stream& stream, u64 count) : buffer_(stream.scratch(bytes_of(count))), count_(count) {}
    /// Filled with the host's values; they are free again when this returns.
    Array(Stream& stream, std::span<const T> values) : Array(stream, values.size()) {
        stream.write(*buffer_, 0, values.data(), values.size_bytes());
        stream.synchronize();
    }
    Array(Stream& stream, const std::vector<T>& values) : Array(stream, std::span<const T>(values)) {}

    u64 size() const { return count_; }
    const std::shared_ptr<Buffer>& buffer() const { return buffer_; }
    View view() const { return {buffer_.get(), 0, count_, type_of<T>()}; }
    Span<T> span() const { return Span<T>(view()); }
    operator Span<T>() const { return span(); }
    operator Span<const T>() const { return span(); }

    /// The values, once the stream has got there.
    std::vector<T> to_host(Stream& stream) const {
        std::vector<T> values(count_);
        if (count_ == 0) return values;
        stream.read(values.data(), *buffer_, 0, count_ * sizeof(T));
        stream.synchronize();
        return values;
    }

  private:
    static u64 bytes_of(u64 count) {
        if (count > ~u64{0} / sizeof(T))
            throw Error(ErrorCode::invalid_argument, "Array",
                        std::to_string(count) + " elements overflow 64-bit sizes");
        return count * sizeof(T);
    }

    std::shared_ptr<Buffer> buffer_;
    u64 count_ = 0;
};

/// A value that a stream is still to deliver.
template <class T>
class Future {
  public:
    /// Enqueues the download of the first element of `from`.
    Future(Stream& stream, Span<const T> from)
        : host_(stream.device().allocate_host(sizeof(T))), event_(stream.device().create_event()) {
        stream.copy(*host_, 0, *from.view().buffer, from.view().offset, sizeof(T));
        stream.record(*event_);
    }
    bool ready() const { return event_->done(); }
    /// Waits for the value.
    T get() const {
        event_->synchronize();
        return *static_cast<const T*>(host_->host_pointer());
    }

  private:
    std::shared_ptr<Buffer> host_;
    std::shared_ptr<Event> event_;
};

/// What kind of thing the algorithms take as a range: anything with a view, whose element type is known.
template <class R>
concept Range = requires(const R& range) {
    typename R::Element;
    { range.view() } -> std::same_as<const View&>;
}
|| requires(const R& range) {
    typename R::Element;
    { range.view() } -> std::same_as<View>;
};

namespace detail {
/// The bytes of one value as a kernel argument, for example an operator's bound values.
struct ValueBytes {
    std::span<const std::byte> bytes;
};
inline KernelArgument argument(const View& view) {
    if (view.buffer == nullptr)
        throw Error(ErrorCode::invalid_argument, "launch", "a range without a buffer");
    return {
        .buffer = view.buffer, .offset = view.offset, .element_size = size_of(view.type), .type = view.type};
}
template <Range R>
KernelArgument argument(const R& range) {
    return argument(range.view());
}
inline KernelArgument argument(const ValueBytes& value) {
    return {.value = value.bytes.data(), .size = static_cast<u32>(value.bytes.size())};
}
template <class T>
requires is_element<T> KernelArgument argument(const T& value) {
    return {.value = &value, .size = sizeof(T), .type = type_of<T>()};
}
}  // namespace detail

/// Launches with spans, views, arrays and scalar values as the kernel's arguments. Scalars must have exactly
/// the parameter's type: write u64{n}, not n, where they differ. The types are compared, see KernelArgument.
template <class... A>
void launch(Stream& stream, const Kernel& kernel, const LaunchShape& shape, const A&... arguments) {
    const KernelArgument list[] = {detail::argument(arguments)..., KernelArgument{}};
    stream.launch(kernel, shape, std::span(list, sizeof...(A)));
}

}  // namespace concord
