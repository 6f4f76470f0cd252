// The words of kernels that are one text for all languages (*.kernel), OpenCL C. prelude.cu describes them.

// A kernel for groups of GROUP work-items.
#define KERNEL __kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
#define KERNEL_RESIDENT(N) KERNEL
// In functions that it does not inline, PoCL 3.1 reads work-item and group ids from a variable that its threads share.
#define INLINED static inline __attribute__((always_inline))

// Memory.
#define GLOBAL __global
#define LOCAL __local
#define LOCAL_ARG __local
#define LOCAL_PARAMETER(E, NAME) , __local E *NAME
#define LOCAL_AT(E, NAME) (void)NAME
#define ALIGNED(N) __attribute__((aligned(N)))
#define load_l2(FROM) (*(FROM))

// Buffers as parameters of kernels.
#define IN(E, NAME) __global const E *NAME, ulong NAME##_at
#define OUT(E, NAME) __global E *NAME, ulong NAME##_at
#define IN_RESTRICT(E, NAME) __global const E *restrict NAME, ulong NAME##_at
#define OUT_RESTRICT(E, NAME) __global E *restrict NAME, ulong NAME##_at
#define AT_OFFSET(NAME) NAME += NAME##_at

#define report_index(WORD, POSITION) \
    atomic_min(WORD, (POSITION) < 0xfffffffeu ? (u32)(POSITION) : 0xfffffffeu)

#define local_id() ((u32)get_local_id(0))
#define group_id() ((u32)get_group_id(0))
#define group_count() ((u32)get_num_groups(0))
#define global_id() (get_group_id(0) * (u64)GROUP + get_local_id(0))

// All work-items of the group meet; each sees the others' accesses to local memory, and with group_barrier also to
// global memory.
#define local_barrier() barrier(CLK_LOCAL_MEM_FENCE)
#define group_barrier() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

INLINED u32 highest_bit(u32 x) { return 31 - clz(x); }  // the number of the highest bit of x that is set
