// Compact in one pass, `lookback`, CUDA C++. The tile is in compact_tile.cu, what tiles tell one another
// in lookback.cu.
//
// Algorithm  A tile a group: flags stay in registers, one scan of the group ranks the tile, look-back over the totals
//            of the other tiles says how many elements are kept before it; then its kept elements gather in shared
//            memory and leave in 16-byte stores.
// Passes     one launch; traffic: the input once, what is kept once, and some 17 bytes a tile.
// In place   What is kept before a tile is known once all tiles before it have published their totals, which each does
//            after it has read its elements: so all that a tile stores over has been read. The read-only path is not
//            used.
// Tunables   GROUP lanes a group, PACK elements an access (16 bytes), ROWS accesses in flight a lane.
// Source     D. Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.
//
// COUNT: u32 or, from 2^32 elements on, u64: what counts kept elements.

struct AddCounts {
    __device__ __forceinline__ COUNT operator()(COUNT a, COUNT b) const { return a + b; }
};

// shift: elements between the 16-byte boundary before the input and its first one.
extern "C" __global__ void __launch_bounds__(GROUP, 4)
    compact_lookback(const B* in, B* out, u64* count, u64* workspace, u64 n, u32 shift, u32 tiles, u32 in_place,
                     const Op op) {
    __shared__ __align__(16) B staged[tile_length + PACK];
    const Turn turn = take_turn(workspace);
    const u64 first = shift, last = shift + n, begin = u64(turn.ticket) * tile_length;
    const Tile tile = load_tile(in - shift, begin, first, last, op);
    if (in_place) __threadfence();  // read, whatever the predicate makes of it, before the total tells so
    const Ranks ranks = rank_tile(tile);
    const COUNT before = tile_carry(workspace, turn, tiles, COUNT(ranks.total), COUNT(0), AddCounts{});
    if (turn.ticket == tiles - 1 && threadIdx.x == 0) *count = u64(before) + ranks.total;
    store_tile<false>(tile, ranks, out + before, 0, 0, staged);
}
