// The tile of a group, OpenCL C. Parallel source: transpose_tile.cu. Tiles are counted along the rows and the
// columns of in.

#include "tile_order.cl"

// The tile of this group, in the order of tile_order.cl.
INLINED Place place_of_group(u32 tile_rows, u32 tile_columns, u32 band) {
    return place_of_tile(get_group_id(0), tile_rows, tile_columns, band);
}

// A tile on or right of the diagonal of `side` x `side` tiles. The first and the last row of that triangle
// together, the second and the second to last, and so on, form a rectangle of side | 1 columns.
INLINED Place place_of_pair(u32 side) {
    const u32 even = 1 - side % 2, width = side + even, group = get_group_id(0);
    const u32 row = group / width, column = group % width;
    const bool right = column >= row + even;
    const Place place = {right ? row : side - even - row, right ? column - even : side - 1 - column};
    return place;
}
