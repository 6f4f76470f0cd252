// Matmul, `packed`, OpenCL C for CPUs, one work-item per group. Parallel source: matmul_packed.hpp.
//
// Algorithm  Pass 1 packs op(B) into panels of PANEL columns, row by row, padded with zeros. In pass 2 a group
//            multiplies a strip of rows of A by a panel, ROWS rows at a time. ROWS x 2 vectors of C stay in registers
//            while l goes from 0 to k; each l loads two vectors of the panel and ROWS elements of A. The panel stays
//            in the cache for all rows of the strip.
// Passes     two: 2 k n elements moved, then 2 m n k operations.
// Tunables   none in the source; ROWS 8, PANEL two vectors of 64 bytes; matmul.groups sets the rows of a strip.
// Source     K. Goto, R. van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008.
//
// T: element type of SIZE bytes; WIDE: vector of 64 bytes. Every element is one chain of fma, l ascending from 0.

#include "matmul_tile"

#define WIDTH (64 / SIZE)
#define PANEL (2 * WIDTH)
#define ROWS 8

#if SIZE == 4
#define LOAD vload16
#else
#define LOAD vload8
#endif

// A group packs `count` rows of op(B), of one panel, of one plane of C.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void matmul_pack(__global const T* b, ulong b_at, __global T* panels, ulong panels_at, const Product p, u64 count) {
    const u64 across = (p.n + PANEL - 1) / PANEL, down = (p.k + count - 1) / count, group = get_group_id(0);
    const u64 panel = group / down % across, batch = group / down / across;
    const Part part = part_of(&p, batch);
    const u64 first = group % down * count, end = min(part.k, first + count);
    const u64 left = p.n - panel * PANEL;
    b += b_at + part.b + panel * PANEL * p.b_column;
    panels += panels_at + (batch * across + panel) * p.k * PANEL;
    if (p.b_column == 1 && left >= PANEL) {
        for (u64 l = first; l < end; ++l) {
            const WIDE low = LOAD(0, b + l * p.b_row), high = LOAD(1, b + l * p.b_row);
            *(__global WIDE*)(panels + l * PANEL) = low;
            *(__global WIDE*)(panels + l * PANEL + WIDTH) = high;
        }
        return;
    }
    for (u64 j = 0; j < PANEL; ++j) {
        for (u64 l = first; l < end; ++l) panels[l * PANEL + j] = j < left ? b[l * p.b_row + j * p.b_column] : 0;
    }
}

typedef union {
    WIDE all[2];
    T item[PANEL];
} Row;

INLINED void store_row(const Product* p, WIDE low, WIDE high, __global T* c, u64 left) {
    Row row;
    row.all[0] = low;
    row.all[1] = high;
    const u64 end = min(left, (u64)PANEL);
    for (u64 j = 0; j < end; ++j) finish(p, row.item[j], c + j);
}

#define STEP(R)                                        \
    {                                                  \
        const WIDE of_a = (WIDE)(a##R[l * p.a_column]); \
        low##R = fma(of_a, low, low##R);               \
        high##R = fma(of_a, high, high##R);            \
    }
// Rows past the last repeat it and are not stored.
#define START(R)                                                         \
    __global const T* a##R = a + min(i + R, end - 1) * p.a_row; \
    WIDE low##R = 0, high##R = 0;
#define END(R) \
    if (i + R < end) store_row(&p, low##R, high##R, c + (i + R) * p.c_pitch, p.n - j);

// A group multiplies `strip` rows of op(A) by one panel.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void matmul_packed(__global const T* a, ulong a_at, __global const T* panels, ulong panels_at, __global T* c,
                   ulong c_at, const Product p, u64 strip) {
    const u64 across = (p.n + PANEL - 1) / PANEL, down = (p.m + strip - 1) / strip, group = get_group_id(0);
    const u64 panel = group / down % across, batch = group / down / across, j = panel * PANEL;
    const u64 end = min(p.m, (group % down + 1) * strip);
    const Part part = part_of(&p, batch);
    a += a_at + part.a;
    c += c_at + batch * p.c_stride + j;
    __global const WIDE* of_b = (__global const WIDE*)(panels + panels_at + (batch * across + panel) * p.k * PANEL);
    for (u64 i = group % down * strip; i < end; i += ROWS) {
        START(0) START(1) START(2) START(3) START(4) START(5) START(6) START(7)
        for (u64 l = 0; l < part.k; ++l) {
            const WIDE low = of_b[2 * l], high = of_b[2 * l + 1];
            STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
        }
        END(0) END(1) END(2) END(3) END(4) END(5) END(6) END(7)
    }
}
