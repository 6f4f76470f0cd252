#include "device/access.hpp"
#include "memory/buffer_state.hpp"

#include <concord/backend/memory.hpp>
#include <concord/span.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

namespace concord {

void detail::refuse_size(std::string_view call, u64 count, u64 element_size) {
    throw Error(ErrorCode::invalid_argument, call,
                error_message("size exceeds 2^60 bytes",
                              std::to_string(count) + " elements of " + std::to_string(element_size) +
                                  (element_size == 1 ? " byte" : " bytes"),
                              "no device addresses more"));
}

void detail::refuse_no_buffer(const char* call) {
    throw Error(ErrorCode::invalid_argument, call,
                "range without a buffer; it was moved from or never allocated");
}

void detail::refuse_moved(const char* call) {
    throw Error(ErrorCode::invalid_argument, call, "the value was moved to another future; use that one");
}

void detail::check_delivers(const Stream& stream, const char* call) {
    if (stream.is_recording())
        throw Error(ErrorCode::unsupported, call,
                    "a result for the host cannot be recorded; use the form with an output range");
}

void detail::check_view(std::string_view call, std::string_view name, const View& view) {
    const auto refuse = [&](const std::string& what) {
        throw Error(ErrorCode::invalid_argument, call, std::string(name) + ": " + what);
    };
    if (view.buffer == nullptr) {
        if (view.count == 0) return;
        refuse("range without a buffer; it was moved from or never allocated");
    }
    // Kernels count offsets in elements.
    const u64 size = size_of(view.type);
    if (view.offset % size != 0)
        refuse("misaligned offset, got " + std::to_string(view.offset) + " bytes; expected a multiple of " +
               std::to_string(size));
    const CheckedSize end = CheckedSize(view.count) * size + view.offset;
    if (view.offset < view.buffer->begin() && view.count > 0)
        refuse("range begins before the adopted memory, got byte " + std::to_string(view.offset) +
               "; it begins at byte " + std::to_string(view.buffer->begin()));
    if (!end.fits(view.buffer->size()))
        refuse("range exceeds the buffer, got " + std::to_string(view.count) + " elements of " +
               std::string(name_of(view.type)) + " at byte " + std::to_string(view.offset) +
               "; the buffer has " + std::to_string(view.buffer->size()) + " bytes");
}

void detail::fill_view(Stream& stream, const View& out, const void* value) {
    check_view("fill", "out", out);
    if (out.count == 0) return;
    const auto* const bytes = static_cast<const std::byte*>(value);
    const u32 size = size_of(out.type), alignment = std::min(out.type.alignment(), 8u);
    for (u32 period = 1; period <= alignment; period *= 2) {
        if (std::equal(bytes + period, bytes + size, bytes)) {
            stream.fill(*out.buffer, out.offset, out.bytes(), bytes, period);
            return;
        }
    }
    for (u32 at = 0; at < size; at += alignment)
        stream.fill(*out.buffer, out.offset + at, alignment, bytes + at, alignment);
    for (u64 done = 1; done < out.count; done *= 2)
        stream.copy(*out.buffer, out.offset + done * size, *out.buffer, out.offset,
                    std::min(done, out.count - done) * size);
}

namespace {

// Throws if the views are on one memory that a buffer has adopted from another one, as far as addresses tell: kernels
// are told whether they work in place.
void refuse_adopted_twice(const View& a, const View& b) {
    if ((!detail::Access::state(*a.buffer).is_adopted && !detail::Access::state(*b.buffer).is_adopted) ||
        &a.buffer->device() != &b.buffer->device())
        return;
    backend::Memory &one = backend::memory_of(*a.buffer), &other = backend::memory_of(*b.buffer);
    const auto meet = [&](void* base, void* other_base) {
        const std::uintptr_t from = reinterpret_cast<std::uintptr_t>(base) + a.offset,
                             to = reinterpret_cast<std::uintptr_t>(other_base) + b.offset;
        return from < to + b.bytes() && to < from + a.bytes();
    };
    const auto both = [&](auto pointer) {
        return std::invoke(pointer, one) != nullptr && std::invoke(pointer, other) != nullptr;
    };
    using backend::Memory;
    const bool shared = both(&Memory::host_pointer)     ? meet(one.host_pointer(), other.host_pointer())
                        : both(&Memory::device_address) ? meet(one.device_address(), other.device_address())
                                                        : one.native_handle() == other.native_handle();
    if (!shared) return;
    throw Error(
        ErrorCode::invalid_argument, "overlap",
        "input and output are in memory that was adopted twice; adopt it once, and use parts of that buffer");
}

}  // namespace

bool overlap(const View& a, const View& b) {
    if (a.count == 0 || b.count == 0) return false;
    if (a.buffer != b.buffer) {
        if (a.buffer != nullptr && b.buffer != nullptr) refuse_adopted_twice(a, b);
        return false;
    }
    const auto begins_in = [](const View& one, const View& other) {
        const detail::CheckedSize end = detail::CheckedSize(other.count) * size_of(other.type) + other.offset;
        return !end.fits() || one.offset < end.value();
    };
    return begins_in(a, b) && begins_in(b, a);
}

View View::part(u64 first, u64 n) const {
    const detail::CheckedSize begin = detail::CheckedSize(first) * size_of(type) + offset;
    if (first > count || n > count - first || !begin.fits())
        throw Error(ErrorCode::invalid_argument, "View::part",
                    "range exceeds the view, got elements [" + std::to_string(first) + ", " +
                        std::to_string(first) + " + " + std::to_string(n) + "); the view has " +
                        std::to_string(count) + " elements");
    View result = *this;
    result.offset = begin.value();
    result.count = n;
    return result;
}

}  // namespace concord
