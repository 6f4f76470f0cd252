#pragma once
// Distributing elements to buckets, in the host dialect: what the radix sort and the sample sort on the CPU share.

#include <concord/detail/host_vector.hpp>
#include <concord/detail/sort_host.hpp>

#include <bit>

namespace concord::detail::host {

/// At most so many buckets are filled at a time.
inline constexpr u64 most_buckets = 256;
/// A bucket's elements leave for memory together, so many bytes at a time: fewer would cost more than they carry.
inline constexpr u64 line_bytes = 256;

/// A code that leaves keys as they are.
inline constexpr Ascending as_they_are{0, 0};

/// Collects what goes to each bucket of an array in a line of its own, and stores the line when it is full. Lines lie in
/// memory as they lie in the array, at multiples of line_bytes, but for the ends of buckets. Source of the technique:
/// N. Satish et al., Fast Sort on CPUs and GPUs, 2010.
template <class T>
class BucketLines {
  public:
    static constexpr u64 line = line_bytes / sizeof(T);
    static constexpr u64 bytes = has_value<T> ? most_buckets * line_bytes : 0;

    /// lines: `bytes` of scratch.
    BucketLines(std::byte* lines, T* to, bool past_cache)
        : lines_(reinterpret_cast<T*>(lines)),
          to_(to),
          shift_(reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % line),
          past_cache_(past_cache) {}

    /// Puts x at `position` of the array, the next one of its bucket, whose first one from here was `first`.
    [[gnu::always_inline]] void put(u64 bucket, u64 position, u64 first, T x) {
        const u64 at = position + shift_;
        lines_[bucket * line + at % line] = x;
        if (at % line == line - 1) store(bucket, at / line * line, at + 1, first);
    }
    /// Stores what is left of a bucket whose next position would be `position`.
    void finish(u64 bucket, u64 position, u64 first) {
        const u64 at = position + shift_;
        if (position > first && at % line != 0) store(bucket, at / line * line, at, first);
    }

  private:
    // Positions here count from the last multiple of line_bytes in memory before the array.
    void store(u64 bucket, u64 from, u64 end, u64 first) {
        const u64 begin = std::max(from, first + shift_);
        const T* source = lines_ + bucket * line + (begin - from);
        if (past_cache_) {
            stream_store(to_ + (begin - shift_), source, (end - begin) * sizeof(T));
        } else {
            std::memcpy(to_ + (begin - shift_), source, (end - begin) * sizeof(T));
        }
    }

    T* lines_;
    T* to_;
    u64 shift_;
    bool past_cache_;
};

/// There are no values.
template <>
class BucketLines<NoValue> {
  public:
    static constexpr u64 bytes = 0;
    BucketLines(std::byte* /*lines*/, NoValue* /*to*/, bool /*past_cache*/) {}
    [[gnu::always_inline]] void put(u64 /*bucket*/, u64 /*position*/, u64 /*first*/, NoValue /*x*/) {}
    void finish(u64 /*bucket*/, u64 /*position*/, u64 /*first*/) {}
};

/// Puts each of `count` elements where its bucket's next one belongs. starts: those places, of most_buckets buckets;
/// bucket_of(i): an element's; key(i), value(i): what to put. local: scratch for the lines.
template <class K, class V, class BucketOf, class Key, class Value>
[[gnu::always_inline]] inline void scatter(const u64* starts, u64 count, K* to, V* values_to,
                                           std::byte* local, bool past_cache, const BucketOf& bucket_of,
                                           const Key& key, const Value& value) {
    u64 first[most_buckets], next[most_buckets];
    std::copy_n(starts, most_buckets, first);
    std::copy_n(starts, most_buckets, next);
    BucketLines<K> keys(local, to, past_cache);
    BucketLines<V> values(local + BucketLines<K>::bytes, values_to, past_cache);
    for (u64 i = 0; i < count; ++i) {
        const u64 bucket = bucket_of(i), position = next[bucket]++;
        keys.put(bucket, position, first[bucket], key(i));
        values.put(bucket, position, first[bucket], value(i));
    }
    for (u64 bucket = 0; bucket < most_buckets; ++bucket) {
        keys.finish(bucket, next[bucket], first[bucket]);
        values.finish(bucket, next[bucket], first[bucket]);
    }
    if (past_cache) stream_fence();
}

/// counts[chunk][bucket] become the places of each chunk's first element of each bucket; starts[bucket] those of the buckets,
/// starts[most_buckets] their number.
inline void bucket_offsets(u64* counts, u64* starts, u64 chunks) {
    u64 sum = 0;
    for (u64 bucket = 0; bucket < most_buckets; ++bucket) {
        starts[bucket] = sum;
        for (u64 c = 0; c < chunks; ++c) {
            const u64 count = counts[c * most_buckets + bucket];
            counts[c * most_buckets + bucket] = sum;
            sum += count;
        }
    }
    starts[most_buckets] = sum;
}

/// Where a radix sort's input lies: in neither of the two arrays between which its passes go, or in one of them.
enum class RadixInput : u32 { apart, in_out, in_spare };

/// Whether pass `pass` leads to out, not to the spare array: so that the last one does, but where the first one must not
/// write to its input.
inline bool pass_to_out(u64 pass, u64 passes, RadixInput input) {
    if (input == RadixInput::apart) return (passes - pass) % 2 == 1;
    return (pass % 2 == 1) == (input == RadixInput::in_out);
}
/// Whether the last pass leaves the result in the spare array, or, for want of a pass, somewhere else than in out.
inline bool ends_elsewhere(u64 passes, RadixInput input) {
    return passes == 0 ? input != RadixInput::in_out : !pass_to_out(passes - 1, passes, input);
}

/// Least-significant-digit radix sort on one thread, in digits of `width` bits from begin_bit to end_bit. One reading counts
/// all digits; those that are the same in all codes are passed over. tables: 2^width counters a digit. Keys are encoded by
/// `load` when they are first loaded, and decoded by `store` when they are last stored.
template <class K, class V>
void radix_sort(const K* in, const V* values_in, K* out, V* values_out, K* spare, V* values_spare,
                u64* tables, u64 n, u32 begin_bit, u32 end_bit, u32 width, RadixInput input,
                const Ascending& load, const Ascending& store) {
    const u64 size = u64{1} << width, all = ~u64{0} >> (64 - end_bit);
    const u32 digits = (end_bit - begin_bit + width - 1) / width;
    std::fill_n(tables, digits * size, u64{0});
    for (u64 i = 0; i < n; ++i) {
        u64 key = (load.encode(in[i]) & all) >> begin_bit;
        for (u32 digit = 0; digit < digits; ++digit, key >>= width)
            ++tables[digit * size + (key & (size - 1))];
    }
    u32 live[64], passes = 0;
    for (u32 digit = 0; digit < digits; ++digit) {
        const u64 shift = begin_bit + digit * width,
                  of_first = (load.encode(in[0]) & all) >> shift & (size - 1);
        if (tables[digit * size + of_first] != n) live[passes++] = digit;
    }
    for (u32 pass = 0; pass < passes; ++pass) {
        u64* next = tables + live[pass] * size;
        for (u64 sum = 0, d = 0; d < size; ++d)
            sum += std::exchange(next[d], sum);
        const u64 shift = begin_bit + live[pass] * width;
        const bool first = pass == 0, to_out = pass_to_out(pass, passes, input);
        const K* from = first ? in : to_out ? spare : out;
        K* to = to_out ? out : spare;
        [[maybe_unused]] const V* values_from = first ? values_in : to_out ? values_spare : values_out;
        [[maybe_unused]] V* values_to = to_out ? values_out : values_spare;
        const Ascending encode = first ? load : as_they_are,
                        decode = pass + 1 == passes ? store : as_they_are;
        for (u64 i = 0; i < n; ++i) {
            const K key = encode.encode(from[i]);
            const u64 position = next[(u64{key} & all) >> shift & (size - 1)]++;
            to[position] = decode.decode(key);
            if constexpr (has_value<V>) values_to[position] = values_from[i];
        }
    }
    if (!ends_elsewhere(passes, input)) {
        if (passes > 0 || load == store) return;
        for (u64 i = 0; i < n; ++i)
            out[i] = store.decode(load.encode(out[i]));
        return;
    }
    const Ascending encode = passes == 0 ? load : as_they_are, decode = passes == 0 ? store : as_they_are;
    const K* from = passes == 0 ? in : spare;
    for (u64 i = 0; i < n; ++i)
        out[i] = decode.decode(encode.encode(from[i]));
    if constexpr (has_value<V>) std::copy_n(passes == 0 ? values_in : values_spare, n, values_out);
}

}  // namespace concord::detail::host
