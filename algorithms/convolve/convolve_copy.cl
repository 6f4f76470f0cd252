// Copies of cells to local memory, OpenCL C. Parallel source: convolve_copy.cu. With NVIDIA's compiler copies of cells
// of the mask's type are asynchronous; elsewhere they pass through registers.

#include "convolve_packs"

// Copies one cell or a pack. Complete after await_copies.
#if CONCORD_CAPABILITY >= 80 && I_SIZE == SIZE
#if SIZE == 4
#define COPY_CELL "cp.async.ca.shared.global [%0], [%1], 4;"
#else
#define COPY_CELL "cp.async.ca.shared.global [%0], [%1], 8;"
#endif
INLINED void copy_cell(__local T* to, __global const I* from) {
    asm volatile(COPY_CELL ::"r"((u32)(size_t)to), "l"(from) : "memory");
}
INLINED void copy_pack(__local T* to, __global const I* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((u32)(size_t)to), "l"(from) : "memory");
}
INLINED void await_copies(void) { asm volatile("cp.async.wait_all;" ::: "memory"); }
#else
INLINED void copy_cell(__local T* to, __global const I* from) { *to = (T)*from; }
INLINED void copy_pack(__local T* to, __global const I* from) {
    const PackI pack = *(__global const PackI*)from;
    PackT cells;
#pragma unroll
    for (int j = 0; j < PACK; ++j) cells.item[j] = (T)pack.item[j];
    *(__local PackT*)to = cells;
}
INLINED void await_copies(void) {}
#endif
