// Calls of the algorithms on ranges at any offset, with any pitch and in place, compared with plain loops. The input
// chooses the algorithm, the variant, types, shapes and places. All ranges are in one buffer, and the whole buffer is
// compared, so that a call that writes outside its output is found.

#include "fuzz.hpp"

#include <concord/concord.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

using namespace concord;
using namespace concord::fuzz;

namespace {

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
    template <class List>
    auto any(const List& values) {
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

bool fits(const View& view) {
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
    detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) { f(T{}); });
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

// One call.
class Call {
  public:
    explicit Call(Choices& choices) : choices_(choices) {}

    void run() {
        static constexpr void (Call::*calls[])() = {&Call::map,       &Call::add,       &Call::reduce,
                                                    &Call::scan,      &Call::compact,   &Call::sort,
                                                    &Call::transpose, &Call::histogram, &Call::matmul,
                                                    &Call::convolve,  &Call::stencil,   &Call::transfers};
        (this->*choices_.any(calls))();
    }

  private:
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
    Stream& stream() { return machine_.stream(); }
    const Bytes& before() { return machine_.before(); }
    // A number of elements that take up to this many bytes.
    u64 elements(Type type, u64 bytes) { return choices_.below(bytes / size_of(type) + 1); }
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

    void map() {
        const Type type = any_type();
        fill(type);
        const auto function = choices_.any(all_map_functions);
        const View in = range(type, elements(type, 2400)), out = output(in, type, in.count % 65536);
        if (in.count != out.count) outcome_ = Outcome::refused;
        if (function == MapFunction::sqrt && !is_float(type)) outcome_ = Outcome::refused;
        in_place(in, out);
        const Options asked = options(map_algorithm);
        machine_.run(
            outcome_, [&] { concord::map(stream(), in, out, function, asked); },
            [&](Bytes& to) {
                with_type(type, [&](auto zero) {
                    using T = decltype(zero);
                    for (u64 i = 0; i < in.count; ++i) {
                        const T x = load<T>(before(), in, i);
                        T y = x;
                        if (function == MapFunction::negate)
                            y = std::is_floating_point_v<T> ? -x : wrapped_negative(x);
                        if (function == MapFunction::abs && x < T{})
                            y = std::is_floating_point_v<T> ? -x : wrapped_negative(x);
                        if (function == MapFunction::square) y = wrapped(ReduceOp::product, x, x);
                        if constexpr (std::is_floating_point_v<T>) {
                            if (function == MapFunction::sqrt) y = std::sqrt(x);
                        }
                        store(to, out, i, y);
                    }
                });
            });
    }
    template <class T>
    static T wrapped_negative(T x) {
        return static_cast<T>(u64{0} - static_cast<u64>(x));
    }

    void add() {
        const Type type = any_type();
        fill(type);
        const View a = range(type, elements(type, 1000)), b = output(a, type, a.count % 65536),
                   out = output(b, type, a.count % 65536);
        if (a.count != out.count || b.count != out.count) outcome_ = Outcome::refused;
        in_place(a, out);
        in_place(b, out);
        const Options asked = options(add_algorithm);
        machine_.run(
            outcome_, [&] { concord::add(stream(), a, b, out, asked); },
            [&](Bytes& to) {
                with_type(type, [&](auto zero) {
                    using T = decltype(zero);
                    for (u64 i = 0; i < a.count; ++i)
                        store(to, out, i,
                              wrapped(ReduceOp::sum, load<T>(before(), a, i), load<T>(before(), b, i)));
                });
            });
    }

    // Products of floats would not be exact.
    ReduceOp any_op(Type type) {
        const ReduceOp op = choices_.any(all_reduce_ops);
        return is_float(type) && op == ReduceOp::product ? ReduceOp::sum : op;
    }

    void reduce() {
        const Type type = any_type();
        fill(type);
        const ReduceOp op = any_op(type);
        const View in = range(type, elements(type, 7000)), out = range(type, choices_.one_in(32) ? 2 : 1);
        if (out.count != 1) outcome_ = Outcome::refused;
        no_overlap(in, out);
        const Options asked = options(reduce_algorithm);
        machine_.run(
            outcome_, [&] { concord::reduce(stream(), in, out, op, asked); },
            [&](Bytes& to) {
                with_type(type, [&](auto zero) {
                    using T = decltype(zero);
                    T result = identity_of<T>(op);
                    for (u64 i = 0; i < in.count; ++i)
                        result = wrapped(op, result, load<T>(before(), in, i));
                    store(to, out, 0, result);
                });
            });
    }

    void scan() {
        const Type type = any_type();
        fill(type);
        const ReduceOp op = any_op(type);
        const ScanKind kind = choices_.one_in(2) ? ScanKind::exclusive : ScanKind::inclusive;
        const View in = range(type, elements(type, 3200)), out = output(in, type, in.count % 65536);
        if (in.count != out.count) outcome_ = Outcome::refused;
        in_place(in, out);
        const Options asked = options(scan_algorithm);
        machine_.run(
            outcome_, [&] { concord::scan(stream(), in, out, op, kind, asked); },
            [&](Bytes& to) {
                with_type(type, [&](auto zero) {
                    using T = decltype(zero);
                    T result = identity_of<T>(op);
                    for (u64 i = 0; i < in.count; ++i) {
                        const T next = wrapped(op, result, load<T>(before(), in, i));
                        store(to, out, i, kind == ScanKind::exclusive ? result : next);
                        result = next;
                    }
                });
            });
    }

    void compact() {
        const Type type = any_type();
        fill();
        const KeepRule rule = choices_.any(all_keep_rules);
        const bool partition = choices_.one_in(2);
        const View in = range(type, elements(type, 3200)),
                   out = output(in, type, in.count % 65536 + choices_.below(2)), count = range(Type::u64, 1);
        if (out.count < in.count || count.count != 1) outcome_ = Outcome::refused;
        if ((rule == KeepRule::even || rule == KeepRule::odd) && is_float(type)) outcome_ = Outcome::refused;
        if (in_place(in, out)) partition ? void(outcome_ = Outcome::refused) : may_fail();
        no_overlap(in, count);
        no_overlap(out, count);
        const Options asked = options(compact_algorithm);
        with_type(type, [&](auto zero) {
            using T = decltype(zero);
            const T limit = static_cast<T>(7);
            const Keep keep = detail::has_operand(rule) ? Keep(rule, limit) : Keep(rule);
            machine_.run(
                outcome_,
                [&] {
                    partition ? concord::partition(stream(), in, out, count, keep, asked)
                              : concord::compact(stream(), in, out, count, keep, asked);
                },
                [&](Bytes& to) {
                    u64 kept = 0;
                    for (const bool wanted : {true, false}) {
                        for (u64 i = 0; i < in.count && (wanted || partition); ++i) {
                            const T x = load<T>(before(), in, i);
                            if (keeps(rule, x, limit) == wanted) store(to, out, kept++, x);
                        }
                        if (wanted) store(to, count, 0, kept);
                    }
                });
        });
    }
    template <class T>
    static bool keeps(KeepRule rule, T x, T limit) {
        switch (rule) {
            case KeepRule::nonzero:
                return x != T{};
            case KeepRule::positive:
                return x > T{};
            case KeepRule::greater:
                return x > limit;
            case KeepRule::less:
                return x < limit;
            default:
                if constexpr (std::is_integral_v<T>) return (x % 2 == 0) == (rule == KeepRule::even);
                return false;
        }
    }

    void sort() {
        const Type type = any_type();
        const bool pairs = choices_.one_in(2);
        fill();
        SortBy by;
        by.stable = pairs;
        if (choices_.one_in(2)) by.order = SortOrder::descending;
        const u32 width = 8 * size_of(type);
        if (choices_.one_in(4)) {
            by.begin_bit = static_cast<u32>(choices_.below(width + 2));
            by.end_bit = static_cast<u32>(choices_.below(width + 2));
            if (by.begin_bit >= by.end_bit || by.end_bit > width) outcome_ = Outcome::refused;
        }
        const View in = range(type, elements(type, 1000)), out = output(in, type, in.count % 65536);
        if (in.count != out.count) outcome_ = Outcome::refused;
        const bool same = in_place(in, out);
        View values_in, values_out;
        if (pairs) {
            const Type value = any_type();
            values_in = range(value, in.count % 65536);
            values_out = same ? values_in : range(value, in.count % 65536);
            if (values_in.count != in.count || values_out.count != in.count) outcome_ = Outcome::refused;
            if (in_place(values_in, values_out) != same && in.count > 0) outcome_ = Outcome::refused;
            no_overlap(values_in, out);
            no_overlap(in, values_out);
            no_overlap(out, values_out);
        }
        const Options asked = options(sort_algorithm);
        machine_.run(
            outcome_,
            [&] {
                pairs ? concord::sort_pairs(stream(), in, values_in, out, values_out, by, asked)
                      : concord::sort(stream(), in, out, by, asked);
            },
            [&](Bytes& to) { sort_plainly(to, in, values_in, out, values_out, by, pairs); });
    }
    void sort_plainly(Bytes& to, const View& in, const View& values_in, const View& out,
                      const View& values_out, const SortBy& by, bool pairs) {
        const u32 width = 8 * size_of(in.type), end = std::min(by.end_bit, width);
        const u64 all = width == 64 ? ~u64{0} : (u64{1} << width) - 1, top = u64{1} << (width - 1);
        auto bits_at = [&](const View& view, u64 i) {
            u64 bits = 0;
            std::memcpy(&bits, before().data() + view.offset + i * size_of(view.type), size_of(view.type));
            return bits;
        };
        auto code = [&](u64 bits) {
            if (is_float(in.type)) return (bits & top) != 0 ? ~bits & all : bits | top;
            const bool is_signed =
                in.type == Type::i8 || in.type == Type::i16 || in.type == Type::i32 || in.type == Type::i64;
            return is_signed ? bits ^ top : bits;
        };
        auto key = [&](u64 i) {
            const u64 c = code(bits_at(in, i));
            const u64 upper = end == 64 ? c : c & ((u64{1} << end) - 1);
            return by.begin_bit >= end ? 0 : upper >> by.begin_bit;
        };
        std::vector<u64> order(in.count);
        for (u64 i = 0; i < in.count; ++i)
            order[i] = i;
        std::stable_sort(order.begin(), order.end(), [&](u64 a, u64 b) {
            return by.order == SortOrder::descending ? key(b) < key(a) : key(a) < key(b);
        });
        auto move = [&](const View& from, const View& target) {
            const u64 size = size_of(from.type);
            for (u64 i = 0; i < order.size(); ++i)
                std::memcpy(to.data() + target.offset + i * size,
                            before().data() + from.offset + order[i] * size, size);
        };
        move(in, out);
        if (pairs) move(values_in, values_out);
    }

    void transpose() {
        const Type type = any_type();
        fill();
        struct Shape {
            u64 rows, columns, in_pitch, out_pitch;
        } shape{};
        shape.rows = side(40);
        shape.columns = choices_.one_in(4) ? shape.rows : side(40);
        const Rows from = rows(shape.rows, shape.columns), to_rows = rows(shape.columns, shape.rows);
        shape.in_pitch = from.given;
        shape.out_pitch = to_rows.given;
        const View in = matrix(type, from.extent);
        View out = choices_.one_in(6) ? in : matrix(type, to_rows.extent);
        if (to_rows.extent > out.count) outcome_ = Outcome::refused;
        if (in_place({part(in, from.extent), shape.rows, shape.columns, from.pitch},
                     {part(out, to_rows.extent), shape.columns, shape.rows, to_rows.pitch})) {
            const bool square = shape.rows == shape.columns && from.pitch == to_rows.pitch;
            square ? may_fail() : void(outcome_ = Outcome::refused);
        }
        if (std::max(shape.rows, shape.columns) > buffer_bytes) may_fail();  // an empty matrix of many tiles
        const Options asked = options(transpose_algorithm);
        machine_.run(
            outcome_,
            [&] {
                concord::transpose(stream(), MatrixView{in, shape.rows, shape.columns, shape.in_pitch},
                                   MatrixView{out, shape.columns, shape.rows, shape.out_pitch}, asked);
            },
            [&](Bytes& to) {
                if (from.extent == 0) return;
                const u64 size = size_of(type);
                for (u64 r = 0; r < shape.rows; ++r) {
                    for (u64 c = 0; c < shape.columns; ++c)
                        std::memcpy(to.data() + out.offset + (c * to_rows.pitch + r) * size,
                                    before().data() + in.offset + (r * from.pitch + c) * size, size);
                }
            });
    }

    void histogram() {
        static constexpr Type counter_types[] = {Type::u16, Type::u32, Type::u64};
        const Type type = any_type();
        fill(type);
        const View in = range(type, elements(type, 4800)),
                   counters = range(choices_.any(counter_types), choices_.below(70));
        const u64 n = counters.count;
        if (n == 0) outcome_ = Outcome::refused;
        no_overlap(in, counters);
        const bool is_unsigned = concord::is_unsigned(type);
        u64 kind = choices_.below(3);
        if (!choices_.one_in(16)) kind = std::max<u64>(kind, is_float(type) ? 2 : is_unsigned ? 0 : 1);
        if (kind == 0 && !is_unsigned) outcome_ = Outcome::refused;
        if (kind == 1 && is_float(type)) outcome_ = Outcome::refused;
        const int lo = -static_cast<int>(choices_.below(20)), hi = lo + static_cast<int>(choices_.below(200));
        if (kind == 2 && lo >= hi) outcome_ = Outcome::refused;
        const HistogramBins bins = kind == 0   ? HistogramBins::modulo()
                                   : kind == 1 ? HistogramBins::identity()
                                               : HistogramBins::even(lo, hi);
        const Options asked = options(histogram_algorithm);
        machine_.run(
            outcome_, [&] { concord::histogram(stream(), in, counters, bins, asked); },
            [&](Bytes& to) {
                std::vector<u64> counts(n);
                with_type(type, [&](auto zero) {
                    using T = decltype(zero);
                    for (u64 i = 0; i < in.count; ++i) {
                        const T x = load<T>(before(), in, i);
                        if (const auto bin = bin_of(x, kind, n, lo, hi)) ++counts[*bin];
                    }
                });
                with_type(counters.type, [&](auto zero) {
                    using T = decltype(zero);
                    for (u64 b = 0; b < n; ++b)
                        store(to, counters, b, static_cast<T>(counts[b]));
                });
            });
    }
    template <class T>
    static std::optional<u64> bin_of(T x, u64 kind, u64 n, int lo, int hi) {
        if constexpr (std::is_floating_point_v<T>) {
            const T low = static_cast<T>(lo), scale = static_cast<T>(n) / static_cast<T>(hi - lo);
            if (!(x >= low && x < static_cast<T>(hi))) return std::nullopt;
            return std::min(n - 1, static_cast<u64>((x - low) * scale));
        } else {
            const __int128 value = x;
            if (kind == 0) return static_cast<u64>(value % n);
            if (kind == 1)
                return value >= 0 && value < n ? std::optional(static_cast<u64>(value)) : std::nullopt;
            if (value < lo || value >= hi) return std::nullopt;
            return static_cast<u64>((value - lo) * n / (hi - lo));
        }
    }

    void matmul() {
        const Type type = any_float();
        fill(type);
        const u64 m = side(12), n = side(20), k = side(20), batch = choices_.one_in(2) ? 1 : side(4);
        const MatmulScale scale{static_cast<f64>(choices_.below(4)) - 1,
                                static_cast<f64>(choices_.below(3)) - 1};
        struct Operand {
            Layout layout = Layout::row_major;
            Rows lines;
            u64 stride = 0;
            u128 extent = 0;
            VolumeView view = {};

            Lines elements() const {
                const bool is_row_major = layout == Layout::row_major;
                return {part(view.range, extent), is_row_major ? view.rows : view.columns,
                        is_row_major ? view.columns : view.rows, lines.pitch, view.depth != 1};
            }
            u64 at(u64 plane, u64 row, u64 column) const {
                const bool is_row_major = layout == Layout::row_major;
                return plane * stride + (is_row_major ? row : column) * lines.pitch +
                       (is_row_major ? column : row);
            }
        };
        auto operand = [&](u64 height, u64 columns, bool is_output) {
            Operand o;
            const bool is_row_major = choices_.one_in(2), is_shared = !is_output && choices_.one_in(4);
            o.layout = is_row_major ? Layout::row_major : Layout::column_major;
            o.lines = is_row_major ? rows(height, columns) : rows(columns, height);
            const u64 depth = is_shared ? 1 : batch;
            const u128 dense = u128{is_row_major ? height : columns} * o.lines.pitch;
            u64 stride = 0;  // dense
            if (choices_.one_in(2))
                stride =
                    is_output ? static_cast<u64>(o.lines.extent) + choices_.below(4) : choices_.below(60);
            if (choices_.one_in(64)) stride = choices_.huge();
            const u128 distance = stride == 0 ? dense : u128{stride};
            if (is_output && batch > 1 && distance < o.lines.extent) outcome_ = Outcome::refused;
            o.stride = is_shared ? 0 : static_cast<u64>(distance);
            // Saturated: the product may exceed 128 bits.
            const bool beyond = depth > 1 && distance > (u128{1} << 64) / depth;
            if (o.lines.extent != 0 && depth != 0)
                o.extent = beyond ? ~u128{0} : u128{depth - 1} * distance + o.lines.extent;
            o.view = {matrix(type, o.extent), depth, height, columns, o.lines.given, stride, o.layout};
            return o;
        };
        const Operand a = operand(m, k, false), b = operand(k, n, false), c = operand(m, n, true);
        if (k != 0) {
            no_overlap(a.elements(), c.elements());
            no_overlap(b.elements(), c.elements());
        }
        if (std::max({m, n, k, batch}) > buffer_bytes) may_fail();  // empty matrices of many tiles
        const Options asked = options(matmul_algorithm);
        machine_.run(
            outcome_, [&] { concord::matmul(stream(), a.view, b.view, c.view, scale, asked); },
            [&](Bytes& to) {
                if (c.extent == 0) return;
                with_type(type, [&](auto zero) {
                    using T = decltype(zero);
                    const T alpha = static_cast<T>(scale.alpha), beta = static_cast<T>(scale.beta);
                    for (u64 q = 0; q < batch; ++q) {
                        for (u64 i = 0; i < m; ++i) {
                            for (u64 j = 0; j < n; ++j) {
                                T t = 0;
                                for (u64 l = 0; l < k; ++l)
                                    t = std::fma(load<T>(before(), a.view.range, a.at(q, i, l)),
                                                 load<T>(before(), b.view.range, b.at(q, l, j)), t);
                                const u64 at = c.at(q, i, j);
                                t = beta == 0
                                        ? alpha * t
                                        : std::fma(alpha, t, beta * load<T>(before(), c.view.range, at));
                                store(to, c.view.range, at, t);
                            }
                        }
                    }
                });
            });
    }

    struct ImageShape {
        u64 rows = 0, columns = 0, in_pitch = 0, out_pitch = 0;
        ConvolveBorder border = ConvolveBorder::zero;
    };
    void convolve() {
        const Type type = any_float();
        fill(type);
        ImageShape s;
        s.rows = side(20);
        s.columns = side(40);
        s.border = choices_.one_in(2) ? ConvolveBorder::clamp : ConvolveBorder::zero;
        const Rows from = rows(s.rows, s.columns), to_rows = rows(s.rows, s.columns);
        s.in_pitch = from.given;
        s.out_pitch = to_rows.given;
        const View in = matrix(type, from.extent), out = matrix(type, to_rows.extent);
        no_overlap(Lines{part(in, from.extent), s.rows, s.columns, from.pitch},
                   Lines{part(out, to_rows.extent), s.rows, s.columns, to_rows.pitch});
        const u64 even = choices_.one_in(32) ? 1 : 0;
        const u64 mask_rows = 2 * choices_.below(4) + 1, mask_columns = 2 * choices_.below(4) + 1 + even;
        if (mask_rows % 2 == 0 || mask_columns % 2 == 0) outcome_ = Outcome::refused;
        if (std::max(s.rows, s.columns) > buffer_bytes) may_fail();
        Options asked = options(convolve_algorithm);
        if (asked.variant == "separable") asked.variant = "auto";  // rounds differently
        with_type(type, [&](auto zero) {
            using T = decltype(zero);
            if constexpr (std::is_floating_point_v<T>) {
                std::vector<T> mask(mask_rows * mask_columns);
                for (T& tap : mask)
                    tap = static_cast<T>(choices_.below(5)) - 2;
                machine_.run(
                    outcome_,
                    [&] {
                        concord::convolve(stream(), MatrixView{in, s.rows, s.columns, s.in_pitch},
                                          {mask, mask_rows, mask_columns},
                                          MatrixView{out, s.rows, s.columns, s.out_pitch}, s.border, asked);
                    },
                    [&](Bytes& to) {
                        if (from.extent == 0) return;
                        for (u64 y = 0; y < s.rows; ++y) {
                            for (u64 x = 0; x < s.columns; ++x) {
                                T t = 0;
                                for (u64 j = 0; j < mask_rows; ++j) {
                                    for (u64 i = 0; i < mask_columns; ++i)
                                        t = std::fma(mask[j * mask_columns + i],
                                                     cell<T>(in, from.pitch, s, y + j, mask_rows / 2, x + i,
                                                             mask_columns / 2),
                                                     t);
                                }
                                store(to, out, y * to_rows.pitch + x, t);
                            }
                        }
                    });
            }
        });
    }
    // The cell (y - up, x - left) of an image.
    template <class T>
    T cell(const View& in, u64 pitch, const ImageShape& s, u64 y, u64 up, u64 x, u64 left) {
        const bool outside = y < up || y - up >= s.rows || x < left || x - left >= s.columns;
        if (outside && s.border == ConvolveBorder::zero) return 0;
        const u64 row = y < up ? 0 : std::min(y - up, s.rows - 1),
                  column = x < left ? 0 : std::min(x - left, s.columns - 1);
        return load<T>(before(), in, row * pitch + column);
    }

    void stencil() {
        const Type type = any_float();
        fill(type);
        const VolumeExtents s{side(9), side(9), side(14)};
        u128 points = 0;
        if (s.depth != 0 && s.rows != 0 && s.columns != 0) {
            points = u128{s.depth} * s.rows;
            points = points > (u128{1} << 64) ? points : points * s.columns;
        }
        const View in = matrix(type, points), out = matrix(type, points);
        no_overlap(part(in, points), part(out, points));
        const u64 steps = points == 0 ? side(4) : choices_.below(4);
        if (std::max({s.depth, s.rows, s.columns}) > buffer_bytes) may_fail();
        std::vector<f64> star(2 + choices_.below(4));
        for (f64& c : star)
            c = (static_cast<f64>(choices_.below(9)) - 4) / 8;
        const Options asked = options(stencil_algorithm);
        machine_.run(
            outcome_,
            [&] {
                concord::stencil(stream(), VolumeView{in, s.depth, s.rows, s.columns}, StarCoefficients(star),
                                 VolumeView{out, s.depth, s.rows, s.columns}, steps, asked);
            },
            [&](Bytes& to) {
                if (points == 0) return;
                with_type(type, [&](auto zero) {
                    using T = decltype(zero);
                    std::vector<T> now(static_cast<u64>(points));
                    for (u64 i = 0; i < now.size(); ++i)
                        now[i] = load<T>(before(), in, i);
                    for (u64 step = 0; step < steps; ++step)
                        now = stepped(now, s, star);
                    for (u64 i = 0; i < now.size(); ++i)
                        store(to, out, i, now[i]);
                });
            });
    }
    template <class T>
    static std::vector<T> stepped(const std::vector<T>& v, const VolumeExtents& s,
                                  const std::vector<f64>& star) {
        std::vector<T> next(v.size());
        auto at = [&](u64 z, u64 y, u64 x) {  // coordinates below 0 wrap to huge ones
            return z < s.depth && y < s.rows && x < s.columns ? v[(z * s.rows + y) * s.columns + x] : T{};
        };
        for (u64 z = 0; z < s.depth; ++z) {
            for (u64 y = 0; y < s.rows; ++y) {
                for (u64 x = 0; x < s.columns; ++x) {
                    T t = static_cast<T>(star[0]) * at(z, y, x);
                    for (u64 r = 1; r < star.size(); ++r) {
                        const T along_x = at(z, y, x - r) + at(z, y, x + r),
                                along_y = at(z, y - r, x) + at(z, y + r, x),
                                along_z = at(z - r, y, x) + at(z + r, y, x);
                        t = std::fma(static_cast<T>(star[r]), (along_x + along_y) + along_z, t);
                    }
                    next[(z * s.rows + y) * s.columns + x] = t;
                }
            }
        }
        return next;
    }

    // Stream::write, read, copy and fill, and parts of views.
    void transfers() {
        fill();
        const View whole = range(any_type(), choices_.below(300));
        if (outcome_ == Outcome::refused) return;
        const u64 first = side(whole.count + 2), count = side(whole.count - std::min(first, whole.count) + 2);
        View view;
        const bool inside = u128{first} + count <= whole.count;
        if (accepts(ErrorCode::invalid_argument, [&] { view = whole.part(first, count); }) != inside)
            require(false, "a part is within its view");
        if (!inside) return;
        require(view.offset == whole.offset + first * size_of(whole.type) && view.count == count,
                "a part has its place");
        const u64 bytes = view.bytes();
        const u64 other = choices_.one_in(32) ? choices_.huge() : choices_.below(buffer_bytes);
        const bool other_fits = u128{other} + bytes <= buffer_bytes;
        const bool apart = u128{other} + bytes <= view.offset || other >= view.offset + bytes;
        Bytes host(bytes);
        switch (choices_.below(4)) {
            case 0:
                machine_.run(
                    other_fits ? Outcome::works : Outcome::refused,
                    [&] { stream().write(machine_.buffer(), other, before().data() + view.offset, bytes); },
                    [&](Bytes& to) { std::memcpy(to.data() + other, before().data() + view.offset, bytes); });
                break;
            case 1:
                machine_.run(
                    other_fits ? Outcome::works : Outcome::refused,
                    [&] { stream().read(host.data(), machine_.buffer(), other, bytes); }, [](Bytes&) {});
                require(!other_fits || std::equal(host.begin(), host.end(),
                                                  before().begin() + static_cast<std::ptrdiff_t>(other)),
                        "a read has the bytes of the buffer");
                break;
            case 2:
                if (!apart && bytes != 0) break;
                machine_.run(
                    other_fits ? Outcome::works : Outcome::refused,
                    [&] { stream().copy(machine_.buffer(), other, machine_.buffer(), view.offset, bytes); },
                    [&](Bytes& to) { std::memcpy(to.data() + other, before().data() + view.offset, bytes); });
                break;
            default: {
                const u32 size = static_cast<u32>(choices_.below(10));
                const bool valid = (size == 1 || size == 2 || size == 4 || size == 8) && other % size == 0 &&
                                   bytes % size == 0;
                const u64 pattern = 0x0123456789abcdef;
                machine_.run(
                    other_fits && valid ? Outcome::works : Outcome::refused,
                    [&] { stream().fill(machine_.buffer(), other, bytes, &pattern, size); },
                    [&](Bytes& to) {
                        for (u64 i = 0; i < bytes; i += size)
                            std::memcpy(to.data() + other + i, &pattern, size);
                    });
            }
        }
    }

    Machine& machine_ = Machine::get();
    Choices& choices_;
    Outcome outcome_ = Outcome::works;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Choices choices(text_of(data, size));
    Call(choices).run();
    return 0;
}
