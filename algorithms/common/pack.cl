// Elements in packs of 16 bytes, OpenCL C. Parallel source: Pack in common.cu.
//
// Algorithm  A pack is a uint4. Shifts extract and insert elements, because compilers may place unions and arrays of
//            packs in private memory.
// Passes     none of its own. No memory traffic.
// Tunables   none.
// Source     textbook.
//
// SIZE: size of an element in bytes, up to 8; B: unsigned integer of that size.

#include "common.cl"

#define PER_WORD (SIZE < 4 ? 4 / SIZE : 1)  // elements per word

// The bits of element j.
INLINED B item_of(uint4 pack, u32 j) {
#if SIZE == 8
    return as_ulong(j == 0 ? pack.xy : pack.zw);
#else
    const u32 w = j / PER_WORD, word = w == 0 ? pack.x : w == 1 ? pack.y : w == 2 ? pack.z : pack.w;
    return (B)(word >> (8 * SIZE * (j % PER_WORD)));
#endif
}

// The pack with `bits` as its element j, which is zero before.
INLINED uint4 with_item(uint4 pack, u32 j, B bits) {
#if SIZE == 8
    return j == 0 ? (uint4)(as_uint2(bits), pack.zw) : (uint4)(pack.xy, as_uint2(bits));
#else
    const u32 w = j / PER_WORD, word = (u32)bits << (8 * SIZE * (j % PER_WORD));
    return pack | (uint4)(w == 0 ? word : 0, w == 1 ? word : 0, w == 2 ? word : 0, w == 3 ? word : 0);
#endif
}
