// The local memory of a tile of a radix sort, CUDA C++: tables that rank the elements, and room to stage them. Parallel
// source: sort_stage.cl.
//
// The file sort_tile.kernel lists the constants.

#include "lanes"
#include "sort_sums"

#define TILE (GROUP * ITEMS)                    // at most 65536
#define TABLES (UNORDERED ? 1 : GROUP / LANES)  // of counters

// What ranks a tile.
typedef struct {
    u32 counts[TABLES][DIGITS];
    u32 lanes[TABLES][DIGITS];
    Scan scan;
} Ranks;

static_assert(GROUP >= DIGITS && GROUP % LANES == 0 && TILE <= 65536);

// The launch gives memory for the staged elements, in addition to this one, so they do not take the place of the ranks.
#define STAGED_APART 1
struct Shared {
    Ranks ranks;
    COUNT base[DIGITS];  // place of each digit in the output, minus its place in the tile
};
extern __shared__ __align__(16) unsigned char staged[];  // TILE keys, then as many values

INLINED Ranks* ranks_of(Shared* shared) { return &shared->ranks; }
INLINED K* staged_keys(Shared*) { return (K*)staged; }
INLINED V* staged_values(Shared*) { return (V*)staged; }
