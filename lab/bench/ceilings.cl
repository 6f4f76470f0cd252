// Attainable bandwidth, and the cost of a launch, OpenCL C. Parallel sources: ceilings.cu, ceilings_host.hpp.
//
// Algorithm   read_words: reads every word of the input once, 16 bytes per access (CPUs: 64, and a contiguous part per
//             group). Stores the xor of all words only if it equals `never`, so that the compiler keeps the loads.
//             idle: an empty kernel, for the cost of a launch. Its parameter is for NVIDIA's compiler, which requires
//             one.
// Passes      one
// Traffic     read_words: 4 bytes read per word; idle: none
// Tunables    GROUP: work-items per group (CPUs: 1), WORDS: words per access, UNROLL
// Source      own

#define CAT(a, b) a##b
#define VECTOR(type, n) CAT(type, n)
typedef VECTOR(uint, WORDS) Words;

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

__kernel void idle(u32 unused) {}
