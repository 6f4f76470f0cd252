// What all of matmul's kernels share, OpenCL C. Parallel texts: matmul_tile.cu, matmul_host.hpp. T: element type.

// Helpers that ask for the lane or the group: where they stay calls, PoCL 3.1 takes that number from a variable that
// its threads share.
#define INLINED static inline __attribute__((always_inline))

// A call: element (i, l) of op(A) is a[i * a_row + l * a_column]; strides are from one product of the batch to the next.
typedef struct {
    u64 m, n, k, a_row, a_column, b_row, b_column, c_pitch, a_stride, b_stride, c_stride;
    T alpha, beta;
} Product;

typedef struct {
    u32 row, column;
} Place;

// The tile that a group takes, of the `tile_rows` x `tile_columns` of a product. Groups go through bands of `band` rows
// of tiles, down each column of a band before the next, so that those that run at one time share what they read.
INLINED Place place_of_tile(u32 tile, u32 tile_rows, u32 tile_columns, u32 band) {
    const u32 tiles = band * tile_columns, first = tile / tiles * band, rest = tile % tiles;
    const u32 height = min(band, tile_rows - first);
    const Place place = {first + rest % height, rest / height};
    return place;
}

// The end of a chain: t becomes an element of C, which is not read where beta is 0.
INLINED void finish(const Product* p, T t, __global T* c) {
    *c = p->beta == 0 ? p->alpha * t : fma(p->alpha, t, p->beta * *c);
}
