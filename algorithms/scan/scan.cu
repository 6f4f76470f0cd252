// Scan in the canonical order, CUDA C++. Parallel texts: scan.cl, scan_host.hpp.
//
// Algorithm  A tree of nodes of 16, the same on every device: 16 elements make a block, 16 blocks a node of 256 elements, 16
//            of these a tile of 4096, ... Within each node Sklansky's network scans the totals of its children; what
//            lies before a child is what lies before the node, combined with the scan up to the child to the left.
// Tiles      A group works on one tile. Its lanes load PACK neighbours an access, in `rounds` accesses; a block lies in
//            `sharers` lanes of one round. Blocks are scanned in registers and across their lanes, their 256 totals by
//            a lane each, and those of the 16 nodes of 256 by every 16 lanes for themselves.
// lookback   one launch; traffic: every element read once, written once. What lies before a tile comes from tile_carry.
// reduce_then_scan  two launches over the tiles, with a scan of the tiles' totals between them, by the same kernels;
//            traffic: every element read twice and written once.
// Tunables   none: the order fixes the tile, GROUP = 256 lanes of 16 elements.
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

// Called by all lanes once blocks are scanned. shared: GROUP elements. The tile's total is in every lane's
// node_total(upper).
__device__ __forceinline__ Upper scan_upper(const Items& t, T* shared, const Combine combine) {
    __shared__ T nodes[16];
    if (threadIdx.x % sharers == sharers - 1) {
#pragma unroll
        for (int r = 0; r < rounds; ++r) shared[(r * GROUP + threadIdx.x) / sharers] = t.item[r][pack - 1];
    }
    __syncthreads();
    Upper upper;
    upper.block = scan_sixteen(shared[threadIdx.x], combine);
    if (threadIdx.x % 16 == 15) nodes[threadIdx.x / 16] = upper.block;
    __syncthreads();
    upper.node = scan_sixteen(nodes[threadIdx.x % 16], combine);
    return upper;
}

__device__ __forceinline__ T tile_total(const Upper& upper) {
    return shuffle_from(upper.node, 15);
}

// The results, given what lies before the tile. Called by all lanes.
__device__ __forceinline__ void finish_tile(Items& t, const Upper& upper, T carry, T* shared, bool exclusive,
                                            const Combine combine) {
    const u32 lane = threadIdx.x % warp_width, node = threadIdx.x / 16;
    const T left_node = shuffle_from(upper.node, (node - 1) % 16);
    const T left_block = shuffle_from(upper.block, lane - 1);
    T before = node == 0 ? carry : combine(carry, left_node);
    if (threadIdx.x % 16 != 0) before = combine(before, left_block);
    shared[threadIdx.x] = before;
    __syncthreads();
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
        const T left = shared[(r * GROUP + threadIdx.x) / sharers];
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
}

// A tile from one end to the other; carry_of(total) gives what lies before it, and is called by all lanes.
template <class F>
__device__ __forceinline__ void scan_tile(const T* in, T* out, u64 left, bool exclusive, T identity, const Combine combine,
                                          F carry_of) {
    __shared__ T shared[GROUP];
    Items t = load_tile(in, left, identity);
    scan_blocks(t, combine);
    const Upper upper = scan_upper(t, shared, combine);
    const T carry = carry_of(tile_total(upper));
    finish_tile(t, upper, carry, shared, exclusive, combine);
    store_tile(out, left, t);
}

// workspace: see lookback.cu.
extern "C" __global__ void __launch_bounds__(GROUP)
    scan_lookback(const T* in, T* out, u64* workspace, u64 n, u32 tiles, u32 exclusive, T identity, const Op op) {
    const Combine combine{op};
    const Turn turn = take_turn(workspace, tiles);
    const u64 begin = u64(turn.tile) * tile_length;
    scan_tile(in + begin, out + begin, n - begin, exclusive != 0, identity, combine,
              [&](T total) { return tile_carry(workspace, turn, tiles, total, identity, combine); });
}

// The first of two launches: the tiles' totals.
extern "C" __global__ void __launch_bounds__(GROUP) scan_totals(const T* in, T* totals, u64 n, T identity, const Op op) {
    __shared__ T shared[GROUP];
    const Combine combine{op};
    const u64 begin = u64(blockIdx.x) * tile_length;
    Items t = load_tile(in + begin, n - begin, identity);
    scan_blocks(t, combine);
    const T total = tile_total(scan_upper(t, shared, combine));
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

// The second one. carries: what lies before each tile; not read if there is only one.
extern "C" __global__ void __launch_bounds__(GROUP)
    scan_tiles(const T* in, const T* carries, T* out, u64 n, u32 exclusive, T identity, const Op op) {
    const u64 begin = u64(blockIdx.x) * tile_length;
    scan_tile(in + begin, out + begin, n - begin, exclusive != 0, identity, Combine{op},
              [&](T) { return gridDim.x == 1 ? identity : carries[blockIdx.x]; });
}
