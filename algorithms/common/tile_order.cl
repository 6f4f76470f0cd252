// Order in which groups process the tiles of a matrix, OpenCL C. The parallel source tile_order.cu describes it.

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
