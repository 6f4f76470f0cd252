// Sorts by codes in an array of their own, and argsort of ranges.

#include <concord/internal/sort_codes.hpp>

#include <concord/internal/builtin_function.hpp>
#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/operands.hpp>

#include <limits>

namespace concord {

namespace detail {
namespace {

// Of the bits of a float: both zeros are equal, NaNs are the largest. flip: all bits for descending order.
template <class T>
CONCORD_BUILTIN_OF((T), T, nan_last_code, (T x, T infinity, T flip), const T magnitudes = ~T(0) >> 1;
                   const T magnitude = x & magnitudes; const T above = magnitudes + 1;
                   const T code = magnitude == 0   ? above
                                  : x > magnitudes ? ~x
                                                   : x | above;
                   return magnitude > infinity ? ~T(0) : code ^ flip;)

template <class T, class F>
ExpressionPointer nan_last_node(ExpressionPointer bits, bool descending) {
    const T infinity = std::bit_cast<T>(std::numeric_limits<F>::infinity());
    const T flip = descending ? ~T{0} : T{0};
    return function_node(Function<nan_last_code_function<T>>{}.bind(infinity, flip), {std::move(bits)});
}

// Scratch memory of a call.
struct Room {
    Room(Stream& stream, u64 count, Type type)
        : buffer(stream.scratch(max_of(u64{1}, count) * size_of(type))), view{buffer.get(), 0, count, type} {}
    std::shared_ptr<Buffer> buffer;
    View view;
};

}  // namespace

SortCodes::SortCodes(const ElementType& type, const SortBy& by)
    : type(is_boolean(type) ? Type::u8 : bits_of_size(size_of(type))),
      bits(is_boolean(type) ? Type::boolean : this->type),
      by(by),
      is_descending_(by.order == SortOrder::descending) {
    this->by.stable = true;
    this->by.nan = NanOrder::total;
    if (!is_boolean(type)) this->by.order = SortOrder::ascending;
}

ExpressionPointer SortCodes::node(ExpressionPointer keys) const {
    if (bits == Type::boolean) return convert_node(Type::u8, std::move(keys));
    return bits == Type::u32 ? nan_last_node<u32, f32>(std::move(keys), is_descending_)
                             : nan_last_node<u64, f64>(std::move(keys), is_descending_);
}

void SortCodes::store(Stream& stream, View keys, const View& to) const {
    keys.type = bits;
    evaluate(stream, Input(node(range_node(keys))), to, {});
}

Enqueued sort_by_codes(Stream& stream, const View& in, const View& values_in, const View& out,
                       const View& values_out, const SortBy& by, const Options& options) {
    const SortCodes codes(in.type, by);
    const bool pairs = values_in.buffer != nullptr;
    if (codes.bits == Type::boolean) {
        const View to = as_bytes(out);
        if (pairs && overlap(in, out)) {
            codes.store(stream, in, to);
            return sort_pairs(stream, to, values_in, to, values_out, codes.by, options);
        }
        const Room keys(stream, in.count, codes.type);
        codes.store(stream, in, keys.view);
        if (pairs) return sort_pairs(stream, keys.view, values_in, to, values_out, codes.by, options);
        return sort(stream, keys.view, to, {.order = by.order}, options);
    }
    const Room keys(stream, in.count, codes.type);
    const auto move = [&](const View& from, const View& to) {
        codes.store(stream, in, keys.view);
        if (overlap(from, to)) return sort_pairs(stream, keys.view, from, keys.view, to, codes.by, options);
        const Room sorted(stream, in.count, codes.type);
        return sort_pairs(stream, keys.view, from, sorted.view, to, codes.by, options);
    };
    if (pairs) move(values_in, values_out);
    return move(in, out);
}

void check_places(std::string_view call, u64 n, Type type) {
    if (type != Type::u32 && type != Type::u64 && type != Type::i32 && type != Type::i64)
        throw Error(ErrorCode::invalid_argument, call,
                    "out must have integers of 4 or 8 bytes, got " + std::string(name_of(type)));
    const u64 most = size_of(type) == 8 ? ~u64{0} : u64{1} << (is_unsigned(type) ? 32 : 31);
    if (n > most)
        throw Error(ErrorCode::invalid_argument, call,
                    "an axis of " + std::to_string(n) + " elements exceeds the indices of " +
                        std::string(name_of(type)) + "; pass an out of u64");
}

}  // namespace detail

Enqueued argsort(Stream& stream, const View& in, const View& out, const SortBy& by, const Options& options) {
    constexpr std::string_view call = "argsort";
    detail::check_stored(call, "in", stream, in);
    detail::check_output(call, "out", stream, out);
    detail::check_places(call, in.count, out.type);
    if (in.count != out.count)
        throw Error(ErrorCode::invalid_argument, call,
                    "in and out must have the same element count, got " + std::to_string(in.count) + " and " +
                        std::to_string(out.count));
    detail::check_overlap(call, {"out", out}, {"in", in});
    const u64 n = in.count;
    SortBy stable = by;
    stable.stable = true;
    View keys = in;
    std::optional<detail::Room> codes;
    if (detail::sorts_by_codes(in.type, by)) {
        const detail::SortCodes code(in.type, by);
        codes.emplace(stream, n, code.type);
        code.store(stream, in, codes->view);
        keys = codes->view;
        stable = code.by;
    }
    // Indices of 32 bits where they suffice.
    const Type index = n <= ~u32{0} ? Type::u32 : Type::u64;
    const bool is_direct = size_of(index) == size_of(out.type);
    const detail::Room numbers(stream, n, index), sorted(stream, n, keys.type),
        apart(stream, is_direct ? 0 : n, index);
    View places = is_direct ? out : apart.view;
    places.type = index;
    const std::array<std::byte, 8> first{}, step{std::byte{1}};
    const std::array<i64, 1> stride{1};
    detail::evaluate(stream,
                     detail::Input(detail::strided_node(
                         detail::counting_node(index, first.data(), step.data()), {&n, 1}, stride, 0)),
                     numbers.view, {});
    const Enqueued done = sort_pairs(stream, keys, numbers.view, sorted.view, places, stable, options);
    if (!is_direct)
        detail::evaluate(stream, detail::Input(detail::convert_node(out.type, detail::range_node(places))),
                         out, {});
    return done;
}

}  // namespace concord
