// Bitonic sort of any length, `bitonic`, `bitonic_fused`, `bitonic_local`, and `odd_even`, CUDA C++. Parallel
// source: sort_bitonic.cl.
//
// Algorithm  Sorts blocks of 2, 4, 8, ... elements, each by merging its two sorted halves in columns of
//            comparators. The first column of a merge is mirrored and compares i with length-1-i; the others
//            compare i with i + distance. So every comparator leaves the smaller key at the lower index.
//            Comparators that reach past the end of the array are left out, as if the largest keys lay there. The
//            array is not padded.
// column     one comparator per thread, one launch per column; odd_even uses columns of distance 1
// fused      INPUTS elements per thread, which takes them through log2(INPUTS) columns in registers
// tile       TILE elements per group in shared memory: all columns of blocks up to TILE, or the last columns of a
//            longer merge
// Passes     log2(n) (log2(n) + 1) / 2 columns
// Traffic    one read and one write per element and launch
// Tunables   GROUP threads per group, INPUTS, TILE
// Source     K. Batcher, Sorting networks and their applications, 1968; D. Knuth, The Art of Computer Programming
//            3, 5.3.4 (any length); N. Habermann, Parallel Neighbor Sort, 1972 (odd-even transposition).

template <class E>
__device__ __forceinline__ void exchange(E& a, E& b) {
    const E x = a;
    a = b;
    b = x;
}

extern "C" __global__ void __launch_bounds__(GROUP)
    sort_column(K* keys, V* values, u64 n, u64 distance, u32 mirrored, u64 flip, u64 fold) {
    const Code code = make_code(flip, fold);
    const u64 c = u64(blockIdx.x) * GROUP + threadIdx.x, within = c & (distance - 1), first = 2 * (c - within);
    const u64 low = first + within, high = mirrored ? first + 2 * distance - 1 - within : low + distance;
    if (high >= n) return;
    const K a = keys[low], b = keys[high];
    if (code_of(b, code) < code_of(a, code)) {
        keys[low] = b;
        keys[high] = a;
        if constexpr (has_values) exchange(values[low], values[high]);
    }
}

#ifdef INPUTS

// A thread's elements. The first `count` of them are valid.
struct Inputs {
    K key[INPUTS];
    V value[has_values ? INPUTS : 1];
    u32 count;

    // The comparator between elements t and u, t < u.
    __device__ __forceinline__ void compare(u32 t, u32 u, Code code) {
        if (u < count && code_of(key[u], code) < code_of(key[t], code)) {
            exchange(key[t], key[u]);
            if constexpr (has_values) exchange(value[t], value[u]);
        }
    }
};

// A thread's elements are `stride` apart, from first + residue on. In a mirrored merge those of the upper half
// begin at first + stride-1-residue, where the mirror images of the lower half's are.
extern "C" __global__ void __launch_bounds__(GROUP)
    sort_columns(K* keys, V* values, u64 n, u64 stride, u32 mirrored, u64 flip, u64 fold) {
    const Code code = make_code(flip, fold);
    const u64 c = u64(blockIdx.x) * GROUP + threadIdx.x, residue = c & (stride - 1), first = (c - residue) * INPUTS;
    const u64 lower = first + residue, upper = mirrored ? first + stride - 1 - residue : lower;
    Inputs mine;
    mine.count = 0;
#pragma unroll
    for (u32 t = 0; t < INPUTS; ++t) {
        const u64 i = (t < INPUTS / 2 ? lower : upper) + t * stride;
        if (i < n) {
            mine.key[t] = keys[i];
            if constexpr (has_values) mine.value[t] = values[i];
            mine.count = t + 1;
        }
    }
    if (mirrored) {
#pragma unroll
        for (u32 t = 0; t < INPUTS / 2; ++t) mine.compare(t, INPUTS - 1 - t, code);
    } else {
#pragma unroll
        for (u32 t = 0; t < INPUTS / 2; ++t) mine.compare(t, t + INPUTS / 2, code);
    }
#pragma unroll
    for (u32 distance = INPUTS / 4; distance > 0; distance /= 2) {
#pragma unroll
        for (u32 t = 0; t < INPUTS; ++t) {
            if ((t & distance) == 0) mine.compare(t, t + distance, code);
        }
    }
#pragma unroll
    for (u32 t = 0; t < INPUTS; ++t) {
        const u64 i = (t < INPUTS / 2 ? lower : upper) + t * stride;
        if (t < mine.count) {
            keys[i] = mine.key[t];
            if constexpr (has_values) values[i] = mine.value[t];
        }
    }
}

#endif

#ifdef TILE

// whole: sorts each tile; else performs the columns of a merge from distance TILE/2 downwards.
extern "C" __global__ void __launch_bounds__(GROUP)
    sort_tile_columns(K* keys, V* values, u64 n, u32 whole, u64 flip, u64 fold) {
    __shared__ K key[TILE];
    __shared__ V value[has_values ? TILE : 1];
    const Code code = make_code(flip, fold);
    const u32 thread = threadIdx.x;
    const u64 begin = u64(blockIdx.x) * TILE;
    const u32 count = u32(min(n - begin, u64(TILE)));
    keys += begin;
    values += begin;
    for (u32 i = thread; i < count; i += GROUP) {
        key[i] = code_of(keys[i], code);
        if constexpr (has_values) value[i] = values[i];
    }
    for (u32 length = whole ? 2 : TILE; length <= TILE; length *= 2) {
        for (u32 distance = length / 2; distance > 0; distance /= 2) {
            const bool mirrored = whole && distance == length / 2;
            __syncthreads();
#pragma unroll
            for (u32 c = thread; c < TILE / 2; c += GROUP) {
                const u32 within = c & (distance - 1), first = 2 * (c - within);
                const u32 low = first + within, high = mirrored ? first + 2 * distance - 1 - within : low + distance;
                if (high < count && key[high] < key[low]) {
                    exchange(key[low], key[high]);
                    if constexpr (has_values) exchange(value[low], value[high]);
                }
            }
        }
    }
    __syncthreads();
    for (u32 i = thread; i < count; i += GROUP) {
        keys[i] = key_of(key[i], code);
        if constexpr (has_values) values[i] = value[i];
    }
}

#endif
