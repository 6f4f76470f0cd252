// Which tile a group takes, OpenCL C. Parallel text: transpose_tile.cu. Tiles are counted along the rows and the
// columns of in.

// Helpers that ask for the lane or the group: where they stay calls, PoCL 3.1 takes that number from a variable that
// its threads share.
#define INLINED static inline __attribute__((always_inline))

typedef struct {
    u32 row, column;
} Place;

// Groups go through bands of `band` rows of tiles, down each column of a band before the next: those that run at one
// time are neighbours both ways, so that they read long pieces of rows of in and write long pieces of rows of out, and
// lines that belong to two tiles meet in the cache.
INLINED Place place_of_group(u32 tile_rows, u32 tile_columns, u32 band) {
    const u32 tiles = band * tile_columns, group = get_group_id(0);
    const u32 first = group / tiles * band, rest = group % tiles;
    const u32 height = min(band, tile_rows - first);
    const Place place = {first + rest % height, rest / height};
    return place;
}

// A tile on or right of the diagonal of `side` x `side` tiles. The rows of that triangle, the first with the last, the
// second with the last but one, make a rectangle of side | 1 columns.
INLINED Place place_of_pair(u32 side) {
    const u32 even = 1 - side % 2, width = side + even, group = get_group_id(0);
    const u32 row = group / width, column = group % width;
    const bool right = column >= row + even;
    const Place place = {right ? row : side - even - row, right ? column - even : side - 1 - column};
    return place;
}
