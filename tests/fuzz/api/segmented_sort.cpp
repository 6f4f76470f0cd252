// Calls of segmented_sort and segmented_sort_pairs, with wrong offsets too.
#include "../segments.hpp"

#include <algorithm>

namespace concord::fuzz {
namespace {

std::vector<u64> values_of(const Bytes& bytes, const View& offsets) {
    std::vector<u64> values;
    with_type(offsets.type, [&]<class O>(O) {
        for (u64 s = 0; s < offsets.count; ++s)
            values.push_back(static_cast<u64>(load<O>(bytes, offsets, s)));
    });
    return values;
}

// The elements at places [begin, end) in the order of their keys.
std::vector<u64> order_of(const Bytes& bytes, const View& keys, u64 begin, u64 end, bool descending) {
    const u32 size = size_of(keys.type);
    const u64 all = ~u64{0} >> (64 - 8 * size), top = all ^ (all >> 1);
    const auto rank = [&](u64 i) {
        u64 bits = 0;
        std::memcpy(&bits, bytes.data() + keys.offset + i * size, size);
        if (is_float(keys.type)) {
            bits = (bits & top) != 0 ? ~bits & all : bits | top;
        } else if (!is_unsigned(keys.type)) {
            bits ^= top;
        }
        return descending ? ~bits & all : bits;
    };
    std::vector<u64> order;
    for (u64 i = begin; i < end; ++i)
        order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](u64 a, u64 b) { return rank(a) < rank(b); });
    return order;
}

}  // namespace

FUZZ_CALLS(segmented_sort) {
    const Type type = any_type();
    fill(type);
    const bool pairs = choices_.one_in(2);
    SortBy by;
    if (choices_.one_in(2)) by.order = SortOrder::descending;
    const View in = range(type, elements(type, 6000)), out = output(in, type, in.count % 65536);
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
    const View offsets =
        range(choices_.any(std::array{Type::u32, Type::u64, Type::i32, Type::i64}), choices_.below(40) + 1);
    const u64 segments = offsets.count == 0 ? 0 : offsets.count - 1;
    if (offsets.count == 0) outcome_ = Outcome::refused;
    no_overlap(offsets, out);
    if (pairs) no_overlap(offsets, values_out);
    const Options asked = options(segmented_sort_algorithm);
    // Right offsets in half of the calls, else any bits.
    if (outcome_ != Outcome::refused && choices_.one_in(2)) {
        put_offsets(machine_, choices_, offsets, in.count);
    }
    bool right = true, reported = false;
    std::vector<u64> at;
    if (outcome_ != Outcome::refused) {
        at = values_of(before(), offsets);
        right = std::is_sorted(at.begin(), at.end()) && at.back() <= in.count;
    }
    machine_.run(
        outcome_,
        [&] {
            pairs
                ? concord::segmented_sort_pairs(stream(), in, values_in, offsets, out, values_out, by, asked)
                : concord::segmented_sort(stream(), in, offsets, out, by, asked);
            try {
                stream().synchronize();
            } catch (const Error& error) {
                if (error.code() != ErrorCode::invalid_argument) throw;
                reported = true;
            }
        },
        [&](Bytes& to) {
            require(reported == !right, "wrong offsets are reported");
            const auto* result = static_cast<const std::byte*>(machine_.buffer().host_pointer());
            const auto store = [&](const View& from, const View& target) {
                const u64 size = size_of(from.type);
                // With wrong offsets any result is right.
                if (!right) std::copy_n(result + target.offset, target.bytes(), to.data() + target.offset);
                for (u64 s = 0; right && s < segments; ++s) {
                    const std::vector<u64> order =
                        order_of(before(), in, at[s], at[s + 1], by.order == SortOrder::descending);
                    for (u64 i = 0; i < order.size(); ++i)
                        std::memcpy(to.data() + target.offset + (at[s] + i) * size,
                                    before().data() + from.offset + order[i] * size, size);
                }
            };
            store(in, out);
            if (pairs) store(values_in, values_out);
        });
}

}  // namespace concord::fuzz
