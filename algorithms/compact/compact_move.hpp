#pragma once
// Compact in the host dialect. Parallel sources: compact.kernel and compact_wide.cl (fused), compact_steps.kernel
// (textbook steps); they describe phases and traffic.
//
// The predicate flags a block of elements (compact_host.hpp). Elements then move as bits. B: unsigned integer of the
// elements' size; keep: the predicate; values: its bound values. Kernels that do not move elements take their size.
// Their last parameter is the input, a range or an expression.

#include <concord/detail/host_input.hpp>
#include <concord/detail/host_vector.hpp>
#include <concord/internal/block_function.hpp>

#include <algorithm>
#include <atomic>

namespace concord::detail::host {

// Bytes past a buffer's last element that compress() may overwrite.
inline constexpr u64 compress_slack = 64;
// Elements that are flagged together.
inline constexpr u64 flag_block = 1024;

// The elements that compress() moves, by their flags.
enum class Select : u8 { flagged = 0, unflagged = 1 };

// Moves the selected elements of x to `to`, in order, and returns their number. AVX-512 CPUs use compress
// instructions and stores of whole registers, others one store per element without branches. SIZE: bytes per
// element, 1, 2, 4 or 8. flags: 0 or 1 per element, aligned to 64 bytes. Elements may begin at any byte.
template <u64 SIZE>
u64 compress(HostIsa isa, const void* x, const u8* flags, u64 count, Select select, void* to);
extern template u64 compress<1>(HostIsa, const void*, const u8*, u64, Select, void*);
extern template u64 compress<2>(HostIsa, const void*, const u8*, u64, Select, void*);
extern template u64 compress<4>(HostIsa, const void*, const u8*, u64, Select, void*);
extern template u64 compress<8>(HostIsa, const void*, const u8*, u64, Select, void*);

// The input and the predicate. An expression with a flag for each element replaces the predicate.
struct CompactItems {
    HostInput<std::byte> in;
    const BlockFunction& keep;
    const OperatorValues& values;

    // Flags elements from `first` on: all `count` of them, or a block, whose length is in `count` then. Returns them,
    // or null if they were not computed and are not wanted.
    [[gnu::always_inline]] const void* flag(const Group& group, u64 size, u64 first, u64& count, bool wanted,
                                            u8* flags) const {
        const void* x = nullptr;
        if (in.is_range()) {
            x = in.range() + first * size;
        } else {
            count = std::min(block_length, count);
            if (in.flags(keep.isa, first, count, flags))
                return wanted ? in.block(keep.isa, first, count) : nullptr;
            x = in.block(keep.isa, first, count);
        }
        keep(group, values, x, count, flags);
        return x;
    }
};

// Calls use(x, first, flags, n) for the blocks of the elements [begin, end) of `size` bytes: n elements at x. The
// first one has index `first`. wanted: whether it uses x.
template <class Use>
[[gnu::always_inline]] inline void for_each_block(const Group& group, const CompactItems& items, u64 size,
                                                  u64 begin, u64 end, bool wanted, const Use& use) {
    alignas(64) u8 flags[flag_block];
    u8* const to = flags;
    for (u64 first = begin, n = 0; first < end; first += n) {
        n = std::min(flag_block, end - first);
        const void* const x = items.flag(group, size, first, n, wanted, to);
        use(x, first, to, n);
    }
}

// Compresses a tile, the elements from `begin` on, to private buffers, which have room for compress_slack more bytes.
// Returns how many elements were kept. rejected: null, or the buffer of the other elements.
template <class B>
[[gnu::always_inline]] inline u64 compress_tile(const Group& group, const CompactItems& items, u64 begin,
                                                u64 count, B* kept, B* rejected) {
    const HostIsa isa = items.keep.isa;
    u64 done = 0;
    for_each_block(group, items, sizeof(B), begin, begin + count, true,
                   [&](const void* x, u64 first, const u8* flags, u64 n) {
                       if (rejected != nullptr)
                           compress<sizeof(B)>(isa, x, flags, n, Select::unflagged,
                                               rejected + (first - begin - done));
                       done += compress<sizeof(B)>(isa, x, flags, n, Select::flagged, kept + done);
                   });
    return done;
}

template <class B>
[[gnu::always_inline]] inline void store_tile(B* to, const B* from, u64 count, u32 non_temporal) {
    if (non_temporal != 0) {
        stream_store(to, from, count * sizeof(B));
    } else {
        std::memcpy(to, from, count * sizeof(B));
    }
}

// The words of the launch that groups use, each on a cache line of its own.
enum ChainWord : u64 { chain_ticket = 0, chain_turn = 8, chain_kept = 16 };

// Groups take tiles by ticket, compress each into private memory and wait for their turn. Every earlier tile has
// begun, so waiting ends. A tile's results are stored after it and all earlier tiles were read, so out may be in.
// With `partition`, *kept_count holds the total number of kept elements, and the other elements are stored behind
// them.
template <class B>
void compact_two_pass(const Group& group, B* out, u64* kept_count, u64 n, u64 tile, u32 non_temporal,
                      u32 partition, const BlockFunction keep, const OperatorValues& values,
                      HostArguments rest) {
    const CompactItems items{HostInput<std::byte>(rest), keep, values};
    std::array<u64, 32>& chain = group.launch->words;
    const std::atomic_ref<u64> ticket(chain[chain_ticket]), turn(chain[chain_turn]);
    const u64 tiles = (n + tile - 1) / tile;
    B* buffer = reinterpret_cast<B*>(group.local);
    B* others = partition != 0 ? buffer + tile + compress_slack / sizeof(B) : nullptr;
    const u64 all_kept = partition != 0 ? *kept_count : 0;
    for (u64 t = ticket.fetch_add(1, std::memory_order_relaxed); t < tiles;
         t = ticket.fetch_add(1, std::memory_order_relaxed)) {
        const u64 begin = t * tile, count = std::min(tile, n - begin);
        const u64 kept = compress_tile(group, items, begin, count, buffer, others);
        for (u32 spins = 0; turn.load(std::memory_order_acquire) != t; ++spins) {
            if (spins > 4096) yield(group);
        }
        const u64 before = chain[chain_kept];
        chain[chain_kept] = before + kept;
        if (t + 1 == tiles && partition == 0) *kept_count = before + kept;
        turn.store(t + 1, std::memory_order_release);
        store_tile(out + before, buffer, kept, non_temporal);
        if (others != nullptr)
            store_tile(out + all_kept + (begin - before), others, count - kept, non_temporal);
    }
    if (non_temporal != 0) stream_fence();
}

// One loop; partition adds a second one for the other elements. A block is flagged before its elements move, so out
// may be in.
template <class B>
void compact_serial(const Group& group, B* out, u64* count, u64 n, u32 partition, const BlockFunction keep,
                    const OperatorValues& values, HostArguments rest) {
    const CompactItems items{HostInput<std::byte>(rest), keep, values};
    u64 kept = 0;
    auto move = [&](u8 wanted) {
        for_each_block(group, items, sizeof(B), 0, n, true,
                       [&](const void* x, u64 /*first*/, const u8* flags, u64 length) {
                           for (u64 i = 0; i < length; ++i) {
                               if (flags[i] == wanted) out[kept++] = static_cast<const B*>(x)[i];
                           }
                       });
    };
    move(1);
    *count = kept;
    if (partition != 0) move(0);
}

// --- fused ----------------------------------------------------------------------------------------------------------

// The sum of at most flag_block flags. A byte of `sums` is the sum of at most 128 flags.
[[gnu::always_inline]] inline u64 sum_of(const u8* flags, u64 n) {
    static_assert(flag_block / 8 < 256);
    constexpr u64 bytes = 0x00ff00ff00ff00ff;
    u64 sums = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        u64 word;
        std::memcpy(&word, flags + i, 8);
        sums += word;
    }
    u64 sum = ((sums & bytes) + (sums >> 8 & bytes)) * 0x0001000100010001 >> 48;
    for (; i < n; ++i)
        sum += flags[i];
    return sum;
}

// Counts the kept elements of each chunk.
[[gnu::always_inline]] inline void compact_count(const Group& group, u64* counts, u64 n, u64 chunk, u32 size,
                                                 const BlockFunction keep, const OperatorValues& values,
                                                 HostArguments rest) {
    const CompactItems items{HostInput<std::byte>(rest), keep, values};
    const u64 begin = group.x * chunk;
    u64 kept = 0;
    auto count = [&](const void* /*x*/, u64 /*first*/, const u8* flags, u64 length)
        __attribute__((always_inline)) {
        kept += sum_of(flags, length);
    };
    for_each_block(group, items, size, begin, std::min(n, begin + chunk), false, count);
    counts[group.x] = kept;
}

// Turns counts into offsets and stores their sum in *count.
inline void compact_offsets(const Group& /*group*/, u64* counts, u64* count, u64 chunks) {
    u64 sum = 0;
    for (u64 c = 0; c < chunks; ++c) {
        const u64 kept = counts[c];
        counts[c] = sum;
        sum += kept;
    }
    *count = sum;
}

// Writes the kept elements of each chunk to their place. With `partition`, the others go behind all kept elements.
template <class B>
void compact_write(const Group& group, B* out, const u64* offsets, const u64* count, u64 n, u64 chunk,
                   u32 non_temporal, u32 partition, const BlockFunction keep, const OperatorValues& values,
                   HostArguments rest) {
    const CompactItems items{HostInput<std::byte>(rest), keep, values};
    constexpr u64 tile = 8192 / sizeof(B);
    alignas(64) B buffer[tile + compress_slack / sizeof(B)], others[tile + compress_slack / sizeof(B)];
    const u64 begin = group.x * chunk, end = std::min(n, begin + chunk), all_kept = *count;
    u64 before = offsets[group.x];
    for (u64 base = begin; base < end; base += tile) {
        const u64 length = std::min(tile, end - base);
        const u64 kept = compress_tile(group, items, base, length, buffer, partition != 0 ? others : nullptr);
        store_tile(out + before, buffer, kept, non_temporal);
        if (partition != 0) store_tile(out + all_kept + (base - before), others, length - kept, non_temporal);
        before += kept;
    }
    if (non_temporal != 0) stream_fence();
}

// --- Textbook steps -------------------------------------------------------------------------------------------------

// One flag more than there are elements; the last flag is 0.
inline void compact_flags(const Group& group, const std::byte* in, u64* flags, u64 n, u32 size,
                          const BlockFunction keep, u64 tile, const OperatorValues& values) {
    const u64 begin = group.x * tile, end = std::min(n, begin + tile);
    const CompactItems items{HostInput<std::byte>(in), keep, values};
    for_each_block(group, items, size, begin, end, false,
                   [&](const void* /*x*/, u64 first, const u8* kept, u64 length) {
                       std::copy_n(kept, length, flags + first);
                   });
    if (begin <= n && n < begin + tile) flags[n] = 0;
}

// positions: the exclusive scan of the flags. The position after a kept element is greater by one.
template <class B>
void compact_scatter(const Group& group, const B* in, const u64* positions, B* out, u64* count, u64 n,
                     u32 partition, u64 tile) {
    const u64 begin = group.x * tile, end = std::min(n, begin + tile), kept = positions[n];
    for (u64 i = begin; i < end; ++i) {
        const u64 position = positions[i];
        if (positions[i + 1] != position) {
            out[position] = in[i];
        } else if (partition != 0) {
            out[kept + (i - position)] = in[i];
        }
    }
    if (begin == 0) *count = kept;
}

}  // namespace concord::detail::host
