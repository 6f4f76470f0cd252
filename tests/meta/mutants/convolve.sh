# Mutants of convolve, for mutation.sh.
# shellcheck shell=bash disable=SC2016

# Sizes from 100 to 200 leave out the largest masks; their kernels take long to compile.
tiled="convolve --variants register_tiled --types f32 --patterns random --sizes 150"
inner="convolve --variants register_tiled --types f32 --patterns random --sizes 20000"
sliding="convolve --variants sliding --types f32 --patterns random --sizes 150"
strips="convolve --variants sliding --types f32 --patterns random --sizes 20000"
bands="convolve --variants sliding --types f32 --patterns random --sizes 1009"
direct="convolve --variants naive --types f32 --patterns random --sizes 150"
halo="${direct/naive/tiled_halo}"

mutant convolve_steps.kernel any "$direct" "columns outside are never 0" '(r == row && c == column)' 'r == row'
mutant convolve_steps.kernel any "$direct" "a pitch is taken for the other" 'out[y * out_pitch + x]' 'out[y * in_pitch + x]'
mutant convolve_steps.kernel any "$halo" "no barrier: a work-item takes cells before they are there" \
    '    local_barrier();
' ''
mutant convolve_steps.kernel any "$halo" "the mask is upside down" 'TAP(j, i, mask_columns), tile' \
    'TAP(mask_rows - 1 - j, i, mask_columns), tile'
mutant convolve_steps.kernel any "$direct" "half the mask's height is taken for half its width" \
    'left = (i64)x - mask_columns / 2;' 'left = (i64)x - mask_rows / 2;'
mutant convolve_steps.kernel any "$halo" "the tile's rows are as long as without its halo" \
    'tile[(y + j) * width + x + i]' 'tile[(y + j) * TILE_COLUMNS + x + i]'
mutant convolve.kernel many "$tiled" "a multiply and an add for one of both" \
    'sum[p] = fma(tap[i], cell[LEAD - BEFORE + p + i], sum[p]);' \
    'sum[p] = tap[i] * cell[LEAD - BEFORE + p + i] + sum[p];'
mutant convolve_packs.kernel many "$tiled" "columns outside are never 0" '(r == row && c == column)' 'r == row'
mutant convolve_packs.kernel many "$tiled" "a result past a row's end" 'if (p < left) to[p]' 'if (p <= left) to[p]'
mutant convolve.kernel many "$inner" "a group at the right edge reads on" '(u64)left + LINE * PACK <= columns' \
    '(u64)left + TILE_COLUMNS <= columns'
mutant convolve.kernel many "$tiled" "no barrier: a work-item takes cells before they are there" \
    '    local_barrier();
' ''
mutant convolve.kernel many "$inner" "the rows of a work-item are adjacent" 'cells + r * ITEMS_Y * PITCH' 'cells + r * PITCH'
mutant convolve_sliding.kernel many "$sliding" "sums do not move on by a row" 'sum[k + (j > 0)][p]' 'sum[k][p]'
mutant convolve_sliding.kernel many "$sliding" "a multiply and an add for one of both" \
    'sum[k][p] = fma(tap, row[LEAD - BEFORE + p + i], so_far);' \
    'sum[k][p] = tap * row[LEAD - BEFORE + p + i] + so_far;'
mutant convolve_sliding.kernel many "$strips" "a work-item at the right edge reads on" 'left + (ROW * PACK + LEAD) <= columns' \
    'left + ROW * PACK <= columns'
mutant convolve_sliding.kernel many "$sliding" "a row between strips is left out" '(part >> wide_shift)) * height;' \
    '(part >> wide_shift)) * (height + 1);'
mutant convolve_sliding.kernel many "$strips" "rows that were loaded ahead are lost" '((u) + (k)) % (AHEAD + 1)' \
    '(k)'
mutant convolve_wide.cl one "$bands" "columns outside are never 0" '(r == row && q == column)' 'r == row'
mutant convolve_wide.cl one "$bands" "rows outside are never 0" 'clamps || r == row ? in +' 'r == r ? in +'
mutant convolve_wide.cl one "$bands" "a vector past a row's end" 'min((u64)LANES, end - x)' 'LANES'
mutant convolve_wide.cl one "$bands" "the first tap of the last rows is left out" \
    'for (u32 i = 0; i < mask_columns; ++i) TAPS(r, i, mask_rows, false)' \
    'for (u32 i = r > mask_rows; i < mask_columns; ++i) TAPS(r, i, mask_rows, false)'

# A NaN keeps the bits that the device gives it.
mutant convolve_packs.kernel many "${inner/random/special}" "a NaN is not canonical" 'pack.item[p] = canonical(sum[p]);' \
    'pack.item[p] = sum[p];'
mutant convolve_wide.cl one "${sliding/random/special}" "a NaN is not canonical" 'value = CANONICAL(VECTOR, value);' ''
