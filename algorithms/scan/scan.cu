// Scan in the canonical order, CUDA C++. Parallel texts: scan.cl, scan_host.hpp.
//
// Algorithm  A tree of nodes of 16, the same on every device: 16 elements make a block, 16 blocks a node of 256 elements, 16
//            of these a tile of 4096, ... Within each node Sklansky's network scans the totals of its children; what
//            lies before a child is what lies before the node, combined with the scan up to the child to the left.
// Tiles      A group works on one tile. Its lanes load PACK neighbours an access, in `rounds` accesses; a block lies in
//            `sharers` lanes of one round. Blocks are scanned in registers and across their lanes, their 256 totals by
//            a lane each, and those of the 16 nodes of 256 by every 16 lanes for themselves.
// lookback   one launch; traffic: every element read once, written once. What lies before a tile comes from the totals of
//            others, see lookback.cu.
// reduce_then_scan  two launches over the tiles, with a scan of the tiles' totals between them, by the same kernels;
//            traffic: every element read twice and written once.
// Tunables   TILES a group of `lookback`, RESIDENT groups a multiprocessor; the order fixes the tile, GROUP = 256 lanes of 16 elements.
// Source     J. Sklansky, Conditional-sum Addition Logic, 1960; D. Merrill, M. Garland, Single-pass Parallel Prefix Scan
//            with Decoupled Look-back, 2016; Y. Dotsenko et al., Fast Scan Algorithms on Graphics Processors, 2008
//            (reduce, then scan).
//
// T: element type; apply(op, x, y): the operator; x is the earlier one.

constexpr int pack = 16 / sizeof(T);     // elements of an access of 16 bytes
constexpr int rounds = 16 / pack;        // accesses a lane
constexpr u32 sharers = 16 / pack;       // lanes that share a block
constexpr u32 tile_length = GROUP * 16;
static_assert(GROUP == 256);

struct Combine {
    const Op op;
    __device__ __forceinline__ T operator()(T earlier, T later) const { return apply(op, earlier, later); }
};

// What a lane holds of a tile: elements (round * GROUP + lane) * pack + j.
struct Items {
    T item[rounds][pack];
};

__device__ __forceinline__ Items load_tile(const T* in, u64 left, T identity) {
    Items t;
    if (left >= tile_length && reinterpret_cast<u64>(in) % 16 == 0) {
#pragma unroll
        for (int r = 0; r < rounds; ++r) {
            const auto p = reinterpret_cast<const Pack<T, pack>*>(in)[r * GROUP + threadIdx.x];
#pragma unroll
            for (int j = 0; j < pack; ++j) t.item[r][j] = p.item[j];
        }
    } else {
#pragma unroll
        for (int r = 0; r < rounds; ++r) {
#pragma unroll
            for (int j = 0; j < pack; ++j) {
                const u32 i = (r * GROUP + threadIdx.x) * pack + j;
                t.item[r][j] = i < left ? in[i] : identity;
            }
        }
    }
    return t;
}

__device__ __forceinline__ void store_tile(T* out, u64 left, const Items& t) {
    if (left >= tile_length && reinterpret_cast<u64>(out) % 16 == 0) {
#pragma unroll
        for (int r = 0; r < rounds; ++r) {
            Pack<T, pack> p;
#pragma unroll
            for (int j = 0; j < pack; ++j) p.item[j] = t.item[r][j];
            reinterpret_cast<Pack<T, pack>*>(out)[r * GROUP + threadIdx.x] = p;
        }
    } else {
#pragma unroll
        for (int r = 0; r < rounds; ++r) {
#pragma unroll
            for (int j = 0; j < pack; ++j) {
                const u32 i = (r * GROUP + threadIdx.x) * pack + j;
                if (i < left) out[i] = t.item[r][j];
            }
        }
    }
}

// Scans each block: in registers, then across the lanes that share it.
__device__ __forceinline__ void scan_blocks(Items& t, const Combine combine) {
    const u32 lane = threadIdx.x % warp_width;
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
#pragma unroll
        for (int half = 1; half < pack; half *= 2) {
#pragma unroll
            for (int j = 0; j < pack; ++j) {
                if (j & half) t.item[r][j] = combine(t.item[r][(j & ~(half - 1)) - 1], t.item[r][j]);
            }
        }
#pragma unroll
        for (u32 half = 1; half < sharers; half *= 2) {
            const T left = shuffle_from(t.item[r][pack - 1], (lane & ~(half - 1)) - 1);
            if (lane & half) {
#pragma unroll
                for (int j = 0; j < pack; ++j) t.item[r][j] = combine(left, t.item[r][j]);
            }
        }
    }
}

// The upper levels of a tile, a lane a block: the scans of its node's blocks and of the tile's nodes, up to each.
struct Upper {
    T block, node;
};

// What a group holds of COUNT tiles, all blocks scanned.
template <u32 COUNT>
struct Work {
    Items items[COUNT];
    Upper upper[COUNT];
    T total[COUNT];
};

// From the first load to the totals. Called by all lanes.
template <u32 COUNT>
__device__ __forceinline__ void begin_tiles(Work<COUNT>& w, const T* in, u64 begin, u64 n, T identity, const Combine combine) {
    __shared__ T blocks[COUNT][GROUP], nodes[COUNT][16];
#pragma unroll
    for (u32 k = 0; k < COUNT; ++k) {
        const u64 first = begin + k * tile_length;
        w.items[k] = load_tile(in + first, first < n ? n - first : 0, identity);
    }
#pragma unroll
    for (u32 k = 0; k < COUNT; ++k) {
        scan_blocks(w.items[k], combine);
        if (threadIdx.x % sharers == sharers - 1) {
#pragma unroll
            for (int r = 0; r < rounds; ++r) blocks[k][(r * GROUP + threadIdx.x) / sharers] = w.items[k].item[r][pack - 1];
        }
    }
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < COUNT; ++k) {
        w.upper[k].block = scan_sixteen(blocks[k][threadIdx.x], combine);
        if (threadIdx.x % 16 == 15) nodes[k][threadIdx.x / 16] = w.upper[k].block;
    }
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < COUNT; ++k) {
        w.upper[k].node = scan_sixteen(nodes[k][threadIdx.x % 16], combine);
        w.total[k] = shuffle_from(w.upper[k].node, 15);
    }
}

// The results, given what lies before each tile. Called by all lanes.
template <u32 COUNT>
__device__ __forceinline__ void finish_tiles(Work<COUNT>& w, T* out, u64 begin, u64 n, const T (&carry)[COUNT], bool exclusive,
                                             const Combine combine) {
    __shared__ T before_block[COUNT][GROUP];
    const u32 lane = threadIdx.x % warp_width, node = threadIdx.x / 16;
#pragma unroll
    for (u32 k = 0; k < COUNT; ++k) {
        const T left_node = shuffle_from(w.upper[k].node, (node - 1) % 16);
        const T left_block = shuffle_from(w.upper[k].block, lane - 1);
        T before = node == 0 ? carry[k] : combine(carry[k], left_node);
        if (threadIdx.x % 16 != 0) before = combine(before, left_block);
        before_block[k][threadIdx.x] = before;
    }
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < COUNT; ++k) {
        Items& t = w.items[k];
#pragma unroll
        for (int r = 0; r < rounds; ++r) {
            const T left = before_block[k][(r * GROUP + threadIdx.x) / sharers];
            if (exclusive) {
                const T last = shuffle_from(t.item[r][pack - 1], lane - 1);
#pragma unroll
                for (int j = pack - 1; j > 0; --j) t.item[r][j] = combine(left, t.item[r][j - 1]);
                t.item[r][0] = threadIdx.x % sharers == 0 ? left : combine(left, last);
            } else {
#pragma unroll
                for (int j = 0; j < pack; ++j) t.item[r][j] = combine(left, t.item[r][j]);
            }
        }
        const u64 first = begin + k * tile_length;
        store_tile(out + first, first < n ? n - first : 0, t);
    }
}

// workspace: see lookback.cu. tiles: of the input. A group takes TILES of them.
extern "C" __global__ void __launch_bounds__(GROUP, RESIDENT)
    scan_lookback(const T* in, T* out, u64* workspace, u64 n, u32 tiles, u32 exclusive, T identity, const Op op) {
    const Combine combine{op};
    const Turn turn = take_turn(workspace);
    const u32 tile = turn.ticket * TILES;
    const u64 begin = u64(tile) * tile_length;
    Work<TILES> w;
    begin_tiles(w, in, begin, n, identity, combine);
    publish_tiles(workspace, tile, tiles, turn.tag, w.total);
    T carry[TILES];
    carry_tiles(workspace, tile, tiles, turn.tag, w.total, carry, identity, combine);
    finish_tiles(w, out, begin, n, carry, exclusive != 0, combine);
}

// The first of two launches: the tiles' totals.
extern "C" __global__ void __launch_bounds__(GROUP) scan_totals(const T* in, T* totals, u64 n, T identity, const Op op) {
    Work<1> w;
    begin_tiles(w, in, u64(blockIdx.x) * tile_length, n, identity, Combine{op});
    if (threadIdx.x == 0) totals[blockIdx.x] = w.total[0];
}

// The second one. carries: what lies before each tile; not read if there is only one.
extern "C" __global__ void __launch_bounds__(GROUP)
    scan_tiles(const T* in, const T* carries, T* out, u64 n, u32 exclusive, T identity, const Op op) {
    const u64 begin = u64(blockIdx.x) * tile_length;
    Work<1> w;
    begin_tiles(w, in, begin, n, identity, Combine{op});
    const T carry[1] = {gridDim.x == 1 ? identity : carries[blockIdx.x]};
    finish_tiles(w, out, begin, n, carry, exclusive != 0, Combine{op});
}
