// Ranks of flags and digits within a warp, CUDA C++. Parallel source: group_rank.cl (digits). Flags within a group:
// rank_flags.kernel.
//
// Algorithm  flags: a thread has rows of flags, one bit each. The rank of a row is the number of set flags in the
//            same row of earlier threads. One 64-bit word holds the counts of four rows, so that one scan ranks four
//            rows. digits: a thread has a digit. Its rank is the number of equal digits before it. A warp finds its
//            lanes with equal digits. The lowest of them adds their number to the warp's counters.
// Passes     flags: one scan within the warp. digits: one match per digit. No global memory traffic.
// Tunables   none.
// Source     M. Billeter, O. Olsson, U. Assarsson, Efficient Stream Compaction on Wide SIMD Many-Core Architectures,
//            2009 (flags); A. Adinets, D. Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs,
//            2022 (digits).

#include "group_scan.cu"

// --- Flags ---------------------------------------------------------------------------------------------------------

// A count per row for N rows. Counts are less than 65536.
template <u32 N>
struct RowCounts {
    static constexpr u32 words = (N + 3) / 4;
    u64 word[words];

    __device__ __forceinline__ u32 of(u32 row) const { return u32(word[row / 4] >> (16 * (row % 4))) & 0xffff; }
};

// Counts the set flags of each row.
template <u32 N>
__device__ __forceinline__ RowCounts<N> count_flags(const u32 (&flags)[N]) {
    RowCounts<N> counts;
#pragma unroll
    for (u32 w = 0; w < counts.words; ++w) {
        counts.word[w] = 0;
#pragma unroll
        for (u32 r = 4 * w; r < N && r < 4 * w + 4; ++r) counts.word[w] |= u64(__popc(flags[r])) << (16 * (r % 4));
    }
    return counts;
}

// Set flags per row of earlier lanes, and of all lanes.
template <u32 N>
struct RowRanks {
    RowCounts<N> before, all;
};

// Ranks flags within each warp.
template <u32 N>
__device__ __forceinline__ RowRanks<N> rank_flags_in_warp(const u32 (&flags)[N]) {
    const RowCounts<N> mine = count_flags(flags);
    RowRanks<N> ranks;
#pragma unroll
    for (u32 w = 0; w < mine.words; ++w) {
        const u64 through = scan_warp(mine.word[w]);
        ranks.before.word[w] = through - mine.word[w];
        ranks.all.word[w] = shuffle_from(through, warp_width - 1);
    }
    return ranks;
}

// --- Digits --------------------------------------------------------------------------------------------------------

// Returns the lanes of the warp with the same digit. Each lane sets its bit in one word per digit in shared memory.
// lanes: the warp's words, zero before the call, and again after a barrier of the warp. Eight votes, one per bit, and
// the match instruction took longer on an H200.
__device__ __forceinline__ u32 match_by_words(u32 digit, u32* lanes) {
    const u32 own = 1u << (threadIdx.x % warp_width);
    atomicOr(lanes + digit, own);
    __syncwarp();
    const u32 peers = lanes[digit];
    __syncwarp();
    if ((peers & (own - 1)) == 0) lanes[digit] = 0;
    return peers;
}

// Returns the rank of the lane's digit: the count of that digit in `counts`, plus the number of lower lanes with the
// same digit. Adds the digits of all lanes to `counts`, a counter per digit. peers: the lanes with the same digit.
__device__ __forceinline__ u32 rank_digit(u32 digit, u32 peers, u32* counts) {
    const u32 lane = threadIdx.x % warp_width;
    const u32 before = __popc(peers & ((1u << lane) - 1));
    u32 counted = 0;
    if (before == 0) counted = atomicAdd(counts + digit, __popc(peers));
    counted = shuffle_from(counted, __ffs(peers) - 1);
    __syncwarp();
    return counted + before;
}
