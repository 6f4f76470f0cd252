#pragma once
// Scan in the canonical order, host dialect. Parallel sources: scan_tile.cu and scan_wide.cl.
//
// Algorithm  The tree of scan_tile.cu, in vectors. A task scans tiles of 65536 elements.
// Passes     partitioned: one launch. The carry of a tile comes from the totals of earlier tiles, as in lookback.cu.
//            Groups share a single tile. scan_host.cpp distributes tiles and totals for every type and operator.
//            Traffic: reads every element from memory once, for its tile's total, and again from the cache; writes it
//            once. The tile of an expression is computed once, to memory of the thread.
// Tunables   none. The launch chooses the number of groups.
// Source     J. Sklansky, Conditional-sum Addition Logic, 1960; D. Merrill, M. Garland, Single-pass Parallel Prefix
//            Scan with Decoupled Look-back, 2016.
//
// T: element type; Op: the operator. The phases of a tile are compiled for each instruction set. They have one copy of
// their loops for all levels of the tree, because user operators are compiled in the user's files.

#include <concord/detail/canonical.hpp>
#include <concord/detail/host_input.hpp>
#include <concord/detail/host_vector.hpp>
#include <concord/host_kernel.hpp>

#include <span>

namespace concord::detail::host {

inline constexpr u64 scan_fan = 16;     // children of a node, elements of a block
inline constexpr u64 scan_chunk = 256;  // elements of a node of two levels, which the loops process at a time
inline constexpr u64 scan_piece = 1024;  // elements of the results that are staged
inline constexpr u64 scan_node = 4096;   // elements of a node of three levels
inline constexpr u64 scan_tile = 65536;  // elements of a node of four levels, which half of an L2 cache holds

// A task's data of its tile: the totals of its blocks and of its nodes of 256 elements, later their carries, and a
// piece of the input or of the results.
template <class T>
struct ScanWork {
    alignas(64) T blocks[scan_tile / 16];
    alignas(64) T chunks[scan_tile / 256];
    alignas(64) T piece[scan_piece];
};

// Copies the last elements of the input to whole chunks, padded with identities.
template <class T>
[[gnu::always_inline]] inline const T* pad_chunks(T* piece, const T* in, u64 count, T identity) {
    const u64 padded = (count + scan_chunk - 1) / scan_chunk * scan_chunk;
    std::memcpy(piece, in, count * sizeof(T));
    for (u64 i = count; i < padded; ++i)
        piece[i] = identity;
    return piece;
}

// Only the loops below access elements in the tree. Each has a constant number of iterations, so that the compiler
// vectorizes it.

// Sklansky's network within N / 16 blocks.
template <int N, class T, class Op>
[[gnu::always_inline]] inline void scan_network(const T* in, T* p, const Op& op) {
    for (int k = 0; k < N; k += 4) {
        const T a = in[k], b = op(a, in[k + 1]), c = in[k + 2], d = op(c, in[k + 3]);
        p[k] = a;
        p[k + 1] = b;
        p[k + 2] = op(b, c);
        p[k + 3] = op(b, d);
    }
    // Combines the last element of each left half with all elements of the right half.
    auto join = [&]<int half>() __attribute__((always_inline)) {
        for (int k = half; k < N; k += 2 * half) {
            const T left = p[k - 1];
            for (int j = 0; j < half; ++j)
                p[k + j] = op(left, p[k + j]);
        }
    };
    join.template operator()<4>();
    join.template operator()<8>();
}

// Computes the results of N / 16 blocks from their carries. out may be in.
template <int N, class T, class Op>
[[gnu::always_inline]] inline void scan_blocks(const T* in, T* out, const T* before, bool exclusive,
                                               const Op& op) {
    alignas(64) T p[16 + N];
    p[15] = in[0];  // read but not used
    scan_network<N>(in, p + 16, op);
    const T* from = exclusive ? p + 15 : p + 16;
    for (int b = 0; b < N / 16; ++b) {
        const T left = before[b];
        for (int j = 0; j < 16; ++j)
            out[16 * b + j] = op(left, from[16 * b + j]);
    }
    if (!exclusive) return;
    for (int b = 0; b < N / 16; ++b)
        out[16 * b] = before[b];
}

// Computes the totals of N / 16 consecutive blocks: combines neighbours four times.
template <int N, class T, class Op>
[[gnu::always_inline]] inline void total_blocks(const T* in, T* totals, const Op& op) {
    alignas(64) T twos[N / 2], fours[N / 4], eights[N / 8];
    auto pairs = [&]<int n>(const T* from, T* to) __attribute__((always_inline)) {
        for (int k = 0; k < n; ++k)
            to[k] = op(from[2 * k], from[2 * k + 1]);
    };
    pairs.template operator()<N / 2>(in, twos);
    pairs.template operator()<N / 4>(twos, fours);
    pairs.template operator()<N / 8>(fours, eights);
    pairs.template operator()<N / 16>(eights, totals);
}

// --- The phases of a tile -------------------------------------------------------------------------------------------
// Always inlined: g++ 12 would not flatten them into their entry points, which are compiled for the instruction sets.

// Upsweep: computes the totals of a tile's 16 nodes of 4096 elements, and leaves those of its blocks and chunks in
// `work`. Nodes past the end hold the identity, which may be the carry of earlier parts: a partial tile has no total.
template <class T, class Op>
[[gnu::always_inline]] inline void scan_upsweep(const Group& /*group*/, const T* in, u64 length,
                                                ScanWork<T>* work, T* nodes, T identity, const Op op) {
    const u64 all = (length + scan_node - 1) / scan_node * 256;  // blocks of the nodes
    const u64 counts[] = {length, all, 256, 16};
    const T* from = in;
#pragma GCC unroll 1
    for (int level = 0; level < 3; ++level) {
        T* const to = level == 0 ? work->blocks : level == 1 ? work->chunks : nodes;
        const u64 count = counts[level];
        u64 made = 0;
        for (u64 first = 0; first < count; first += scan_chunk, made += 16) {
            const T* const chunk = count - first >= scan_chunk
                                       ? from + first
                                       : pad_chunks(work->piece, from + first, count - first, identity);
            total_blocks<scan_chunk>(chunk, to + made, op);
        }
        for (; made < counts[level + 1]; ++made)
            to[made] = identity;
        from = to;
    }
}

// Downsweep: computes the results of a tile from the carries of its nodes, with canonical NaNs. non_temporal: results
// are stored to memory in whole cache lines. blocks(in, out, before, count, exclusive) scans the blocks of at most 256
// elements from their carries.
template <class T, class Blocks>
[[gnu::always_inline]] inline void scan_downsweep_by(const T* in, T* out, u64 length, bool exclusive,
                                                     bool non_temporal, ScanWork<T>* work,
                                                     const T* before_nodes, T identity,
                                                     const Blocks& blocks) {
    const u64 counts[] = {(length + scan_chunk - 1) / scan_chunk, (length + 15) / 16, length};
    const T* before = before_nodes;
#pragma GCC unroll 1
    for (int level = 0; level < 3; ++level) {
        const bool last = level == 2;
        T* const totals = level == 0 ? work->chunks : work->blocks;  // become carries
        for (u64 first = 0; first < counts[level]; first += scan_piece) {
            const u64 count = min_of(scan_piece, counts[level] - first);
            const T* from = last ? in + first : totals + first;
            T* const target = last ? out + first : totals + first;
            const bool partial = last && count % scan_chunk != 0;
            if (partial) from = pad_chunks(work->piece, from, count, identity);
            T* const to = last && (partial || non_temporal) ? work->piece : target;
            for (u64 at = 0; at < count; at += scan_chunk) {
                blocks(from + at, to + at, before + (first + at) / 16, min_of(scan_chunk, count - at),
                       exclusive || !last);
                if (!std::is_floating_point_v<T> || !last) continue;
                for (u64 i = 0; i < scan_chunk; ++i)
                    to[at + i] = canonical(to[at + i]);
            }
            if (to == target) continue;
            if (non_temporal) {
                stream_store(target, to, count * sizeof(T));
            } else {
                std::memcpy(target, to, count * sizeof(T));
            }
        }
        before = totals;
    }
}
template <class T, class Op>
[[gnu::always_inline]] inline void scan_downsweep(const Group& /*group*/, const T* in, T* out, u64 length,
                                                  u32 exclusive, u32 non_temporal, ScanWork<T>* work,
                                                  const T* before_nodes, T identity, const Op op) {
    auto blocks = [&](const T* from, T* to, const T* before, u64 /*count*/, bool excludes)
        __attribute__((always_inline)) {
        scan_blocks<scan_chunk>(from, to, before, excludes, op);
    };
    scan_downsweep_by(in, out, length, exclusive != 0, non_temporal != 0, work, before_nodes, identity,
                      blocks);
}

// Computes the carries of 16 nodes from their totals and their parent's carry, and the total of the parent.
template <class T, class Op>
void scan_sixteen(const Group& /*group*/, const T* totals, T carry, T* before, T* total, const Op op) {
    T p[16];
    scan_network<16>(totals, p, op);
    before[0] = carry;
    for (int i = 1; i < 16; ++i)
        before[i] = op(carry, p[i - 1]);
    *total = p[15];
}

// --- The kernels ----------------------------------------------------------------------------------------------------

// The functions above for one operator and element type.
struct ScanPhases {
    u32 size;  // of an element
    HostKernel upsweep, downsweep, sixteen;
};
template <class T, class Op>
inline constexpr ScanPhases scan_phases{.size = sizeof(T),
                                        .upsweep = host_kernel<&scan_upsweep<T, Op>>(),
                                        .downsweep = host_kernel<&scan_downsweep<T, Op>>(),
                                        .sixteen = plain_host_kernel<&scan_sixteen<T, Op>>()};

// The arguments of a launch. in, out, totals, identity: elements of one type. in: null for an expression.
struct ScanCall {
    const void* in;
    void* out;
    void* totals;
    u32* flags;
    u64 n;
    bool exclusive, non_temporal;
    const void* identity;
    const void* op;
    const HostInput<std::byte>* expression = nullptr;
    u64 begin = 0;  // the first element of the expression
};

// Groups take tiles by ticket until none is left. A group publishes its tile's total before it waits for other tiles.
// Those tiles have started before its own.
void scan_partitioned(const Group& group, const ScanPhases& phases, const ScanCall& call);
template <const ScanPhases& phases, class T, class Op>
void scan_partitioned(const Group& group, T* out, T* totals, u32* flags, u64 n, u32 exclusive,
                      u32 non_temporal, T identity, const Op op, HostArguments rest) {
    const HostInput<std::byte> in(rest);
    scan_partitioned(
        group, phases,
        {in.range(), out, totals, flags, n, exclusive != 0, non_temporal != 0, &identity, &op, &in});
}

// A segment of more than a tile that all groups share: its first element, its length, and the first place of its totals
// and flags.
struct LongSegment {
    u64 begin = 0, length = 0, first = 0;
};
// Totals and flags of a segment: those of its tiles and of the nodes above them, and the ticket.
constexpr u64 long_segment_places(u64 length) {
    const u64 tiles = (length + scan_tile - 1) / scan_tile;
    return tiles + tiles / 8 + 16;
}
// Scans the segments of a list, one after another, each as scan_partitioned() does. flags: initially zero.
void scan_segments(const Group& group, const ScanPhases& phases, const ScanCall& call,
                   std::span<const LongSegment> list);
template <const ScanPhases& phases, class T, class Op>
void scan_segments(const Group& group, T* out, T* totals, u32* flags, const LongSegment* list,
                   const u32* count, u32 exclusive, u32 non_temporal, T identity, const Op op,
                   HostArguments rest) {
    const HostInput<std::byte> in(rest);
    scan_segments(group, phases,
                  {in.range(), out, totals, flags, 0, exclusive != 0, non_temporal != 0, &identity, &op, &in},
                  {list, *count});
}

// Computes the total of a group's tile, for the carry of a later part of a larger input.
void scan_totals(const Group& group, const ScanPhases& phases, const ScanCall& call);
template <const ScanPhases& phases, class T, class Op>
void scan_totals(const Group& group, const T* in, T* totals, u64 n, T identity, const Op op) {
    scan_totals(group, phases, {in, nullptr, totals, nullptr, n, false, false, &identity, &op});
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
