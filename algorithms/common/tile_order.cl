// Order in which groups process the tiles of a matrix, OpenCL C. Parallel source: tile_order.cu.
//
// Algorithm  The order covers bands of `band` rows of tiles, one column of a band after another. Groups that run at
//            the same time are therefore neighbours in both directions: they share input in the cache, and cache
//            lines that belong to two tiles.
// Passes     none of its own. No memory traffic.
// Tunables   band: rows of tiles per band.
// Source     NVIDIA CUTLASS, threadblock rasterization (swizzling).

#include "common.cl"

typedef struct {
    u32 row, column;  // in tiles
} Place;

// Returns the position of tile number `tile` of tile_rows x tile_columns tiles.
INLINED Place place_of_tile(u32 tile, u32 tile_rows, u32 tile_columns, u32 band) {
    const u32 tiles = band * tile_columns, first = tile / tiles * band, rest = tile % tiles;
    const u32 height = min(band, tile_rows - first);
    const Place place = {first + rest % height, rest / height};
    return place;
}
