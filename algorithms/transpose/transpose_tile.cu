// The tile of a group, CUDA C++. Parallel source: transpose_tile.cl. Tiles are counted along the rows and the
// columns of in.

#include "tile_order.cu"

// The tile of this group, in the order of tile_order.cu.
__device__ __forceinline__ Place place_of_group(u32 tile_rows, u32 tile_columns, u32 band) {
    return place_of_tile(blockIdx.x, tile_rows, tile_columns, band);
}

// A tile on or right of the diagonal of `side` x `side` tiles. The first and the last row of that triangle
// together, the second and the second to last, and so on, form a rectangle of side | 1 columns.
__device__ __forceinline__ Place place_of_pair(u32 side) {
    const u32 even = 1 - side % 2, width = side + even;
    const u32 row = blockIdx.x / width, column = blockIdx.x % width;
    if (column >= row + even) return {row, column - even};
    return {side - even - row, side - 1 - column};
}
