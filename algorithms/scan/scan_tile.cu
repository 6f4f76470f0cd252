// A tile of a scan in the canonical order, CUDA C++: upsweep and downsweep. Parallel source: scan_tile.cl.
//
// Algorithm  A tree of nodes of 16, the same on all devices: 16 elements form a block, 16 blocks a node of 256
//            elements, 16 of these a tile of 4096, and so on. Sklansky's network scans the totals of each node's
//            children. The carry of a child combines all elements before it: it is the carry of its node, combined
//            with the scan up to the sibling on the left.
// Tiles      A group scans TILES tiles. A thread copies packs of neighbours to shared memory in `rounds` accesses. They
//            wait for the carry there: more tiles in flight than registers could hold hide that wait. In each round,
//            `sharers` threads share a block. They scan it in registers and across their lanes. Then each thread
//            holds one of the 256 block totals, and each 16 threads the 16 totals of the nodes of 256. The input may be
//            an expression, which is computed pack by pack.
// Passes     none of its own
// Tunables   TILES. The order fixes the tile: GROUP = 256 threads of 16 elements.
// Source     J. Sklansky, Conditional-sum Addition Logic, 1960.
//
// T: element type, that of totals; apply(op, x, y): the operator, x is the earlier element.

#include "async_copy.cu"
#include "input"
#include "sklansky"
#include "tile.cu"

#define TILE (GROUP * 16)

constexpr int pack = 16 / sizeof(T);     // elements per access of 16 bytes
constexpr u32 rounds = 16 / pack;        // accesses per thread
constexpr u32 sharers = 16 / pack;       // threads that share a block
static_assert(GROUP == 256);

// A thread's part of the upper levels of a tile.
struct Work {
    T block;  // scan of the node's blocks up to block `thread` of the tile
    T node;   // scan of the tile's nodes up to node `thread` % 16
};

// Shared memory of the tiles: at packs[(k * rounds + round) * GROUP + thread] the scan of the block from that pack on,
// the totals of the blocks, later their carries, and the totals of the nodes.
struct Shared {
    Pack<T, pack> packs[TILES * rounds * GROUP];
    T blocks[TILES][GROUP], nodes[TILES][16];
};

#ifdef CONCORD_EXPRESSION

LOAD_PACK(load_items, 16 / sizeof(T))

// Computes the thread's packs of the tiles in shared memory. Elements from n on become the identity.
INLINED void load_packs(Pack<T, pack>* own, const Input in, u64 begin, u64 n, T identity) {
    const u64 first = begin + threadIdx.x * pack;
    if (begin + TILES * TILE <= n) {
        const bool aligned = load_items_aligned(in, 0);
#pragma unroll
        for (u32 k = 0; k < TILES * rounds; ++k) {
            Pack<T, pack> items;
            load_items(items.item, in, first + k * GROUP * pack, aligned);
            own[k * GROUP] = items;
        }
    } else {
#pragma unroll 1
        for (u32 k = 0; k < TILES * rounds; ++k) {
#pragma unroll
            for (u32 j = 0; j < pack; ++j) {
                const u64 i = first + k * GROUP * pack + j;
                own[k * GROUP].item[j] = i < n ? load_item(in, i) : identity;
            }
        }
    }
}

#else

// Copies the thread's packs of the tiles to shared memory. Elements from n on become the identity.
INLINED void load_packs(Pack<T, pack>* own, const Input in, u64 begin, u64 n, T identity) {
    const u64 first = begin + threadIdx.x * pack;
    if (begin + TILES * TILE <= n && reinterpret_cast<u64>(in) % sizeof(Pack<T, pack>) == 0) {
#pragma unroll
        for (u32 k = 0; k < TILES * rounds; ++k) copy_pack_async(own[k * GROUP].item, in + first + k * GROUP * pack);
        await_copies();
    } else {
#pragma unroll 1
        for (u32 k = 0; k < TILES * rounds; ++k) {
#pragma unroll
            for (u32 j = 0; j < pack; ++j) {
                const u64 i = first + k * GROUP * pack + j;
                own[k * GROUP].item[j] = i < n ? in[i] : identity;
            }
        }
    }
}

#endif

// Upsweep: loads the tiles, then scans their blocks, nodes and totals. All threads of the group call it.
INLINED void upsweep(Work* w, T* total, const Input in, u64 begin, u64 n, T identity, Shared* shared, const Op op) {
    Pack<T, pack>* const own = shared->packs + threadIdx.x;
    load_packs(own, in, begin, n, identity);
#pragma unroll
    for (u32 k = 0; k < TILES; ++k) {
#pragma unroll
        for (u32 r = 0; r < rounds; ++r) {
            auto item = own[(k * rounds + r) * GROUP];
            scan_network(item.item, pack, sharers, nullptr, op);
            own[(k * rounds + r) * GROUP] = item;
            if (threadIdx.x % sharers == sharers - 1)
                shared->blocks[k][(r * GROUP + threadIdx.x) / sharers] = item.item[pack - 1];
        }
    }
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < TILES; ++k) {
        w[k].block = scan_sixteen(shared->blocks[k][threadIdx.x], nullptr, op);
        if (threadIdx.x % 16 == 15) shared->nodes[k][threadIdx.x / 16] = w[k].block;
    }
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < TILES; ++k) {
        w[k].node = scan_sixteen(shared->nodes[k][threadIdx.x % 16], nullptr, op);
        total[k] = shuffle_from(w[k].node, 15);
    }
}

// Downsweep: combines each element with the carry of its block, and stores it. carry: the carry of each tile. All
// threads of the group call it.
INLINED void downsweep(const Work* w, const T* carry, T* out, u64 begin, u64 n, u32 exclusive, Shared* shared,
                       const Op op) {
    const u32 lane = threadIdx.x % warp_width, node = threadIdx.x / 16;
#pragma unroll
    for (u32 k = 0; k < TILES; ++k) {
        const T left_node = shuffle_from(w[k].node, (node - 1) % 16);
        const T left_block = shuffle_from(w[k].block, lane - 1);
        T before = node == 0 ? carry[k] : apply(op, carry[k], left_node);
        if (threadIdx.x % 16 != 0) before = apply(op, before, left_block);
        shared->blocks[k][threadIdx.x] = before;
    }
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < TILES; ++k) {
        T all[rounds][pack];
#pragma unroll
        for (u32 r = 0; r < rounds; ++r) {
            const auto scanned = shared->packs[(k * rounds + r) * GROUP + threadIdx.x];
            const T(&through)[pack] = scanned.item;
            T(&item)[pack] = all[r];
            const T left = shared->blocks[k][(r * GROUP + threadIdx.x) / sharers];
            if (exclusive) {
                const T last = shuffle_from(through[pack - 1], lane - 1);
#pragma unroll
                for (u32 j = pack - 1; j > 0; --j) item[j] = canonical(apply(op, left, through[j - 1]));
                item[0] = canonical(threadIdx.x % sharers == 0 ? left : apply(op, left, last));
            } else {
#pragma unroll
                for (u32 j = 0; j < pack; ++j) item[j] = canonical(apply(op, left, through[j]));
            }
        }
        const u64 first = begin + k * TILE;
        store_striped<GROUP>(out + first, first < n ? n - first : 0, all);
    }
}
