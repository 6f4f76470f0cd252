// The words of kernels that are one text for all languages (*.kernel), CUDA C++. Parallel source: prelude.cl.
//
// A kernel in such a file reads:
//
//     KERNEL name(IN(T, in), OUT(T, out), u64 n) {
//         LOCAL T tile[GROUP];          // local memory of the group
//         AT_OFFSET(in);                // once for each buffer, before its first use
//         AT_OFFSET(out);
//         …
//     }
//
// Functions are INLINED. Pointers name what they point to: `GLOBAL T*`, `LOCAL_ARG T*`. Casts are written (T)x.
// Constants are macros, structs are typedefs, and names are not overloaded: what both languages have.
//
// Passes     none. No memory traffic.
// Tunables   none.
// Source     P. Eastman et al., OpenMM 8, 2023 (common.cu, common.cl).

// A kernel for groups of GROUP work-items. KERNEL_RESIDENT(N): N groups shall fit on a compute unit.
#define KERNEL extern "C" __global__ void __launch_bounds__(GROUP)
#define KERNEL_RESIDENT(N) extern "C" __global__ void __launch_bounds__(GROUP, N)
#define INLINED __device__ __forceinline__

// Memory.
#define GLOBAL
#define LOCAL __shared__
#define LOCAL_ARG

// Buffers as parameters of kernels.
#define IN(E, NAME) const E* NAME
#define OUT(E, NAME) E* NAME
#define AT_OFFSET(NAME) (void)0

INLINED u32 local_id() { return threadIdx.x; }
INLINED u32 group_id() { return blockIdx.x; }
INLINED u32 group_count() { return gridDim.x; }

// All work-items of the group meet; each sees the others' accesses to local memory, and with group_barrier also to
// global memory.
INLINED void local_barrier() { __syncthreads(); }
INLINED void group_barrier() { __syncthreads(); }
