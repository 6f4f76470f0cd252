// The mask as an argument and the image, CUDA C++. Parallel source: convolve_mask.cl.
//
// Algorithm  none of its own: what `register_tiled` and `sliding` share.
// Passes     none of its own.
// Traffic    none of its own.
// Tunables   PACK columns per access.
// Source     V. Volkov, Better performance at lower occupancy, GTC 2010.
//
// I: element type of the image; T: element type of the mask and the result; BY_VALUE: the mask is a kernel parameter.

#include "tile.cu"

struct MaskValues {
    T tap[MASK_ROWS * MASK_COLUMNS];
    __device__ __forceinline__ T operator[](u32 k) const { return tap[k]; }
};
#if BY_VALUE
typedef MaskValues Mask;
#else
typedef const T* Mask;
#endif

constexpr int before = MASK_COLUMNS / 2;                  // columns under the mask on either side
constexpr int lead = (before + PACK - 1) / PACK * PACK;  // `before`, rounded up to whole packs

// The image, as all threads see it.
struct Image {
    const I* in;
    i64 rows, columns;
    u64 pitch;
    bool clamps;
};
