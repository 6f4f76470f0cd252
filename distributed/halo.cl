// Runs of elements at a fixed distance from one another, OpenCL C. Parallel sources: halo.cu, halo_host.hpp.
//
// Algorithm  A halo along y is some rows of each plane: a run of elements a plane, which this kernel packs one after another
//            for a message, and unpacks. A group moves a piece of one run.
// Passes     one; traffic: every element is read once and written once.
// Tunables   GROUP work-items, EACH packs of a work-item; a pack is PACK elements, more than one where all runs begin and end
//            at multiples of it.
//
// E: unsigned integer of the elements' size. Lengths and distances are counted in packs; pieces of a run follow one another.

typedef struct {
    E item[PACK];
} __attribute__((aligned(PACK * sizeof(E)))) V;

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void halo_runs(__global const E* restrict from, ulong from_at, __global E* restrict to, ulong to_at, u64 length,
               u64 from_stride, u64 to_stride, u32 pieces) {
    const u32 group = get_group_id(0);
    const u64 run = group / pieces, begin = (u64)(group % pieces) * (GROUP * EACH);
    const u64 end = min(length, begin + GROUP * EACH);
    __global const V* const source = (__global const V*)(from + from_at) + run * from_stride;
    __global V* const target = (__global V*)(to + to_at) + run * to_stride;
    for (u64 i = begin + get_local_id(0); i < end; i += GROUP) target[i] = source[i];
}
