// Matmul, `tf32x3`, CUDA C++ with tensor cores. There is no parallel source: OpenCL C and C++ have no standard
// access to tensor cores.
//
// Algorithm  A float x is split into two TF32 values of 11 bits, high = tf32(x) and low = tf32(x - high). A product
//            becomes low high' + high low' + high high'. Tensor cores multiply each of these exactly and add in f32.
//            A product loses less than 3 * 2^-22 of its value. The order of the additions is unspecified, and they
//            round towards 0. The error bound of t is gamma(6 k + 16).
//            A group computes a tile of C and advances along k in steps of DEPTH, copied to shared memory one step
//            ahead. A warp computes 64 x 32 elements of C, as 4 x 4 blocks of 16 x 8.
//            Infinities and magnitudes above 2^127 give NaN; denormals may count as 0.
// Passes     one; 6 m n k tensor-core operations for the 2 m n k of the product; k (1 / tile_m + 1 / tile_n) elements
//            loaded per element of C.
// Tunables   none; DEPTH, GROUP 256 threads, tile 128 x 128, band of place_of_tile.
// Source     M. Fasi, N. Higham, M. Mikaitis, S. Pranesh, Numerical Behavior of NVIDIA Tensor Cores, 2021; H. Ootomo,
//            R. Yokota, Recovering Single Precision Accuracy from Tensor Cores, 2022.
//
// T: f32.

#include "async_copy.cu"
#include "matmul_copy.cu"
#include "matmul_tile"
#include "tile_order"

constexpr u32 warps_m = 2, warp_m = 64, warp_n = 32;
constexpr u32 tile_m = 128, tile_n = 128;
// The lanes of a warp, 4 along k and 8 along the side, access different banks.
constexpr u32 pitch = tile_m + 8;
constexpr u32 blocks_m = warp_m / 16, blocks_n = warp_n / 8;
static_assert(GROUP == 256 && DEPTH % 8 == 0);

struct alignas(16) Stage {
    T a[DEPTH * pitch];
    T b[DEPTH * pitch];
};

struct Split {
    u32 high, low;
};

__device__ __forceinline__ u32 tf32(T x) {
#if __CUDA_ARCH__ >= 800
    u32 bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits & 0xffffe000u;
#else
    return __float_as_uint(x);
#endif
}

__device__ __forceinline__ Split split(T x) {
    const u32 high = tf32(x);
    return {high, tf32(x - __uint_as_float(high))};
}

#if __CUDA_ARCH__ >= 800
// Adds the product of a block of A and a block of B, 8 along k, to a block of 16 x 8 elements of C.
__device__ __forceinline__ void multiply_block(T (&t)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(t[0]), "+f"(t[1]), "+f"(t[2]), "+f"(t[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif

// Lane 4 y + x holds elements (y and y + 8, x and x + 4) of a block of A, (x and x + 4, y) of B, and (y and y + 8, 2
// x and 2 x + 1) of C. `left`: remaining length of k; elements past it count as 0.
__device__ __forceinline__ void multiply_eight(T (&t)[blocks_m][blocks_n][4], const T* a, const T* b, u32 left) {
    const u32 x = threadIdx.x % 4, y = threadIdx.x / 4 % 8;
#if __CUDA_ARCH__ >= 800
    u32 high_b[blocks_n][2], low_b[blocks_n][2];
#pragma unroll
    for (u32 f = 0; f < blocks_n; ++f) {
#pragma unroll
        for (u32 e = 0; e < 2; ++e) {
            const u32 l = x + 4 * e;
            const Split of_b = split(l < left ? b[l * pitch + f * 8 + y] : T(0));
            high_b[f][e] = of_b.high;
            low_b[f][e] = of_b.low;
        }
    }
#pragma unroll
    for (u32 g = 0; g < blocks_m; ++g) {
        u32 high_a[4], low_a[4];
#pragma unroll
        for (u32 e = 0; e < 4; ++e) {
            const u32 l = x + e / 2 * 4;
            const Split of_a = split(l < left ? a[l * pitch + g * 16 + y + e % 2 * 8] : T(0));
            high_a[e] = of_a.high;
            low_a[e] = of_a.low;
        }
#pragma unroll
        for (u32 f = 0; f < blocks_n; ++f) {
            multiply_block(t[g][f], low_a, high_b[f]);
            multiply_block(t[g][f], high_a, low_b[f]);
            multiply_block(t[g][f], high_a, high_b[f]);
        }
    }
#else
    // Without tensor cores for TF32: the same elements with fma.
    for (u32 l = 0; l < min(left, 8u); ++l) {
#pragma unroll
        for (u32 g = 0; g < blocks_m; ++g) {
#pragma unroll
            for (u32 f = 0; f < blocks_n; ++f) {
#pragma unroll
                for (u32 e = 0; e < 4; ++e)
                    t[g][f][e] = fma(a[l * pitch + g * 16 + y + e / 2 * 8], b[l * pitch + f * 8 + 2 * x + e % 2],
                                     t[g][f][e]);
            }
        }
    }
#endif
}

extern "C" __global__ void __launch_bounds__(GROUP)
    matmul_tf32x3(const T* a, const T* b, T* c, const Product p, u32 tile_rows, u32 tile_columns, u32 band) {
    __shared__ Stage stages[2];
    const u32 tiles = tile_rows * tile_columns, batch = blockIdx.x / tiles;
    const Place place = place_of_tile(blockIdx.x % tiles, tile_rows, tile_columns, band);
    const u64 row = u64(place.row) * tile_m, column = u64(place.column) * tile_n;
    const Part part = part_of(&p, batch);
    const u32 k = static_cast<u32>(part.k);
    Copier<A_MODE, tile_m, pitch> copy_a(a + part.a + row * p.a_row,
                                         A_MODE == MODE_K ? p.a_row : p.a_column, p.m - row, k);
    Copier<B_MODE, tile_n, pitch> copy_b(b + part.b + column * p.b_column,
                                         B_MODE == MODE_K ? p.b_column : p.b_row, p.n - column,
                                         k);
    const u32 first_stage = static_cast<u32>(__cvta_generic_to_shared(stages));
    auto copy = [&](u32 stage) {
        const u32 at = first_stage + stage * static_cast<u32>(sizeof(Stage));
        copy_a.copy(at);
        copy_b.copy(at + static_cast<u32>(sizeof stages->a));
        commit_copies();
    };
    const u32 warp = threadIdx.x / 32, i = warp % warps_m * warp_m, j = warp / warps_m * warp_n;
    T t[blocks_m][blocks_n][4] = {};
    const u32 steps = (k + DEPTH - 1) / DEPTH;
    copy(0);
    for (u32 step = 0; step < steps; ++step) {
        copy((step + 1) % 2);
        await_steps(1);
        __syncthreads();
        const Stage& stage = stages[step % 2];
        const u32 left = k - step * DEPTH;
#pragma unroll
        for (u32 l = 0; l < DEPTH; l += 8) {
            if (l < left) multiply_eight(t, stage.a + l * pitch + i, stage.b + l * pitch + j, left - l);
        }
        __syncthreads();  // the next copy overwrites this stage
    }
    const u32 x = threadIdx.x % 4, y = threadIdx.x / 4 % 8;
    c += batch * p.c_stride;
#pragma unroll
    for (u32 g = 0; g < blocks_m; ++g) {
#pragma unroll
        for (u32 f = 0; f < blocks_n; ++f) {
#pragma unroll
            for (u32 e = 0; e < 4; ++e) {
                const u64 down = row + i + g * 16 + y + e / 2 * 8, across = column + j + f * 8 + 2 * x + e % 2;
                if (down < p.m && across < p.n) finish(&p, t[g][f][e], c + down * p.c_pitch + across);
            }
        }
    }
}
