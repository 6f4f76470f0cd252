// The mask as a parameter of kernels, OpenCL C. The parallel source convolve_mask.cu describes it.
//
// BY_VALUE: the mask, of TAPS values T, is a kernel argument; CONSTANT_MASK: it is in constant memory, where all
// work-items read one tap at a time.

#include "common.cl"

#if BY_VALUE
typedef struct {
    T tap[TAPS];
} Mask;
#define TAPS_POINTER const T*
#define MASK const Mask mask
#define AT_MASK const T* const taps = mask.tap
#define TAP(j, i, columns) taps[(j) * (columns) + (i)]
#else
#if CONSTANT_MASK
#define TAPS_POINTER __constant T*
#else
#define TAPS_POINTER __global const T*
#endif
#define MASK TAPS_POINTER mask, ulong mask_at
#define AT_MASK TAPS_POINTER const taps = mask + mask_at
#define TAP(j, i, columns) (taps + (j) * (columns))[i]
#endif
