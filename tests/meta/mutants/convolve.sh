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

mutant convolve_steps.cl any "$direct" "columns outside are never 0" '(r == row && c == column)' 'r == row'
mutant convolve_steps.cl any "$direct" "a pitch is taken for the other" 'out[out_at + y * out_pitch + x]' \
    'out[out_at + y * in_pitch + x]'
mutant convolve_steps.cl any "$halo" "no barrier: a work-item takes cells before they are there" \
    '    barrier(CLK_LOCAL_MEM_FENCE);
' ''
mutant convolve_steps.cl any "$halo" "the mask is upside down" 'mask[mask_at + j * mask_columns + i], tile' \
    'mask[mask_at + (mask_rows - 1 - j) * mask_columns + i], tile'
mutant convolve.cl many "$tiled" "a multiply and an add for one of both" \
    'sum[p] = fma(tap[i], cell[LEAD - BEFORE + p + i], sum[p]);' \
    'sum[p] = tap[i] * cell[LEAD - BEFORE + p + i] + sum[p];'
mutant convolve.cl many "$tiled" "columns outside are never 0" '(c == left + x && r == top + y)' 'r == top + y'
mutant convolve.cl many "$tiled" "a result past a row's end" 'if (p < left) to[p]' 'if (p <= left) to[p]'
mutant convolve.cl many "$inner" "a group at the right edge reads on" '(u64)left + LINE * PACK <= columns' \
    '(u64)left + TILE_COLUMNS <= columns'
mutant convolve.cl many "$tiled" "no barrier: a work-item takes cells before they are there" \
    '    barrier(CLK_LOCAL_MEM_FENCE);
' ''
mutant convolve.cl many "$inner" "the rows of a work-item are adjacent" 'cells + r * ITEMS_Y * PITCH' 'cells + r * PITCH'
mutant convolve_sliding.cl many "$sliding" "sums do not move on by a row" 'sum[k + (j > 0)][p]' 'sum[k][p]'
mutant convolve_sliding.cl many "$sliding" "a multiply and an add for one of both" \
    'sum[k][p] = fma(tap, row[LEAD - BEFORE + p + i], so_far);' \
    'sum[k][p] = tap * row[LEAD - BEFORE + p + i] + so_far;'
mutant convolve_sliding.cl many "$sliding" "a result past a row's end" 'if (p < count) to[p]' 'if (p <= count) to[p]'
mutant convolve_sliding.cl many "$strips" "a work-item at the right edge reads on" 'left + (32 * PACK + LEAD) <= columns' \
    'left + 32 * PACK <= columns'
mutant convolve_sliding.cl many "$sliding" "a row between strips is left out" '(part >> wide_shift)) * height;' \
    '(part >> wide_shift)) * (height + 1);'
mutant convolve_sliding.cl many "${strips/random/special}" "a NaN is not canonical" 'pack.item[p] = canonical(value[p]);' \
    'pack.item[p] = value[p];'
mutant convolve_wide.cl one "$bands" "columns outside are never 0" '(r == row && q == column)' 'r == row'
mutant convolve_wide.cl one "$bands" "rows outside are never 0" 'clamps || r == row ? in +' 'r == r ? in +'
mutant convolve_wide.cl one "$bands" "a vector past a row's end" 'min((u64)LANES, end - x)' 'LANES'
mutant convolve_wide.cl one "$bands" "the first tap of the last rows is left out" \
    'for (u32 i = 0; i < mask_columns; ++i) TAPS(r, i, mask_rows, false)' \
    'for (u32 i = r > mask_rows; i < mask_columns; ++i) TAPS(r, i, mask_rows, false)'

mutant convolve_steps.cu any "$direct" "half the mask's height is taken for half its width" \
    'left = i64(x) - mask_columns / 2;' 'left = i64(x) - mask_rows / 2;'
mutant convolve_steps.cu any "$direct" "columns outside are never 0" '(r == row && c == column)' 'r == row'
mutant convolve_steps.cu any "$halo" "no barrier: a thread takes cells before they are there" '    __syncthreads();
' ''
mutant convolve_steps.cu any "$halo" "the tile's rows are as long as without its halo" \
    'tile[(y + j) * width + x + i]' 'tile[(y + j) * TILE_COLUMNS + x + i]'
mutant convolve.cu any "$tiled" "a multiply and an add for one of both" \
    'sum[p] = fma(tap[i], cell[lead - before + p + i], sum[p]);' \
    'sum[p] = tap[i] * cell[lead - before + p + i] + sum[p];'
mutant tile.cu any "$tiled" "a result past a row's end" 'if (j < left) to[j]' 'if (j <= left) to[j]'
mutant convolve.cu any "$tiled" "columns outside are never 0" \
    'image.clamps || (c == left + x && r == top + y) ? cell : T(0)' 'r == top + y ? cell : T(0)'
mutant convolve.cu any "$inner" "packs go to the wrong lane" 'threadIdx.x ^ 1)' 'threadIdx.x ^ 2)'
mutant convolve.cu any "$inner" "the rows of a thread are adjacent" 'cells + r * threads_y * pitch' 'cells + r * pitch'

# A NaN keeps the bits that the device gives it.
mutant convolve.cl many "${inner/random/special}" "a NaN is not canonical" 'pack.item[p] = canonical(value[p]);' 'pack.item[p] = value[p];'
mutant convolve_wide.cl one "${sliding/random/special}" "a NaN is not canonical" 'value = CANONICAL(VECTOR, value);' ''
mutant convolve.cu any "${inner/random/special}" "a NaN is not canonical" \
    'result[p] = canonical(sum[r][w * PACK + p]);' 'result[p] = sum[r][w * PACK + p];'
mutant convolve_sliding.cu any "$sliding" "sums do not move on by a row" 'sum[k + (j > 0)][p]' 'sum[k][p]'
mutant convolve_sliding.cu any "$sliding" "columns outside are never 0" 'image.clamps || (c == at && r == row) ? cell : T(0)' \
    'r == row ? cell : T(0)'
mutant convolve_sliding.cu any "$strips" "rows that were loaded ahead are lost" '(u + k) % (AHEAD + 1)' 'k'
mutant convolve_sliding.cu any "$sliding" "a row between strips is left out" '(warp >> wide_shift)) * height;' \
    '(warp >> wide_shift)) * (height + 1);'
mutant convolve_sliding.cu any "${strips/random/special}" "a NaN is not canonical" 'result[p] = canonical(sum[0][p]);' \
    'result[p] = sum[0][p];'
