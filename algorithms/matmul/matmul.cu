// Matmul, `register_tiled`, CUDA C++. Parallel source: matmul.cl.
//
// Algorithm  A group computes a tile of C and advances along k in steps of DEPTH. Asynchronous copies (sm_80 and
//            later) bring the operands of a step to shared memory STAGES - 1 steps ahead of use, transposed so that a
//            column of op(A) and a row of op(B) are contiguous. A thread holds PACKS_M x PACKS_N packs of elements of
//            C in registers; a pack is 16 bytes high and 16 bytes wide. The lanes of a warp are 8 down and 4 across.
//            For each l a thread loads PACKS_M + PACKS_N packs, while it multiplies those of the previous l.
//            Neighbouring lanes (1 apart for A, 2 apart for B) load the same pack, so half a warp is served at once.
//            Past the edges of A and B nothing is loaded; results computed from there are not stored. The last k %
//            DEPTH steps are a separate loop, so that every chain has exactly k terms.
// Modes      A_MODE and B_MODE: how the operands are loaded, see matmul_copy.cu.
// Passes     one; 2 m n k operations; k (1 / tile_m + 1 / tile_n) elements loaded per element of C.
// Tunables   matmul.tile selects WARPS_M x WARPS_N warps, PACKS_M, PACKS_N, DEPTH, STAGES and RESIDENT groups per
//            unit; band of place_of_tile.
// Source     V. Volkov, J. Demmel, Benchmarking GPUs to Tune Dense Linear Algebra, 2008; order of lanes after S.
//            Gray, maxas, SGEMM, 2014.
//
// T: element type of SIZE bytes. Every element is one chain of fma, l ascending from 0.

#include "async_copy.cu"
#include "matmul_copy.cu"
#include "matmul_tile"
#include "tile_order"

constexpr u32 lanes_m = 8, lanes_n = 4;
constexpr u32 rows = PACKS_M * pack, columns = PACKS_N * pack;  // per thread
constexpr u32 warp_m = lanes_m * rows, warp_n = lanes_n * columns;
constexpr u32 tile_m = WARPS_M * warp_m, tile_n = WARPS_N * warp_n;
// One pack of padding per row: lanes that store a column of 8 elements access different banks.
constexpr u32 pitch_m = tile_m + pack, pitch_n = tile_n + pack;

struct alignas(16) Stage {
    T a[DEPTH * pitch_m];
    T b[DEPTH * pitch_n];
};

// --- Arithmetic -----------------------------------------------------------------------------------------------------

// Loads a thread's packs of one l. They are STRIDE elements apart, so that adjacent lanes load adjacent packs.
template <u32 PACKS, u32 STRIDE>
__device__ __forceinline__ void load_packs(T (&to)[PACKS * pack], const T* from) {
#pragma unroll
    for (u32 q = 0; q < PACKS; ++q) {
        const PackT loaded = *reinterpret_cast<const PackT*>(from + q * STRIDE);
#pragma unroll
        for (u32 e = 0; e < pack; ++e) to[q * pack + e] = loaded.item[e];
    }
}

__device__ __forceinline__ void multiply(T (&t)[rows][columns], const T (&of_a)[rows], const T (&of_b)[columns]) {
#pragma unroll
    for (u32 e = 0; e < rows; ++e) {
#pragma unroll
        for (u32 f = 0; f < columns; ++f) t[e][f] = fma(of_a[e], of_b[f], t[e][f]);
    }
}

// Stores a pack of a row of C; only `left` elements exist. packs: rows of C are aligned to 16 bytes.
__device__ __forceinline__ void store_pack(const Product& p, const T* t, T* c, u64 left, bool packs) {
    if (packs && left >= pack) {
        PackT out;
        if (p.beta != T(0)) out = *reinterpret_cast<const PackT*>(c);
#pragma unroll
        for (u32 e = 0; e < pack; ++e)
            out.item[e] = canonical(p.beta == T(0) ? p.alpha * t[e] : fma(p.alpha, t[e], p.beta * out.item[e]));
        *reinterpret_cast<PackT*>(c) = out;
        return;
    }
#pragma unroll
    for (u32 e = 0; e < pack; ++e) {
        if (e < left) finish(&p, t[e], c + e);
    }
}

extern "C" __global__ void __launch_bounds__(GROUP, RESIDENT)
    matmul_register_tiled(const T* a, const T* b, T* c, const Product p, u32 tile_rows, u32 tile_columns, u32 band,
                          u32 c_packs) {
    __shared__ Stage stages[STAGES];
    const u32 tiles = tile_rows * tile_columns, batch = blockIdx.x / tiles;
    const Place place = place_of_tile(blockIdx.x % tiles, tile_rows, tile_columns, band);
    const u64 row = u64(place.row) * tile_m, column = u64(place.column) * tile_n;
    const Part part = part_of(&p, batch);
    const u32 k = static_cast<u32>(part.k);
    Copier<A_MODE, tile_m, pitch_m> copy_a(a + part.a + row * p.a_row,
                                           A_MODE == MODE_K ? p.a_row : p.a_column, p.m - row, k);
    Copier<B_MODE, tile_n, pitch_n> copy_b(b + part.b + column * p.b_column,
                                           B_MODE == MODE_K ? p.b_column : p.b_row, p.n - column, k);

    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    // Bits 0 and 4 of the lane select the column, bits 1 to 3 the row.
    const u32 i = warp % WARPS_M * warp_m + (lane >> 1 & 7) * pack,
              j = warp / WARPS_M * warp_n + (lane & 1 | lane >> 3 & 2) * pack;
    T t[rows][columns] = {};
    T of_a[2][rows], of_b[2][columns];
    auto load = [&](u32 stage, u32 l, u32 half) {
        load_packs<PACKS_M, lanes_m * pack>(of_a[half], stages[stage].a + l * pitch_m + i);
        load_packs<PACKS_N, lanes_n * pack>(of_b[half], stages[stage].b + l * pitch_n + j);
    };
    const u32 first_stage = static_cast<u32>(__cvta_generic_to_shared(stages));
    auto copy = [&](u32 stage) {
        const u32 at = first_stage + stage * static_cast<u32>(sizeof(Stage));
        copy_a.copy(at);
        copy_b.copy(at + static_cast<u32>(sizeof stages->a));
        commit_copies();
    };

    // Prologue: start the copies of steps 0 ... STAGES - 2 and wait for the first.
    u32 reads = 0, writes = STAGES - 1;
#pragma unroll
    for (u32 s = 0; s < STAGES - 1; ++s) copy(s);
    await_steps(STAGES - 2);
    __syncthreads();
    load(0, 0, 0);
    const u32 whole = k / DEPTH;
    for (u32 step = 0; step < whole; ++step) {
#pragma unroll
        for (u32 l = 0; l < DEPTH; ++l) {
            if (l == DEPTH - 1) {
                // The next step has arrived. All packs of this step are in registers, so its stage may be
                // overwritten.
                await_steps(STAGES - 2);
                __syncthreads();
                reads = reads + 1 == STAGES ? 0 : reads + 1;
            }
            load(reads, (l + 1) % DEPTH, (l + 1) % 2);
            if (l == 0) {
                copy(writes);
                writes = writes + 1 == STAGES ? 0 : writes + 1;
            }
            multiply(t, of_a[l % 2], of_b[l % 2]);
        }
    }
    const u32 rest = k % DEPTH;
#pragma unroll 1
    for (u32 l = 0; l < rest; ++l) {
        load(reads, l, 0);
        multiply(t, of_a[0], of_b[0]);
    }

    c += batch * p.c_stride + row * p.c_pitch + column;
#pragma unroll
    for (u32 e = 0; e < rows; ++e) {
        const u32 down = i + e / pack * (lanes_m * pack) + e % pack;
        if (row + down >= p.m) continue;
#pragma unroll
        for (u32 q = 0; q < PACKS_N; ++q) {
            const u32 across = j + q * (lanes_n * pack);
            if (column + across >= p.n) continue;
            store_pack(p, &t[e][q * pack], c + down * p.c_pitch + across, p.n - column - across, c_packs != 0);
        }
    }
}
