// Writes a few elements into the memory of another device and waits for those of all others, CUDA C++. OpenCL has no
// memory that kernels of two devices share.
//
// Algorithm  The groups copy; the last one raises the flag of this rank on the other device. If it is the launch for
//            the last of the other devices, a thread for each flag of this device then waits for it.
// Passes     one
// Traffic    every element is read once and written once, over the link
// Tunables   GROUP threads
// Source     textbook (direct all-gather).
//
// flags: one per rank, and a ticket after them. `words` words of 4 bytes. `awaited` flags are awaited; 0: none. Flag
// `me` is skipped.

#include "peer_flags.cu"

extern "C" __global__ void __launch_bounds__(GROUP)
    small_gather(const u32* __restrict__ mine, u32* __restrict__ there, u32* flags, u32* raised, u64 words, u32 ticket,
                 u32 turn, u32 awaited, u32 me) {
    for (u64 i = u64(blockIdx.x) * GROUP + threadIdx.x; i < words; i += u64(gridDim.x) * GROUP) there[i] = mine[i];
    __syncthreads();
    if (threadIdx.x == 0 && is_last(flags + ticket, gridDim.x)) raise_flag(raised, turn);
    if (blockIdx.x == 0 && threadIdx.x < awaited && threadIdx.x != me) await_flag(flags + threadIdx.x, turn);
}
