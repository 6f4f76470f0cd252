#pragma once
// Scan over one axis of an array, host dialect. Parallel source: scan_lines.kernel.
//
// Algorithm  A group scans chunks of neighbouring lines side by side, from their begin to their end in blocks of 16
//            elements, in vectors over the lines. It keeps the upper levels of the tree per line. Few long lines have
//            several chunks; see scan_lines.kernel.
// Passes     one launch, or three for several chunks. Traffic: reads every element once, or twice for several chunks;
//            writes it once.
// Tunables   run: units per group; a launch argument.
// Source     as scan_lines.kernel.

#include <concord/detail/canonical.hpp>
#include <concord/detail/nd_lines.hpp>
#include <concord/detail/scan_host.hpp>

namespace concord::detail::host {

// Lines of a unit, whose block is in the first-level cache.
template <class T>
inline constexpr u64 scan_lines_width = 512 / sizeof(T);

// The tree above the blocks of the lines of a unit, as far as later blocks depend on it.
template <class T>
struct ScanLinesTree {
    static constexpr u64 width = scan_lines_width<T>, fan = 16;
    static constexpr int levels = 14;

    u64 blocks = 0;                         // complete ones
    alignas(64) T saved[levels][4][width];  // what right halves of the open node's children are combined with
    T carry[levels][width];                 // of the open node
    T total[width];                         // of the largest node that the last block completed
    T next[width];                          // the carry of the next block
};

template <class T, class Op>
[[gnu::always_inline]] inline void scan_join(T* __restrict to, const T* __restrict left, u64 width,
                                             const Op& op) {
    for (u64 l = 0; l < width; ++l)
        to[l] = op(left[l], to[l]);
}

// Adds the total of a block, which it overwrites.
template <class T, class Op>
[[gnu::always_inline]] inline void scan_add_block(ScanLinesTree<T>& tree, T* __restrict total, u64 width,
                                                  const Op& op) {
    u64 above = tree.blocks++;
    int level = 0;
    for (;; ++level, above /= tree.fan) {
        const u64 j = above % tree.fan;
        std::memcpy(tree.total, total, width * sizeof(T));
        for (int k = 0; k < 4; ++k) {
            if ((j >> k & 1) != 0) {
                scan_join(total, tree.saved[level][k], width, op);
            } else if ((j & ((1U << k) - 1)) == (1U << k) - 1) {
                std::memcpy(tree.saved[level][k], total, width * sizeof(T));
            }
        }
        if (j + 1 < tree.fan) break;
    }
    for (u64 l = 0; l < width; ++l)
        tree.next[l] = op(tree.carry[level][l], total[l]);
    for (; level > 0; --level)
        std::memcpy(tree.carry[level - 1], tree.next, width * sizeof(T));
}

// Sklansky's network of one value each of 16 rows. Without loops, so that compilers vectorize the loop around it.
template <u64 half, u64... j, class T, class Op>
[[gnu::always_inline]] inline void scan_join_rows(T* v, const Op& op,
                                                  std::integer_sequence<u64, j...> /*rows*/) {
    ((v[j] = (j & half) != 0 ? op(v[((j & ~(half - 1)) - 1) % 16], v[j]) : v[j]), ...);
}
template <u64... j, class T, class Op>
[[gnu::always_inline]] inline void scan_rows_of(const T* from, i64 step, T* to, u64 width,
                                                std::integer_sequence<u64, j...> rows, const Op& op) {
    T v[16] = {from[static_cast<i64>(j) * step]...};
    scan_join_rows<1>(v, op, rows);
    scan_join_rows<2>(v, op, rows);
    scan_join_rows<4>(v, op, rows);
    scan_join_rows<8>(v, op, rows);
    ((to[j * width] = v[j]), ...);
}

// Where the lines of a unit begin, and whether they are adjacent.
struct ScanLinesAt {
    i64 at[512];
    bool adjacent;

    ScanLinesAt(const NdLines<2>& s, u32 operand, u64 first, u64 width) : adjacent(true) {
        for (u64 l = 0; l < width; ++l) {
            at[l] = s.line_at(operand, first + l);
            adjacent = adjacent && at[l] == at[0] + static_cast<i64>(l);
        }
    }
};

// A group scans `run` consecutive units: chunks of neighbouring lines. carries: of the chunks of each line. `totals`:
// out becomes the totals of the chunks.
template <class T, class Op>
[[gnu::always_inline]] inline void scan_lines(const Group& group, const T* in, const T* carries, T* out,
                                              const NdLines<2> s, u64 chunk, u64 chunks, u64 run,
                                              u32 exclusive, u32 totals, T identity, const Op op) {
    constexpr u64 width = scan_lines_width<T>, fan = 16;
    alignas(64) T value[fan][width];
    ScanLinesTree<T> tree;
    const u64 parts = (s.lines + width - 1) / width, first_unit = group.x * run;
    for (u64 unit = first_unit; unit < min_of(parts * chunks, first_unit + run); ++unit) {
        const u64 c = unit / parts, first = unit % parts * width, count = min_of(width, s.lines - first),
                  begin = c * chunk, length = min_of(chunk, s.n - begin);
        const ScanLinesAt from(s, 0, first, count), to(s, 1, first, count);
        tree.blocks = 0;
        for (u64 l = 0; l < count; ++l)
            tree.next[l] = chunks > 1 && totals == 0 ? carries[(first + l) * chunks + c] : identity;
        for (auto& carry : tree.carry)
            std::memcpy(carry, tree.next, count * sizeof(T));
        for (u64 at = 0; at < length; at += fan) {
            const u64 rows = min_of(fan, length - at);
            const T* const source = in + static_cast<i64>(begin + at) * s.step[0];
            const bool direct = from.adjacent && rows == fan;
            if (from.adjacent) {
                for (u64 j = 0; !direct && j < rows; ++j)
                    std::memcpy(value[j], source + from.at[0] + static_cast<i64>(j) * s.step[0],
                                count * sizeof(T));
            } else {
                for (u64 l = 0; l < count; ++l) {
                    const T* const line = source + from.at[l];
                    if (rows == fan && s.step[0] == 1) {
                        for (u64 j = 0; j < fan; ++j)
                            value[j][l] = line[j];
                        continue;
                    }
                    for (u64 j = 0; j < rows; ++j)
                        value[j][l] = line[static_cast<i64>(j) * s.step[0]];
                }
            }
            for (u64 j = rows; j < fan; ++j) {
                for (u64 l = 0; l < count; ++l)
                    value[j][l] = identity;
            }
            const T* const first_row = direct ? source + from.at[0] : value[0];
            const i64 step = direct ? s.step[0] : static_cast<i64>(width);
#if !defined(__clang__)
#pragma GCC ivdep
#endif
            for (u64 l = 0; l < count; ++l)
                scan_rows_of(first_row + l, step, value[0] + l, width, std::make_integer_sequence<u64, fan>{},
                             op);
            alignas(64) T carry[width], total[width];
            std::memcpy(carry, tree.next, count * sizeof(T));
            std::memcpy(total, value[fan - 1], count * sizeof(T));
            scan_add_block(tree, total, count, op);
            if (totals != 0) continue;
            T* const target = out + static_cast<i64>(begin + at) * s.step[1];
            for (u64 j = 0; j < rows; ++j) {
                const u64 k = exclusive != 0 ? rows - 1 - j : j;  // exclusive: element k needs value k - 1
                T* const row = value[k];
                if (exclusive != 0 && k == 0) {
                    for (u64 l = 0; l < count; ++l)
                        row[l] = canonical(carry[l]);
                } else {
                    const T* const through = exclusive != 0 ? value[k - 1] : row;
                    for (u64 l = 0; l < count; ++l)
                        row[l] = canonical(op(carry[l], through[l]));
                }
                if (to.adjacent)
                    std::memcpy(target + to.at[0] + static_cast<i64>(k) * s.step[1], row, count * sizeof(T));
            }
            if (to.adjacent) continue;
            for (u64 l = 0; l < count; ++l) {
                T* const line = target + to.at[l];
                if (rows == fan && s.step[1] == 1) {
                    for (u64 j = 0; j < fan; ++j)
                        line[j] = value[j][l];
                    continue;
                }
                for (u64 j = 0; j < rows; ++j)
                    line[static_cast<i64>(j) * s.step[1]] = value[j][l];
            }
        }
        for (u64 l = 0; totals != 0 && l < count; ++l)
            out[(first + l) * chunks + c] = tree.total[l];
    }
}

// A group scans `run` consecutive lines of adjacent elements, one after another, each at most a tile. By the kernels
// for ranges, whose vectors lie along the line.
void scan_rows(const Group& group, const ScanPhases& phases, const ScanCall& call, const NdLines<2>& s,
               u64 run);
template <const ScanPhases& phases, class T, class Op>
void scan_rows(const Group& group, const T* in, T* out, const NdLines<2> s, u64 run, u32 exclusive,
               T identity, const Op op) {
    scan_rows(group, phases, {in, out, nullptr, nullptr, s.n, exclusive != 0, false, &identity, &op}, s, run);
}

}  // namespace concord::detail::host
