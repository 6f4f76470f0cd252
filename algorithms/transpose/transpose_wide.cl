// Transpose on CPUs, `blocked`, OpenCL C. Parallel source: transpose_host.hpp.
//
// Algorithm  One work-item per group takes tile after tile down the columns of in. It copies the rows of a tile to
//            a stage that fits the cache, so distances of powers of two between rows no longer matter. It
//            transposes blocks of 16 bytes by PACK rows in registers into a second stage, whose rows are long
//            pieces of rows of out. For large data, it stores whole cache lines by non-temporal stores, and the
//            rest of a row waits for the row's next piece. Meanwhile it prefetches the rows of the next tile,
//            because hardware prefetchers do not follow from row to row. Rows of the stages hold whole blocks, and
//            blocks at a tile's edges are whole too. If a tile has all rows or columns of a matrix, and these are
//            contiguous in memory, they are contiguous in the stage too.
// exchange   In place: a group exchanges a tile on or right of the diagonal with its mirror image, through the
//            cache.
// Passes     one launch
// Traffic    one read and one write per element
// Tunables   STAGE bytes of a stage; the tiles that the host side chooses
// Source     J. O. Eklundh, A Fast Computer Method for Matrix Transposing, 1972 (the rounds in registers).
//
// B: unsigned integer of the elements' size; VECTOR: PACK of them, 16 bytes.

#include "lines.cl"

// Interleave the lower, or the upper, halves of two vectors. Items of the second vector count from PACK.
#if PACK == 2
#define LOW_ITEMS 0, 2
#define HIGH_ITEMS 1, 3
#elif PACK == 4
#define LOW_ITEMS 0, 4, 1, 5
#define HIGH_ITEMS 2, 6, 3, 7
#elif PACK == 8
#define LOW_ITEMS 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_ITEMS 4, 12, 5, 13, 6, 14, 7, 15
#else
#define LOW_ITEMS 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_ITEMS 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#endif
#if __has_builtin(__builtin_shufflevector)
#define LOW_OF(a, b) __builtin_shufflevector(a, b, LOW_ITEMS)
#define HIGH_OF(a, b) __builtin_shufflevector(a, b, HIGH_ITEMS)
#else
#define LOW_OF(a, b) shuffle2(a, b, (VECTOR)(LOW_ITEMS))
#define HIGH_OF(a, b) shuffle2(a, b, (VECTOR)(HIGH_ITEMS))
#endif

// Transposes a block in log2(PACK) rounds. A round interleaves row k with row k + PACK / 2, which rotates the bits
// of an element's place (row, column) by one. All rounds rotate them by half their length.
#define ROUND(from, to)                                                                                                \
    _Pragma("unroll") for (int k = 0; k < PACK / 2; ++k) {                                                             \
        to[2 * k] = LOW_OF(from[k], from[k + PACK / 2]);                                                               \
        to[2 * k + 1] = HIGH_OF(from[k], from[k + PACK / 2]);                                                          \
    }
typedef struct { VECTOR all; } __attribute__((packed)) Unaligned;
INLINED void turn_block(const B* from, u64 from_pitch, B* to, u64 to_pitch) {
    VECTOR row[PACK], next[PACK];
#pragma unroll
    for (int k = 0; k < PACK; ++k) row[k] = ((const Unaligned*)(from + k * from_pitch))->all;
    ROUND(row, next)
#if PACK == 2
#define TURNED next
#elif PACK == 4
    ROUND(next, row)
#define TURNED row
#elif PACK == 8
    ROUND(next, row)
    ROUND(row, next)
#define TURNED next
#else
    ROUND(next, row)
    ROUND(row, next)
    ROUND(next, row)
#define TURNED row
#endif
#pragma unroll
    for (int k = 0; k < PACK; ++k) ((Unaligned*)(to + k * to_pitch))->all = TURNED[k];
}

// Prefetches the rows of the next tile a few lines at a time.
typedef struct {
    __global const char* row;
    u64 rows, row_bytes, pitch_bytes, at;
} Ahead;

// PoCL's prefetch() does nothing, but its compiler has a builtin.
static inline void ask_line(__global const char* at) {
#if defined(POCL_DEVICE_ADDRESS_BITS) && __has_builtin(__builtin_prefetch)
    __builtin_prefetch((const void*)(ulong)at, 0, 2);
#else
    prefetch(at, 64);
#endif
}

INLINED void ask(Ahead* ahead, u32 bytes) {
    for (u32 asked = 0; asked < bytes && ahead->rows != 0; asked += 64) {
        ask_line(ahead->row + ahead->at);
        ahead->at += 64;
        if ((ulong)(ahead->row + ahead->at) / 64 <= (ulong)(ahead->row + ahead->row_bytes - 1) / 64) continue;
        ahead->at = 0;
        ahead->row += ahead->pitch_bytes;
        --ahead->rows;
    }
}

// Transposes in whole blocks. Elements past the last row or column move along. Where rows of `to` are contiguous,
// they are overwritten, because the last blocks of a row come first.
INLINED void turn_tile(const B* from, u64 from_pitch, B* to, u64 to_pitch, u64 rows, u64 columns, Ahead* ahead) {
    for (u64 c = 0; c < columns; c += PACK) {
        for (u64 r = (rows + PACK - 1) / PACK * PACK; r > 0;) {
            r -= PACK;
            turn_block(from + r * from_pitch + c, from_pitch, to + c * to_pitch + r, to_pitch);
            ask(ahead, PACK * 16);
        }
    }
}

// A cache line, at any alignment.
#define LINE (LINE_BYTES / SIZE)
typedef struct { ulong8 all; } __attribute__((packed)) Line;

INLINED void load_row(__global const B* in, B* stage, u64 count) {
    u64 i = 0;
    for (; i + LINE <= count; i += LINE) ((Line*)(stage + i))->all = ((__global const Line*)(in + i))->all;
    for (; i < count; ++i) stage[i] = in[i];
}

// Elements from the last line boundary at or before `at` to `at`.
static inline u64 past_line(__global const B* at) { return (ulong)at % LINE_BYTES / SIZE; }

INLINED void store_row(__global B* out, const B* stage, u64 count, u32 non_temporal) {
    u64 i = 0;
    if (CAN_STREAM && non_temporal) {
        for (; i < count && past_line(out + i) != 0; ++i) out[i] = stage[i];
        for (; i + LINE <= count; i += LINE) stream_line(out + i, ((const Line*)(stage + i))->all);
    }
    for (; i + LINE <= count; i += LINE) ((__global Line*)(out + i))->all = ((const Line*)(stage + i))->all;
    for (; i < count; ++i) out[i] = stage[i];
}

INLINED void load_tile(__global const B* in, u64 pitch, B* stage, u64 stage_pitch, u64 rows, u64 columns, bool whole) {
    const u64 length = whole ? rows * columns : columns;
    for (u64 r = 0; r < (whole ? 1 : rows); ++r) load_row(in + r * pitch, stage + r * stage_pitch, length);
}

// Non-temporal stores write whole lines only, except for the last tile along a row of out. The rest of a row waits
// in the stage, ahead of the place of the row's next piece.
INLINED void store_tile(__global B* out, u64 pitch, B* stage, u64 stage_pitch, u64 rows, u64 columns, bool whole,
                        u32 non_temporal, bool first, bool last) {
    const u64 length = whole ? rows * columns : columns;
    for (u64 r = 0; r < (whole ? 1 : rows); ++r) {
        __global B* to = out + r * pitch;
        B* row = stage + r * stage_pitch;
        const u64 waited = first || !non_temporal ? 0 : past_line(to);
        const u64 waits = last || !non_temporal ? 0 : past_line(to + length);
        store_row(to - waited, row - waited, waited + length - waits, non_temporal);
        for (u64 i = 0; i < waits; ++i) (row - waits)[i] = (row + length - waits)[i];
    }
}

// A tile has tile_rows x tile_columns elements. from_pitch, to_pitch: elements per row of the stages. whole: bit 0
// says that a tile's rows are contiguous in in, bit 1 in out. A group takes `count` of the tiles, which are
// numbered down the columns, `down` per column.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void transpose_blocked(__global const B* in, ulong in_at, __global B* out, ulong out_at, u64 rows, u64 columns,
                       u64 in_pitch, u64 out_pitch, u64 count, u32 non_temporal, u64 tiles, u64 down, u64 tile_rows,
                       u64 tile_columns, u64 from_pitch, u64 to_pitch, u32 whole) {
    B from[STAGE / SIZE], turned[LINE + STAGE / SIZE];
    B* to = turned + LINE;
    const u64 begin = get_group_id(0) * count, end = min(tiles, begin + count);
    in += in_at;
    out += out_at;
    for (u64 tile = begin; tile < end; ++tile) {
        const u64 r = tile % down * tile_rows, c = tile / down * tile_columns;
        const u64 height = min(tile_rows, rows - r), width = min(tile_columns, columns - c);
        Ahead ahead = {0, 0, 0, 0, 0};
        if (non_temporal && tile + 1 < end) {
            const u64 next_r = (tile + 1) % down * tile_rows, next_c = (tile + 1) / down * tile_columns;
            ahead.row = (__global const char*)(in + next_r * in_pitch + next_c);
            ahead.rows = min(tile_rows, rows - next_r);
            ahead.row_bytes = min(tile_columns, columns - next_c) * SIZE;
            ahead.pitch_bytes = in_pitch * SIZE;
        }
        load_tile(in + r * in_pitch + c, in_pitch, from, from_pitch, height, width, whole & 1);
        turn_tile(from, from_pitch, to, to_pitch, height, width, &ahead);
        const bool run = whole >> 1;  // all tiles are contiguous in out
        store_tile(out + c * out_pitch + r, out_pitch, to, to_pitch, width, height, run, non_temporal,
                   tile == begin || (r == 0 && !run), tile + 1 == end || (r + height == rows && !run));
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void transpose_exchange_blocked(__global B* both, ulong both_at, u64 side, u64 pitch, u64 count, u64 tiles, u64 down,
                                u64 tile_side, u64 from_pitch, u64 to_pitch) {
    B from[STAGE / SIZE], to[STAGE / SIZE], mirrored[STAGE / SIZE];
    const u64 end = min(tiles, (get_group_id(0) + 1) * count);
    both += both_at;
    for (u64 tile = get_group_id(0) * count; tile < end; ++tile) {
        const u64 r = tile % down * tile_side, c = tile / down * tile_side;
        if (c < r) continue;
        const u64 height = min(tile_side, side - r), width = min(tile_side, side - c);
        __global B* here = both + r * pitch + c;
        __global B* there = both + c * pitch + r;
        Ahead none = {0, 0, 0, 0, 0};
        load_tile(here, pitch, from, from_pitch, height, width, false);
        turn_tile(from, from_pitch, to, to_pitch, height, width, &none);
        if (r != c) {
            load_tile(there, pitch, from, from_pitch, width, height, false);
            turn_tile(from, from_pitch, mirrored, to_pitch, width, height, &none);
            store_tile(here, pitch, mirrored, to_pitch, height, width, false, 0, true, true);
        }
        store_tile(there, pitch, to, to_pitch, width, height, false, 0, true, true);
    }
}
