// The columns of the mask and packs of the image, OpenCL C. The parallel source convolve_mask.cu describes them.
// I_SIZE: bytes of an element of the image.

#include "common.cl"

#define BEFORE (MASK_COLUMNS / 2)                  // columns under the mask on either side
#define LEAD ((BEFORE + PACK - 1) / PACK * PACK)  // BEFORE, rounded up to whole packs

typedef struct { I item[PACK]; } __attribute__((aligned(PACK * I_SIZE))) PackI;
typedef struct { T item[PACK]; } __attribute__((aligned(16))) PackT;
