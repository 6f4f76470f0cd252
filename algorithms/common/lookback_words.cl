// How the tiles of one launch exchange totals and wait for them, OpenCL C. Parallel source: lookback.cu.
//
// Algorithm  A ticket numbers the tiles in the order in which groups start. A word holds a total, or half of one, and
//            the tag of the launch, so it needs no fence: a reader sees both or neither.
// Progress   All tiles that a tile waits for have started. It relies on forward progress of started groups while
//            others spin (DeviceTraits::forward_progress).
// Memory     The workspace of lookback.cu. A volatile access of 64 bits must be a single access, and coherent between
//            groups. It requires cl_khr_int64_base_atomics.
// Traffic    8 or 16 bytes written per tile and node.
// Tunables   none.
// Source     D. Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.
//
// TOTAL: type of a total.

#include "lookback.cl"

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

#define HEAD 16
#define WORDS (sizeof(TOTAL) <= 4 ? 1 : 2)

// A group's number in the order in which groups start, and the tag of the launch.
typedef struct {
    u32 ticket, tag;
} Turn;

// Draws a ticket, in the order in which groups start. All work-items of each group call it.
INLINED Turn take_turn(volatile __global ulong* workspace, __local Turn* turn) {
    if (get_local_id(0) == 0) {
        const ulong drawn = atom_add(workspace, 1UL);
        const u32 ticket = (u32)drawn, epoch = (u32)(drawn >> 32);
        // The last ticket of this launch starts the next epoch for the next launch.
        if (ticket == get_num_groups(0) - 1) atom_xchg(workspace, (ulong)((epoch + 1) & 0x3fffffffu) << 32);
        turn->ticket = ticket;
        turn->tag = epoch + 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const Turn result = {turn->ticket, turn->tag};
    return result;
}

struct Tree {
    volatile __global ulong* words;
    u32 tiles, tag;
};

// The tree of a launch over `tiles` tiles.
INLINED struct Tree tree_of(volatile __global ulong* workspace, u32 tiles, Turn turn) {
    const struct Tree tree = {workspace + HEAD, tiles, turn.tag};
    return tree;
}

// A total as bits. Upper bits of a narrow type are zero.
typedef union {
    TOTAL total;
    u32 word;
    ulong bits;
} TotalBits;

INLINED void publish_total(const struct Tree* tree, u32 level, u32 index, TOTAL total) {
    volatile __global ulong* const to = tree->words + WORDS * (level_begin(tree->tiles, level) + index);
    const ulong high = (ulong)tree->tag << 32;
    TotalBits t;
    t.bits = 0;
    t.total = total;
    if (WORDS == 1) {
        *to = high | t.word;
    } else {
        *(volatile __global ulong2*)to = (ulong2)(high | (t.bits & 0xffffffffu), high | t.bits >> 32);
    }
}

// Waits until the total is published, and returns it.
INLINED TOTAL sibling_total(const struct Tree* tree, u32 level, u32 index) {
    const volatile __global ulong* const from = tree->words + WORDS * (level_begin(tree->tiles, level) + index);
    TotalBits t;
    if (WORDS == 1) {
        do t.bits = *from;
        while ((u32)(t.bits >> 32) != tree->tag);
    } else {
        ulong2 words;
        do words = *(const volatile __global ulong2*)from;
        while ((u32)(words.x >> 32) != tree->tag || (u32)(words.y >> 32) != tree->tag);
        t.bits = (words.x & 0xffffffffu) | words.y << 32;
    }
    return t.total;
}
