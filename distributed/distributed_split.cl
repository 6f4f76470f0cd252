// Counts the keys of a sorted range below given codes, OpenCL C. Parallel source: distributed_split.cu. Host version:
// distributed_split.cpp.
//
// Algorithm  Binary search, one code per work-item.
// Passes     one
// Traffic    8 bytes read and written per code, and log2(n) keys read
// Tunables   none.
// Source     E. Solomonik, L. Kale, Highly scalable parallel sorting, 2010 (counting for splitters).
//
// K: unsigned integer of the key's size. The code of a key is its position in the sort order, see SortCode: the bits of
// `mask`, from bit `shift` on. Codes of sorted keys ascend.

__kernel void count_below(__global const K* keys, u64 keys_offset, u64 n, __global const u64* codes, u64 codes_offset,
                          __global u64* counts, u64 counts_offset, u64 code_count, u64 fold, u64 flip, u32 shift,
                          u64 mask) {
    const u64 i = get_global_id(0);
    if (i >= code_count) return;
    const u64 code = codes[codes_offset + i];
    u64 low = 0, high = n;
    while (low < high) {
        const u64 middle = (low + high) / 2;
        const K key = keys[keys_offset + middle];
        const K sign = (K)0 - (K)(key >> (8 * sizeof(K) - 1));
        const K place = (K)(key ^ (sign & (K)fold) ^ (K)flip);
        if (((u64)place >> shift & mask) < code) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    counts[counts_offset + i] = low;
}
