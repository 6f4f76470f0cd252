#pragma once
// Scan in the canonical order, host dialect. Parallel sources: scan_tile.cu and scan_wide.cl.
//
// Algorithm  The tree of scan_tile.cu, in vectors. A task scans tiles of 65536 elements. Built-in operators on
//            integers of 4 and 8 bytes scan element by element.
// Passes     partitioned: one launch. The carry of a tile comes from the totals of earlier tiles, as in lookback.cu.
//            Groups share a single tile.
//            Traffic: reads every element from memory once, for its tile's total, and again from the cache; writes it
//            once.
// Tunables   none. The launch chooses the number of groups.
// Source     J. Sklansky, Conditional-sum Addition Logic, 1960; D. Merrill, M. Garland, Single-pass Parallel Prefix
//            Scan with Decoupled Look-back, 2016.
//
// T: element type; Op: the operator.

#include <concord/detail/canonical.hpp>
#include <concord/detail/host_vector.hpp>
#include <concord/detail/scan_sum_host.hpp>
#include <concord/host_kernel.hpp>
#include <concord/operators.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

namespace concord::detail::host {

inline constexpr u64 scan_fan = 16;      // children of a node, elements of a block
inline constexpr u64 scan_chunk = 256;   // elements of a node of two levels
inline constexpr u64 scan_piece = 1024;  // elements that the loops process at a time
inline constexpr u64 scan_node = 4096;   // elements of a node of three levels
inline constexpr u64 scan_tile = 65536;  // elements of a node of four levels, which half of an L2 cache holds

// Only the loops below access elements in the tree. Each has a constant number N of iterations, so that the compiler
// vectorizes it.

// Sklansky's network within groups of four.
template <int N, class T, class Op>
[[gnu::always_inline]] inline void scan_fours(const T* in, T* p, const Op& op) {
    for (int k = 0; k < N; k += 4) {
        const T a = in[k], b = op(a, in[k + 1]), c = in[k + 2], d = op(c, in[k + 3]);
        p[k] = a;
        p[k + 1] = b;
        p[k + 2] = op(b, c);
        p[k + 3] = op(b, d);
    }
}

// One step of the network: combines the last element of each left half with all elements of the right half.
template <int N, int half, class T, class Op>
[[gnu::always_inline]] inline void join_halves(T* p, const Op& op) {
    for (int k = half; k < N; k += 2 * half) {
        const T left = p[k - 1];
        for (int j = 0; j < half; ++j)
            p[k + j] = op(left, p[k + j]);
    }
}

// The built-in operators.
template <class Op>
inline constexpr bool is_builtin = std::is_same_v<Op, ops::Sum> || std::is_same_v<Op, ops::Product> ||
                                   std::is_same_v<Op, ops::Min> || std::is_same_v<Op, ops::Max>;

// Computes the results of N / 16 blocks from their carries, with canonical NaNs if they are `Stored`. p: room for N
// elements; p[-1] is read but not used. out may be in.
enum class Stored { no, yes };
template <int N, Stored stored = Stored::no, class T, class Op>
[[gnu::always_inline]] inline void scan_blocks(const T* in, T* out, const T* before, T* p, bool exclusive,
                                               const Op& op) {
    scan_fours<N>(in, p, op);
    join_halves<N, 4>(p, op);
    join_halves<N, 8>(p, op);
    const T* from = exclusive ? p - 1 : p;
    for (int b = 0; b < N / 16; ++b) {
        const T left = before[b];
        for (int j = 0; j < 16; ++j)
            out[16 * b + j] =
                stored == Stored::yes ? canonical(op(left, from[16 * b + j])) : op(left, from[16 * b + j]);
        if (exclusive) out[16 * b] = stored == Stored::yes ? canonical(left) : left;
    }
}

// Computes the carries of 16 nodes from their totals and their parent's carry. Not inlined: a call per 4096 elements
// costs nothing, and copies for each instruction set take long to compile.
template <class T, class Op>
[[gnu::noinline]] void scan_sixteen(const T* totals, T* before, T carry, const Op& op) {
    alignas(64) T p[16 + scan_fan];
    p[15] = carry;
    scan_blocks<16>(totals, before, &carry, p + 16, /*exclusive=*/true, op);
}

// Computes the totals of N / 16 consecutive blocks: combines neighbours four times.
template <class T, class Op>
[[gnu::always_inline]] inline void total_pairs(const T* in, T* totals, u64 n, const Op& op) {
    for (u64 k = 0; k < n; ++k)
        totals[k] = op(in[2 * k], in[2 * k + 1]);
}
template <int N, class T, class Op>
[[gnu::always_inline]] inline void total_blocks(const T* in, T* totals, const Op& op) {
    alignas(64) T twos[N / 2], fours[N / 4], eights[N / 8];
    total_pairs(in, twos, N / 2, op);
    total_pairs(twos, fours, N / 4, op);
    total_pairs(fours, eights, N / 8, op);
    total_pairs(eights, totals, N / 16, op);
}

// A task's data of its tile: the totals of its blocks, of its nodes of 256 and of its nodes of 4096 elements, and
// scratch for the loops. The gap prevents 4K aliasing of consecutive loads and stores.
template <class T>
struct TileWork {
    alignas(64) T blocks[scan_tile / 16];
    alignas(64) T chunks[scan_tile / 256];
    alignas(64) T nodes[scan_tile / 4096];
    alignas(64) T p[1 + scan_piece];
    alignas(64) std::byte gap[1344];
    alignas(64) T piece[scan_piece];
};

// Copies the last piece of the input, padded with identities to whole chunks. Returns its length.
template <class T>
[[gnu::always_inline]] inline u64 pad_piece(T* piece, const T* in, u64 length, T identity) {
    const u64 padded = (length + scan_chunk - 1) / scan_chunk * scan_chunk;
    std::copy(in, in + length, piece);
    std::fill(piece + length, piece + padded, identity);
    return padded;
}

// Built-in operations on integers have the same result in any order. On elements of 4 and 8 bytes a loop over single
// elements is faster than the tree, whose steps shuffle vectors.
template <class T, class Op>
inline constexpr bool scans_by_element = std::is_integral_v<T> && sizeof(T) >= 4 && is_builtin<Op>;

// Upsweep: computes the totals of a tile's nodes and, for the tree, of its blocks. Nodes past the end hold the
// identity, which may be the carry of earlier parts: a partial tile has no total.
template <class T, class Op>
[[gnu::always_inline]] inline void reduce_tile(const T* in, u64 length, TileWork<T>& work, T identity,
                                               const Op& op) {
    if constexpr (scans_by_element<T, Op>) {
        std::fill(std::begin(work.nodes), std::end(work.nodes), identity);
        for (u64 first = 0; first < length; first += scan_node) {
            T total = in[first];  // the identity may be the carry of earlier parts
            for (u64 i = first + 1; i < std::min(first + scan_node, length); ++i)
                total = op(total, in[i]);
            work.nodes[first / scan_node] = total;
        }
        return;
    }
    u64 blocks = 0;
    for (; length - blocks * 16 >= scan_piece; blocks += scan_piece / 16)
        total_blocks<scan_piece>(in + blocks * 16, work.blocks + blocks, op);
    if (const u64 first = blocks * 16; first < length) {
        const u64 padded = pad_piece(work.piece, in + first, length - first, identity);
        for (u64 at = 0; at < padded; at += scan_chunk, blocks += scan_chunk / 16)
            total_blocks<scan_chunk>(work.piece + at, work.blocks + blocks, op);
    }
    const u64 nodes = (length + scan_node - 1) / scan_node;
    std::fill(work.blocks + blocks, work.blocks + nodes * 256, identity);
    for (u64 j = 0; j < nodes; ++j)
        total_blocks<256>(work.blocks + j * 256, work.chunks + j * 16, op);
    std::fill(work.chunks + nodes * 16, work.chunks + 256, identity);
    total_blocks<256>(work.chunks, work.nodes, op);
}

// Computes the total of a group's tile, for the carry of a later part of a larger input.
template <class T, class Op>
[[gnu::always_inline]] inline void scan_totals(const Group& group, const T* in, T* totals, u64 n, T identity,
                                               const Op op) {
    TileWork<T> work;
    const u64 first = group.x * scan_tile;
    reduce_tile(in + first, std::min(scan_tile, n - first), work, identity, op);
    total_blocks<16>(work.nodes, totals + group.x, op);
}

// The carry of each node of an input that arrives node by node, in the canonical order.
template <class T, class Op>
class ScanCarry {
  public:
    ScanCarry(T identity, const Op& op) : identity_(identity), op_(op) {}

    // Returns the carry of the next node.
    T carry() const {
        T carry = identity_;
        for (std::size_t level = levels_.size(); level-- > 0;) {
            const Level& nodes = levels_[level];
            if (nodes.count == 0) continue;
            alignas(64) T p[scan_fan];
            std::copy(nodes.total, nodes.total + nodes.count, p);
            std::fill(p + nodes.count, p + scan_fan, identity_);
            scan_fours<16>(p, p, op_);
            join_halves<16, 4>(p, op_);
            join_halves<16, 8>(p, op_);
            carry = op_(carry, p[nodes.count - 1]);
        }
        return carry;
    }
    // Adds the total of the next node, or of a node 16^level times as large that begins here.
    void push(T total, std::size_t level = 0) {
        for (;; ++level) {
            while (level >= levels_.size())
                levels_.emplace_back();
            Level& nodes = levels_[level];
            nodes.total[nodes.count++] = total;
            if (nodes.count < scan_fan) return;
            nodes.count = 0;
            T sixteen[scan_fan];
            std::copy(nodes.total, nodes.total + scan_fan, sixteen);
            total_blocks<16>(sixteen, &total, op_);
        }
    }

  private:
    struct Level {
        T total[scan_fan];
        u64 count = 0;
    };
    T identity_;
    Op op_;
    std::vector<Level> levels_;  // the lowest first
};

// Computes the prefix sums of n / 16 blocks from their carries with the instruction set's shuffles. Returns false if it
// has none.
template <int n, class T, class Op>
[[gnu::always_inline]] inline bool scan_sums_of(HostIsa isa, const T* in, T* out, const T* before,
                                                bool exclusive) {
    if constexpr (std::is_same_v<Op, ops::Sum>) {
        if (isa == HostIsa::avx512) {
            scan_sums<n, 64>(in, out, before, exclusive);
            return true;
        }
        if (isa == HostIsa::avx2) {
            scan_sums<n, 32>(in, out, before, exclusive);
            return true;
        }
    }
    return false;
}

// Scans N elements with the faster implementation. Results of built-in operators become canonical in a second loop, if
// there is a NaN. The last result does not show an earlier NaN: sums that are not a part of it may have overflowed.
template <int N, class T, class Op>
[[gnu::always_inline]] inline void scan_elements(HostIsa isa, const T* in, T* out, const T* before, T* p,
                                                 bool exclusive, const Op& op) {
    if constexpr (!is_builtin<Op>) {
        scan_blocks<N, Stored::yes>(in, out, before, p, exclusive, op);
        return;
    }
    if (!scan_sums_of<N, T, Op>(isa, in, out, before, exclusive))
        scan_blocks<N>(in, out, before, p, exclusive, op);
    if constexpr (std::is_floating_point_v<T>) {
        BitsOf<T> nans = 0;
        for (u64 i = 0; i < N; ++i)
            nans |= static_cast<BitsOf<T>>(out[i] != out[i]);
        if (nans == 0) return;
        for (u64 i = 0; i < N; ++i)
            out[i] = canonical(out[i]);
    }
}

// Computes the carries of the blocks of n elements from their totals and the carries of the chunks.
template <int n, class T, class Op>
[[gnu::always_inline]] inline void scan_carries(HostIsa isa, const T* totals, T* before, const T* above, T* p,
                                                const Op& op) {
    if (scan_sums_of<n, T, Op>(isa, totals, before, above, /*exclusive=*/true)) return;
    if constexpr (n == 16) {
        scan_sixteen(totals, before, *above, op);
    } else {
        scan_blocks<n>(totals, before, above, p, /*exclusive=*/true, op);
    }
}

// Downsweep: computes the results of a tile from the carries of its nodes. non_temporal: results are stored to memory
// in whole cache lines.
template <class T, class Op>
[[gnu::always_inline]] inline void finish_tile(HostIsa isa, const T* in, T* out, u64 length,
                                               TileWork<T>& work, const T* before_nodes, bool exclusive,
                                               bool non_temporal, T identity, const Op& op) {
    if constexpr (scans_by_element<T, Op>) {
        T carry = before_nodes[0];
        for (u64 first = 0; first < length; first += scan_piece) {
            const u64 count = std::min(scan_piece, length - first);
            T* const to = non_temporal ? work.piece : out + first;
            for (u64 i = 0; i < count; ++i) {
                const T before = carry;
                carry = op(carry, in[first + i]);
                to[i] = exclusive ? before : carry;
            }
            if (non_temporal) stream_store(out + first, to, count * sizeof(T));
        }
        return;
    }
    alignas(64) T before_chunks[16], before_blocks[scan_piece / 16];
    T* const p = work.p + 1;
    for (u64 first = 0; first < length; first += scan_piece) {
        const u64 node = first / scan_node, chunk = first % scan_node / 256;
        if (chunk == 0)
            scan_carries<16>(isa, work.chunks + node * 16, before_chunks, before_nodes + node, p, op);
        scan_carries<scan_piece / 16>(isa, work.blocks + first / 16, before_blocks, before_chunks + chunk, p,
                                      op);
        const u64 count = std::min(scan_piece, length - first);
        if (count == scan_piece) {
            T* const to = non_temporal ? work.piece : out + first;
            scan_elements<scan_piece>(isa, in + first, to, before_blocks, p, exclusive, op);
            if (non_temporal) stream_store(out + first, work.piece, scan_piece * sizeof(T));
            continue;
        }
        const u64 padded = pad_piece(work.piece, in + first, count, identity);
        for (u64 at = 0; at < padded; at += scan_chunk)
            scan_elements<scan_chunk>(isa, work.piece + at, work.piece + at, before_blocks + at / 16, p,
                                      exclusive, op);
        if (non_temporal) {
            stream_store(out + first, work.piece, count * sizeof(T));
        } else {
            std::memcpy(out + first, work.piece, count * sizeof(T));
        }
    }
}

// Tiles exchange their totals as in lookback.cu. flags[0] is the ticket; flags[1 + i] is set when totals[i] is
// published.
template <class T>
[[gnu::always_inline]] inline void publish(T* totals, u32* flags, u64 index, T total) {
    totals[index] = total;
    std::atomic_ref(flags[1 + index]).store(1, std::memory_order_release);
}

template <class T>
[[gnu::always_inline]] inline T await(const Group& group, const T* totals, u32* flags, u64 index) {
    for (u32 spins = 0; std::atomic_ref(flags[1 + index]).load(std::memory_order_acquire) == 0; ++spins) {
        if (spins >= 256) yield(group);
    }
    return totals[index];
}

// Publishes the totals of the tile and of the nodes that it completes. Returns the tile's carry. nodes: totals of the
// tile's nodes of 4096 elements.
template <class T, class Op>
[[gnu::noinline]] T tile_carry(const Group& group, T* totals, u32* flags, u64 tile, u64 tiles, const T* nodes,
                               T identity, const Op& op) {
    constexpr u32 most_levels = 16;
    alignas(64) T values[16], total;
    T before[most_levels];
    total_blocks<16>(nodes, &total, op);
    u64 level = 0, at = tile, count = tiles;
    u32 levels = 0;
    for (bool complete = true; count > 1; ++levels) {
        if (complete) publish(totals, flags, level + at, total);
        const u64 digit = at % scan_fan;
        for (u64 i = 0; i < scan_fan; ++i)
            values[i] = i < digit    ? await(group, totals, flags, level + at - digit + i)
                        : i == digit ? total
                                     : identity;
        scan_fours<16>(values, values, op);
        join_halves<16, 4>(values, op);
        join_halves<16, 8>(values, op);
        before[levels] = values[(digit - 1) % scan_fan];
        complete = complete && digit == scan_fan - 1;
        total = values[scan_fan - 1];
        level += count;
        at /= scan_fan;
        count = (count + scan_fan - 1) / scan_fan;
    }
    T carry = identity;
    while (levels-- > 0) {
        if ((tile >> (4 * levels)) % scan_fan != 0) carry = op(carry, before[levels]);
    }
    return carry;
}

// The groups of a launch share the only tile: each takes consecutive nodes of 4096 elements by ticket. It publishes
// their totals before it waits for those of earlier nodes, whose groups have started before it.
template <class T, class Op>
[[gnu::always_inline]] inline void scan_shared_tile(const Group& group, const T* in, T* out, T* totals, u64 n,
                                                    bool exclusive, bool non_temporal, TileWork<T>& work,
                                                    T identity, const Op& op) {
    std::array<u64, 32>& words = group.launch->words;  // the ticket, and flags of the nodes
    const u64 count = (n + scan_node - 1) / scan_node;
    const u64 share = std::atomic_ref(words[0]).fetch_add(1, std::memory_order_relaxed);
    const u64 begin = share * count / group.count_x, end = (share + 1) * count / group.count_x;
    const u64 first = begin * scan_node, length = std::min(end * scan_node, n) - first;
    reduce_tile(in + first, length, work, identity, op);
    alignas(64) T nodes[16], before_nodes[16];
    std::fill(std::begin(nodes), std::end(nodes), identity);
    for (u64 i = begin; i < end; ++i) {
        nodes[i] = totals[i] = work.nodes[i - begin];
        std::atomic_ref(words[1 + i]).store(1, std::memory_order_release);
    }
    for (u64 i = 0; i < begin; ++i) {
        const std::atomic_ref flag(words[1 + i]);
        for (u32 spins = 0; flag.load(std::memory_order_acquire) == 0; ++spins) {
            if (spins >= 256) yield(group);
        }
        nodes[i] = totals[i];
    }
    scan_carries<16>(group.isa, nodes, before_nodes, &identity, work.p + 1, op);
    finish_tile(group.isa, in + first, out + first, length, work, before_nodes + begin, exclusive,
                non_temporal, identity, op);
}

// Groups take tiles by ticket until none is left. A group publishes its tile's total before it waits for other tiles.
// Those tiles have started before its own. Always inlined: g++ 12 would not flatten it into its entry points, which
// are compiled for the instruction sets.
template <class T, class Op>
[[gnu::always_inline]] inline void scan_partitioned(const Group& group, const T* in, T* out, T* totals,
                                                    u32* flags, u64 n, u32 exclusive, u32 non_temporal,
                                                    T identity, const Op op) {
    const u64 tiles = (n + scan_tile - 1) / scan_tile;
    TileWork<T> work;
    work.p[0] = identity;  // read but not used at the beginning of a block
    std::atomic_ref<u32> ticket(flags[0]);
    if (tiles == 1 && group.count_x > 1) {
        scan_shared_tile(group, in, out, totals, n, exclusive != 0, non_temporal != 0, work, identity, op);
        if (non_temporal != 0) stream_fence();
        return;
    }
    for (u64 tile = 0; tile < tiles; ++tile) {
        if (tiles > 1) tile = ticket.fetch_add(1, std::memory_order_relaxed);
        if (tile >= tiles) break;
        const u64 first = tile * scan_tile, length = std::min(scan_tile, n - first);
        reduce_tile(in + first, length, work, identity, op);
        const T carry =
            tiles > 1 ? tile_carry(group, totals, flags, tile, tiles, work.nodes, identity, op) : identity;
        alignas(64) T before_nodes[16];
        scan_carries<16>(group.isa, work.nodes, before_nodes, &carry, work.p + 1, op);
        finish_tile(group.isa, in + first, out + first, length, work, before_nodes, exclusive != 0,
                    non_temporal != 0, identity, op);
    }
    if (non_temporal != 0) stream_fence();
}

// One loop from the first element to the last.
template <class T, class Op>
void scan_serial(const Group& /*group*/, const T* in, T* out, u64 n, u32 exclusive, T identity, const Op op) {
    T sum = identity;
    for (u64 i = 0; i < n; ++i) {
        const T before = sum;
        sum = op(sum, in[i]);
        out[i] = canonical(exclusive != 0 ? before : sum);
    }
}

}  // namespace concord::detail::host
