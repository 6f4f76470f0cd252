#pragma once
// What the calls of the fuzzer api share: the choices that its input makes, the buffer, and the comparison with the
// reference.

#include "fuzz.hpp"

#include <concord/concord.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

namespace concord::fuzz {

using Bytes = std::vector<std::byte>;
using u128 = unsigned __int128;

constexpr u64 buffer_bytes = 8192;

// The values that the fuzzer's input chooses. Zeros follow its end.
class Choices {
  public:
    explicit Choices(std::string_view bytes) : bytes_(bytes) {}
    u64 below(u64 n) {  // n <= 65536
        u64 value = byte();
        if (n > 256) value = value << 8 | byte();
        return value % n;
    }
    bool one_in(u64 n) { return below(n) == n - 1; }
    template <class Values>
    auto any(const Values& values) {
        return values[below(std::size(values))];
    }
    // A number that overflows products and sums.
    u64 huge() { return (u64{1} << below(64)) - below(2); }

  private:
    u64 byte() {
        if (bytes_.empty()) return 0;
        const char c = bytes_.front();
        bytes_.remove_prefix(1);
        return static_cast<unsigned char>(c);
    }
    std::string_view bytes_;
};

// What must happen.
enum class Outcome { works, refused, either };

inline bool fits(const View& view) {
    const u64 size = size_of(view.type);
    return view.offset % size == 0 && u128{view.offset} + u128{view.count} * size <= buffer_bytes;
}

template <class T>
T load(const Bytes& bytes, const View& view, u64 i) {
    T value;
    std::memcpy(&value, bytes.data() + view.offset + i * sizeof(T), sizeof value);
    return value;
}
template <class T>
void store(Bytes& bytes, const View& view, u64 i, T value) {
    std::memcpy(bytes.data() + view.offset + i * sizeof(T), &value, sizeof value);
}

// Calls f with a value of the element type.
template <class F>
void with_type(Type type, const F& f) {
    detail::visit_type(type, [&](auto tag) { f(typename decltype(tag)::type{}); });
}

// Integers wrap: they are computed in u64.
template <class T>
T wrapped(ReduceOp op, T a, T b) {
    using W = std::conditional_t<std::is_floating_point_v<T>, T, u64>;
    const W x = static_cast<W>(a), y = static_cast<W>(b);
    switch (op) {
        case ReduceOp::sum:
            return static_cast<T>(x + y);
        case ReduceOp::product:
            return static_cast<T>(x * y);
        case ReduceOp::min:
            return b < a ? b : a;
        default:
            return a < b ? b : a;
    }
}

class Machine {
  public:
    static Machine& get() {
        static Machine machine;
        return machine;
    }

    Device& device() { return *device_; }
    Stream& stream() { return *stream_; }
    Buffer& buffer() { return *buffer_; }
    // Contents before the call.
    const Bytes& before() const { return before_; }

    // Fills the buffer: with small whole numbers for a float type, so that sums of products are exact in any order,
    // otherwise with random bits.
    void fill(std::optional<Type> type, u64 seed) {
        u64 state = seed * 2 + 1;
        auto next = [&state] {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            return state;
        };
        const View all{buffer_.get(), 0, buffer_bytes, Type::u8};
        if (type == Type::f32 || type == Type::f64) {
            with_type(*type, [&](auto zero) {
                using T = decltype(zero);
                for (u64 i = 0; i < buffer_bytes / sizeof(T); ++i)
                    store<T>(before_, all, i, static_cast<T>(static_cast<int>(next() >> 60) - 7));
            });
        } else {
            for (u64 i = 0; i < buffer_bytes / 8; ++i)
                store<u64>(before_, all, i, next() * 0x9e3779b97f4a7c15);
        }
        std::memcpy(buffer_->host_pointer(), before_.data(), buffer_bytes);
    }

    // Replaces an element of the buffer.
    template <class T>
    void put(const View& view, u64 i, T value) {
        store(before_, view, i, value);
        std::memcpy(buffer_->host_pointer(), before_.data(), buffer_bytes);
    }
    // An element after the call.
    template <class T>
    T result(const View& view, u64 i) const {
        T value;
        std::memcpy(&value,
                    static_cast<const std::byte*>(buffer_->host_pointer()) + view.offset + i * sizeof(T),
                    sizeof value);
        return value;
    }

    // Calls the library, and the reference on a copy of the buffer. Both must give the same bytes.
    template <class Call, class Reference>
    void run(Outcome outcome, const Call& call, const Reference& reference) {
        Bytes expected = before_;
        try {
            call();
            stream_->synchronize();
            require(outcome != Outcome::refused, "an invalid call is refused");
            reference(expected);
        } catch (const Error& error) {
            require(error.code() == ErrorCode::invalid_argument || error.code() == ErrorCode::unsupported,
                    error.what());
            require(outcome != Outcome::works, error.what());
        }
        const auto* result = static_cast<const std::byte*>(buffer_->host_pointer());
        require(std::memcmp(result, expected.data(), buffer_bytes) == 0,
                "the result is that of the reference");
    }

  private:
    Machine() {
        ::setenv("CONCORD_THREADS", "2", 0);
        device_ = open_device("tbb");
        stream_ = device_->create_stream();
        buffer_ = device_->allocate(buffer_bytes);
        require(buffer_->host_pointer() != nullptr, "the CPU's buffers are host memory");
    }

    std::shared_ptr<Device> device_;
    std::shared_ptr<Stream> stream_;
    std::shared_ptr<Buffer> buffer_;
    Bytes before_ = Bytes(buffer_bytes);
};

// One call: its operands, and what must happen. api/NAME.cpp defines those of an algorithm with FUZZ_CALLS.
class Call {
  public:
    explicit Call(Choices& choices) : choices_(choices) {}

  protected:
    // A range. Most are valid; a few have a wrong offset or count.
    View range(Type type, u64 count) {
        const u64 size = size_of(type),
                  slots = count * size < buffer_bytes ? buffer_bytes / size - count + 1 : 1;
        View view{&machine_.buffer(), choices_.below(slots) * size, count, type};
        if (choices_.one_in(32)) (choices_.one_in(2) ? view.offset : view.count) = choices_.huge();
        if (!fits(view)) outcome_ = Outcome::refused;
        return view;
    }
    // The range of an output: a new one, or exactly that of an input.
    View output(const View& in, Type type, u64 count) {
        if (choices_.one_in(8) && in.count >= count) return {in.buffer, in.offset, in.count, type};
        return range(type, count);
    }
    // Whether the ranges are exactly the same; refuses any other overlap.
    bool in_place(const View& in, const View& out) {
        if (outcome_ == Outcome::refused || in.count == 0 || out.count == 0) return false;
        if (in.offset >= out.offset + out.bytes() || out.offset >= in.offset + in.bytes()) return false;
        if (in.offset == out.offset) return true;
        outcome_ = Outcome::refused;
        return false;
    }
    void no_overlap(const View& in, const View& out) {
        if (in_place(in, out)) outcome_ = Outcome::refused;
    }
    // The elements of a matrix or of a batch, as lines.
    struct Lines {
        View range;  // from the first element to the last
        u64 count, length, pitch;
        bool is_batch = false;
    };
    bool in_place(const Lines& in, const Lines& out) {
        const View &a = in.range, &b = out.range;
        if (outcome_ == Outcome::refused || a.count == 0 || b.count == 0 || !overlap(a, b)) return false;
        if (a.offset == b.offset) return true;
        if (in.is_batch || out.is_batch) {
            outcome_ = Outcome::refused;
            return false;
        }
        const u64 size = size_of(a.type);
        for (u64 i = 0; i < in.count; ++i) {
            for (u64 j = 0; j < out.count; ++j) {
                const u64 from = a.offset + i * in.pitch * size, to = b.offset + j * out.pitch * size;
                if (from >= to + out.length * size || to >= from + in.length * size) continue;
                outcome_ = Outcome::refused;
                return false;
            }
        }
        // The library compares the ranges of matrices with different pitches.
        if (in.pitch != out.pitch) may_fail();
        return false;
    }
    void no_overlap(const Lines& in, const Lines& out) {
        if (in_place(in, out)) outcome_ = Outcome::refused;
    }
    void may_fail() {
        if (outcome_ == Outcome::works) outcome_ = Outcome::either;
    }
    // `auto`, or any variant, which may not support the call.
    Options options(const Algorithm& algorithm) {
        if (!choices_.one_in(4)) return {};
        may_fail();
        return {.variant = std::string(algorithm.variants[choices_.below(algorithm.variants.size())]->name)};
    }
    void fill(std::optional<Type> type = {}) { machine_.fill(type, choices_.below(65536)); }
    // Calls the library, and the reference with the bytes of the buffer and a value of the type.
    template <class F, class Reference>
    void verify(Type type, const F& call, const Reference& reference) {
        machine_.run(outcome_, call,
                     [&](Bytes& to) { with_type(type, [&](auto zero) { reference(to, zero); }); });
    }
    Stream& stream() { return machine_.stream(); }
    const Bytes& before() { return machine_.before(); }
    // A number of elements that take up to this many bytes.
    u64 elements(Type type, u64 bytes) { return choices_.below(bytes / size_of(type) + 1); }
    // A type with arithmetic.
    Type any_type() {
        const Type type = choices_.any(all_types);
        return is_storage(type) ? accumulator_of(type) : type;
    }
    Type any_float() { return choices_.one_in(2) ? Type::f64 : Type::f32; }

    // Rows of a matrix: a pitch, and the elements from the first to the last.
    struct Rows {
        u64 pitch = 0, given = 0;
        u128 extent = 0;
    };
    Rows rows(u64 count, u64 columns) {
        Rows r;
        r.given = choices_.one_in(3) ? 0 : columns + choices_.below(6);
        if (choices_.one_in(32)) r.given = choices_.huge();
        r.pitch = r.given == 0 ? columns : r.given;
        if (r.pitch > buffer_bytes) may_fail();
        if (r.pitch < columns) outcome_ = Outcome::refused;
        if (count != 0 && columns != 0) r.extent = u128{count - 1} * r.pitch + columns;
        return r;
    }
    // A range for these rows; now and then too short.
    View matrix(Type type, u128 extent) {
        const u64 all = buffer_bytes / size_of(type);
        u64 count = extent > all ? all : static_cast<u64>(extent);
        count = std::min(all, count + choices_.below(3));
        if (count > 0 && choices_.one_in(32)) --count;
        const View view = range(type, count);
        if (extent > view.count) outcome_ = Outcome::refused;
        return view;
    }
    // The part of the range that the rows occupy.
    static View part(View view, u128 extent) {
        view.count = static_cast<u64>(std::min<u128>(extent, view.count));
        return view;
    }
    u64 side(u64 most) { return choices_.one_in(64) ? choices_.huge() : choices_.below(most); }
    // Products of floats would not be exact.
    ReduceOp any_op(Type type) {
        const ReduceOp op = choices_.any(all_reduce_ops);
        return is_float(type) && op == ReduceOp::product ? ReduceOp::sum : op;
    }

    Machine& machine_ = Machine::get();
    Choices& choices_;
    Outcome outcome_ = Outcome::works;
};

// The function call_NAME(), whose body is that of a member function of a Call.
#define FUZZ_CALLS(NAME)                 \
    namespace {                          \
    struct NAME##_calls : Call {         \
        using Call::Call;                \
        void run();                      \
    };                                   \
    }                                    \
    void call_##NAME(Choices& choices) { \
        NAME##_calls(choices).run();     \
    }                                    \
    void NAME##_calls::run()

}  // namespace concord::fuzz
