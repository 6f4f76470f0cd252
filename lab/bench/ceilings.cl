// Attainable rates in OpenCL C. Parallel sources: ceilings.cu, ceilings_host.hpp.
//
// Algorithm   read_words: reads every word of the input once, 16 bytes per access (CPUs: 64, and a contiguous part per
//             group). Stores the xor of all words only if it equals `never`, so that the compiler keeps the loads.
//             fma_chains: CHAINS independent chains of fused multiply-adds per work-item, UNROLL steps per iteration.
//             idle: an empty kernel, for the cost of a launch. Its parameter is for NVIDIA's compiler, which requires
//             one. KERNEL_... selects one of them.
// Passes      one
// Traffic     read_words: 4 bytes read per word; fma_chains and idle: none
// Tunables    GROUP: work-items per group (CPUs: 1), WORDS: words per access, CHAINS, UNROLL; T: f32 or f64, V: T or a
//             vector of T that a work-item processes at once
// Source      own

#define CAT(a, b) a##b
#define VECTOR(type, n) CAT(type, n)
typedef VECTOR(uint, WORDS) Words;

#ifdef KERNEL_read_words
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void read_words(__global const u32* in, ulong in_at, __global u32* out, ulong out_at, u64 n, u32 never) {
    __global const Words* words = (__global const Words*)(in + in_at);
    const u64 count = n / WORDS;
#if GROUP == 1
    const u64 part = (count + get_num_groups(0) - 1) / get_num_groups(0), stride = 1;
    u64 i = get_group_id(0) * part;
    const u64 end = min(count, i + part);
#else
    const u64 stride = get_global_size(0), end = count;
    u64 i = get_global_id(0);
#endif
    Words all = (Words)(0);
    for (; i + (UNROLL - 1) * stride < end; i += UNROLL * stride) {
        Words x[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) x[k] = words[i + k * stride];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) all ^= x[k];
    }
    for (; i < end; i += stride) all ^= words[i];
    union {
        Words all;
        u32 word[WORDS];
    } both;
    both.all = all;
    u32 word = 0;
    for (int k = 0; k < WORDS; ++k) word ^= both.word[k];
    if (word == never) out[out_at] = word;
}
#endif

#ifdef KERNEL_fma_chains
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void fma_chains(__global T* out, ulong out_at, T a, T b, u32 steps) {
    const V va = (V)(a), vb = (V)(b);
    V x[CHAINS];
#pragma unroll
    for (int k = 0; k < CHAINS; ++k) x[k] = (V)((T)(get_local_id(0) + k));
    for (u32 s = 0; s < steps; s += UNROLL) {
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
#pragma unroll
            for (int k = 0; k < CHAINS; ++k) x[k] = fma(x[k], va, vb);
        }
    }
    union {
        V all;
        T item[sizeof(V) / sizeof(T)];
    } both;
    both.all = (V)(0);
#pragma unroll
    for (int k = 0; k < CHAINS; ++k) both.all += x[k];
    T sum = 0;
    for (int k = 0; k < (int)(sizeof(V) / sizeof(T)); ++k) sum += both.item[k];
    if (sum == a) out[out_at] = sum;
}
#endif

#ifdef KERNEL_mma_chains
// t += a * b for a block, whose elements are all a and all b.
static inline __attribute__((always_inline)) void multiply_block(double* t, double a, double b) {
#if CONCORD_CAPABILITY >= 90
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %4, %4, %4, %4, %4, %4, %4}, "
        "{%5, %5, %5, %5}, {%0, %1, %2, %3};"
        : "+d"(t[0]), "+d"(t[1]), "+d"(t[2]), "+d"(t[3])
        : "d"(a), "d"(b));
#else
#pragma unroll
    for (int part = 0; part < 8; ++part)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(t[part % 2 * 2]), "+d"(t[part % 2 * 2 + 1])
                     : "d"(a), "d"(b));
#endif
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void mma_chains(__global double* out, ulong out_at, double a, double b, u32 steps) {
    double t[MMA_CHAINS][4];
#pragma unroll
    for (int k = 0; k < MMA_CHAINS; ++k)
#pragma unroll
        for (int i = 0; i < 4; ++i) t[k][i] = get_local_id(0) + k;
    for (u32 s = 0; s < steps; ++s) {
#pragma unroll
        for (int k = 0; k < MMA_CHAINS; ++k) multiply_block(t[k], a, b);
    }
    double sum = 0;
#pragma unroll
    for (int k = 0; k < MMA_CHAINS; ++k)
#pragma unroll
        for (int i = 0; i < 4; ++i) sum += t[k][i];
    if (sum == a) out[out_at] = sum;
}
#endif

#ifdef KERNEL_idle
__kernel void idle(u32 unused) {}
#endif
