#pragma once
// Merge sort in the host dialect. Its kernels are templates, so that a user comparator is compiled into them.
// T: key; V: unsigned integer of a value's size, or NoValue; Less: the comparator, or Ascending.

#include <concord/host_kernel.hpp>

namespace concord::detail::host {

// Stands for the value type of keys without values.
struct NoValue {};

// The order of the codes; see SortCode. Keys are encoded at the first load and decoded at the last store; in
// between their codes are compared.
struct Ascending {
    u64 fold, flip;

    template <class U>
    [[gnu::always_inline]] U encode(U key) const {
        return static_cast<U>(key ^ (sign(key) & static_cast<U>(fold)) ^ static_cast<U>(flip));
    }
    template <class U>
    [[gnu::always_inline]] U decode(U code) const {
        const U key = static_cast<U>(code ^ static_cast<U>(flip));
        return static_cast<U>(key ^ (sign(key) & static_cast<U>(fold)));
    }
    template <class U>
    [[gnu::always_inline]] bool operator()(U a, U b) const {
        return a < b;
    }
    // Whether a key is its own code.
    bool is_identity() const { return fold == 0 && flip == 0; }
    bool operator==(const Ascending&) const = default;

  private:
    // The highest bit, copied to all bits.
    template <class U>
    [[gnu::always_inline]] static U sign(U key) {
        return static_cast<U>(U(0) - static_cast<U>(key >> (8 * sizeof(U) - 1)));
    }
};

// Encodes and decodes keys if they are sorted by their codes; a comparator takes keys unchanged.
template <class T, class Less>
[[gnu::always_inline]] inline T sort_encode(const Less& less, T key) {
    if constexpr (std::is_same_v<Less, Ascending>) return less.encode(key);
    return key;
}
template <class T, class Less>
[[gnu::always_inline]] inline T sort_decode(const Less& less, T key) {
    if constexpr (std::is_same_v<Less, Ascending>) return less.decode(key);
    return key;
}

template <class V>
inline constexpr bool has_value = !std::is_same_v<V, NoValue>;

// A run of keys and values.
template <class T, class V>
struct SortRun {
    T* keys;
    V* values;

    SortRun at(u64 i) const { return {keys + i, has_value<V> ? values + i : values}; }
};

template <class T, class V>
[[gnu::always_inline]] inline void move_pair(const SortRun<T, V>& to, u64 i, const SortRun<T, V>& from,
                                             u64 j) {
    to.keys[i] = from.keys[j];
    if constexpr (has_value<V>) to.values[i] = from.values[j];
}

// Where a part of the merge of two runs begins and ends in the first run. The rest of the part is from the second run.
struct MergePart {
    u64 begin, end;
};

// Finds the part of `length` elements at `first`, a multiple of length, of the merge of a and b. Of equal elements
// those of a come first. Halves the merge until the part is left, each time by a binary search along a merge path. So
// two parts agree on the boundaries that they have in common, and each element is in exactly one part, for any
// comparator.
template <class T, class Less>
MergePart part_of_merge(const T* a, u64 a_count, const T* b, u64 b_count, u64 first, u64 length,
                        const Less& less) {
    u64 begin = 0, end = a_count + b_count;  // elements of the merge that are left
    MergePart part{0, a_count};
    while (end - begin > length) {
        const u64 parts = (end - begin + length - 1) / length, middle = begin + parts / 2 * length,
                  b_begin = begin - part.begin, b_end = end - part.end;
        u64 low = max_of(part.begin, middle - min_of(middle, b_end)),
            high = min_of(part.end, middle - b_begin);
        while (low < high) {
            const u64 i = low + (high - low) / 2;
            if (less(b[middle - 1 - i], a[i]) != 0) {
                high = i;
            } else {
                low = i + 1;
            }
        }
        if (first < middle) {
            end = middle;
            part.end = low;
        } else {
            begin = middle;
            part.begin = low;
        }
    }
    return part;
}

// Merges a[0 ... a_count) and b[0 ... b_count) to `to`, which overlaps neither.
template <class T, class V, class Less>
[[gnu::always_inline]] inline void merge_two(const SortRun<T, V>& a, u64 a_count, const SortRun<T, V>& b,
                                             u64 b_count, const SortRun<T, V>& to, const Less& less) {
    u64 i = 0, k = 0;  // elements taken from a, and in total
    // Both runs have at least `steps` elements left, so the loop checks no end. Only one index depends on the
    // comparison, and by a sum: with more to select compilers emit branches, which are unpredictable here.
    for (u64 steps = min_of(a_count, b_count); steps > 0; steps = min_of(a_count - i, b_count - (k - i))) {
        for (const u64 end = k + steps; k < end; ++k) {
            const u64 j = k - i;
            const T x = a.keys[i], y = b.keys[j];
            const bool second = less(y, x) != 0;
            to.keys[k] = second ? y : x;
            if constexpr (has_value<V>) {
                const V both[2] = {a.values[i], b.values[j]};
                to.values[k] = both[second ? 1 : 0];
            }
            i += second ? 0 : 1;
        }
    }
    for (; i < a_count; ++i, ++k)
        move_pair(to, k, a, i);
    for (u64 j = k - i; j < b_count; ++j, ++k)
        move_pair(to, k, b, j);
}

// Elements per insertion sort.
inline constexpr u64 insertion_block = 16;

// Sorts each tile: blocks by insertion, then merges that alternate between `to` and `aux` and end in `to`. in may
// be to. `last`: no merge of tiles follows, so the kernel decodes the keys.
template <class T, class V, class Less>
void merge_tiles(const Group& group, const T* in, const V* values_in, T* to_keys, V* to_values, T* aux_keys,
                 V* aux_values, u64 n, u64 tile, u32 last, const Less less) {
    const u64 begin = group.x * tile, count = min_of(tile, n - begin);
    SortRun<T, V> to = SortRun<T, V>{to_keys, to_values}.at(begin),
                  aux = SortRun<T, V>{aux_keys, aux_values}.at(begin);
    const SortRun<const T, const V> from = SortRun<const T, const V>{in, values_in}.at(begin);
    u32 levels = 0;
    for (u64 length = insertion_block; length < count; length *= 2)
        ++levels;
    SortRun<T, V> now = levels % 2 == 0 ? to : aux, next = levels % 2 == 0 ? aux : to;
    for (u64 block = 0; block < count; block += insertion_block) {
        const u64 end = min_of(count, block + insertion_block);
        for (u64 i = block; i < end; ++i) {
            const T key = sort_encode(less, from.keys[i]);
            [[maybe_unused]] V value{};
            if constexpr (has_value<V>) value = from.values[i];
            u64 j = i;
            for (; j > block && less(key, now.keys[j - 1]) != 0; --j)
                move_pair(now, j, now, j - 1);
            now.keys[j] = key;
            if constexpr (has_value<V>) now.values[j] = value;
        }
    }
    for (u64 length = insertion_block; length < count; length *= 2) {
        for (u64 a = 0; a < count; a += 2 * length) {
            const u64 b = min_of(count, a + length), end = min_of(count, b + length);
            merge_two(now.at(a), b - a, now.at(b), end - b, next.at(a), less);
        }
        std::swap(now, next);
    }
    if (last == 0) return;
    for (u64 i = 0; i < count; ++i)
        to.keys[i] = sort_decode(less, to.keys[i]);
}

// Merges pairs of runs of `length` elements. A group makes the elements [x * part, (x + 1) * part) of the result. part
// divides length. `last`: the kernel decodes the keys.
template <class T, class V, class Less>
void merge_runs(const Group& group, const T* keys, const V* values, T* to_keys, V* to_values, u64 n,
                u64 length, u64 part, u32 last, const Less less) {
    const u64 first = group.x * part, count = min_of(part, n - first);
    const u64 a = first / (2 * length) * (2 * length), b = min_of(n, a + length), end = min_of(n, b + length);
    const MergePart ours = part_of_merge(keys + a, b - a, keys + b, end - b, first - a, part, less);
    const u64 a_count = ours.end - ours.begin;
    // SortRun is not const, but `from` is only read.
    const SortRun<T, V> from{const_cast<T*>(keys), const_cast<V*>(values)};
    const SortRun<T, V> to = SortRun<T, V>{to_keys, to_values}.at(first);
    merge_two(from.at(a + ours.begin), a_count, from.at(b + (first - a - ours.begin)), count - a_count, to,
              less);
    if (last == 0) return;
    for (u64 i = 0; i < count; ++i)
        to.keys[i] = sort_decode(less, to.keys[i]);
}

}  // namespace concord::detail::host
