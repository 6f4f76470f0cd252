// Sorts of keys without values on the CPU. Equal keys are indistinguishable, so these sorts need not be stable.
//
// sample_vqsort, sample_radix: a sorted sample of the keys gives splitters, so buckets have similar sizes for any
// input. Each chunk of the input counts its keys per bucket and records each key's bucket in one byte. Then each
// chunk scatters its keys through lines of 256 bytes per bucket. Then each bucket, which fits a thread's cache, is
// sorted as a leaf. If splitters are equal, keys equal to a splitter get a bucket of their own, which needs no
// sort. A small input is one leaf. With AVX-512 the tree of splitters for keys of 4 bytes is in registers.
//   sample_vqsort   sorts leaves in out by Highway's vectorised quicksort
//   sample_radix    sorts leaves by radix, least significant digit first, from the spare array to out
// Traffic: the split reads keys twice and writes them once, and writes and reads one byte per key; the leaves read
// and write every key once. Sources: W. Frazer, A. McKellar, Samplesort, 1970; P. Sanders, S. Winkel, Super Scalar
// Sample Sort, 2004; M. Axtmann et al., In-Place Parallel Super Scalar Samplesort, 2017; M. Blacher et al.,
// Vectorized and Performance-Portable Quicksort, 2022.
//
// counting: counts keys of one or two bytes and writes the result. Traffic: one read and one write per key.
// Source: D. Knuth, The Art of Computer Programming, vol. 3, 5.2.

#include "sort_buckets.hpp"
#include "sort_host_kernels.hpp"

#if CONCORD_HIGHWAY
#include <hwy/contrib/sort/vqsort.h>
#endif

#include <algorithm>
#include <bit>
#include <limits>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace concord {
namespace detail::host {
namespace {

// --- The leaves ------------------------------------------------------------------------------------------------------

// Sorts n keys to out. `load` encodes them, `store` decodes them.
struct VqsortLeaf {
    static constexpr RadixInput from = RadixInput::in_out;
    static constexpr u64 max_caches = 0;  // any size

    template <class K>
    static void sort(const K* in, K* out, K* /*spare*/, u64 n, const Ascending& load,
                     const Ascending& store) {
        if (in != out || !load.is_identity()) {
            for (u64 i = 0; i < n; ++i)
                out[i] = load.encode(in[i]);
        }
#if CONCORD_HIGHWAY
        const hwy::Sorter sorter;
        sorter(out, n, hwy::SortAscending());
#endif
        if (store.is_identity()) return;
        for (u64 i = 0; i < n; ++i)
            out[i] = store.decode(out[i]);
    }
};

// The same with scratch memory for n keys in spare, which may be in.
struct RadixLeaf {
    static constexpr RadixInput from = RadixInput::in_spare;
    // Length of the longest leaf in multiples of the caches: longer ones take more time per key than a split.
    static constexpr u64 max_caches = 8;

    template <class K>
    static void sort(const K* in, K* out, K* spare, u64 n, const Ascending& load, const Ascending& store) {
        constexpr u64 few = 256;
        if (n <= few) {
            for (u64 i = 0; i < n; ++i)
                out[i] = load.encode(in[i]);
            std::sort(out, out + n);
            for (u64 i = 0; i < n; ++i)
                out[i] = store.decode(out[i]);
            return;
        }
        // Sorts only by the bits up to the highest one that differs, in digits of at most 9 bits: as many streams
        // as fit the first-level cache.
        K differ = 0;
        const K first = load.encode(in[0]);
        for (u64 i = 0; i < n; ++i)
            differ = static_cast<K>(differ | (load.encode(in[i]) ^ first));
        constexpr u32 max_width = 9;
        const u32 bits = std::max(1, static_cast<int>(std::bit_width(differ))),
                  width = static_cast<u32>(detail::divide_up(bits, detail::divide_up(bits, max_width)));
        u64 tables[8 << max_width];
        const RadixInput input = in == out     ? RadixInput::in_out
                                 : in == spare ? RadixInput::in_spare
                                               : RadixInput::apart;
        radix_sort<K, NoValue>(in, nullptr, out, nullptr, spare, nullptr, tables, n, 0, bits, width, input,
                               load, store);
    }
};

// --- The split -------------------------------------------------------------------------------------------------------

constexpr u64 samples_a_bucket = 16;

// Classifies keys: splitters as a binary search tree in level order, and in sorted order, padded with the largest
// code.
template <class K>
struct Splitters {
    u32 levels;
    u32 equal;  // 1: keys that equal a splitter have buckets of their own
    K tree[max_buckets];
    K sorted[max_buckets];

    // The leaves of the tree for COUNT keys. Interleaved searches hide each other's latency.
    template <int COUNT>
    [[gnu::always_inline]] void descend(const K* codes, u8* found) const {
        u32 at[COUNT];
        for (int i = 0; i < COUNT; ++i)
            at[i] = 1;
        for (u32 level = 0; level < levels; ++level) {
            for (int i = 0; i < COUNT; ++i)
                at[i] = 2 * at[i] + (tree[at[i]] < codes[i] ? 1 : 0);
        }
        for (int i = 0; i < COUNT; ++i)
            found[i] = static_cast<u8>(at[i] - (1U << levels));
    }
    // The bucket of a key from its leaf.
    [[gnu::always_inline]] u8 bucket_of(K code, u8 leaf) const {
        return equal != 0 ? static_cast<u8>(2 * leaf + (code == sorted[leaf] ? 1 : 0)) : leaf;
    }
};

// The keys that are classified at a time.
constexpr int classified = 32;

// Finds the leaves of `classified` keys in a tree of splitters.
template <class K>
class TreeInMemory {
  public:
    explicit TreeInMemory(const Splitters<K>& splitters) : splitters_(splitters) {}
    [[gnu::always_inline]] void find(const K* codes, u8* leaves) const {
        splitters_.template descend<16>(codes, leaves);
        splitters_.template descend<16>(codes + 16, leaves + 16);
    }

  private:
    const Splitters<K>& splitters_;
};

#if defined(__x86_64__)
// The same for keys of 4 bytes. A level of the tree is one or more lookups in registers: level l has 2^l nodes.
// Inlined only into kernels for AVX-512.
class TreeInRegisters {
  public:
    [[gnu::target("avx512f")]] explicit TreeInRegisters(const Splitters<u32>& splitters)
        : levels_(splitters.levels), leaves_(1U << splitters.levels) {
        for (int i = 0; i < 16; ++i)
            nodes_[i] = _mm512_loadu_si512(splitters.tree + 16 * i);
    }

    [[gnu::target("avx512f")]] void find(const u32* keys, u8* leaves) const {
        constexpr int vectors = classified / 16;
        __m512i codes[vectors], at[vectors];
        for (int v = 0; v < vectors; ++v) {
            codes[v] = _mm512_loadu_si512(keys + 16 * v);
            at[v] = _mm512_set1_epi32(1);
        }
#pragma GCC unroll 8
        for (u32 level = 0; level < 8; ++level) {
            if (level == levels_) break;
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v)
                descend(at[v], level, codes[v]);
        }
        for (int v = 0; v < vectors; ++v) {
            const __m512i leaf = _mm512_sub_epi32(at[v], _mm512_set1_epi32(static_cast<int>(leaves_)));
            // The form with a mask: g++ 12 warns of the other one in its own header.
            _mm_storeu_si128(reinterpret_cast<__m128i*>(leaves + 16 * v),
                             _mm512_maskz_cvtepi32_epi8(0xffff, leaf));
        }
    }

  private:
    // Node number `at` modulo 32 of two registers.
    template <int FIRST>
    [[gnu::target("avx512f")]] __m512i lookup(const __m512i& at) const {
        return _mm512_permutex2var_epi32(nodes_[FIRST], at, nodes_[FIRST + 1]);
    }
    [[gnu::target("avx512f")]] static __m512i choose(const __m512i& at, int bit, const __m512i& clear,
                                                     const __m512i& set) {
        return _mm512_mask_blend_epi32(_mm512_test_epi32_mask(at, _mm512_set1_epi32(bit)), clear, set);
    }
    // One level down, which is a constant after inlining.
    [[gnu::target("avx512f")]] void descend(__m512i& at, u32 level, const __m512i& codes) const {
        __m512i node;
        if (level < 5) {
            node = lookup<0>(at);
        } else if (level == 5) {
            node = lookup<2>(at);
        } else if (level == 6) {
            node = choose(at, 32, lookup<4>(at), lookup<6>(at));
        } else {
            node = choose(at, 64, choose(at, 32, lookup<8>(at), lookup<10>(at)),
                          choose(at, 32, lookup<12>(at), lookup<14>(at)));
        }
        at = _mm512_add_epi32(at, at);
        at = _mm512_mask_add_epi32(at, _mm512_cmplt_epu32_mask(node, codes), at, _mm512_set1_epi32(1));
    }

    __m512i nodes_[16];
    u32 levels_, leaves_;
};
#endif

u64 spread(u64 z) {
    z *= 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 31)) * 0x94d049bb133111eb;
    return z ^ (z >> 29);
}

template <class K>
void sample_splitters(const Group& /*group*/, const K* in, u8* splitters_at, u64 n, u64 buckets,
                      const Ascending code) {
    auto& splitters = *reinterpret_cast<Splitters<K>*>(splitters_at);
    K samples[max_buckets * samples_a_bucket];
    const u64 count = buckets * samples_a_bucket, part = n / count;
    for (u64 i = 0; i < count; ++i)
        samples[i] = code.encode(in[i * part + spread(i + 1) % part]);
    std::sort(samples, samples + count);
    auto choose = [&](u64 of) {
        K* sorted = splitters.sorted;
        for (u64 b = 0; b + 1 < of; ++b)
            sorted[b] = samples[(b + 1) * (count / of) - 1];
        return static_cast<u64>(std::unique(sorted, sorted + of - 1) - sorted);
    };
    u64 chosen = choose(buckets);
    splitters.equal = chosen + 1 < buckets ? 1 : 0;
    // A bucket's number must fit a byte: use half as many splitters.
    if (splitters.equal != 0) chosen = choose(std::min(buckets, max_buckets / 2));
    splitters.levels = static_cast<u32>(std::bit_width(chosen));
    const u64 leaves = u64{1} << splitters.levels;
    std::fill(splitters.sorted + chosen, splitters.sorted + leaves, std::numeric_limits<K>::max());
    for (u64 level = 0, node = 1; level < splitters.levels; ++level) {
        const u64 step = leaves >> level;
        for (u64 at = step / 2; at < leaves; at += step)
            splitters.tree[node++] = splitters.sorted[at - 1];
    }
}

// Notes the bucket of every key of a chunk and counts them. Tree: finds the
// leaves.
template <class Tree, class K>
[[gnu::always_inline]] inline void count_chunk(const Group& group, const K* in, const u8* splitters_at,
                                               u8* buckets, u64* counts, u64 n, u64 chunk,
                                               const Ascending code) {
    const auto& splitters = *reinterpret_cast<const Splitters<K>*>(splitters_at);
    const Tree tree(splitters);
    const bool equal = splitters.equal != 0;
    const u64 begin = group.x * chunk, end = std::min(n, begin + chunk);
    constexpr int block = classified;
    u64 mine[max_buckets] = {};
    u64 i = begin;
    for (; i + block <= end; i += block) {
        K codes[block];
        u8 found[block];
        for (int k = 0; k < block; ++k)
            codes[k] = code.encode(in[i + k]);
        tree.find(codes, found);
        if (equal) {
            for (int k = 0; k < block; ++k)
                found[k] = splitters.bucket_of(codes[k], found[k]);
        }
        std::memcpy(buckets + i, found, block);
        for (int k = 0; k < block; ++k)
            ++mine[found[k]];
    }
    for (; i < end; ++i) {
        const K one = code.encode(in[i]);
        splitters.template descend<1>(&one, buckets + i);
        buckets[i] = splitters.bucket_of(one, buckets[i]);
        ++mine[buckets[i]];
    }
    std::copy_n(mine, max_buckets, counts + group.x * max_buckets);
}

template <class K>
void sample_count(const Group& group, const K* in, const u8* splitters_at, u8* buckets, u64* counts, u64 n,
                  u64 chunk, const Ascending code) {
    count_chunk<TreeInMemory<K>>(group, in, splitters_at, buckets, counts, n, chunk, code);
}

#if defined(__x86_64__)
[[gnu::always_inline]] inline void sample_count_avx512(const Group& group, const u32* in,
                                                       const u8* splitters_at, u8* buckets, u64* counts,
                                                       u64 n, u64 chunk, const Ascending code) {
    count_chunk<TreeInRegisters>(group, in, splitters_at, buckets, counts, n, chunk, code);
}
#endif

void sample_offsets(const Group& /*group*/, u64* counts, u64* starts, u64 chunks) {
    bucket_offsets(counts, starts, chunks);
}

template <class K>
void sample_scatter(const Group& group, const K* in, K* to, const u8* buckets, const u64* counts, u64 n,
                    u64 chunk, u32 non_temporal, const Ascending code) {
    const u64 begin = group.x * chunk, count = std::min(chunk, n - begin);
    const K* from = in + begin;
    const u8* bucket = buckets + begin;
    scatter<K, NoValue>(
        counts + group.x * max_buckets, count, to, nullptr, group.local, stores_of(non_temporal),
        [&](u64 i) { return u64{bucket[i]}; }, [&](u64 i) { return code.encode(from[i]); },
        [](u64) { return NoValue{}; });
}

// Sorts one bucket to out.
template <class Leaf, class K>
void sample_leaves(const Group& group, K* scattered, K* out, K* spare, const u8* splitters_at,
                   const u64* starts, const Ascending code) {
    const auto& splitters = *reinterpret_cast<const Splitters<K>*>(splitters_at);
    const u64 begin = starts[group.x], count = starts[group.x + 1] - begin;
    const bool all_equal = splitters.equal != 0 && group.x % 2 == 1;
    if (count == 0) return;
    if (all_equal) {
        std::fill_n(out + begin, count, code.decode(scattered[begin]));
    } else {
        Leaf::sort(scattered + begin, out + begin, spare + begin, count, as_they_are, code);
    }
}

// Sorts the whole input as one leaf.
template <class Leaf, class K>
void sample_one(const Group& /*group*/, const K* in, K* out, K* spare, u64 n, const Ascending code) {
    Leaf::sort(in, out, spare, n, code, code);
}

// --- counting --------------------------------------------------------------------------------------------------------

template <class K>
constexpr u64 values_of = u64{1} << (8 * sizeof(K));

// Keys of one byte use several tables in turn, so that equal neighbours do not wait for each other's counter.
template <class K>
constexpr u64 turns_of = sizeof(K) == 1 ? 4 : 1;

template <class K>
void counting_count(const Group& group, const K* in, u32* tables, u64 n, u64 chunk, const Ascending code) {
    const u64 begin = group.x * chunk, end = std::min(n, begin + chunk);
    u32* mine = tables + group.x * turns_of<K> * values_of<K>;
    std::fill_n(mine, turns_of<K> * values_of<K>, 0U);
    for (u64 i = begin; i < end; ++i)
        ++mine[i % turns_of<K> * values_of<K> + code.encode(in[i])];
}

// Sums the tables for one group's part of the values.
inline void counting_sums(const Group& group, const u32* tables, u64* starts, u64 count, u64 values) {
    const u64 part = values / group.count_x, begin = group.x * part;
    u64* sums = starts + begin;
    std::fill_n(sums, part, u64{0});
    for (u64 t = 0; t < count; ++t) {
        for (u64 v = 0; v < part; ++v)
            sums[v] += tables[t * values + begin + v];
    }
}

// Turns the count of each value into the position of its first element. starts has one entry more than there are
// values.
inline void counting_starts(const Group& /*group*/, u64* starts, u64 values) {
    u64 sum = 0;
    for (u64 v = 0; v < values; ++v)
        sum += std::exchange(starts[v], sum);
    starts[values] = sum;
}

template <class K>
void counting_fill(const Group& group, const u64* starts, K* out, u64 n, u64 part, const Ascending code) {
    u64 at = group.x * part;
    const u64 end = std::min(n, at + part);
    // The last value that begins at or before `at`.
    u64 value = static_cast<u64>(std::upper_bound(starts, starts + values_of<K>, at) - starts) - 1;
    for (; at < end; ++value) {
        const u64 last = std::min(end, starts[value + 1]);
        if (last > at) std::fill(out + at, out + last, code.decode(static_cast<K>(value)));
        at = std::max(at, last);
    }
}

}  // namespace
}  // namespace detail::host

namespace detail {
namespace {

template <class K>
constexpr HostKernel count_kernel() {
    HostKernel kernel = plain_host_kernel<&detail::host::sample_count<K>>();
#if defined(__x86_64__)
    if constexpr (sizeof(K) == 4)
        kernel = with_version<&detail::host::sample_count_avx512, HostIsa::avx512>(kernel);
#endif
    return kernel;
}

template <class Leaf, class K>
const SampleHost& host_of() {
    static constexpr SampleHost kernels{.splitters = plain_host_kernel<&detail::host::sample_splitters<K>>(),
                                        .count = count_kernel<K>(),
                                        .offsets = plain_host_kernel<&detail::host::sample_offsets>(),
                                        .scatter = plain_host_kernel<&detail::host::sample_scatter<K>>(),
                                        .leaves = plain_host_kernel<&detail::host::sample_leaves<Leaf, K>>(),
                                        .one = plain_host_kernel<&detail::host::sample_one<Leaf, K>>(),
                                        .splitters_bytes = sizeof(detail::host::Splitters<K>),
                                        .leaves_in_spare = Leaf::from == detail::host::RadixInput::in_spare,
                                        .max_caches = Leaf::max_caches};
    return kernels;
}

template <class Leaf>
const SampleHost& host_of(u32 key_size) {
    return key_size == 2 ? host_of<Leaf, u16>() : key_size == 4 ? host_of<Leaf, u32>() : host_of<Leaf, u64>();
}

template <class K>
const CountingHost& counting_host() {
    static constexpr CountingHost kernels{.count = plain_host_kernel<&detail::host::counting_count<K>>(),
                                          .sums = host_kernel<&detail::host::counting_sums>(),
                                          .starts = plain_host_kernel<&detail::host::counting_starts>(),
                                          .fill = plain_host_kernel<&detail::host::counting_fill<K>>(),
                                          .turns = detail::host::turns_of<K>};
    return kernels;
}

}  // namespace

const bool has_vqsort = CONCORD_HIGHWAY;

const SampleHost& sample_vqsort_host(u32 key_size) {
    return host_of<detail::host::VqsortLeaf>(key_size);
}
const SampleHost& sample_radix_host(u32 key_size) {
    return host_of<detail::host::RadixLeaf>(key_size);
}

const CountingHost& counting_host(u32 key_size) {
    return key_size == 1 ? counting_host<u8>() : counting_host<u16>();
}

}  // namespace detail
}  // namespace concord
