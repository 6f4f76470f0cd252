// The order in which groups take the tiles of a matrix, CUDA C++. Parallel source: tile_order.cl.

struct Place {
    u32 row, column;  // in tiles
};

// The tile-th of tile_rows x tile_columns tiles. The order goes through bands of `band` rows of tiles, and down each column
// of a band before the next. So groups that run at one time are neighbours both ways: they share what they read, and
// cache lines that belong to two tiles meet in the cache.
__device__ __forceinline__ Place place_of_tile(u32 tile, u32 tile_rows, u32 tile_columns, u32 band) {
    const u32 tiles = band * tile_columns, first = tile / tiles * band, rest = tile % tiles;
    const u32 height = min(band, tile_rows - first);
    return {first + rest % height, rest / height};
}
