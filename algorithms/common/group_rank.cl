// Ranks of digits within a warp, OpenCL C. The parallel source group_rank.cu describes it.
//
// A warp is a team of lanes.cl.

#include "lanes.cl"

// Returns the lanes of the warp with the same digit. Each lane sets its bit in one word per digit. lanes: the warp's
// words, zero before the call, and again after the next lanes_barrier(). All work-items of the group call it.
INLINED u32 match_by_words(u32 digit, __local u32* lanes) {
    const u32 own = 1u << lane_id();
    atomic_or(lanes + digit, own);
    lanes_barrier();
    const u32 peers = lanes[digit];
    lanes_barrier();
    if ((peers & (own - 1)) == 0) lanes[digit] = 0;
    return peers;
}

// Returns the rank of the lane's digit: the count of that digit in `counts`, plus the number of lower lanes with the
// same digit. Adds the digits of all lanes to `counts`, a counter per digit. peers: the lanes with the same digit.
// All work-items of the group call it.
INLINED u32 rank_digit(u32 digit, u32 peers, __local u32* counts) {
    const u32 lane = lane_id();
    const u32 before = popcount(peers & ((1u << lane) - 1));
#if defined(CONCORD_SHUFFLE_PTX)
    u32 counted = 0;
    if (before == 0) counted = atomic_add(counts + digit, popcount(peers));
    counted = shuffle_word_from(counted, popcount((peers & (0 - peers)) - 1));
#else
    const u32 counted = counts[digit];
    lanes_barrier();
    if (before == 0) counts[digit] = counted + popcount(peers);
#endif
    lanes_barrier();
    return counted + before;
}
