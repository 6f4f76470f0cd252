#pragma once
// Segmented scan in the canonical order, host dialect. Parallel source: segmented_scan.kernel.
//
// Algorithm  A bit of each element says whether it begins a segment. A group scans the segments that begin in its range
//            of elements, block by block: 16 elements in scalar registers, by the network of scan_host.hpp, and the
//            tree above the blocks. Segments of more than 65536 elements go to a list. All groups of a second launch
//            share each of these, by the kernels of scan.
// Passes     three launches: the bits, the segments, the list. Traffic: reads every element once, long segments once
//            more from the cache; writes it once.
// Tunables   each: elements per group, a launch argument.
// Source     as scan_host.hpp.
//
// T: element type; Op: the operator; in_any_order: whether results do not depend on the order of operations.

#include <concord/detail/scan_host.hpp>
#include <concord/detail/segmented_reduce_host.hpp>

#include <atomic>
#include <bit>

namespace concord::detail::host {

// The bits of 64 elements from a multiple of 64 on, of n.
[[gnu::always_inline]] inline u64 heads_of(const u32* bits, u64 first, u64 n) {
    u64 heads = 0;
    std::memcpy(&heads, bits + first / 32, sizeof heads);
    return n - first < 64 ? heads & ((u64{1} << (n - first)) - 1) : heads;
}

// The tree above the blocks of a segment of at most 65536 elements, as far as later blocks depend on it.
template <class T>
struct SegmentTree {
    static constexpr int levels = 4;

    u64 blocks = 0;      // complete ones
    T saved[levels][4];  // what right halves of the open node's children are combined with
    T carry[levels];     // of the open node
    T next;              // the carry of the next block

    [[gnu::always_inline]] explicit SegmentTree(T identity) : next(identity) {
        for (T& of_level : carry)
            of_level = identity;
    }
    // Adds the total of a block.
    template <class Op>
    [[gnu::always_inline]] void add(T total, const Op& op) {
        u64 above = blocks++;
        int level = 0;
        for (;; ++level, above /= scan_fan) {
            const u64 j = above % scan_fan;
            for (int k = 0; k < 4; ++k) {
                if ((j >> k & 1) != 0) {
                    total = op(saved[level][k], total);
                } else if ((j & ((1U << k) - 1)) == (1U << k) - 1) {
                    saved[level][k] = total;
                }
            }
            if (j + 1 < scan_fan) break;
        }
        next = op(carry[level], total);
        for (; level > 0; --level)
            carry[level - 1] = next;
    }
};

// Scans a block of at most 16 elements with its carry, and returns its total. out may be in.
template <class T, class Op>
[[gnu::always_inline]] inline T scan_few(const T* in, T* out, u64 count, bool exclusive, T carry,
                                         const Op& op) {
    T saved[4], result = carry, through = carry;
#pragma GCC unroll 16
    for (u64 j = 0; j < scan_fan; ++j) {
        if (j == count) break;
        through = in[j];
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) {
            if ((j >> k & 1) != 0) {
                through = op(saved[k], through);
            } else if ((j & ((1U << k) - 1)) == (1U << k) - 1) {
                saved[k] = through;
            }
        }
        const T with_carry = op(carry, through);
        out[j] = canonical(exclusive ? result : with_carry);
        result = with_carry;
    }
    return through;
}

// Where segments begin, from their offsets. A group has `each` of them.
inline void segment_heads(const Group& group, u32* bits, u64* bounds, u32* word, u64 n, u64 count,
                          u32 offset_size, u32 is_signed, u64 each, HostArguments rest) {
    const Offsets list{HostInput<u8>(rest).range(), offset_size, is_signed != 0};
    const u64 first = group.x * each, end = min_of(count, first + each);
    if (first >= end) return;
    u64 before = first > 0 ? min_of(list.at(first - 1), n) : 0, open = 0;
    u32 heads = 0;  // of word `open`
    for (u64 s = first; s < end; ++s) {
        const u64 offset = list.at(s), at = min_of(offset, n);
        if (offset > n || at < before) report_index(word, s);
        before = at;
        if (s == 0) bounds[0] = at;
        if (s == count - 1) bounds[1] = at;
        if (at == n) continue;
        if (at / 32 != open) {
            if (heads != 0) std::atomic_ref<u32>(bits[open]).fetch_or(heads, std::memory_order_relaxed);
            open = at / 32;
            heads = 0;
        }
        heads |= 1U << (at % 32);
    }
    if (heads != 0) std::atomic_ref<u32>(bits[open]).fetch_or(heads, std::memory_order_relaxed);
}

// Where segments begin, from a flag of each element but the first. A group has `each` elements, a multiple of 32.
[[gnu::always_inline]] inline void segment_flags(const Group& group, u32* bits, u64* bounds, u64 n, u64 each,
                                                 HostArguments rest) {
    const HostInput<u8> in(rest);
    const u64 first = group.x * each, end = min_of(n, first + each);
    if (first == 0) {
        bounds[0] = 0;
        bounds[1] = n;
    }
    alignas(64) u8 flags[block_length];
    for (u64 at = first; at < end; at += block_length) {
        const u64 count = min_of(block_length, end - at), skipped = at == 0 ? 1 : 0;
        flags[0] = 1;
        for (u64 i = count; i < (count + 31) / 32 * 32; ++i)
            flags[i] = 0;
        if (count > skipped)
            std::memcpy(flags + skipped, in.block(group.isa, at + skipped - 1, count - skipped),
                        count - skipped);
        for (u64 w = 0; w * 32 < count; ++w) {
            u32 packed = 0;
            for (u64 k = 0; k < 4; ++k) {
                u64 eight = 0;
                std::memcpy(&eight, flags + w * 32 + k * 8, sizeof eight);
                packed |= static_cast<u32>(eight * 0x0102040810204080U >> 56) << (8 * k);
            }
            bits[at / 32 + w] = packed;
        }
    }
}

// Scans a segment of at most 65536 elements.
template <bool in_any_order, class T, class Op>
[[gnu::always_inline]] inline void scan_segment(SegmentItems<T>& items, T* out, u64 begin, u64 length,
                                                bool exclusive, T identity, const Op& op) {
    if (length <= scan_fan) {
        scan_few(items.at(begin, length), out + begin, length, exclusive, identity, op);
        return;
    }
    SegmentTree<T> tree(identity);
    for (u64 at = 0; at < length; at += block_length) {
        const u64 count = min_of(block_length, length - at);
        const T* const from = items.at(begin + at, count);
        T* const to = out + begin + at;
        if constexpr (in_any_order) {
            for (u64 i = 0; i < count; ++i) {
                const T before = tree.next;
                tree.next = op(before, from[i]);
                to[i] = canonical(exclusive ? before : tree.next);
            }
        } else {
            for (u64 i = 0; i < count; i += scan_fan)
                tree.add(scan_few(from + i, to + i, min_of(scan_fan, count - i), exclusive, tree.next, op),
                         op);
        }
    }
}

// The segments that begin in a group's range of `each` elements, a multiple of 64. counts: of the list, and of its
// places.
template <bool in_any_order, class T, class Op>
[[gnu::always_inline]] inline void segmented_scan(const Group& group, T* out, const u32* bits,
                                                  const u64* bounds, LongSegment* list, u32* counts, u64 n,
                                                  u64 each, u32 exclusive, T identity, const Op op,
                                                  HostArguments rest) {
    const HostInput<T> in(rest);
    const u64 all = min_of(bounds[1], n), stop = min_of(all, (group.x + 1) * each),
              from = max_of(min_of(bounds[0], n), group.x * each);
    if (from >= stop) return;
    SegmentItems<T> items(in, group.isa, stop);
    u64 begin = all;  // of the open segment
    const auto close = [&](u64 end) __attribute__((always_inline)) {
        const u64 length = end - begin;
        if (length <= scan_tile) {
            scan_segment<in_any_order>(items, out, begin, length, exclusive != 0, identity, op);
        } else {
            const u64 place = std::atomic_ref<u32>(counts[0]).fetch_add(1),
                      first = std::atomic_ref<u32>(counts[1]).fetch_add(
                          static_cast<u32>(long_segment_places(length)));
            list[place] = {begin, length, first};
        }
    };
    // Until the head behind the last segment that begins in the range.
    for (u64 word = from / 64 * 64; word < all && (begin < stop || word < stop); word += 64) {
        u64 heads = heads_of(bits, word, all);
        if (word < from) heads &= ~u64{0} << (from - word);
        if (heads == ~u64{0} && word + 64 <= stop && begin < stop) {
            // All but the last one of these elements are segments of their own.
            close(word);
            const T* const items_of = items.at(word, 63);
            for (u64 i = 0; i < 63; ++i)
                out[word + i] = canonical(exclusive != 0 ? identity : op(identity, items_of[i]));
            begin = word + 63;
            continue;
        }
        for (; heads != 0; heads &= heads - 1) {
            const u64 head = word + static_cast<u64>(std::countr_zero(heads));
            if (begin < all) close(head);
            begin = head;
            if (begin >= stop) return;
        }
    }
    if (begin < stop) close(all);
}

}  // namespace concord::detail::host
