#pragma once
// Distribution of elements to buckets, in the host dialect; shared by the radix and sample sorts on the CPU.

#include <concord/detail/host_vector.hpp>
#include <concord/detail/sort_host.hpp>

#include <algorithm>
#include <bit>

namespace concord::detail::host {

// Largest number of buckets that one pass fills.
inline constexpr u64 max_buckets = 256;
// Bytes per bucket that are gathered before they are stored. Smaller lines use memory bandwidth less well.
inline constexpr u64 line_bytes = 256;

// The code that leaves keys unchanged.
inline constexpr Ascending as_they_are{0, 0};

// The same at compile time.
struct AsTheyAre {
    template <class U>
    [[gnu::always_inline]] U encode(U key) const {
        return key;
    }
    template <class U>
    [[gnu::always_inline]] U decode(U code) const {
        return code;
    }
};

// Whether stores go through the cache.
enum class Stores : u8 { cached, non_temporal };
inline Stores stores_of(u32 non_temporal) {
    return non_temporal != 0 ? Stores::non_temporal : Stores::cached;
}

// Gathers the elements of each bucket in a line and stores the line when it is full. Lines are aligned to multiples
// of line_bytes of the target array, except at the ends of buckets. Source of the technique: N. Satish et al., Fast
// Sort on CPUs and GPUs, 2010.
template <class T>
class BucketLines {
  public:
    static constexpr u64 line = line_bytes / sizeof(T);
    static constexpr u64 bytes = has_value<T> ? max_buckets * line_bytes : 0;

    // lines: `bytes` of scratch memory.
    BucketLines(std::byte* lines, T* to, Stores stores)
        : lines_(reinterpret_cast<T*>(lines)),
          to_(to),
          shift_(reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % line),
          stores_(stores) {}

    // Puts x at `position` of the array, the next one of its bucket. `first`: the bucket's first position in this
    // call.
    [[gnu::always_inline]] void put(u64 bucket, u64 position, u64 first, T x) {
        const u64 at = position + shift_;
        lines_[bucket * line + at % line] = x;
        if (at % line == line - 1) store(bucket, at / line * line, at + 1, first);
    }
    // Stores the rest of a bucket. `position`: the next position of the bucket.
    void finish(u64 bucket, u64 position, u64 first) {
        const u64 at = position + shift_;
        if (position > first && at % line != 0) store(bucket, at / line * line, at, first);
    }

  private:
    // Positions are relative to the last multiple of line_bytes at or before the array.
    void store(u64 bucket, u64 from, u64 end, u64 first) {
        const u64 begin = std::max(from, first + shift_);
        const T* source = lines_ + bucket * line + (begin - from);
        if (stores_ == Stores::non_temporal) {
            stream_store(to_ + (begin - shift_), source, (end - begin) * sizeof(T));
        } else {
            std::memcpy(to_ + (begin - shift_), source, (end - begin) * sizeof(T));
        }
    }

    T* lines_;
    T* to_;
    u64 shift_;
    Stores stores_;
};

// Keys without values.
template <>
class BucketLines<NoValue> {
  public:
    static constexpr u64 bytes = 0;
    BucketLines(std::byte* /*lines*/, NoValue* /*to*/, Stores /*stores*/) {}
    [[gnu::always_inline]] void put(u64 /*bucket*/, u64 /*position*/, u64 /*first*/, NoValue /*x*/) {}
    void finish(u64 /*bucket*/, u64 /*position*/, u64 /*first*/) {}
};

// Moves `count` elements to the next positions of their buckets. starts: first position of each of max_buckets
// buckets; bucket_of(i): bucket of an element; key(i), value(i): what to store; local: scratch memory for the
// lines.
template <class K, class V, class BucketOf, class Key, class Value>
[[gnu::always_inline]] inline void scatter(const u64* starts, u64 count, K* to, V* values_to,
                                           std::byte* local, Stores stores, const BucketOf& bucket_of,
                                           const Key& key, const Value& value) {
    u64 first[max_buckets], next[max_buckets];
    std::copy_n(starts, max_buckets, first);
    std::copy_n(starts, max_buckets, next);
    BucketLines<K> keys(local, to, stores);
    BucketLines<V> values(local + BucketLines<K>::bytes, values_to, stores);
    for (u64 i = 0; i < count; ++i) {
        const u64 bucket = bucket_of(i), position = next[bucket]++;
        keys.put(bucket, position, first[bucket], key(i));
        values.put(bucket, position, first[bucket], value(i));
    }
    for (u64 bucket = 0; bucket < max_buckets; ++bucket) {
        keys.finish(bucket, next[bucket], first[bucket]);
        values.finish(bucket, next[bucket], first[bucket]);
    }
    if (stores == Stores::non_temporal) stream_fence();
}

// Turns counts[chunk][bucket] into the position of each chunk's first element of each bucket. starts[bucket]
// becomes the position of each bucket, starts[max_buckets] the number of elements.
inline void bucket_offsets(u64* counts, u64* starts, u64 chunks) {
    u64 sum = 0;
    for (u64 bucket = 0; bucket < max_buckets; ++bucket) {
        starts[bucket] = sum;
        for (u64 c = 0; c < chunks; ++c) {
            const u64 count = counts[c * max_buckets + bucket];
            counts[c * max_buckets + bucket] = sum;
            sum += count;
        }
    }
    starts[max_buckets] = sum;
}

// Where a radix sort's input lies: outside the two arrays that its passes alternate between, or in one of them.
enum class RadixInput : u32 { apart, in_out, in_spare };

// Whether pass `pass` writes to out rather than to the spare array. The last pass writes to out, unless the first
// pass would then overwrite its input.
inline bool pass_to_out(u64 pass, u64 passes, RadixInput input) {
    if (input == RadixInput::apart) return (passes - pass) % 2 == 1;
    return (pass % 2 == 1) == (input == RadixInput::in_out);
}
// Whether the result is not in out after the last pass: it is in the spare array, or, without any pass, in the input.
inline bool ends_elsewhere(u64 passes, RadixInput input) {
    return passes == 0 ? input != RadixInput::in_out : !pass_to_out(passes - 1, passes, input);
}

// Radix sort on one thread, least significant digit first, with digits of `width` bits from begin_bit to end_bit.
// One pass over the keys counts all digits; digits that are equal in all codes are skipped. tables: 2^width
// counters per digit. `load` encodes keys at the first load, `store` decodes them at the last store.
template <class K, class V>
void radix_sort(const K* in, const V* values_in, K* out, V* values_out, K* spare, V* values_spare,
                u64* tables, u64 n, u32 begin_bit, u32 end_bit, u32 width, RadixInput input,
                const Ascending& load, const Ascending& store) {
    const u64 size = u64{1} << width, all = ~u64{0} >> (64 - end_bit);
    const u32 digits = (end_bit - begin_bit + width - 1) / width;
    std::fill_n(tables, digits * size, u64{0});
    const auto count = [&](const auto& code) __attribute__((always_inline)) {
        for (u64 i = 0; i < n; ++i) {
            u64 key = (code.encode(in[i]) & all) >> begin_bit;
            for (u32 digit = 0; digit < digits; ++digit, key >>= width)
                ++tables[digit * size + (key & (size - 1))];
        }
    };
    if (load.is_identity()) {
        count(AsTheyAre{});
    } else {
        count(load);
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
        const auto move = [&](const auto& encode, const auto& decode) __attribute__((always_inline)) {
            for (u64 i = 0; i < n; ++i) {
                const K key = encode.encode(from[i]);
                const u64 position = next[(u64{key} & all) >> shift & (size - 1)]++;
                to[position] = decode.decode(key);
                if constexpr (has_value<V>) values_to[position] = values_from[i];
            }
        };
        if (encode.is_identity() && decode.is_identity()) {
            move(AsTheyAre{}, AsTheyAre{});
        } else {
            move(encode, decode);
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
