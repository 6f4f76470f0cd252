# Mutants of convolve, for mutation.sh.
# shellcheck shell=bash disable=SC2016

# At sizes from 100 to 200 the largest masks are left out, whose kernels take long to compile.
lanes="convolve --variants sliding --types f32 --patterns random --sizes 150"
bands="convolve --variants sliding --types f32 --patterns random --sizes 1009"
direct="convolve --variants naive --types f32 --patterns random --sizes 150"
halo="${direct/naive/tiled_halo}"

mutant convolve_steps.cl any "$direct" "half the mask's height is taken for half its width" \
    'left = (i64)x - mask_columns / 2;' 'left = (i64)x - mask_rows / 2;'
mutant convolve_steps.cl any "$direct" "columns outside are never 0" '(r == row && c == column)' 'r == row'
mutant convolve_steps.cl any "$direct" "a column past the end" 'if (y >= rows || x >= columns) return;' \
    'if (y >= rows || x > columns) return;'
mutant convolve_steps.cl any "$direct" "a pitch is taken for the other" 'out[out_at + y * out_pitch + x]' \
    'out[out_at + y * in_pitch + x]'
mutant convolve_steps.cl any "$halo" "no barrier: a lane takes cells before they are there" \
    '    barrier(CLK_LOCAL_MEM_FENCE);
' ''
mutant convolve_steps.cl any "$halo" "the tile's rows are as long as without its halo" \
    'tile[(y + j) * width + x + i]' 'tile[(y + j) * TILE_COLUMNS + x + i]'
mutant convolve_steps.cl any "$halo" "the mask is upside down" 'mask[mask_at + j * mask_columns + i], tile' \
    'mask[mask_at + (mask_rows - 1 - j) * mask_columns + i], tile'
mutant convolve.cl many "$lanes" "sums do not move on by a row" 'sum[k + (j > 0)][p]' 'sum[k][p]'
mutant convolve.cl many "$lanes" "a multiply and an add for one of both" \
    'sum[k][p] = fma(tap, window[0][LEAD - BEFORE + p + i], so_far);' \
    'sum[k][p] = tap * window[0][LEAD - BEFORE + p + i] + so_far;'
mutant convolve.cl many "$lanes" "a result past a row's end" 'if (p < count) to[p]' 'if (p <= count) to[p]'
mutant convolve.cl many "$lanes" "columns outside are never 0" 'clamps || c == at ? cell : (T)0' 'cell'
mutant convolve.cl many "$lanes" "a lane at the right edge reads on" 'column + (PACK + LEAD) <= columns' \
    'column + PACK <= columns'
mutant convolve.cl many "$lanes" "rows that were loaded ahead are lost" 'window[k][i] = window[k + 1][i]' \
    'window[k][i] = window[k][i]'
mutant convolve.cl many "$bands" "a strip begins a row early" '(part >> wide_shift)) * height;' \
    '(part >> wide_shift)) * (height - 1);'
mutant convolve_wide.cl one "$bands" "a row of taps is taken for another" \
    'mask[(r - b) * mask_columns + i]' 'mask[(r - b) * mask_rows + i]'
mutant convolve_wide.cl one "$bands" "columns outside are never 0" '(r == row && q == column)' 'r == row'
mutant convolve_wide.cl one "$bands" "rows outside are never 0" 'clamps || r == row ? in +' 'r == r ? in +'
mutant convolve_wide.cl one "$bands" "a vector past a row's end" 'min((u64)LANES, end - x)' 'LANES'
mutant convolve_wide.cl one "$bands" "vectors at the left edge reach outside" \
    'left = (before + LANES - 1) / LANES * LANES;' 'left = 0;'
mutant convolve_wide.cl one "$bands" "the first tap of the last rows is left out" \
    'for (u32 i = 0; i < mask_columns; ++i) TAPS(r, i, mask_rows, false)' \
    'for (u32 i = r > mask_rows; i < mask_columns; ++i) TAPS(r, i, mask_rows, false)'

mutant convolve_steps.cu any "$direct" "half the mask's height is taken for half its width" \
    'left = i64(x) - mask_columns / 2;' 'left = i64(x) - mask_rows / 2;'
mutant convolve_steps.cu any "$direct" "columns outside are never 0" '(r == row && c == column)' 'r == row'
mutant convolve_steps.cu any "$halo" "no barrier: a lane takes cells before they are there" '    __syncthreads();
' ''
mutant convolve_steps.cu any "$halo" "the tile's rows are as long as without its halo" \
    'tile[(y + j) * width + x + i]' 'tile[(y + j) * TILE_COLUMNS + x + i]'
mutant convolve.cu any "$lanes" "sums do not move on by a row" 'sum[k + (j > 0)][p]' 'sum[k][p]'
mutant convolve.cu any "$lanes" "a result past a row's end" 'if (p < count) to[p]' 'if (p <= count) to[p]'
mutant convolve.cu any "$lanes" "columns outside are never 0" 'image.clamps || c == at ? cell : T(0)' 'cell'
mutant convolve.cu any "$lanes" "rows that were loaded ahead are lost" 'window[k] = window[k + 1]' 'window[k] = window[k]'
mutant convolve.cu any "$bands" "a strip begins a row early" '(warp >> wide_shift)) * height;' \
    '(warp >> wide_shift)) * (height - 1);'
