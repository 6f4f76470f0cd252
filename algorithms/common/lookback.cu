// Decoupled look-back in a fixed order, CUDA C++: how a tile obtains its carry, the combination of all earlier tiles,
// within one launch. Parallel sources: lookback.cl, lookback_words.cl.
//
// Algorithm  Tiles form a tree: 16 tiles form a node of level 1, 16 of these a node of level 2, and so on. A tile
//            publishes its total. The last tile of 256 waits for the other 255, combines the 256 totals, and publishes
//            the total of that node of level 2, and so on upwards, two levels at a time. The carry of tile t depends,
//            on each level, on the siblings on the left of t's ancestor, at most 15. For two levels tile t waits for at
//            most 255 totals, one per thread, and combines 16 of them to the total of each node between the levels.
//            Then it combines the siblings of each level, and then the levels, top down. Which values it combines, and
//            in which order, depends on t alone, so results are deterministic. Tiles exchange totals only, not
//            prefixes. The last tile of 256 publishes the total of its node once it has seen those of the nodes before.
// Order      Sklansky's network scans 16 values, see sklansky.kernel.
// Progress   A ticket numbers the tiles, so all tiles that a tile waits for have started. It relies on forward
//            progress of started groups while others spin (DeviceTraits::forward_progress).
// Memory     An initially zero workspace: a word of {epoch, ticket}, 15 words of padding, then the totals of the
//            levels, one level after another, in 64-bit words whose upper half is a tag. The epoch counts launches. A
//            total is valid only if it has the tag of this launch, so nothing has to be cleared. Totals of eight
//            bytes take two words, each half with its tag.
// Traffic    8 or 16 bytes written per tile and node; at most 255 totals read per group and two levels, from L2.
// Tunables   TILES: tiles per group.
// Source     D. Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016. The tree of
//            totals, and with it the fixed order, is Concord's.
//
// TOTAL: type of a total; JOIN(op, x, y): combines two totals, x is the earlier one.

#include "sklansky"

constexpr u32 lookback_fan = 256;  // two levels of 16
constexpr u32 lookback_head = 16;
constexpr u32 lookback_steps = 4;  // 256^4 tiles, the range of a ticket
static_assert(GROUP == lookback_fan);

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

constexpr u32 words_of_total = sizeof(TOTAL) <= 4 ? 1 : 2;

__device__ __forceinline__ void publish(u64* totals, u64 index, TOTAL value, u32 tag) {
    const u64 high = u64(tag) << 32;
    u64 bits = 0;
    memcpy(&bits, &value, sizeof(TOTAL));
    if constexpr (words_of_total == 1) {
        asm volatile("st.volatile.global.u64 [%0], %1;" ::"l"(totals + index), "l"(high | bits) : "memory");
    } else {
        asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(totals + 2 * index), "l"(high | (bits & 0xffffffffu)),
                     "l"(high | (bits >> 32))
                     : "memory");
    }
}

// The words of a total, as read. Reading two totals before waiting for either overlaps their latencies.
struct Words {
    u64 low, high;
};

__device__ __forceinline__ Words read_words(const u64* totals, u64 index) {
    Words words;
    if constexpr (words_of_total == 1) {
        asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(words.low) : "l"(totals + index) : "memory");
        words.high = words.low;
    } else {
        asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                     : "=l"(words.low), "=l"(words.high)
                     : "l"(totals + 2 * index)
                     : "memory");
    }
    return words;
}

// Waits until the total is published, and returns it. words: read before.
__device__ __forceinline__ TOTAL await(const u64* totals, u64 index, u32 tag, Words words) {
    while (u32(words.low >> 32) != tag || u32(words.high >> 32) != tag) words = read_words(totals, index);
    u64 bits = words.low & 0xffffffffu;
    if constexpr (words_of_total == 2) bits |= words.high << 32;
    TOTAL value;
    memcpy(&value, &bits, sizeof(TOTAL));
    return value;
}

// Publishes the totals of TILES tiles, a power of two up to 16. tile: the first tile, a multiple of TILES. All
// threads of the group call it, with the totals in all threads.
__device__ __forceinline__ void publish_tiles(u64* workspace, u32 tile, u32 tiles, u32 tag, const TOTAL* total) {
    if (threadIdx.x != 0) return;
#pragma unroll
    for (u32 j = 0; j < TILES; ++j) {
        if (tile + j + 1 < tiles) publish(workspace + lookback_head, tile + j, total[j], tag);
    }
}

// The siblings of two levels. nodes: totals of the upper level's siblings. before: combination of the lower level's.
struct Step {
    TOTAL nodes[lookback_fan / 16];
    TOTAL before;
};

// Scans 256 totals, one per thread, as 16 nodes of 16. place: place of the tile's ancestor among them. Returns the scan
// of the node up to the thread's total. The caller must add a barrier.
__device__ __forceinline__ TOTAL scan_step(Step& step, TOTAL value, u32 place, const Op op) {
    const TOTAL through = scan_sixteen(value, nullptr, op);
    if (threadIdx.x % 16 == 15) step.nodes[threadIdx.x / 16] = through;
    if (threadIdx.x + 1 == place && place % 16 != 0) step.before = through;
    return through;
}

// Publishes the total of each full node that the group's tiles complete, two levels at a time. total: of the lowest of
// these nodes, in all threads. end: number of tiles up to the group's last one. All threads of the group call it.
__device__ __forceinline__ void publish_nodes(u64* totals, u32 end, u32 tiles, u32 tag, TOTAL total, Step& step,
                                              const Op op) {
    while (end % lookback_fan == 0 && end < tiles) {
        totals += words_of_total * u64(tiles);
        tiles = (tiles + lookback_fan - 1) / lookback_fan;
        end /= lookback_fan;
        if (threadIdx.x == 0) publish(totals, end - 1, total, tag);
        if (end % lookback_fan != 0 || end >= tiles) return;
        const u64 index = end - lookback_fan + threadIdx.x;
        TOTAL value = total;
        if (threadIdx.x < lookback_fan - 1) value = await(totals, index, tag, read_words(totals, index));
        __syncthreads();
        scan_step(step, value, 0, op);
        __syncthreads();
        total = shuffle_from(scan_sixteen(step.nodes[threadIdx.x % 16], nullptr, op), 15);
    }
}

// Returns the carry of each of those tiles to all threads, starting from the identity. All threads of the
// group, 256, call it after publish_tiles.
__device__ __forceinline__ void carry_tiles(u64* workspace, u32 tile, u32 tiles, u32 tag, const TOTAL* total,
                                            TOTAL* carry, TOTAL identity, const Op op) {
    __shared__ Step step[lookback_steps];
    __shared__ TOTAL before_tile[TILES];
    const u32 i = threadIdx.x, lane = i % warp_width, place = tile % lookback_fan;
    u64* const first_level = workspace + lookback_head;

    // The siblings of the tiles and of their ancestors of level 1, and at the same time those of levels 2 and 3.
    const u64* totals = first_level + words_of_total * u64(tiles);
    u32 at = tile / lookback_fan;
    Words words, upper_words;
    if (i < place) words = read_words(first_level, tile - place + i);
    if (i < at % lookback_fan) upper_words = read_words(totals, at - at % lookback_fan + i);
    TOTAL value = identity;
    if (i < place) value = await(first_level, tile - place + i, tag, words);
#pragma unroll
    for (u32 j = 0; j < TILES; ++j) {
        if (i == place + j) value = total[j];
    }
    const TOTAL through = scan_step(step[0], value, 0, op);
    if (i / 16 == place / 16 && i + 1 >= place && i + 1 < place + TILES) before_tile[i + 1 - place] = through;
    u32 steps = 1;
    for (u32 count = tiles; at != 0; ++steps) {
        const u32 among = at % lookback_fan, index = at - among + i;
        value = identity;
        if (i < among) value = await(totals, index, tag, steps == 1 ? upper_words : read_words(totals, index));
        scan_step(step[steps], value, among, op);
        count = (count + lookback_fan - 1) / lookback_fan;
        totals += words_of_total * u64(count);
        at /= lookback_fan;
    }
    __syncthreads();

    const TOTAL nodes = scan_sixteen(step[0].nodes[lane % 16], nullptr, op);
    const TOTAL left = shuffle_from(nodes, (place / 16 - 1) % 16);
    publish_nodes(first_level, tile + TILES, tiles, tag, shuffle_from(nodes, 15), step[0], op);
    TOTAL node = identity;
    while (--steps > 0) {
        const u32 among = (tile >> (8 * steps)) % lookback_fan;
        const TOTAL upper_nodes = scan_sixteen(step[steps].nodes[lane % 16], nullptr, op);
        if (among / 16 != 0) node = JOIN(op, node, shuffle_from(upper_nodes, among / 16 - 1));
        if (among % 16 != 0) node = JOIN(op, node, step[steps].before);
    }
    if (place / 16 != 0) node = JOIN(op, node, left);
#pragma unroll
    for (u32 j = 0; j < TILES; ++j) carry[j] = (tile + j) % 16 != 0 ? JOIN(op, node, before_tile[j]) : node;
}

// publish_tiles and carry_tiles for a group of one tile.
__device__ __forceinline__ TOTAL tile_carry(u64* workspace, Turn turn, u32 tiles, TOTAL total, TOTAL identity,
                                            const Op op) {
    const TOTAL totals[1] = {total};
    TOTAL carry[1];
    publish_tiles(workspace, turn.ticket, tiles, turn.tag, totals);
    carry_tiles(workspace, turn.ticket, tiles, turn.tag, totals, carry, identity, op);
    return carry[0];
}
