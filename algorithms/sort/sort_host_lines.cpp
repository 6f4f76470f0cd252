// Sort over one axis of an array on the CPU.
//
// A group copies a few neighbouring lines to scratch memory as codes, sorts each there and stores it. Keys with values,
// and keys whose order is wanted, become words of {code, place}, whose order is stable. Highway's vectorised quicksort
// sorts codes and words, or std::sort without Highway. Keys of one byte are counted. Short lines without values take a
// sorting network in vectors over the lines.
// Traffic: one read and one write per element. Sources: M. Blacher et al., Vectorized and Performance-Portable
// Quicksort, 2022; D. Knuth, The Art of Computer Programming, vol. 3, 5.2.

#include "sort_host_kernels.hpp"

#include <concord/detail/nd_lines.hpp>
#include <concord/internal/line_sorter.hpp>

namespace concord {
namespace detail::host {
namespace {

// From one line in scratch memory to the next: an odd number of cache lines, so that not all lines compete for the same
// places of a cache.
constexpr u64 pitch_of(u64 n) {
    return (n + 31) / 32 * 32 + 16;
}

// Calls f(l, i) for all elements of `count` lines: along the lines, or across them where these are adjacent.
template <class F>
[[gnu::always_inline]] inline void each_element(u64 count, u64 n, bool across, const F& f) {
    if (across) {
        for (u64 i = 0; i < n; ++i) {
            for (u64 l = 0; l < count; ++l)
                f(l, i);
        }
        return;
    }
    for (u64 l = 0; l < count; ++l) {
        for (u64 i = 0; i < n; ++i)
            f(l, i);
    }
}

struct LinesWork {
    i64 at[4][64];  // where the lines of the operands begin
    u64 count, n;
    bool across;
    const NdLines<4>& s;

    i64 place(u32 operand, u64 l, u64 i) const {
        return at[operand][l] + static_cast<i64>(i) * s.step[operand];
    }
};

template <class K>
void sort_keys(const LinesWork& w, const K* in, K* out, K* codes, LineSorter& sorter, const Ascending& code) {
    const u64 pitch = pitch_of(w.n);
    each_element(w.count, w.n, w.across,
                 [&](u64 l, u64 i) { codes[l * pitch + i] = code.encode(in[w.place(0, l, i)]); });
    for (u64 l = 0; l < w.count; ++l)
        sorter(codes + l * pitch, w.n);
    each_element(w.count, w.n, w.across,
                 [&](u64 l, u64 i) { out[w.place(2, l, i)] = code.decode(codes[l * pitch + i]); });
}

// value_size: of a value or index. indexed: values are places; sorted keys are not stored.
template <class K>
void sort_words(const LinesWork& w, const K* in, const std::byte* values_in, K* out, std::byte* values_out,
                std::byte* scratch, u32 value_size, bool indexed, LineSorter& sorter, const Ascending& code) {
    const u64 pitch = pitch_of(w.n);
    auto* const words = reinterpret_cast<Word<K>*>(scratch);
    each_element(w.count, w.n, w.across, [&](u64 l, u64 i) {
        words[l * pitch + i] = word_of<K>(code.encode(in[w.place(0, l, i)]), i);
    });
    for (u64 l = 0; l < w.count; ++l)
        sorter(words + l * pitch, w.n);
    visit_size(value_size, [&](auto tag) {
        using V = typename decltype(tag)::type;
        auto* const to = reinterpret_cast<V*>(values_out);
        if (indexed) {
            each_element(w.count, w.n, w.across, [&](u64 l, u64 i) {
                to[w.place(3, l, i)] = static_cast<V>(parts_of<K>(words[l * pitch + i]).second);
            });
            return;
        }
        const auto* const from = reinterpret_cast<const V*>(values_in);
        auto* const values = reinterpret_cast<V*>(scratch + w.count * pitch * sizeof(Word<K>));
        each_element(w.count, w.n, w.across,
                     [&](u64 l, u64 i) { values[l * pitch + i] = from[w.place(1, l, i)]; });
        each_element(w.count, w.n, w.across, [&](u64 l, u64 i) {
            const auto [key, place] = parts_of<K>(words[l * pitch + i]);
            out[w.place(2, l, i)] = code.decode(key);
            to[w.place(3, l, i)] = values[l * pitch + place];
        });
    });
}

// A group sorts `run` consecutive units of `width` neighbouring lines. room: scratch bytes per group.
template <class K>
void sort_lines(const Group& group, const K* in, const std::byte* values_in, K* out, std::byte* values_out,
                std::byte* scratch, const NdLines<4> s, u64 width, u64 run, u64 room, u32 value_size,
                u32 indexed, const Ascending code) {
    scratch += group.x * room;
    LineSorter sorter;
    const u64 units = (s.lines + width - 1) / width, first = group.x * run;
    for (u64 unit = first; unit < min_of(units, first + run); ++unit) {
        LinesWork w{{}, min_of(width, s.lines - unit * width), s.n, width > 1, s};
        for (u32 operand = 0; operand < 4; ++operand) {
            for (u64 l = 0; l < w.count; ++l)
                w.at[operand][l] = s.line_at(operand, unit * width + l);
        }
        if (value_size == 0) {
            sort_keys(w, in, out, reinterpret_cast<K*>(scratch), sorter, code);
        } else {
            sort_words(w, in, values_in, out, values_out, scratch, value_size, indexed != 0, sorter, code);
        }
    }
}

// --- Short lines ---------------------------------------------------------------------------------------------------
// Lines side by side, one per lane of vectors, through a sorting network whose comparators are minima and maxima.

// Lines at a time: a cache line of codes or words.
template <class W>
constexpr u64 short_width = 64 / sizeof(W);

// Merge exchange, for any number of rows. Source: K. Batcher, 1968; D. Knuth, 5.2.2, algorithm M.
template <class W>
[[gnu::always_inline]] inline void sort_rows(W* rows, u64 n) {
    constexpr u64 width = short_width<W>;
    u64 top = 1;
    while (2 * top < n)
        top *= 2;
    for (u64 p = top; p > 0; p /= 2) {
        for (u64 q = top, r = 0, d = p;; d = q - p, q /= 2, r = p) {
            for (u64 i = 0; i + d < n; ++i) {
                if ((i & p) != r) continue;
                W* const __restrict a = rows + i * width, * const __restrict b = rows + (i + d) * width;
                W low[width], high[width];
                for (u64 l = 0; l < width; ++l) {
                    low[l] = min_of(a[l], b[l]);
                    high[l] = max_of(a[l], b[l]);
                }
                for (u64 l = 0; l < width; ++l) {
                    a[l] = low[l];
                    b[l] = high[l];
                }
            }
            if (q == p) break;
        }
    }
}

// A group sorts `run` consecutive units of neighbouring lines: keys, or with I their places. Codes compare as signed
// integers, for which vectors have comparisons.
template <class K, class W, bool indexed>
[[gnu::always_inline]] inline void sort_short(const Group& group, const K* in, K* out, std::byte* places,
                                              const NdLines<4> s, u64 run, u32 place_size,
                                              const Ascending code) {
    constexpr u64 width = short_width<W>;
    constexpr auto top = static_cast<K>(K{1} << (8 * sizeof(K) - 1));
    alignas(64) W rows[short_line * width];
    const auto word = [&](K key, u64 i) __attribute__((always_inline)) {
        const auto signed_code = static_cast<std::make_signed_t<K>>(code.encode(key) ^ top);
        if constexpr (indexed) return static_cast<W>(W{signed_code} * (W{1} << 32) + static_cast<W>(i));
        return static_cast<W>(signed_code);
    };
    const u64 units = (s.lines + width - 1) / width;
    for (u64 unit = group.x * run; unit < min_of(units, (group.x + 1) * run); ++unit) {
        const u64 count = min_of(width, s.lines - unit * width);
        i64 from[width], to[width];
        bool from_adjacent = count == width, to_adjacent = count == width;
        for (u64 l = 0; l < count; ++l) {
            from[l] = s.line_at(0, unit * width + l);
            to[l] = s.line_at(indexed ? 3 : 2, unit * width + l);
            from_adjacent = from_adjacent && from[l] == from[0] + static_cast<i64>(l);
            to_adjacent = to_adjacent && to[l] == to[0] + static_cast<i64>(l);
        }
        const i64 step = s.step[0], to_step = s.step[indexed ? 3 : 2];
        if (from_adjacent) {
            for (u64 i = 0; i < s.n; ++i) {
                const K* const row = in + from[0] + static_cast<i64>(i) * step;
                for (u64 l = 0; l < width; ++l)
                    rows[i * width + l] = word(row[l], i);
            }
        } else {
            for (u64 l = 0; l < width; ++l) {
                const K* const line = in + from[l < count ? l : 0];
                for (u64 i = 0; i < s.n; ++i)
                    rows[i * width + l] = word(line[static_cast<i64>(i) * step], i);
            }
        }
        sort_rows(rows, s.n);
        const auto store = [&](auto* target, const auto& value) __attribute__((always_inline)) {
            if (to_adjacent) {
                for (u64 i = 0; i < s.n; ++i) {
                    auto* const row = target + to[0] + static_cast<i64>(i) * to_step;
                    for (u64 l = 0; l < width; ++l)
                        row[l] = value(rows[i * width + l]);
                }
                return;
            }
            for (u64 l = 0; l < count; ++l) {
                auto* const line = target + to[l];
                for (u64 i = 0; i < s.n; ++i)
                    line[static_cast<i64>(i) * to_step] = value(rows[i * width + l]);
            }
        };
        if constexpr (indexed) {
            if (place_size == 4) {
                store(reinterpret_cast<u32*>(places), [](W w) { return static_cast<u32>(w); });
            } else {
                store(reinterpret_cast<u64*>(places), [](W w) { return static_cast<u64>(w) & 0xffffffff; });
            }
        } else {
            store(out, [&](W w) { return code.decode(static_cast<K>(static_cast<K>(w) ^ top)); });
        }
    }
}

}  // namespace
}  // namespace detail::host

namespace detail {

HostKernel sort_lines_host(u32 key_size) {
    return visit_size(key_size, [](auto tag) {
        return plain_host_kernel<&detail::host::sort_lines<typename decltype(tag)::type>>();
    });
}

HostKernel sort_short_host(u32 key_size, bool indexed) {
    return visit_size(key_size, [&](auto tag) {
        using K = typename decltype(tag)::type;
        if constexpr (sizeof(K) < 8) {
            if (indexed) return host_kernel<&detail::host::sort_short<K, i64, true>>();
        }
        return host_kernel<&detail::host::sort_short<K, std::make_signed_t<K>, false>>();
    });
}

u64 sort_lines_scratch(u32 key_size, u32 value_size, u64 width, u64 n) {
    const u64 element = value_size == 0 ? key_size : detail::host::word_bytes(key_size) + value_size;
    return width * detail::host::pitch_of(n) * element;
}

}  // namespace detail
}  // namespace concord
