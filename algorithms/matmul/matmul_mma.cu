// Matmul, `register_tiled`, CUDA C++ for f64 on tensor cores, sm_80 and later. Parallel source: matmul_mma.cl.
//
// Algorithm  Tensor cores add the products of an f64 multiplication one after another, l ascending, each by a fused
//            multiply-add that rounds to nearest. An element of C is therefore bitwise identical to the chain of fma.
//            NVIDIA does not document this order: the self-test in matmul_mma.cpp checks it on each device.
//            A group computes a tile of C and advances along k in steps of DEPTH. Asynchronous copies bring the
//            operands of a step to shared memory STAGES - 1 steps ahead of use, in their order in memory. A warp
//            computes BLOCKS_M x BLOCKS_N blocks of 16 x 8 elements. It multiplies slices of SLICE along k: while it
//            multiplies a row of blocks, it loads the elements of the next one.
//            The last k % DEPTH steps are a separate loop over slices of 4. Terms past k are (-0) (+0): they leave
//            every sum unchanged, -0 included. Results past the edges of C are not stored.
// Modes      A_MODE and B_MODE: how the operands lie in memory. A_WIDTH and B_WIDTH: elements per copy, 2 if all rows
//            in memory are aligned to 16 bytes and have an even length, else 1. See matmul_lines.cu.
// Passes     one; 2 m n k operations; k (1 / tile_m + 1 / tile_n) elements loaded per element of C.
// Tunables   matmul.tile selects WARPS_M x WARPS_N warps, BLOCKS_M, BLOCKS_N, SLICE, DEPTH, STAGES and RESIDENT groups
//            per unit; band of place_of_tile.
// Source     NVIDIA, PTX ISA, mma (layout of the blocks); M. Fasi, N. Higham, M. Mikaitis, S. Pranesh, Numerical
//            Behavior of NVIDIA Tensor Cores, 2021 (f64 rounds like IEEE 754).
//
// T: f64. Every element is one chain of fma, l ascending from 0.

#include "common.cu"
#include "matmul_lines.cu"
#include "matmul_tile"
#include "tile_order"

constexpr u32 block_m = 16, block_n = 8, quad = 4;  // quad: terms of a product that a lane's neighbours hold
constexpr u32 warp_m = BLOCKS_M * block_m, warp_n = BLOCKS_N * block_n;
constexpr u32 tile_m = WARPS_M * warp_m, tile_n = WARPS_N * warp_n;
constexpr u32 slices = DEPTH / SLICE;
static_assert(GROUP == WARPS_M * WARPS_N * 32 && DEPTH % SLICE == 0 && (SLICE == 8 || SLICE == 16));

using LinesA = Lines<A_MODE, tile_m>;
using LinesB = Lines<B_MODE, tile_n>;
constexpr u32 stage_size = LinesA::size + LinesB::size;

// --- Arithmetic -----------------------------------------------------------------------------------------------------

// Lane 4 y + x holds elements (y and y + 8, x + 4 e) of a block of A as a[2 e] and a[2 e + 1], (x + 4 e, y) of B as
// b[e], and (y, 2 x), (y, 2 x + 1), (y + 8, 2 x), (y + 8, 2 x + 1) of C.
template <u32 TERMS>
struct BlockA {
    T of[TERMS / quad * 2];
};
template <u32 TERMS>
struct BlockB {
    T of[TERMS / quad];
};
struct BlockC {
    T of[4];
};

// Loads from the lane's first element of the block.
template <u32 TERMS>
__device__ __forceinline__ void load_block(BlockA<TERMS>& a, const T* from) {
#pragma unroll
    for (u32 e = 0; e < TERMS / quad; ++e) {
        a.of[2 * e] = from[LinesA::at(0, e * quad)];
        a.of[2 * e + 1] = from[LinesA::at(8, e * quad)];
    }
}
template <u32 TERMS>
__device__ __forceinline__ void load_block(BlockB<TERMS>& b, const T* from) {
#pragma unroll
    for (u32 e = 0; e < TERMS / quad; ++e) b.of[e] = from[LinesB::at(0, e * quad)];
}

#if __CUDA_ARCH__ < 900
// 8 x 8 elements of C, 4 terms.
__device__ __forceinline__ void multiply_half(T& t0, T& t1, T a, T b) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(t0), "+d"(t1)
                 : "d"(a), "d"(b));
}
#endif

// Adds the product of a block of A and a block of B to a block of C.
template <u32 TERMS>
__device__ __forceinline__ void multiply_block(BlockC& t, const BlockA<TERMS>& a, const BlockB<TERMS>& b) {
#if __CUDA_ARCH__ >= 900
    if constexpr (TERMS == 16) {
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
            "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
            : "+d"(t.of[0]), "+d"(t.of[1]), "+d"(t.of[2]), "+d"(t.of[3])
            : "d"(a.of[0]), "d"(a.of[1]), "d"(a.of[2]), "d"(a.of[3]), "d"(a.of[4]), "d"(a.of[5]), "d"(a.of[6]),
              "d"(a.of[7]), "d"(b.of[0]), "d"(b.of[1]), "d"(b.of[2]), "d"(b.of[3]));
    } else if constexpr (TERMS == 8) {
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+d"(t.of[0]), "+d"(t.of[1]), "+d"(t.of[2]), "+d"(t.of[3])
            : "d"(a.of[0]), "d"(a.of[1]), "d"(a.of[2]), "d"(a.of[3]), "d"(b.of[0]), "d"(b.of[1]));
    } else {
        static_assert(TERMS == 4);
        asm volatile(
            "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+d"(t.of[0]), "+d"(t.of[1]), "+d"(t.of[2]), "+d"(t.of[3])
            : "d"(a.of[0]), "d"(a.of[1]), "d"(b.of[0]));
    }
#else
#pragma unroll
    for (u32 e = 0; e < TERMS / quad; ++e) {
        multiply_half(t.of[0], t.of[1], a.of[2 * e], b.of[e]);
        multiply_half(t.of[2], t.of[3], a.of[2 * e + 1], b.of[e]);
    }
#endif
}

// Stores two neighbours in a row of C; only `left` elements exist. packs: rows of C are aligned to 16 bytes.
__device__ __forceinline__ void store_pair(const Product& p, const T* t, T* c, u64 left, bool packs) {
    if (packs && left >= 2) {
        Pack<T, 2> out;
        if (p.beta != T(0)) out = *reinterpret_cast<const Pack<T, 2>*>(c);
#pragma unroll
        for (u32 e = 0; e < 2; ++e)
            out.item[e] = canonical(p.beta == T(0) ? p.alpha * t[e] : fma(p.alpha, t[e], p.beta * out.item[e]));
        *reinterpret_cast<Pack<T, 2>*>(c) = out;
        return;
    }
    finish(&p, t[0], c);
    if (left >= 2) finish(&p, t[1], c + 1);
}

extern "C" __global__ void __launch_bounds__(GROUP, RESIDENT)
    matmul_mma(const T* a, const T* b, T* c, const Product p, u32 tile_rows, u32 tile_columns, u32 band, u32 c_packs) {
    extern __shared__ __align__(16) unsigned char shared[];
    T* const stages = reinterpret_cast<T*>(shared + Ring::bytes);
    const u32 first_stage = static_cast<u32>(__cvta_generic_to_shared(stages));
    const Ring ring{static_cast<u32>(__cvta_generic_to_shared(shared))};

    const u32 tiles = tile_rows * tile_columns, batch = blockIdx.x / tiles;
    const Place place = place_of_tile(blockIdx.x % tiles, tile_rows, tile_columns, band);
    const u64 row = u64(place.row) * tile_m, column = u64(place.column) * tile_n;
    const Part part = part_of(&p, batch);
    const u32 k = static_cast<u32>(part.k);
    LineCopier<A_MODE, tile_m, A_WIDTH> copy_a(a + part.a + row * p.a_row,
                                               A_MODE == MODE_K ? p.a_row : p.a_column, p.m - row, k);
    LineCopier<B_MODE, tile_n, B_WIDTH> copy_b(b + part.b + column * p.b_column,
                                               B_MODE == MODE_K ? p.b_column : p.b_row, p.n - column, k);
    auto copy = [&](u32 stage) {
        const u32 at = first_stage + stage * (stage_size * SIZE);
        copy_a.copy(at);
        copy_b.copy(at + LinesA::size * SIZE);
        ring.commit(stage);
    };

    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, x = lane % 4, y = lane / 4;
    const u32 i = warp % WARPS_M * warp_m, j = warp / WARPS_M * warp_n;
    const T* const lane_a = stages + LinesA::at(i + y, x);
    const T* const lane_b = stages + LinesA::size + LinesB::at(j + y, x);
    BlockC t[BLOCKS_M][BLOCKS_N] = {};
    BlockA<SLICE> of_a, next_a;
    BlockB<SLICE> of_b[BLOCKS_N], next_b[BLOCKS_N];
    auto load_a = [&](BlockA<SLICE>& to, u32 stage, u32 g, u32 slice) {
        load_block(to, lane_a + stage * stage_size + LinesA::at(g * block_m, slice * SLICE));
    };
    auto load_b = [&](BlockB<SLICE> (&to)[BLOCKS_N], u32 stage, u32 slice) {
#pragma unroll
        for (u32 f = 0; f < BLOCKS_N; ++f)
            load_block(to[f], lane_b + stage * stage_size + LinesB::at(f * block_n, slice * SLICE));
    };

    // Prologue: start the copies of steps 0 ... STAGES - 2 and wait for the first.
    ring.begin();
#pragma unroll
    for (u32 s = 0; s < STAGES - 1; ++s) copy(s);
    RingPlace reads{0, 0}, writes{STAGES - 1, 0};
    ring.await_full(reads);
    load_a(of_a, 0, 0, 0);
    load_b(of_b, 0, 0);
    const u32 whole = k / DEPTH;
#pragma unroll 1
    for (u32 step = 0; step < whole; ++step) {
#pragma unroll
        for (u32 slice = 0; slice < slices; ++slice) {
#pragma unroll
            for (u32 g = 0; g < BLOCKS_M; ++g) {
                const u32 turn = slice * BLOCKS_M + g;
                if (turn == slices * BLOCKS_M - 1) {
                    // Everything of this step is in registers. Wait for the next step.
                    ring.release(reads.stage);
                    reads.advance();
                    ring.await_full(reads);
                }
                const u32 next_slice = (slice + (g + 1) / BLOCKS_M) % slices;
                load_a(next_a, reads.stage, (g + 1) % BLOCKS_M, next_slice);
                if (g == BLOCKS_M - 1) load_b(next_b, reads.stage, next_slice);
                if (turn == slices * BLOCKS_M / 2) {
                    // The step before this one has left its stage empty.
                    ring.await_empty(writes);
                    copy(writes.stage);
                    writes.advance();
                }
#pragma unroll
                for (u32 f = 0; f < BLOCKS_N; ++f) multiply_block(t[g][f], of_a, of_b[f]);
                of_a = next_a;
            }
#pragma unroll
            for (u32 f = 0; f < BLOCKS_N; ++f) of_b[f] = next_b[f];
        }
    }
    const u32 rest = k % DEPTH;
#pragma unroll 1
    for (u32 l = 0; l < rest; l += quad) {
        BlockB<quad> last_b[BLOCKS_N];
#pragma unroll
        for (u32 f = 0; f < BLOCKS_N; ++f)
            load_block(last_b[f], lane_b + reads.stage * stage_size + LinesB::at(f * block_n, l));
#pragma unroll
        for (u32 g = 0; g < BLOCKS_M; ++g) {
            BlockA<quad> last_a;
            load_block(last_a, lane_a + reads.stage * stage_size + LinesA::at(g * block_m, l));
            if (l + x >= rest) last_a.of[0] = last_a.of[1] = T(-0.0);  // there B is +0
#pragma unroll
            for (u32 f = 0; f < BLOCKS_N; ++f) multiply_block(t[g][f], last_a, last_b[f]);
        }
    }

    c += batch * p.c_stride + row * p.c_pitch + column;
#pragma unroll
    for (u32 g = 0; g < BLOCKS_M; ++g) {
#pragma unroll
        for (u32 h = 0; h < 2; ++h) {
            const u32 down = i + g * block_m + h * 8 + y;
            if (row + down >= p.m) continue;
#pragma unroll
            for (u32 f = 0; f < BLOCKS_N; ++f) {
                const u32 across = j + f * block_n + 2 * x;
                if (column + across >= p.n) continue;
                store_pair(p, &t[g][f].of[2 * h], c + down * p.c_pitch + across, p.n - column - across, c_packs != 0);
            }
        }
    }
}
