#pragma once
// Reduce in the canonical order, host dialect. Parallel sources: reduce.kernel and reduce_wide.cl.
//
// Algorithm  The order of reduce.hpp, with 128 columns in vectors.
// Passes     one launch. Traffic: reads every element once.
// Tunables   run: chunks per group, a launch argument.
// Source     M. Harris, Optimizing Parallel Reduction in CUDA, 2007 (the tree); the fixed columns are Concord's.
//
// T: element type; Op: the operator.

#include <concord/detail/canonical.hpp>
#include <concord/detail/host_input.hpp>

#include <atomic>

namespace concord::detail::host {

inline constexpr u64 order_width = 128;

// The elements of a range, from the chunk's first on.
template <class T>
struct RangeItems {
    const T* items;
    // Elements from `first` on: all `count` of them.
    [[gnu::always_inline]] const T* some(u64 first, u64& /*count*/) const { return items + first; }
};

// The elements of an input from `begin` on. Those of an expression come in blocks.
template <class T>
struct InputItems {
    const HostInput<T>& in;
    HostIsa isa;
    u64 begin;
    // Elements from `first` on, a block at most, whose number is in `count` then.
    [[gnu::always_inline]] const T* some(u64 first, u64& count) const {
        if (in.is_range()) return in.range() + begin + first;
        count = min_of(count, block_length);
        return in.block(isa, begin + first, count);
    }
};

// Reduces one chunk: a row of 128 elements at a time, then the tree.
template <class T, class Op, class Items>
[[gnu::always_inline]] inline T reduce_chunk(const Items chunk, u64 length, T identity, const Op op) {
    static_assert(block_length % order_width == 0);
    alignas(64) T sum[order_width];
    for (u64 l = 0; l < order_width; ++l)
        sum[l] = identity;
    for (u64 first = 0, count = length; first < length; first += count, count = length - first) {
        const T* items = chunk.some(first, count);
        const u64 rows = count / order_width;
        for (u64 row = 0; row < rows; ++row, items += order_width) {
            for (u64 l = 0; l < order_width; ++l)
                sum[l] = op(sum[l], items[l]);
        }
        const u64 rest = count % order_width;
        for (u64 l = 0; l < rest; ++l)
            sum[l] = op(sum[l], items[l]);
    }

    for (u64 distance = order_width / 2; distance > 0; distance /= 2) {
        for (u64 l = 0; l < distance; ++l)
            sum[l] = op(sum[l], sum[l + distance]);
    }
    return canonical(sum[0]);
}

// Reduces n elements to the sums of their chunks, at least one. items_from(i): the elements from i on.
template <class T, class Op, class From>
[[gnu::always_inline]] inline void reduce_level(const From items_from, u64 n, u64 chunk, T* sums, T identity,
                                                const Op op) {
    u64 c = 0;
    do {
        sums[c] = reduce_chunk(items_from(c * chunk), min_of(chunk, n - c * chunk), identity, op);
    } while (++c * chunk < n);
}

// The levels above the first. Not inlined: they take little time, and copies for each instruction set take long to
// compile.
template <class T, class Op>
[[gnu::noinline]] void reduce_upper(T* sums, u64 chunks, u64 chunk, T* out, T identity, const Op& op) {
    T* const upper = sums + chunks;
    const T* from = sums;
    for (;;) {
        const u64 count = (chunks + chunk - 1) / chunk;
        reduce_level([from](u64 i) { return RangeItems<T>{from + i}; }, chunks, chunk,
                     count == 1 ? out : upper, identity, op);
        if (count == 1) return;
        from = upper;
        chunks = chunk = count;  // the third level is one chunk
    }
}

// A group reduces `run` consecutive chunks. The last group to finish reduces the upper levels. Inlined: g++ does not
// otherwise make a copy of the operator for each instruction set.
template <class T, class Op>
[[gnu::always_inline]] inline void reduce_wide(const Group& group, T* out, T* sums, u32* /*ticket*/, u64 n,
                                               u64 chunk, u64 upper_chunk, u64 run, u32 /*finish*/,
                                               T identity, const Op op, HostArguments rest) {
    const HostInput<T> in(rest);
    const u64 chunks = n == 0 ? 1 : (n + chunk - 1) / chunk, first = group.x * run;
    const auto items_from = [&](u64 i) { return InputItems<T>{in, group.isa, first * chunk + i}; };
    reduce_level(items_from, min_of(n - first * chunk, run * chunk), chunk, chunks == 1 ? out : sums + first,
                 identity, op);
    if (chunks == 1) return;
    std::atomic_ref<u64> arrived(group.launch->words[0]);
    if (arrived.fetch_add(1, std::memory_order_acq_rel) != group.count_x - 1) return;
    reduce_upper(sums, chunks, upper_chunk, out, identity, op);
}

// One loop from the first element to the last.
template <class T, class Op>
void reduce_serial(const Group& /*group*/, const T* in, T* out, u64 n, T identity, const Op op) {
    T sum = identity;
    for (u64 i = 0; i < n; ++i)
        sum = op(sum, in[i]);
    *out = canonical(sum);
}

}  // namespace concord::detail::host
