// Decoupled look-back in a fixed order, CUDA C++: how a tile obtains its carry, the combination of all earlier tiles,
// within one launch. Parallel sources: lookback.cl, lookback_words.cl.
//
// Algorithm  Tiles form a tree: 16 tiles form a node of level 1, 16 of these a node of level 2, and so on. A tile
//            publishes its total. The last tile of 16 waits for the other 15, combines the 16 totals, and publishes
//            the node's total, and so on upwards. The carry of tile t depends, on each level, on the siblings on the
//            left of t's ancestor, at most 15. Tile t waits for their totals, combines those of each level, and then
//            the levels, top down. Which values it combines, and in which order, depends on t alone, so results are
//            deterministic. Tiles exchange totals only, not prefixes, so there is no chain of dependent tiles.
// Order      Sklansky's network scans 16 values, see sklansky.cu.
// Progress   A ticket numbers the tiles, so all tiles that a tile waits for have started. It relies on forward
//            progress of started groups while others spin (DeviceTraits::forward_progress).
// Memory     An initially zero workspace: a word of {epoch, ticket}, 15 words of padding, then the totals of the
//            levels, one level after another, in 64-bit words whose upper half is a tag. The epoch counts launches. A
//            total is valid only if it has the tag of this launch, so nothing has to be cleared. Totals of eight
//            bytes take two words, each half with its tag.
// Traffic    8 or 16 bytes written per tile and node; at most 15 totals read per tile and level, from L2.
// Tunables   many: tiles per group.
// Source     D. Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016. The tree of
//            totals, and with it the fixed order, is Concord's.

#include "sklansky.cu"

constexpr u32 lookback_fan = 16;
constexpr u32 lookback_head = 16;
constexpr u32 lookback_levels = 8;  // 16^8 tiles, the range of a ticket

// A group's number in the order in which groups start, and the tag of the launch.
struct Turn {
    u32 ticket, tag;
};

// Draws a ticket, in the order in which groups start. All threads of each group call it.
__device__ __forceinline__ Turn take_turn(u64* workspace) {
    __shared__ Turn turn;
    if (threadIdx.x == 0) {
        auto* word = reinterpret_cast<unsigned long long*>(workspace);
        const u64 drawn = atomicAdd(word, 1ull);
        const u32 epoch = u32(drawn >> 32);
        turn = {u32(drawn), epoch + 1};
        // The last ticket of this launch starts the next epoch for the next launch.
        if (turn.ticket == gridDim.x - 1) atomicExch(word, static_cast<unsigned long long>((epoch + 1) & 0x3fffffffu) << 32);
    }
    __syncthreads();
    return turn;
}

template <class V>
constexpr u32 words_of = sizeof(V) <= 4 ? 1 : 2;

template <class V>
__device__ __forceinline__ void publish(u64* totals, u64 index, V value, u32 tag) {
    const u64 high = u64(tag) << 32;
    u64 bits = 0;
    memcpy(&bits, &value, sizeof(V));
    if constexpr (words_of<V> == 1) {
        asm volatile("st.volatile.global.u64 [%0], %1;" ::"l"(totals + index), "l"(high | bits) : "memory");
    } else {
        asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(totals + 2 * index), "l"(high | (bits & 0xffffffffu)),
                     "l"(high | (bits >> 32))
                     : "memory");
    }
}

// Waits until the total is published, and returns it.
template <class V>
__device__ __forceinline__ V await(const u64* totals, u64 index, u32 tag) {
    u64 bits;
    if constexpr (words_of<V> == 1) {
        do {
            asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(bits) : "l"(totals + index) : "memory");
        } while (u32(bits >> 32) != tag);
    } else {
        u64 low, high;
        do {
            asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                         : "=l"(low), "=l"(high)
                         : "l"(totals + 2 * index)
                         : "memory");
        } while (u32(low >> 32) != tag || u32(high >> 32) != tag);
        bits = (low & 0xffffffffu) | high << 32;
    }
    V value;
    memcpy(&value, &bits, sizeof(V));
    return value;
}

// Publishes the total of each full node that this tile completes, on all levels. The first warp calls it. p: scan of
// the totals of the tile and its 15 siblings.
template <class V, class F>
__device__ __forceinline__ void publish_nodes(u64* totals, u32 tile, u32 tiles, u32 tag, V p, const F combine) {
    const u32 lane = threadIdx.x % warp_width, last = lookback_fan - 1;
    while (tile % lookback_fan == last && tile + 1 < tiles) {
        const V total = shuffle_from(p, last);
        totals += words_of<V> * u64(tiles);
        tiles = (tiles + last) / lookback_fan;
        tile /= lookback_fan;
        if (lane == 0) publish(totals, tile, total, tag);
        if (tile % lookback_fan != last || tile + 1 >= tiles) return;
        p = scan_sixteen(lane < last ? await<V>(totals, tile - last + lane, tag) : total, combine);
    }
}

// Publishes the totals of `many` tiles, a power of two up to 16. tile: the first tile, a multiple of `many`. All
// threads of the group call it, with the totals in all lanes of the first warp.
template <u32 many, class V>
__device__ __forceinline__ void publish_tiles(u64* workspace, u32 tile, u32 tiles, u32 tag, const V (&total)[many]) {
    if (threadIdx.x != 0) return;
#pragma unroll
    for (u32 j = 0; j < many; ++j) {
        if (tile + j + 1 < tiles) publish(workspace + lookback_head, tile + j, total[j], tag);
    }
}

// Returns the carry of each of those tiles to all threads, starting from the identity. combine(earlier, later). All
// threads of the group, at least eight warps, call it after publish_tiles.
template <u32 many, class V, class F>
__device__ __forceinline__ void carry_tiles(u64* workspace, u32 tile, u32 tiles, u32 tag, const V (&total)[many],
                                            V (&carry)[many], V identity, const F combine) {
    __shared__ V before[lookback_levels], before_tile[many];
    const u32 warp = threadIdx.x / warp_width, lane = threadIdx.x % warp_width;
    u64* const first_level = workspace + lookback_head;

    // Warp k combines the siblings on the left of the tiles' ancestor of level k.
    if (warp < lookback_levels && (warp == 0 || tile >> (4 * warp) != 0)) {
        u64* totals = first_level;
        u32 at = tile;
        for (u32 k = 0, count = tiles; k < warp; ++k, at /= lookback_fan) {
            totals += words_of<V> * u64(count);
            count = (count + lookback_fan - 1) / lookback_fan;
        }
        const u32 digit = at % lookback_fan;
        V value = identity;
        if (warp == 0) {
#pragma unroll
            for (u32 j = 0; j < many; ++j) {
                if (lane == digit + j) value = total[j];
            }
        }
        if (lane < digit) value = await<V>(totals, at - digit + lane, tag);
        const V p = scan_sixteen(value, combine);
        if (warp != 0) {
            if (lane + 1 == digit) before[warp] = p;
        } else {
            if (lane + 1 >= digit && lane + 1 < digit + many) before_tile[lane + 1 - digit] = p;
            publish_nodes(first_level, tile + many - 1, tiles, tag, p, combine);
        }
    }
    __syncthreads();

    V node = identity;
#pragma unroll
    for (int k = lookback_levels - 1; k > 0; --k) {
        if ((tile >> (4 * k)) % lookback_fan != 0) node = combine(node, before[k]);
    }
#pragma unroll
    for (u32 j = 0; j < many; ++j) carry[j] = (tile + j) % lookback_fan != 0 ? combine(node, before_tile[j]) : node;
}

// publish_tiles and carry_tiles for a group of one tile.
template <class V, class F>
__device__ __forceinline__ V tile_carry(u64* workspace, Turn turn, u32 tiles, V total, V identity, const F combine) {
    const V totals[1] = {total};
    V carry[1];
    publish_tiles(workspace, turn.ticket, tiles, turn.tag, totals);
    carry_tiles(workspace, turn.ticket, tiles, turn.tag, totals, carry, identity, combine);
    return carry[0];
}
