// Copies runs of elements at a fixed stride, OpenCL C. Parallel sources: halo.cu, halo_host.hpp.
//
// Algorithm  A halo along y consists of the same rows of each plane: one run of elements per plane. This kernel packs
//            the runs into a contiguous message buffer, and unpacks them. A group copies a piece of one run.
// Passes     one
// Traffic    every element is read once and written once
// Tunables   GROUP work-items, EACH packs per work-item, PACK elements per pack. PACK is 1 unless all runs begin and
//            end at a multiple of a larger pack.
// Source     textbook (strided copy).
//
// ELEMENT: unsigned integer of the element's size. Lengths and strides count packs. Groups are numbered by run, then
// by piece.

typedef struct {
    ELEMENT item[PACK];
} __attribute__((aligned(PACK * sizeof(ELEMENT)))) V;

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void halo_runs(__global const ELEMENT* restrict from, ulong from_at, __global ELEMENT* restrict to, ulong to_at, u64 length,
               u64 from_stride, u64 to_stride, u32 pieces) {
    const u32 group = get_group_id(0);
    const u64 run = group / pieces, begin = (u64)(group % pieces) * (GROUP * EACH);
    const u64 end = min(length, begin + GROUP * EACH);
    __global const V* const source = (__global const V*)(from + from_at) + run * from_stride;
    __global V* const target = (__global V*)(to + to_at) + run * to_stride;
    for (u64 i = begin + get_local_id(0); i < end; i += GROUP) target[i] = source[i];
}
