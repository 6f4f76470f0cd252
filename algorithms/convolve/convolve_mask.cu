// The mask as a parameter of kernels, CUDA C++. Parallel source: convolve_mask.cl.
//
// MASK declares the parameter, AT_MASK the variable `taps`, a TAPS_POINTER to the mask's values. TAP(j, i, columns) is
// tap i of row j, for loops that are not unrolled: through a pointer to the row, which compilers turn into fewer
// instructions, but by index in CUDA's constant memory, where the pointer is 5 % slower (H100).
//
// Passes     none of its own. No memory traffic.
// Tunables   none.
// Source     textbook.
//
// BY_VALUE: the mask, of TAPS values T, is a kernel parameter, in constant memory.

#include "common.cu"

#define TAPS_POINTER const T*
#if BY_VALUE
typedef struct {
    T tap[TAPS];
} Mask;
#define MASK const __grid_constant__ Mask mask
#define AT_MASK const T* const taps = mask.tap
#define TAP(j, i, columns) taps[(j) * (columns) + (i)]
#else
#define MASK const T* mask
#define AT_MASK const T* const taps = mask
#define TAP(j, i, columns) (taps + (j) * (columns))[i]
#endif
