#pragma once
// Histogram in the host dialect. Parallel sources: histogram.kernel, histogram_bins.cl, histogram_global.kernel and
// histogram_sorted.kernel; they describe phases and traffic.
//
// The bin function stores the bins of a block of samples (histogram_host.hpp), which are then counted. bins_of: the bin
// function; values: its bound values; size: bytes of a sample. The last parameter of kernels is the input, a range or
// an expression. Bin: u32 for at most 2^30 bins, else u64.

#include <concord/detail/host_input.hpp>
#include <concord/internal/block_function.hpp>

#include <algorithm>
#include <atomic>

namespace concord::detail::host {

// A group's share of n samples: [begin, end).
struct Share {
    u64 begin, end;
    Share(u64 n, u64 group, u64 groups) {
        const u64 each = n / groups + (n % groups != 0 ? 1 : 0);
        begin = std::min(n, group * each);
        end = std::min(n, begin + each);
    }
};

// Adds to a counter that groups share. words: 1 for counters of 32 bits, 2 for 64.
[[gnu::always_inline]] inline void add_to(u32* out, u32 words, u64 bin, u64 count) {
    if (words == 1) {
        std::atomic_ref<u32>(out[bin]).fetch_add(static_cast<u32>(count), std::memory_order_relaxed);
    } else {
        std::atomic_ref<u64>(reinterpret_cast<u64*>(out)[bin]).fetch_add(count, std::memory_order_relaxed);
    }
}

// Samples whose bins are computed together, in vectors; and samples that are counted in one step if their bins are
// equal, as in skewed data.
inline constexpr u64 histogram_block = 256, histogram_run = 16;

// Counts a block of bins in sub-tables in turn, so that no counter is loaded right after a store to it. Prefetches
// the next samples, `bytes` per run.
template <u32 Tables>
[[gnu::always_inline]] inline void count_block(const u32* bin, u64 n, u32* table, u64 stride,
                                               const char* next, u64 bytes) {
    u64 i = 0;
    for (; i + histogram_run <= n; i += histogram_run, next += bytes) {
        __builtin_prefetch(next);
        if (bin[i] == bin[i + histogram_run - 1]) {
            u32 differ = 0;
#pragma GCC unroll 1  // else it is unrolled before it can be vectorised
            for (u64 j = 0; j < histogram_run; ++j)
                differ |= bin[i + j] ^ bin[i];
            if (differ == 0) {
                table[bin[i]] += histogram_run;
                continue;
            }
        }
#pragma GCC unroll 16
        for (u64 j = 0; j < histogram_run; ++j)
            ++table[j % Tables * stride + bin[i + j]];
    }
    for (; i < n; ++i)
        ++table[bin[i]];
}

// The input: samples of `size` bytes.
struct Samples {
    HostInput<std::byte> in;
    u64 size;

    // A block of samples from `first` on.
    [[gnu::always_inline]] const std::byte* some(HostIsa isa, u64 first, u64 count) const {
        static_assert(histogram_block <= block_length);
        return in.is_range() ? in.range() + first * size : in.block(isa, first, count);
    }
};

// Calls use(bin, n, first, next) for the blocks of a share: the bins of n samples, at most `bins`, the index of the
// first sample, and the sample after the last one.
template <class Bin, class Use>
[[gnu::always_inline]] inline void for_each_block(const Group& group, const Samples& samples,
                                                  const Share& share, u64 bins, const BlockFunction& bins_of,
                                                  const OperatorValues& values, const Use& use) {
    alignas(64) Bin block[histogram_block];
    Bin* const to = block;
    const Bin none = static_cast<Bin>(bins);
    for (u64 first = share.begin; first < share.end; first += histogram_block) {
        const u64 n = std::min(histogram_block, share.end - first);
        const std::byte* x = samples.some(bins_of.isa, first, n);
        bins_of(group, values, x, n, to, none);
        use(to, n, first, x + n * samples.size);
    }
}

// Calls use(bin, i) for the samples of a share: bin and index of a sample. The bin is at most `bins`.
template <class Bin, class Use>
[[gnu::always_inline]] inline void for_each_sample(const Group& group, const Samples& samples,
                                                   const Share& share, u64 bins, const BlockFunction& bins_of,
                                                   const OperatorValues& values, const Use& use) {
    for_each_block<Bin>(group, samples, share, bins, bins_of, values,
                        [&](const Bin* bin, u64 n, u64 first, const std::byte* /*next*/) {
                            for (u64 i = 0; i < n; ++i)
                                use(u64{bin[i]}, first + i);
                        });
}

// Counts a block in `tables` sub-tables.
[[gnu::always_inline]] inline void count_block(const u32* bin, u64 n, u32* table, u64 stride, u32 tables,
                                               const std::byte* next, u64 size) {
    const char* const ahead = reinterpret_cast<const char*>(next);
    const u64 bytes = histogram_run * size;
    if (tables == 8) {
        count_block<8>(bin, n, table, stride, ahead, bytes);
    } else if (tables == 4) {
        count_block<4>(bin, n, table, stride, ahead, bytes);
    } else if (tables == 2) {
        count_block<2>(bin, n, table, stride, ahead, bytes);
    } else {
        count_block<1>(bin, n, table, stride, ahead, bytes);
    }
}

// A group counts its share of the samples in its own row of `tables` sub-tables of `stride` counters. The counter
// after the last bin's takes samples that are not counted. The first sub-table receives the sums.
[[gnu::always_inline]] inline void histogram_bins(const Group& group, u32* rows, u64 n, u64 bins, u64 stride,
                                                  u32 tables, u32 size, const BlockFunction bins_of,
                                                  const OperatorValues& values, HostArguments rest) {
    const Samples samples{HostInput<std::byte>(rest), size};
    u32* table = rows + group.x * stride * tables;
    std::fill_n(table, stride * tables, u32{0});
    auto count = [&](const u32* bin, u64 length, u64 /*first*/, const std::byte* next)
        __attribute__((always_inline)) {
        count_block(bin, length, table, stride, tables, next, size);
    };
    for_each_block<u32>(group, samples, Share(n, group.x, group.count_x), bins, bins_of, values, count);
    for (u64 k = 1; k < tables; ++k) {
        for (u64 b = 0; b < bins; ++b)
            table[b] += table[k * stride + b];
    }
}

// The same for samples of one byte: counts values, and computes the bin of each value once.
[[gnu::always_inline]] inline void histogram_bytes(const Group& group, u32* rows, u64 n, u64 bins, u64 stride,
                                                   u32 tables, u32 size, const BlockFunction bins_of,
                                                   const OperatorValues& values, HostArguments rest) {
    const Samples samples{HostInput<std::byte>(rest), size};
    constexpr u32 bytes = 256, most = 8;
    alignas(64) u32 counts[most * bytes] = {}, block[histogram_block];
    const Share share(n, group.x, group.count_x);
    for (u64 first = share.begin; first < share.end; first += histogram_block) {
        const u64 count = std::min(histogram_block, share.end - first);
        const u8* x = reinterpret_cast<const u8*>(samples.some(bins_of.isa, first, count));
        for (u64 i = 0; i < count; ++i)
            block[i] = x[i];
        count_block<most>(block, count, counts, bytes, reinterpret_cast<const char*>(x + count),
                          histogram_run);
    }
    u8 byte[bytes];
    u32 bin[bytes];
    for (u32 v = 0; v < bytes; ++v)
        byte[v] = static_cast<u8>(v);
    const u8* const x = byte;
    u32* const to = bin;
    bins_of(group, values, x, u64{bytes}, to, static_cast<u32>(bins));
    u32* table = rows + group.x * stride * tables;
    std::fill_n(table, bins + 1, u32{0});
    for (u32 v = 0; v < bytes; ++v) {
        u32 sum = 0;
        for (u32 k = 0; k < most; ++k)
            sum += counts[k * bytes + v];
        table[bin[v]] += sum;
    }
}

inline constexpr u64 histogram_merge_tile = 1024;

// Sums the rows, one tile of bins per group, and writes counters of `size` bytes.
inline void histogram_merge(const Group& group, const u32* rows, std::byte* out, u64 bins, u64 row_length,
                            u64 count, u32 size) {
    u64 sum[histogram_merge_tile] = {};
    const u64 first = group.x * histogram_merge_tile, n = std::min(histogram_merge_tile, bins - first);
    for (u64 r = 0; r < count; ++r) {
        const u32* row = rows + r * row_length + first;
        for (u64 i = 0; i < n; ++i)
            sum[i] += row[i];
    }
    for (u64 i = 0; i < n; ++i) {
        if (size == 2) {
            reinterpret_cast<u16*>(out)[first + i] = static_cast<u16>(std::min<u64>(sum[i], 65535));
        } else if (size == 4) {
            reinterpret_cast<u32*>(out)[first + i] = static_cast<u32>(sum[i]);
        } else {
            reinterpret_cast<u64*>(out)[first + i] = sum[i];
        }
    }
}

// One loop over all samples, into the counters themselves. Counters of 16 bits saturate at 65535. counter_size: bytes
// per counter.
template <class Bin>
void histogram_serial(const Group& group, std::byte* out, u64 n, u64 bins, u32 counter_size, u32 size,
                      const BlockFunction bins_of, const OperatorValues& values, HostArguments rest) {
    const Samples samples{HostInput<std::byte>(rest), size};
    auto count = [&]<class C>(C* counter) {
        for_each_sample<Bin>(group, samples, Share(n, 0, 1), bins, bins_of, values, [&](u64 bin, u64 /*i*/) {
            if (bin < bins && (sizeof(C) > 2 || counter[bin] != 65535)) ++counter[bin];
        });
    };
    if (counter_size == 2) return count(reinterpret_cast<u16*>(out));
    if (counter_size == 4) return count(reinterpret_cast<u32*>(out));
    count(reinterpret_cast<u64*>(out));
}

// Every sample adds to its counter in global memory.
template <class Bin>
void histogram_global(const Group& group, u32* out, u64 n, u64 bins, u32 words, u32 size,
                      const BlockFunction bins_of, const OperatorValues& values, HostArguments rest) {
    const Samples samples{HostInput<std::byte>(rest), size};
    for_each_sample<Bin>(group, samples, Share(n, group.x, group.count_x), bins, bins_of, values,
                         [&](u64 bin, u64 /*i*/) {
                             if (bin < bins) add_to(out, words, bin, 1);
                         });
}

// A group counts the bins of its pass in local memory and adds the counts to the result. The `copies` counters of
// one bin are neighbours.
template <class Bin>
void histogram_private(const Group& group, u32* out, u64 n, u64 bins, u64 range, u64 passes, u32 copies,
                       u32 words, u32 size, const BlockFunction bins_of, const OperatorValues& values,
                       HostArguments rest) {
    const Samples samples{HostInput<std::byte>(rest), size};
    const u64 first = std::min(bins, group.x % passes * range), held = std::min(range, bins - first);
    u32* table = reinterpret_cast<u32*>(group.local);
    std::fill_n(table, held * copies, u32{0});
    const Share share(n, group.x / passes, group.count_x / passes);
    for_each_sample<Bin>(group, samples, share, bins, bins_of, values, [&](u64 bin, u64 i) {
        if (bin - first < held) ++table[(bin - first) * copies + i % copies];
    });
    for (u64 b = 0; b < held; ++b) {
        u64 sum = 0;
        for (u64 k = 0; k < copies; ++k)
            sum += table[b * copies + k];
        if (sum != 0) add_to(out, words, first + b, sum);
    }
}

// Counters of 16 bits in local memory. A counter that overflows adds 65536 to the result.
inline void histogram_packed16(const Group& group, u32* out, u64 n, u64 bins, u32 words, u32 size,
                               const BlockFunction bins_of, const OperatorValues& values,
                               HostArguments rest) {
    const Samples samples{HostInput<std::byte>(rest), size};
    u16* table = reinterpret_cast<u16*>(group.local);
    std::fill_n(table, bins, u16{0});
    for_each_sample<u32>(group, samples, Share(n, group.x, group.count_x), bins, bins_of, values,
                         [&](u64 bin, u64 /*i*/) {
                             if (bin < bins && ++table[bin] == 0) add_to(out, words, bin, 65536);
                         });
    for (u64 b = 0; b < bins; ++b) {
        if (table[b] != 0) add_to(out, words, b, table[b]);
    }
}

// --- sorted -------------------------------------------------------------------------------------------------------

// Stores the bin of every sample; `none` for a sample that is not counted.
inline void histogram_ids(const Group& group, const std::byte* in, u32* ids, u64 n, u64 bins, u32 none,
                          u32 size, const BlockFunction bins_of, u64 tile, const OperatorValues& values) {
    Share share(n, 0, 1);
    share.begin = group.x * tile;
    share.end = std::min(n, share.begin + tile);
    const Samples samples{HostInput<std::byte>(in), size};
    for_each_sample<u32>(group, samples, share, bins, bins_of, values,
                         [&](u64 bin, u64 i) { ids[i] = bin < bins ? static_cast<u32>(bin) : none; });
}

// The position of each coarse bin among the sorted ids, and the end of the last one.
inline void histogram_positions(const Group& group, const u32* ids, u64* positions, u64 n, u32 coarse,
                                u32 shift, u64 tile) {
    const u64 begin = group.x * tile, end = std::min(u64{coarse} + 1, begin + tile);
    for (u64 c = begin; c < end; ++c)
        positions[c] = static_cast<u64>(
            std::partition_point(ids, ids + n, [&](u32 id) { return id >> shift < c; }) - ids);
}

// Counts a segment of the sorted ids in local memory, one coarse bin after another.
inline void histogram_segments(const Group& group, const u32* ids, const u64* positions, u32* out, u64 n,
                               u64 bins, u64 segment, u32 coarse, u32 shift, u32 words) {
    u32* table = reinterpret_cast<u32*>(group.local);
    const u64 begin = group.x * segment, end = std::min(n, begin + segment), fine = u64{1} << shift;
    for (u64 c = ids[begin] >> shift; c < coarse && positions[c] < end; ++c) {
        const u64 first = std::max(begin, positions[c]), last = std::min(end, positions[c + 1]);
        if (first >= last) continue;
        std::fill_n(table, fine, u32{0});
        for (u64 i = first; i < last; ++i)
            ++table[ids[i] & (fine - 1)];
        const u64 held = std::min(fine, bins - (c << shift));
        for (u64 b = 0; b < held; ++b) {
            if (table[b] != 0) add_to(out, words, (c << shift) + b, table[b]);
        }
    }
}

// Saturates counts of 32 or 64 bits to counters of 16 bits.
inline void histogram_saturate(const Group& group, const u32* counts, u16* out, u64 bins, u32 words,
                               u64 tile) {
    const u64 first = group.x * tile, end = std::min(bins, first + tile);
    for (u64 b = first; b < end; ++b) {
        const u64 count = words == 1 ? counts[b] : reinterpret_cast<const u64*>(counts)[b];
        out[b] = static_cast<u16>(std::min<u64>(count, 65535));
    }
}

}  // namespace concord::detail::host
