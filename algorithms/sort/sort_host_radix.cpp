// Radix sort on the CPU, least significant digit first: `radix8`, parallel, and `radix16`, on one thread. Stable.
//
// Traffic: n keys and values are read and written once per digit that is not equal in all keys. Keys are read twice
// more for the first digit and once more for each other digit. The first pass encodes keys, the last one decodes
// them.
//
// radix8: each group owns a chunk of the input.
//   digits    each chunk counts all of its digits
//   plan      which digits differ, and the offsets of each chunk for the first of them
//   for each of these digits
//     count, offsets   except for the first digit
//     scatter          each chunk moves its elements, through lines of 256 bytes per bucket
//   finish    copies the result to out if the last pass ended elsewhere
// The number of digits that differ is known on the device only. The host enqueues launches for all digits, and
// launches without a digit return at once.
//
// Sources: D. Knuth, The Art of Computer Programming, vol. 3, 5.2.5; N. Satish et al., Fast Sort on CPUs and GPUs,
// 2010.

#include "sort_buckets.hpp"
#include "sort_host_kernels.hpp"

#include <algorithm>

namespace concord {
namespace detail::host {
namespace {

constexpr u32 digit_bits = radix_host_bits;
constexpr u64 max_digits = radix_host_plan - 1;

// The plan that all groups read: the number of passes and the lowest bit of each pass's digit.
struct RadixPlan {
    u64 passes;
    u64 shift[max_digits];
};

RadixInput input_of(u32 in_place) {
    return in_place != 0 ? RadixInput::in_out : RadixInput::apart;
}

u64 digit_mask(u64 shift, u32 end_bit) {
    return (u64{1} << std::min<u64>(digit_bits, end_bit - shift)) - 1;
}

template <class K>
void radix_digits(const Group& group, const K* in, u64* counts, u64 n, u64 chunk, u32 begin_bit, u32 end_bit,
                  const Ascending code) {
    const u64 begin = group.x * chunk, end = std::min(n, begin + chunk);
    const u32 digits = (end_bit - begin_bit + digit_bits - 1) / digit_bits;
    u64* mine = counts + group.x * digits * max_buckets;
    std::fill_n(mine, digits * max_buckets, u64{0});
    const u64 mask = ~u64{0} >> (64 - end_bit);
    for (u64 i = begin; i < end; ++i) {
        u64 key = (code.encode(in[i]) & mask) >> begin_bit;
        for (u32 digit = 0; digit < digits; ++digit, key >>= digit_bits)
            ++mine[digit * max_buckets + key % max_buckets];
    }
}

void radix_plan(const Group& /*group*/, const u64* counts, u64* offsets, u64* plan_at, u64 n, u64 chunks,
                u32 begin_bit, u32 end_bit) {
    auto& plan = *reinterpret_cast<RadixPlan*>(plan_at);
    const u32 digits = (end_bit - begin_bit + digit_bits - 1) / digit_bits;
    plan.passes = 0;
    for (u32 digit = 0; digit < digits; ++digit) {
        u64 sums[max_buckets] = {};
        auto count = [&](u64 c) { return counts + (c * digits + digit) * max_buckets; };
        for (u64 c = 0; c < chunks; ++c) {
            for (u64 d = 0; d < max_buckets; ++d)
                sums[d] += count(c)[d];
        }
        if (*std::max_element(sums, sums + max_buckets) == n) continue;
        if (plan.passes == 0) {
            for (u64 c = 0; c < chunks; ++c)
                std::copy_n(count(c), max_buckets, offsets + c * max_buckets);
        }
        plan.shift[plan.passes++] = begin_bit + digit * digit_bits;
    }
    u64 starts[max_buckets + 1];
    if (plan.passes > 0) bucket_offsets(offsets, starts, chunks);
}

template <class K>
void radix_count(const Group& group, const K* out, const K* spare, u64* offsets, const u64* plan_at, u64 n,
                 u64 chunk, u64 pass, u32 end_bit, u32 in_place) {
    const auto& plan = *reinterpret_cast<const RadixPlan*>(plan_at);
    if (pass >= plan.passes) return;
    const K* from = pass_to_out(pass - 1, plan.passes, input_of(in_place)) ? out : spare;
    const u64 begin = group.x * chunk, end = std::min(n, begin + chunk), shift = plan.shift[pass],
              mask = digit_mask(shift, end_bit);
    // Two tables in turn, so that equal neighbours do not wait for each other's counter.
    u32 tables[2][max_buckets] = {};
    u64* mine = offsets + group.x * max_buckets;
    std::fill_n(mine, max_buckets, u64{0});
    for (u64 block = begin; block < end; block += u64{1} << 30) {
        const u64 last = std::min(end, block + (u64{1} << 30));
        for (u64 i = block; i < last; ++i)
            ++tables[i % 2][from[i] >> shift & mask];
        for (u64 d = 0; d < max_buckets; ++d)
            mine[d] += std::exchange(tables[0][d], 0) + std::exchange(tables[1][d], 0);
    }
}

void radix_offsets(const Group& /*group*/, u64* offsets, const u64* plan_at, u64 chunks, u64 pass) {
    if (pass >= reinterpret_cast<const RadixPlan*>(plan_at)->passes) return;
    u64 starts[max_buckets + 1];
    bucket_offsets(offsets, starts, chunks);
}

template <class K, class V>
void radix_scatter(const Group& group, const K* in, const V* values_in, K* out, V* values_out, K* spare,
                   V* values_spare, const u64* offsets, const u64* plan_at, u64 n, u64 chunk, u64 pass,
                   u32 end_bit, u32 in_place, u32 non_temporal, const Ascending code) {
    const auto& plan = *reinterpret_cast<const RadixPlan*>(plan_at);
    if (pass >= plan.passes) return;
    const auto to_out = [&](u64 p) { return pass_to_out(p, plan.passes, input_of(in_place)); };
    const u64 begin = group.x * chunk, count = std::min(chunk, n - begin), shift = plan.shift[pass],
              mask = digit_mask(shift, end_bit);
    const bool first = pass == 0, last = pass + 1 == plan.passes;
    const K* from = (first ? in : to_out(pass - 1) ? out : spare) + begin;
    const V* values_from = first ? values_in : to_out(pass - 1) ? values_out : values_spare;
    if constexpr (has_value<V>) values_from += begin;
    const Ascending load = first ? code : as_they_are, store = last ? code : as_they_are;
    scatter(
        offsets + group.x * max_buckets, count, to_out(pass) ? out : spare,
        to_out(pass) ? values_out : values_spare, group.local, stores_of(non_temporal),
        [&](u64 i) { return u64{load.encode(from[i])} >> shift & mask; },
        [&](u64 i) { return store.decode(load.encode(from[i])); },
        [&](u64 i) {
            if constexpr (has_value<V>) return values_from[i];
            return V{};
        });
}

template <class K, class V>
void radix_finish(const Group& group, const K* in, const V* values_in, K* out, V* values_out, const K* spare,
                  const V* values_spare, const u64* plan_at, u64 n, u64 chunk, u32 in_place) {
    const u64 passes = reinterpret_cast<const RadixPlan*>(plan_at)->passes;
    if (!ends_elsewhere(passes, input_of(in_place))) return;
    const bool from_in = passes == 0;
    const u64 begin = group.x * chunk, count = std::min(chunk, n - begin);
    std::memcpy(out + begin, (from_in ? in : spare) + begin, count * sizeof(K));
    if constexpr (has_value<V>)
        std::memcpy(values_out + begin, (from_in ? values_in : values_spare) + begin, count * sizeof(V));
}

// radix16: the whole sort on one thread.
template <class K, class V>
void radix_serial(const Group& /*group*/, const K* in, const V* values_in, K* out, V* values_out, K* spare,
                  V* values_spare, u64* tables, u64 n, u32 begin_bit, u32 end_bit, u32 width, u32 in_place,
                  const Ascending code) {
    radix_sort(in, values_in, out, values_out, spare, values_spare, tables, n, begin_bit, end_bit, width,
               input_of(in_place), code, code);
}

}  // namespace
}  // namespace detail::host

namespace detail {
namespace {

template <class K, class V>
const RadixHost& host_of() {
    static constexpr RadixHost kernels{
        .digits = plain_host_kernel<&detail::host::radix_digits<K>>(),
        .plan = plain_host_kernel<&detail::host::radix_plan>(),
        .count = plain_host_kernel<&detail::host::radix_count<K>>(),
        .offsets = plain_host_kernel<&detail::host::radix_offsets>(),
        .scatter = plain_host_kernel<&detail::host::radix_scatter<K, V>>(),
        .finish = plain_host_kernel<&detail::host::radix_finish<K, V>>(),
        .serial = plain_host_kernel<&detail::host::radix_serial<K, V>>(),
        .line_bytes = detail::host::BucketLines<K>::bytes + detail::host::BucketLines<V>::bytes};
    return kernels;
}

}  // namespace

const RadixHost& radix_host(u32 key_size, u32 value_size) {
    return visit_size(key_size, [&](auto key) -> const RadixHost& {
        using K = typename decltype(key)::type;
        if (value_size == 0) return host_of<K, detail::host::NoValue>();
        return visit_size(value_size, [&](auto value) -> const RadixHost& {
            return host_of<K, typename decltype(value)::type>();
        });
    });
}

}  // namespace detail
}  // namespace concord
