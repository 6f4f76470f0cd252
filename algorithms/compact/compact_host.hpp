#pragma once
// Compact in the host dialect. Parallel sources: compact.cu and compact.cl (fused), compact_steps.cu and
// compact_steps.cl (textbook steps); they describe phases and traffic. T: element type; Op: predicate, which
// returns an integer; nonzero keeps.

#include <concord/detail/host_vector.hpp>
#include <concord/host_kernel.hpp>

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

template <class T, class Op>
[[gnu::always_inline]] inline void flag_elements(const T* x, u64 count, u8* flags, const Op op) {
    for (u64 i = 0; i < count; ++i)
        flags[i] = op(x[i]) != 0 ? 1 : 0;
}

template <class T, class Op>
[[gnu::always_inline]] inline u64 count_kept(const T* x, u64 count, const Op op) {
    alignas(64) u8 flags[flag_block];
    u64 kept = 0;
    for (u64 base = 0; base < count; base += flag_block) {
        const u64 n = std::min(flag_block, count - base);
        flag_elements(x + base, n, flags, op);
        u32 sum = 0;
        for (u64 i = 0; i < n; ++i)
            sum += flags[i];
        kept += sum;
    }
    return kept;
}

// Compresses a tile to private buffers, which have room for compress_slack more bytes. Returns how many elements
// were kept. rejected: null, or the buffer of the other elements.
template <class T, class Op>
[[gnu::always_inline]] inline u64 compress_tile(HostIsa isa, const T* x, u64 count, T* kept, T* rejected,
                                                const Op op) {
    alignas(64) u8 flags[flag_block];
    u64 done = 0;
    for (u64 base = 0; base < count; base += flag_block) {
        const u64 n = std::min(flag_block, count - base);
        flag_elements(x + base, n, flags, op);
        if (rejected != nullptr)
            compress<sizeof(T)>(isa, x + base, flags, n, Select::unflagged, rejected + (base - done));
        done += compress<sizeof(T)>(isa, x + base, flags, n, Select::flagged, kept + done);
    }
    return done;
}

template <class T>
[[gnu::always_inline]] inline void store_tile(T* to, const T* from, u64 count, u32 past_cache) {
    if (past_cache != 0) {
        stream_store(to, from, count * sizeof(T));
    } else {
        std::memcpy(to, from, count * sizeof(T));
    }
}

// The words of the launch that groups use, each on a cache line of its own.
enum ChainWord : u64 { chain_ticket = 0, chain_turn = 8, chain_kept = 16 };

// Groups take tiles by ticket, compress each into private memory and wait for their turn. Every earlier tile has
// begun, so waiting ends. A tile's results are stored after it and all earlier tiles were read, so out may be in.
// With `partition`, *kept_count holds the total number of kept elements, and the other elements are stored behind
// them.
template <class T, class Op>
void compact_two_pass(const Group& group, const T* in, T* out, u64* kept_count, u64 n, u64 tile,
                      u32 past_cache, u32 partition, const Op op) {
    std::array<u64, 32>& chain = group.launch->words;
    const std::atomic_ref<u64> ticket(chain[chain_ticket]), turn(chain[chain_turn]);
    const u64 tiles = (n + tile - 1) / tile;
    T* buffer = reinterpret_cast<T*>(group.local);
    T* others = partition != 0 ? buffer + tile + compress_slack / sizeof(T) : nullptr;
    const u64 all_kept = partition != 0 ? *kept_count : 0;
    for (u64 t = ticket.fetch_add(1, std::memory_order_relaxed); t < tiles;
         t = ticket.fetch_add(1, std::memory_order_relaxed)) {
        const u64 begin = t * tile, count = std::min(tile, n - begin);
        const u64 kept = compress_tile(group.isa, in + begin, count, buffer, others, op);
        for (u32 spins = 0; turn.load(std::memory_order_acquire) != t; ++spins) {
            if (spins > 4096) yield(group);
        }
        const u64 before = chain[chain_kept];
        chain[chain_kept] = before + kept;
        if (t + 1 == tiles && partition == 0) *kept_count = before + kept;
        turn.store(t + 1, std::memory_order_release);
        store_tile(out + before, buffer, kept, past_cache);
        if (others != nullptr)
            store_tile(out + all_kept + (begin - before), others, count - kept, past_cache);
    }
    if (past_cache != 0) stream_fence();
}

// One loop; partition adds a second one for the other elements.
template <class T, class Op>
void compact_serial(const Group& /*group*/, const T* in, T* out, u64* count, u64 n, u32 partition,
                    const Op op) {
    u64 kept = 0;
    for (u64 i = 0; i < n; ++i) {
        if (op(in[i]) != 0) out[kept++] = in[i];
    }
    *count = kept;
    if (partition == 0) return;
    for (u64 i = 0; i < n; ++i) {
        if (op(in[i]) == 0) out[kept++] = in[i];
    }
}

// --- fused ----------------------------------------------------------------------------------------------------------

// Counts the kept elements of each chunk.
template <class T, class Op>
void compact_count(const Group& group, const T* in, u64* counts, u64 n, u64 chunk, const Op op) {
    const u64 begin = group.x * chunk;
    counts[group.x] = count_kept(in + begin, std::min(chunk, n - begin), op);
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
template <class T, class Op>
void compact_write(const Group& group, const T* in, T* out, const u64* offsets, const u64* count, u64 n,
                   u64 chunk, u32 past_cache, u32 partition, const Op op) {
    constexpr u64 tile = 8192 / sizeof(T);
    alignas(64) T buffer[tile + compress_slack / sizeof(T)], others[tile + compress_slack / sizeof(T)];
    const u64 begin = group.x * chunk, end = std::min(n, begin + chunk), all_kept = *count;
    u64 before = offsets[group.x];
    for (u64 base = begin; base < end; base += tile) {
        const u64 length = std::min(tile, end - base);
        const u64 kept =
            compress_tile(group.isa, in + base, length, buffer, partition != 0 ? others : nullptr, op);
        store_tile(out + before, buffer, kept, past_cache);
        if (partition != 0) store_tile(out + all_kept + (base - before), others, length - kept, past_cache);
        before += kept;
    }
    if (past_cache != 0) stream_fence();
}

// --- Textbook steps -------------------------------------------------------------------------------------------------

// One flag more than there are elements; the last flag is 0.
template <class T, class Op>
void compact_flags(const Group& group, const T* in, u64* flags, u64 n, u64 tile, const Op op) {
    const u64 begin = group.x * tile, end = std::min(n, begin + tile);
    for (u64 i = begin; i < end; ++i)
        flags[i] = op(in[i]) != 0 ? 1 : 0;
    if (begin <= n && n < begin + tile) flags[n] = 0;
}

// positions: the exclusive scan of the flags. The position after a kept element is greater by one.
template <class T>
void compact_scatter(const Group& group, const T* in, const u64* positions, T* out, u64* count, u64 n,
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
