// Decoupled look-back in a fixed order, CUDA C++: how the tiles of one launch get the total of all tiles before them.
//
// Algorithm  Tiles form a tree: 16 tiles make one node of level 1, 16 of these one of level 2, ... A tile publishes its
//            total; the last tile of 16 waits for the other 15, combines the 16, and publishes that as the node's total,
//            and so on upwards. What lies before tile t are, on each level, the siblings to the left of t's ancestor
//            there, 15 at most: t waits for these totals, combines each level's, and then the levels, top down. Which
//            values are combined, and how, depends on t alone, so that results are the same in every run. No tile waits
//            for a prefix of another: only totals pass between them, and there is no chain of tiles.
// Order      Of 16 values, those up to the i-th are combined by J. Sklansky's network (Conditional-sum Addition Logic,
//            1960): halves of 2, 4, 8, 16, the last value of a left half combined with all of the right one.
// Progress   A tile is numbered by a ticket, so all tiles that it waits for have begun; it relies on groups that have
//            begun going on while others spin (DeviceTraits::forward_progress).
// Memory     A workspace that is zero at first: a word of {epoch, ticket}, 15 words of padding, the totals of the levels
//            one after another, of 64-bit words whose upper half is a tag. The epoch counts launches, and a total
//            counts only if its tag is this launch's: nothing has to be cleared. Totals of eight bytes take two words,
//            each half with its tag.
// Source     D. Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016; the tree of
//            totals, and with it the fixed order, is Concord's.

constexpr u32 lookback_fan = 16;
constexpr u32 lookback_head = 16;
constexpr u32 lookback_levels = 8;  // 16^8 tiles: all that a ticket counts

// This group's tile, and the tag of this launch.
struct Turn {
    u32 tile, tag;
};

// Called by all lanes. tiles: those of the launch, as many as groups.
__device__ __forceinline__ Turn take_turn(u64* workspace, u32 tiles) {
    __shared__ Turn turn;
    if (threadIdx.x == 0) {
        auto* word = reinterpret_cast<unsigned long long*>(workspace);
        const u64 old = atomicAdd(word, 1ull);
        const u32 epoch = u32(old >> 32);
        turn.tile = u32(old);
        turn.tag = epoch + 1;
        // The last ticket of this launch: the next one begins with the next epoch.
        if (turn.tile == tiles - 1) atomicExch(word, static_cast<unsigned long long>((epoch + 1) & 0x3fffffffu) << 32);
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

// Waits until the total is published.
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

// Lane i of each 16 gets the combination of those 16 lanes' values up to its own.
template <class V, class F>
__device__ __forceinline__ V scan_sixteen(V value, const F combine) {
    const u32 lane = threadIdx.x % warp_width;
#pragma unroll
    for (u32 half = 1; half < lookback_fan; half *= 2) {
        const V left = shuffle_from(value, (lane & ~(half - 1)) - 1);
        if (lane & half) value = combine(left, value);
    }
    return value;
}

// Publishes the total of a full node of each level that this tile completes. Called by the first warp; p: the scan of
// its 16 tiles' totals.
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

// Called by all lanes, eight warps at least, with the tile's total in all lanes of the first warp. Gives all lanes the
// combination of everything before the tile, starting from the identity; combine(earlier, later).
template <class V, class F>
__device__ __forceinline__ V tile_carry(u64* workspace, Turn turn, u32 tiles, V total, V identity, const F combine) {
    __shared__ V before[lookback_levels];
    const u32 warp = threadIdx.x / warp_width, lane = threadIdx.x % warp_width;
    u64* const first_level = workspace + lookback_head;

    // Warp k: what lies before the tile's ancestor of level k, under the same node.
    if (warp == 0 && lane == 0 && tiles > 1) publish(first_level, turn.tile, total, turn.tag);
    if (warp < lookback_levels && (warp == 0 || turn.tile >> (4 * warp) != 0)) {
        u64* totals = first_level;
        u32 at = turn.tile;
        for (u32 k = 0, count = tiles; k < warp; ++k, at /= lookback_fan) {
            totals += words_of<V> * u64(count);
            count = (count + lookback_fan - 1) / lookback_fan;
        }
        const u32 digit = at % lookback_fan;
        V value = warp == 0 ? total : identity;
        if (lane < digit) value = await<V>(totals, at - digit + lane, turn.tag);
        const V p = scan_sixteen(value, combine);
        if (lane + 1 == digit) before[warp] = p;
        if (warp == 0) publish_nodes(first_level, turn.tile, tiles, turn.tag, p, combine);
    }
    __syncthreads();

    V carry = identity;
#pragma unroll
    for (int k = lookback_levels - 1; k >= 0; --k) {
        if ((turn.tile >> (4 * k)) % lookback_fan != 0) carry = combine(carry, before[k]);
    }
    return carry;
}
