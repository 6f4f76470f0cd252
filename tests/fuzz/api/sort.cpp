// Calls of sort.
#include "../api.hpp"

#include <algorithm>

namespace concord::fuzz {

CONCORD_FUNCTION(u8, inconsistent, (u8 a, u8 b, u32 seed, u32 mask),
                 const u32 h = (((u32)a << 8 | b) ^ seed) * 0x9e3779b9u;
                 return (a < b) != ((h >> 16 & mask) == 0) ? 1 : 0;)

// The result of a sort by any comparator must be a permutation of its input; `to` becomes the result.
static void take_permutation(const std::byte* result, const Bytes& before, Bytes& to, const View& in,
                             const View& values_in, const View& out, const View& values_out, bool pairs) {
    auto elements = [&](const std::byte* bytes, const View& keys, const View& values) {
        std::vector<std::pair<u8, u8>> list(keys.count);
        for (u64 i = 0; i < keys.count; ++i) {
            list[i].first = static_cast<u8>(bytes[keys.offset + i]);
            if (pairs) list[i].second = static_cast<u8>(bytes[values.offset + i]);
        }
        std::sort(list.begin(), list.end());
        return list;
    };
    require(elements(before.data(), in, values_in) == elements(result, out, values_out),
            "a sort by any comparator keeps all elements");
    std::copy_n(result + out.offset, out.count, to.begin() + static_cast<std::ptrdiff_t>(out.offset));
    if (pairs)
        std::copy_n(result + values_out.offset, values_out.count,
                    to.begin() + static_cast<std::ptrdiff_t>(values_out.offset));
}

static void sort_plainly(const Bytes& before, Bytes& to, const View& in, const View& values_in,
                         const View& out, const View& values_out, const SortBy& by, bool pairs) {
    const u32 width = 8 * size_of(in.type), end = std::min(by.end_bit, width);
    const u64 all = width == 64 ? ~u64{0} : (u64{1} << width) - 1, top = u64{1} << (width - 1);
    auto bits_at = [&](const View& view, u64 i) {
        u64 bits = 0;
        std::memcpy(&bits, before.data() + view.offset + i * size_of(view.type), size_of(view.type));
        return bits;
    };
    auto code = [&](u64 bits) {
        if (is_float(in.type)) return (bits & top) != 0 ? ~bits & all : bits | top;
        const bool is_signed = !is_unsigned(in.type);
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
            std::memcpy(to.data() + target.offset + i * size, before.data() + from.offset + order[i] * size,
                        size);
    };
    move(in, out);
    if (pairs) move(values_in, values_out);
}

FUZZ_CALLS(sort) {
    const Type type = any_type();
    const bool pairs = choices_.one_in(2);
    fill();
    if (type == Type::u8 && choices_.one_in(2)) {
        // Parts of the buffer, so that several tiles are merged.
        const u64 n = choices_.below(buffer_bytes / 4 + 1), quarter = buffer_bytes / 4;
        const u32 seed = static_cast<u32>(choices_.below(65536)), mask = (1U << choices_.below(12)) - 1;
        auto part = [&](u64 i) { return View{&machine_.buffer(), i * quarter, n, Type::u8}; };
        const bool same = choices_.one_in(2);
        const View in = part(0), out = part(same ? 0 : 1), values_in = part(2),
                   values_out = part(same ? 2 : 3);
        const auto less = inconsistent.bind(seed, mask);
        using Range = Span<u8>;
        machine_.run(
            outcome_,
            [&] {
                if (pairs)
                    concord::sort_pairs(stream(), Range(in), Range(values_in), Range(out), Range(values_out),
                                        less);
                else
                    concord::sort(stream(), Range(in), Range(out), less);
            },
            [&](Bytes& to) {
                const auto* result = static_cast<const std::byte*>(machine_.buffer().host_pointer());
                take_permutation(result, before(), to, in, values_in, out, values_out, pairs);
            });
        return;
    }
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
        [&](Bytes& to) { sort_plainly(before(), to, in, values_in, out, values_out, by, pairs); });
}

}  // namespace concord::fuzz
