// The local memory of a tile of a radix sort, OpenCL C: tables that rank the elements, and room to stage them. Parallel
// source: sort_stage.cu.
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

// The staged elements take the place of the ranks, because some drivers offer only 48 KiB.
#define STAGED_APART 0
typedef struct {
    union {
        Ranks ranks;
        K keys[TILE];
        V values[VALUE_SIZE ? TILE : 1];
    } tile;
    COUNT base[DIGITS];  // place of each digit in the output, minus its place in the tile
} Shared;

INLINED __local Ranks* ranks_of(__local Shared* shared) { return &shared->tile.ranks; }
INLINED __local K* staged_keys(__local Shared* shared) { return shared->tile.keys; }
INLINED __local V* staged_values(__local Shared* shared) { return shared->tile.values; }
