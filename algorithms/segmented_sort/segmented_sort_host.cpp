// Segmented sort, host dialect. Parallel sources: segmented_sort_borders.kernel, segmented_sort_tiles.kernel, which
// describes the algorithm, and segmented_sort_merge.kernel.
//
// Algorithm  A group copies a tile to scratch memory as codes and sorts the part of each segment in it there. Keys with
//            values become words of {code, place}, whose order is stable. Highway's vectorised quicksort sorts codes
//            and words, or std::sort without Highway. Passes merge the parts as on GPUs.
// Passes     two launches, then one per doubling of the tile. Those that no segment needs return at once.
// Traffic    one read and one write per element, and once more for each pass of its segment
// Tunables   tile: elements, a launch argument
// Source     M. Blacher et al., Vectorized and Performance-Portable Quicksort, 2022; S. Odeh et al., Merge Path -
//            Parallel Merging Made Simple, 2012; the rest is Concord's.
//
// K, V: unsigned integers of the sizes of a key and a value; V is NoValue for keys alone.

#include "segmented_sort_host.hpp"

#include <concord/detail/index_word.hpp>
#include <concord/internal/line_sorter.hpp>
#include <concord/segmented_sort.hpp>

namespace concord {
namespace detail::host {
namespace {

// A segment with elements on both sides of a border; without one both places are 0.
struct Crossing {
    u64 begin, end;

    // The highest tile minus the lowest one. The number of merge passes is that of its bits.
    u64 span(u64 tile) const { return end == 0 ? 0 : (end - 1) / tile - begin / tile; }
};
// Whether the elements of a segment are in the spare buffer before a pass.
bool is_spare(u64 span, u32 pass) {
    return std::bit_width(span >> pass) % 2 != 0;
}
// The border at the beginning of a tile. Kernels in other languages have the same words.
struct Border {
    u64 offsets;  // that are not above it
    Crossing crossing;
};
struct Facts {
    u32 spans;  // of all segments, combined by or
    u32 wrong;  // nonzero if an offset is wrong
};

// The first index in [low, high) whose offset is above `place`, or `high`.
u64 offset_above(const Offsets& offsets, u64 low, u64 high, u64 place) {
    while (low < high) {
        const u64 middle = low + (high - low) / 2;
        if (offsets.at(middle) > place) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

void segment_borders(const Group& group, const std::byte* offset_bytes, u32* word, Border* borders,
                     Facts* facts, u32 offset_size, u32 is_signed, u64 tile, u64 n, u64 segments, u64 tiles) {
    const Offsets offsets{reinterpret_cast<const u8*>(offset_bytes), offset_size, is_signed != 0};
    const u64 each = segments / group.count_x + 1, first = group.x * each,
              stop = min_of(segments + 1, first + each);
    u64 before = first == 0 || first > segments ? 0 : offsets.at(first - 1);
    u32 wrong = 0, spans = 0;
    for (u64 s = first; s < stop; ++s) {
        const u64 offset = offsets.at(s);
        if (offset > n || offset < before) {
            report_index(word, s);
            wrong = 1;
        }
        before = offset;
    }
    for (u64 t = group.x; t <= tiles; t += group.count_x) {
        const u64 place = t * tile, above = offset_above(offsets, 0, segments + 1, place);
        Border border{above, {0, 0}};
        if (above > 0 && above <= segments && offsets.at(above - 1) < place)
            border.crossing = {offsets.at(above - 1), offsets.at(above)};
        borders[t] = border;
        spans |= static_cast<u32>(border.crossing.span(tile));
    }
    if (spans != 0) std::atomic_ref<u32>(facts->spans).fetch_or(spans);
    if (wrong != 0) std::atomic_ref<u32>(facts->wrong).store(1);
}

// Short segments take a sorting network, in which no branch depends on the keys. Source: K. Batcher, Sorting networks
// and their applications, 1968.
constexpr u64 few_elements = 32;

template <class W>
[[gnu::always_inline]] inline void exchange(W& a, W& b) {
    const W low = min_of(a, b), high = max_of(a, b);
    a = low;
    b = high;
}
// Merges the sorted halves of every step-th of n words.
template <u64 n, u64 step, class W>
[[gnu::always_inline]] inline void merge_halves(W* words) {
    if constexpr (2 * step < n) {
        merge_halves<n, 2 * step>(words);
        merge_halves<n, 2 * step>(words + step);
        for (u64 i = step; i + step < n; i += 2 * step)
            exchange(words[i], words[i + step]);
    } else {
        exchange(words[0], words[step]);
    }
}
template <u64 n, class W>
[[gnu::always_inline]] inline void sort_power(W* words) {
    if constexpr (n > 1) {
        sort_power<n / 2>(words);
        sort_power<n / 2>(words + n / 2);
        merge_halves<n, 1>(words);
    }
}
// Sorts at most `most` words, a power of two.
template <u64 most, class W>
void sort_few(W* words, u64 n) {
    W held[most];
    for (u64 i = 0; i < most; ++i)
        held[i] = i < n ? words[i] : static_cast<W>(~W{0});
    sort_power<most>(held);
    std::copy_n(held, n, words);
}

// Sorts the elements of a tile in scratch memory.
template <class K, class V>
class TileSorter {
  public:
    TileSorter(const K* in, const V* values_in, std::byte* scratch, u64 tile, const Ascending& code)
        : in_(in),
          values_in_(values_in),
          words_(reinterpret_cast<W*>(scratch)),
          values_(reinterpret_cast<V*>(scratch + tile * sizeof(W))),
          code_(code) {}
    void load(u64 begin, u64 end) {
        begin_ = begin;
        for (u64 i = begin; i < end; ++i) {
            const K key = code_.encode(in_[i]);
            if constexpr (has_value<V>) {
                words_[i - begin] = word_of<K>(key, i - begin);
                values_[i - begin] = values_in_[i];
            } else {
                words_[i - begin] = key;
            }
        }
    }
    void sort(u64 first, u64 end) {
        W* const words = words_ + (first - begin_);
        const u64 n = end - first;
        if (n <= 1) return;
        if constexpr (std::is_unsigned_v<W>) {
            if (n <= few_elements) {
                return n <= 4    ? sort_few<4>(words, n)
                       : n <= 8  ? sort_few<8>(words, n)
                       : n <= 16 ? sort_few<16>(words, n)
                                 : sort_few<32>(words, n);
            }
        }
        sorter_(words, n);
    }
    // Decodes the keys if they are at their place.
    void store(u64 first, u64 end, K* out, [[maybe_unused]] V* values_out, bool ends) const {
        const auto store_as = [&](const auto& decoded) {
            for (u64 i = first; i < end; ++i) {
                if constexpr (has_value<V>) {
                    const auto [key, place] = parts_of<K>(words_[i - begin_]);
                    out[i] = decoded(key);
                    values_out[i] = values_[place];
                } else {
                    out[i] = decoded(words_[i - begin_]);
                }
            }
        };
        if (ends) {
            store_as([&](K key) { return code_.decode(key); });
        } else {
            store_as([](K key) { return key; });
        }
    }

  private:
    using W = std::conditional_t<has_value<V>, Word<K>, K>;

    const K* in_;
    const V* values_in_;
    W* words_;
    V* values_;
    Ascending code_;
    LineSorter sorter_;
    u64 begin_ = 0;
};

// A group sorts every count_x-th tile. room: scratch bytes per group.
template <class K, class V>
void segment_tiles(const Group& group, const K* in, const V* values_in, const std::byte* offset_bytes,
                   const Border* borders, const Facts* facts, K* out, V* values_out, K* spare,
                   V* values_spare, std::byte* scratch, u32 offset_size, u32 is_signed, u64 n, u64 segments,
                   u64 tiles, u64 tile, u64 room, const Ascending code) {
    if (facts->wrong != 0) return;
    const Offsets offsets{reinterpret_cast<const u8*>(offset_bytes), offset_size, is_signed != 0};
    TileSorter<K, V> sorter(in, values_in, scratch + group.x * room, tile, code);
    for (u64 t = group.x; t < tiles; t += group.count_x) {
        // Elements before the first segment and behind the last one stay.
        const u64 first = max_of(t * tile, offsets.at(0)),
                  end = min_of(min_of(t * tile + tile, n), offsets.at(segments));
        if (first >= end) continue;
        sorter.load(first, end);
        const u64 high = borders[t + 1].offsets;
        u64 above = offset_above(offsets, borders[t].offsets, high, first);
        for (u64 part = first; part < end;) {
            const u64 next = above < high ? min_of(offsets.at(above), end) : end;
            sorter.sort(part, next);
            part = next;
            if (part == end) break;
            // Empty segments begin at the same place.
            if (++above < high && offsets.at(above) == part) above = offset_above(offsets, above, high, part);
        }
        // The segments that reach over the borders have passes yet.
        const Crossing left = borders[t].crossing, right = borders[t + 1].crossing;
        const u64 left_end = min_of(max_of(left.end, first), end),
                  right_begin = right.end == 0 ? end : min_of(max_of(right.begin, left_end), end);
        const auto store_crossing = [&](const Crossing& s, u64 from, u64 to) {
            const bool to_spare = is_spare(s.span(tile), 0);
            sorter.store(from, to, to_spare ? spare : out, to_spare ? values_spare : values_out, false);
        };
        store_crossing(left, first, left_end);
        sorter.store(left_end, right_begin, out, values_out, true);
        store_crossing(right, right_begin, end);
    }
}

// How many of the first `diagonal` elements of the merge of a and b come from a.
template <class K>
u64 path_of(const K* a, u64 a_count, const K* b, u64 b_count, u64 diagonal) {
    u64 low = diagonal - min_of(diagonal, b_count), high = min_of(diagonal, a_count);
    while (low < high) {
        const u64 middle = low + (high - low) / 2;
        if (b[diagonal - 1 - middle] < a[middle]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

template <class K, class V>
void segment_merge(const Group& group, K* out, V* values_out, K* spare, V* values_spare,
                   const Border* borders, const Facts* facts, u64 tiles, u64 tile, u32 pass,
                   const Ascending code) {
    if (facts->wrong != 0 || facts->spans >> pass == 0) return;
    const SortRun<K, V> sides[] = {{out, values_out}, {spare, values_spare}};
    const u64 run = tile << pass;
    for (u64 t = group.x; t < tiles; t += group.count_x) {
        for (u32 border = 0; border < 2; ++border) {
            const Crossing s = borders[t + border].crossing;
            const u64 span = s.span(tile);
            // The segment over the second border counts if it begins here.
            if (span >> pass == 0 || (border != 0 && s.begin < t * tile)) continue;
            // Runs are counted from the lowest tile of the segment.
            const u64 lowest = s.begin / tile * tile,
                      pair = lowest + (t * tile - lowest) / (2 * run) * (2 * run),
                      first = max_of(pair, s.begin), middle = min_of(pair + run, s.end),
                      end = min_of(pair + 2 * run, s.end), low = max_of(t * tile, s.begin),
                      high = min_of(t * tile + tile, s.end);
            const bool in_spare = is_spare(span, pass);
            const SortRun<K, V> from = sides[in_spare ? 1 : 0], to = sides[in_spare ? 0 : 1];
            const auto path_to = [&](u64 place) {
                return path_of(from.keys + first, middle - first, from.keys + middle, end - middle,
                               place - first);
            };
            const u64 a = path_to(low), a_end = path_to(high), b = low - first - a,
                      b_end = high - first - a_end;
            merge_two(from.at(first + a), a_end - a, from.at(middle + b), b_end - b, to.at(low), Ascending{});
            if (span >> (pass + 1) != 0) continue;
            for (u64 i = low; i < high; ++i)
                to.keys[i] = code.decode(to.keys[i]);
        }
    }
}

template <class K, class V>
constexpr SegmentedSortHost kernels{plain_host_kernel<&segment_borders>(),
                                    plain_host_kernel<&segment_tiles<K, V>>(),
                                    plain_host_kernel<&segment_merge<K, V>>()};

}  // namespace
}  // namespace detail::host

namespace detail {

SegmentedSortHost segmented_sort_host(u32 key_size, u32 value_size) {
    return visit_size(key_size, [&](auto key) {
        using K = typename decltype(key)::type;
        if (value_size == 0) return host::kernels<K, host::NoValue>;
        return visit_size(value_size,
                          [&](auto value) { return host::kernels<K, typename decltype(value)::type>; });
    });
}

u64 segmented_sort_scratch(u32 key_size, u32 value_size, u64 tile) {
    return tile * (value_size == 0 ? key_size : host::word_bytes(key_size) + value_size);
}

}  // namespace detail
}  // namespace concord
