// Ranks within a warp and a group, CUDA C++. Parallel source: group_rank.cl.
//
// flags    A thread has rows of flags, a bit each. The rank of a row is the number of flags before it that are set, in the
//          same row of earlier threads. The counts of four rows travel in one word of 64 bits: one scan ranks four rows.
// digits   A thread has a digit. Its rank is the number of equal digits before it. A warp looks for its lanes of equal
//          digits, the lowest of which counts them all in the warp's counters.
// Source   M. Billeter, O. Olsson, U. Assarsson, Efficient Stream Compaction on Wide SIMD Many-Core Architectures, 2009
//          (flags); A. Adinets, D. Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022 (digits).

// --- Flags ----------------------------------------------------------------------------------------------------------

// A count for each of N rows, less than 65536.
template <u32 N>
struct RowCounts {
    static constexpr u32 words = (N + 3) / 4;
    u64 word[words];

    __device__ __forceinline__ u32 of(u32 row) const { return u32(word[row / 4] >> (16 * (row % 4))) & 0xffff; }
};

// The flags of each row that are set.
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

// For each row: the flags of earlier threads, and of all of them.
template <u32 N>
struct RowRanks {
    RowCounts<N> before, all;
};

// Ranks within each warp.
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

// Ranks within a group of WARPS warps. All threads of the group call it.
template <u32 WARPS, u32 N>
__device__ __forceinline__ RowRanks<N> rank_flags_in_group(const u32 (&flags)[N]) {
    __shared__ u64 totals[RowCounts<N>::words][WARPS];
    const RowCounts<N> mine = count_flags(flags);
    RowRanks<N> ranks;
    u64 through[mine.words];
#pragma unroll
    for (u32 w = 0; w < mine.words; ++w) through[w] = scan_warp(mine.word[w]);
    __syncthreads();  // the totals of an earlier call have been read
#pragma unroll
    for (u32 w = 0; w < mine.words; ++w) store_warp_total(through[w], totals[w]);
    __syncthreads();
#pragma unroll
    for (u32 w = 0; w < mine.words; ++w) {
        ranks.before.word[w] = through[w] - mine.word[w];
        ranks.all.word[w] = 0;
        add_warp_totals<WARPS>(totals[w], ranks.before.word[w], ranks.all.word[w]);
    }
    return ranks;
}

// --- Digits ---------------------------------------------------------------------------------------------------------

// The lanes of the warp that have the same digit of BITS bits, by a vote on each bit.
template <u32 BITS>
__device__ __forceinline__ u32 match_by_votes(u32 digit) {
    u32 peers = all_lanes;
#pragma unroll
    for (u32 b = 0; b < BITS; ++b) {
        const bool set = digit >> b & 1;
        const u32 with = __ballot_sync(all_lanes, set);
        peers &= set ? with : ~with;
    }
    return peers;
}

// The same, by a word of each digit in shared memory, in which each lane sets its bit. lanes: of this warp, zero, and left
// zero.
__device__ __forceinline__ u32 match_by_words(u32 digit, u32* lanes) {
    const u32 own = 1u << (threadIdx.x % warp_width);
    atomicOr(lanes + digit, own);
    __syncwarp();
    const u32 peers = lanes[digit];
    __syncwarp();
    if ((peers & (own - 1)) == 0) lanes[digit] = 0;
    return peers;
}

// The rank of the lane's digit among those equal to it that the warp has counted in `counts`, a counter for each digit, and
// those of lower lanes; counts the digits of all lanes. peers: the lanes that have the same digit.
__device__ __forceinline__ u32 rank_digit(u32 digit, u32 peers, u32* counts) {
    const u32 lane = threadIdx.x % warp_width;
    const u32 before = __popc(peers & ((1u << lane) - 1)), counted = counts[digit];
    __syncwarp();
    if (before == 0) counts[digit] = counted + __popc(peers);
    __syncwarp();
    return counted + before;
}
