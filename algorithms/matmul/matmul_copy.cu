// Copies of matmul's operands to shared memory, CUDA C++. Uses the asynchronous copies of async_copy.cu.
//
// Modes      How an operand is loaded. MODE_K: consecutive elements in memory have consecutive l. MODE_SIDE: they are
//            consecutive rows of op(A) or columns of op(B). MODE_PACKS: MODE_SIDE in whole, aligned packs.
// Passes     part of the kernels' main loop; every element of a step is read once from global memory per group.
// Tunables   those of the kernel: GROUP threads, DEPTH.
// Source     NVIDIA, CUDA C++ Programming Guide (asynchronous copies).
//
// T: element type of SIZE bytes; GROUP threads; DEPTH: length of a step along k.

#include "async_copy.cu"

#define MODE_K 0
#define MODE_SIDE 1
#define MODE_PACKS 2

constexpr u32 pack = 16 / SIZE;

using PackT = Pack<T, pack>;

// Copies of one thread per operand and step; the group copies SIDE x DEPTH elements. Consecutive copies are `lines`
// apart, along the side (MODE_K) or along k. If a line is shorter than DEPTH, further pieces of it follow along k.
template <int MODE, u32 SIDE, u32 PITCH>
struct Copier {
    static constexpr u32 width = MODE == MODE_PACKS ? pack : 1;         // elements per copy
    static constexpr u32 line = MODE == MODE_K ? 8 : SIDE / width;      // adjacent threads that copy one line
    static constexpr u32 lines = GROUP / line;                          // lines that the group copies at once
    static constexpr u32 pieces = MODE == MODE_K ? DEPTH / line : 1;    // per line
    static constexpr u32 copies = DEPTH * SIDE / (width * GROUP * pieces);
    static_assert(GROUP % line == 0 && DEPTH * SIDE % (width * GROUP * pieces) == 0);

    const T* from;
    u64 step;  // elements to the next copy
    u32 to;    // byte offset in the stage
    i32 side_left, k_left;

    // operand: first element of the tile; side, k: number of elements from there on.
    __device__ __forceinline__ Copier(const T* operand, u64 pitch, u64 side, u32 k) : step(lines * pitch) {
        const u32 across = threadIdx.x % line * width, down = threadIdx.x / line;
        const u32 l = MODE == MODE_K ? across : down, s = MODE == MODE_K ? down : across;
        from = operand + down * pitch + across;
        to = (l * PITCH + s) * SIZE;
        side_left = static_cast<i32>(min(side, u64(SIDE))) - static_cast<i32>(s);
        k_left = static_cast<i32>(k - l);
    }

    // Starts the copies of the next step to the stage at that address, and advances to the following step.
    __device__ __forceinline__ void copy(u32 stage) {
        const T* at = from;
#pragma unroll
        for (u32 i = 0; i < copies; ++i, at += step) {
            if constexpr (MODE == MODE_K) {
#pragma unroll
                for (u32 piece = 0; piece < pieces; ++piece)
                    copy_async_if<SIZE>(static_cast<i32>(i * lines) < side_left && k_left > static_cast<i32>(piece * line),
                                        stage + to + (piece * line * PITCH + i * lines) * SIZE, at + piece * line);
            } else {
                copy_async_if<width * SIZE>(side_left > 0 && k_left > static_cast<i32>(i * lines),
                                            stage + to + i * lines * PITCH * SIZE, at);
            }
        }
        from = MODE == MODE_K ? from + DEPTH : at;
        k_left -= DEPTH;
    }
};
