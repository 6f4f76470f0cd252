// Collectives of a work-group for kernel sources, in CUDA C++ and OpenCL C 1.2. group_kernel.hpp documents them.
//
// Algorithm  A butterfly: in step d = 1, 2, 4, ... a work-item combines its value with that of work-item i ^ d. All
//            work-items get the result of the same tree over neighbours.
// Passes     log2(size) steps. CUDA: shuffles within warps and once between them. OpenCL: through local memory.
// Source     M. Harris, Optimizing Parallel Reduction in CUDA, 2007.

#if defined(__OPENCL_C_VERSION__)
#define CONCORD_GROUP_STEPS(T, COMBINED)                        \
    const u32 item = get_local_id(0), size = get_local_size(0); \
    for (u32 distance = 1; distance < size; distance *= 2) {    \
        barrier(CLK_LOCAL_MEM_FENCE);                           \
        scratch[item] = x;                                      \
        barrier(CLK_LOCAL_MEM_FENCE);                           \
        const T y = scratch[item ^ distance];                   \
        x = COMBINED;                                           \
    }                                                           \
    return x;
// Inlined always: PoCL shares local memory between groups that run at the same time if a function uses it that it
// compiles apart.
#define CONCORD_GROUP_OPERATION(T, NAME, COMBINED)                                              \
    CONCORD_OVERLOAD __attribute__((always_inline)) T NAME(T x, __local T* scratch) { \
        CONCORD_GROUP_STEPS(T, COMBINED)                                              \
    }
#else
#define CONCORD_GROUP_STEPS(T, COMBINED)                         \
    const u32 item = threadIdx.x, size = blockDim.x;             \
    const u32 lanes = size < 32 ? size : 32, warps = size / 32;  \
    const u32 mask = size < 32 ? (1u << size) - 1 : 0xffffffffu; \
    for (u32 distance = 1; distance < lanes; distance *= 2) {    \
        const T y = __shfl_xor_sync(mask, x, distance);          \
        x = COMBINED;                                            \
    }                                                            \
    if (warps < 2) return x;                                     \
    __syncthreads();                                             \
    if (item % 32 == 0) scratch[item / 32] = x;                  \
    __syncthreads();                                             \
    x = scratch[item % warps];                                   \
    for (u32 distance = 1; distance < warps; distance *= 2) {    \
        const T y = __shfl_xor_sync(mask, x, distance);          \
        x = COMBINED;                                            \
    }                                                            \
    return x;
#define CONCORD_GROUP_OPERATION(T, NAME, COMBINED) \
    CONCORD_OVERLOAD T NAME(T x, T* scratch) {     \
        CONCORD_GROUP_STEPS(T, COMBINED)           \
    }
#endif

CONCORD_GROUP_OPERATION(i32, concord_group_sum, (i32)((u32)x + (u32)y))
CONCORD_GROUP_OPERATION(u32, concord_group_sum, x + y)
CONCORD_GROUP_OPERATION(i64, concord_group_sum, (i64)((u64)x + (u64)y))
CONCORD_GROUP_OPERATION(u64, concord_group_sum, x + y)
CONCORD_GROUP_OPERATION(f32, concord_group_sum, concord_canonical(x + y))
#if CONCORD_HAS_F64
CONCORD_GROUP_OPERATION(f64, concord_group_sum, concord_canonical(x + y))
#endif

CONCORD_GROUP_OPERATION(i32, concord_group_min, concord_min(x, y))
CONCORD_GROUP_OPERATION(u32, concord_group_min, concord_min(x, y))
CONCORD_GROUP_OPERATION(i64, concord_group_min, concord_min(x, y))
CONCORD_GROUP_OPERATION(u64, concord_group_min, concord_min(x, y))
CONCORD_GROUP_OPERATION(f32, concord_group_min, concord_min(x, y))
#if CONCORD_HAS_F64
CONCORD_GROUP_OPERATION(f64, concord_group_min, concord_min(x, y))
#endif

CONCORD_GROUP_OPERATION(i32, concord_group_max, concord_max(x, y))
CONCORD_GROUP_OPERATION(u32, concord_group_max, concord_max(x, y))
CONCORD_GROUP_OPERATION(i64, concord_group_max, concord_max(x, y))
CONCORD_GROUP_OPERATION(u64, concord_group_max, concord_max(x, y))
CONCORD_GROUP_OPERATION(f32, concord_group_max, concord_max(x, y))
#if CONCORD_HAS_F64
CONCORD_GROUP_OPERATION(f64, concord_group_max, concord_max(x, y))
#endif
