// Copies of cells to shared memory, CUDA C++. Parallel source: convolve_copy.cl.
//
// Algorithm  Cells of the mask's type are copied asynchronously, bytes through registers.
// Passes     none of its own.
// Traffic    Each cell once.
// Tunables   PACK columns per access.
// Source     NVIDIA, PTX ISA, cp.async.

#include "async_copy.cu"
#include "convolve_packs"

// Copies one cell or a pack. Complete after await_copies.
INLINED void copy_cell(T* to, const T* from) {
    copy_async_if<SIZE>(true, static_cast<u32>(__cvta_generic_to_shared(to)), from);
}
INLINED void copy_cell(T* to, const u8* from) { *to = T(*from); }
INLINED void copy_pack(T* to, const T* from) { copy_pack_async(to, from); }
INLINED void copy_pack(T* to, const u8* from) {
    const PackI pack = *reinterpret_cast<const PackI*>(from);
    PackT cells;
#pragma unroll
    for (int j = 0; j < PACK; ++j) cells.item[j] = T(pack.item[j]);
    *reinterpret_cast<PackT*>(to) = cells;
}
