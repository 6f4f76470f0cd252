// Which tile a group takes, CUDA C++. Parallel text: transpose_tile.cl. Tiles are counted along the rows and the
// columns of in.

struct Place {
    u32 row, column;
};

// Groups go through bands of `band` rows of tiles, down each column of a band before the next: those that run at one
// time are neighbours both ways, so that they read long pieces of rows of in and write long pieces of rows of out, and
// lines that belong to two tiles meet in the cache.
__device__ __forceinline__ Place place_of_group(u32 tile_rows, u32 tile_columns, u32 band) {
    const u32 tiles = band * tile_columns;
    const u32 first = blockIdx.x / tiles * band, rest = blockIdx.x % tiles;
    const u32 height = min(band, tile_rows - first);
    return {first + rest % height, rest / height};
}

// A tile on or right of the diagonal of `side` x `side` tiles. The rows of that triangle, the first with the last, the
// second with the last but one, make a rectangle of side | 1 columns.
__device__ __forceinline__ Place place_of_pair(u32 side) {
    const u32 even = 1 - side % 2, width = side + even;
    const u32 row = blockIdx.x / width, column = blockIdx.x % width;
    if (column >= row + even) return {row, column - even};
    return {side - even - row, side - 1 - column};
}
