// Counts the keys of a sorted range below given codes, CUDA C++. Parallel source: distributed_split.cl. Host version:
// distributed_split.cpp.
//
// Algorithm  Binary search, one code per thread.
// Passes     one
// Traffic    8 bytes read and written per code, and log2(n) keys read
// Tunables   none.
// Source     E. Solomonik, L. Kale, Highly scalable parallel sorting, 2010 (counting for splitters).
//
// K: unsigned integer of the key's size. The code of a key is its position in the sort order, see SortCode: the bits of
// `mask`, from bit `shift` on. Codes of sorted keys ascend.

extern "C" __global__ void count_below(const K* keys, u64 n, const u64* codes, u64* counts, u64 code_count, u64 fold,
                                       u64 flip, u32 shift, u64 mask) {
    const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= code_count) return;
    const u64 code = codes[i];
    u64 low = 0, high = n;
    while (low < high) {
        const u64 middle = (low + high) / 2;
        const K key = keys[middle];
        const K sign = K(0) - K(key >> (8 * sizeof(K) - 1));
        const K place = K(key ^ (sign & K(fold)) ^ K(flip));
        if ((u64(place) >> shift & mask) < code) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    counts[i] = low;
}
