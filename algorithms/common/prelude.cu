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
// Local memory whose size the host gives is the kernel's last parameter, without a comma before it:
//
//     KERNEL name(IN(T, in), u64 n LOCAL_PARAMETER(T, room)) {
//         LOCAL_AT(T, room);            // before its first use
//         …
//     }
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
#define LOCAL_PARAMETER(E, NAME)
#define LOCAL_AT(E, NAME)                                       \
    extern __shared__ __align__(16) unsigned char local_room[]; \
    E* const NAME = (E*)local_room
#define ALIGNED(N) __align__(N)  // typedef struct ALIGNED(16) { … } Name;

// Returns *from, an element or a pack of 1, 2, 4, 8 or 16 bytes, without a copy in L1: for data that is read once, and
// for data that other groups have written. In OpenCL C it is *from.
template <class E>
INLINED E load_l2(const E* from) {
    E value;
    if constexpr (sizeof(E) == 16) {
        const uint4 raw = __ldcg((const uint4*)from);
        memcpy(&value, &raw, sizeof raw);
    } else if constexpr (sizeof(E) == 8) {
        const uint2 raw = __ldcg((const uint2*)from);
        memcpy(&value, &raw, sizeof raw);
    } else if constexpr (sizeof(E) == 4) {
        const u32 raw = __ldcg((const u32*)from);
        memcpy(&value, &raw, sizeof raw);
    } else if constexpr (sizeof(E) == 2) {
        const u16 raw = __ldcg((const u16*)from);
        memcpy(&value, &raw, sizeof raw);
    } else {
        const u8 raw = __ldcg((const u8*)from);
        memcpy(&value, &raw, sizeof raw);
    }
    return value;
}

// Buffers as parameters of kernels.
#define IN(E, NAME) const E* NAME
#define OUT(E, NAME) E* NAME
#define IN_RESTRICT(E, NAME) const E* __restrict__ NAME
#define OUT_RESTRICT(E, NAME) E* __restrict__ NAME
#define AT_OFFSET(NAME) (void)0

#define local_id() (threadIdx.x)
#define group_id() (blockIdx.x)
#define group_count() (gridDim.x)
#define global_id() ((u64)blockIdx.x * GROUP + threadIdx.x)

// All work-items of the group meet; each sees the others' accesses to local memory, and with group_barrier also to
// global memory.
#define local_barrier() __syncthreads()
#define group_barrier() __syncthreads()

// Atomic operations on a word of 32 bits in global or local memory return its old value.
INLINED u32 atomic_add(u32* at, u32 x) { return atomicAdd(at, x); }
INLINED u32 atomic_inc(u32* at) { return atomicAdd(at, 1u); }
INLINED u32 atomic_sub(u32* at, u32 x) { return atomicSub(at, x); }
INLINED u32 atomic_or(u32* at, u32 x) { return atomicOr(at, x); }
INLINED u32 atomic_min(u32* at, u32 x) { return atomicMin(at, x); }

// Reports that the index at a position is out of range: *word keeps the least position. See internal/index_report.hpp.
INLINED void report_index(u32* word, u64 position) {
    atomicMin(word, position < 0xfffffffeu ? (u32)position : 0xfffffffeu);
}

INLINED u32 popcount(u32 x) { return (u32)__popc(x); }
INLINED u32 highest_bit(u32 x) { return 31 - (u32)__clz((int)x); }  // the number of the highest bit of x that is set
