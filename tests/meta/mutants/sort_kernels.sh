# Mutants of sort's device kernels, for mutation.sh.
# shellcheck shell=bash disable=SC2016

small="--types u32 --patterns few --sizes 1009"
tiles="--types u32 --patterns few --sizes 9001"

mutant sort_keys.kernel any "sort --variants radix4 --types f32 --patterns random --sizes 129" \
    "negative floats are not turned about" 'return x ^ code.flip ^ (' 'return x ^ code.flip ^ 0 * ('
mutant sort_bitonic.kernel any "sort --variants bitonic $small" "the last element is compared with none" \
    'if (high >= n) return;' 'if (high + 1 >= n) return;'
mutant sort_bitonic.kernel any "sort --variants bitonic $small" "values stay when their keys move" \
    'if (VALUE_SIZE) EXCHANGE(V, values[low], values[high]);' ''
mutant sort_bitonic_fused.kernel any "sort --variants bitonic_fused $small" "the upper half of a merge is not mirrored" \
    'mirrored ? first + stride - 1 - residue : lower' 'lower'
mutant sort_bitonic_fused.kernel any "sort --variants bitonic_fused $small" "the last column of a launch is left out" \
    'distance = INPUTS / 4; distance > 0;' 'distance = INPUTS / 4; distance > 1;'
mutant sort_bitonic_tile.kernel any "sort --variants bitonic_local $small" "no barrier between columns" \
    '            local_barrier();
' ''
mutant sort_bitonic_tile.kernel any "sort --variants bitonic_local $small" "the last column within a tile is left out" \
    'distance = length / 2; distance > 0;' 'distance = length / 2; distance > 1;'
mutant sort_radix1.kernel any "sort --variants radix1 $small" "the last element is not among the zeros" \
    'positions[last] + (u64)(1 - digit_of(in[last], shift, 1, code));' 'positions[last];'
mutant sort_radix4.kernel any "sort --variants radix4 $small" "the last element of a chunk is not counted" \
    'if (i + j < end) ++COUNTER' 'if (i + j + 1 < end) ++COUNTER'
mutant sort_radix4.kernel any "sort --variants radix4_vector $small" "of 16 values the first goes for all" \
    'in_values[i + j]' 'in_values[i]'
mutant sort_split.cl many "sort --variants radix8 $small" "what lies past the end takes part" \
    'origin[j] < count ? digit_of(key[j], shift, mask, code) : SPLIT_DIGITS - 1' 'digit_of(key[j], shift, mask, code)'
mutant sort_split_tile.cl many "sort --variants radix8 $small" "the last digit is left out" \
    'shift < last; shift += SPLIT_BITS' 'shift + SPLIT_BITS < last; shift += SPLIT_BITS'
mutant sort_radix8.cl many "sort --variants radix8 $tiles" "values stay in their tile's order" 'begin + tile.origin[i]' 'begin + i'
mutant group_rank.kernel many "sort --variants onesweep $small" "equal digits of a warp are turned about" \
    'return counted + before;' 'return counted + popcount(peers) - 1 - before;'
mutant sort_tile.kernel many "sort --variants onesweep $small" "what lies past the end takes part" \
    'key[i] = key_of((K)~(K)0, code);' 'key[i] = 0;'
mutant sort_tile.kernel many "sort --variants onesweep ${tiles/9001/300007}" "values stay in their tile's order" \
    'staged_values(shared)[place[i] & 0xffff] = value[i];' 'staged_values(shared)[place_of(i)] = value[i];'
mutant sort_ranks.kernel many "sort --variants rank_merge ${tiles/9001/1500}" "equal keys come in the order of the wrong tile" \
    'x, tile < own)' 'x, tile > own)'
mutant sort_one_tile.kernel many "sort --variants onesweep $small" "the last digit is left out" \
    'shift < last; shift += DIGIT_BITS' 'shift + DIGIT_BITS < last; shift += DIGIT_BITS'
mutant sort_onesweep.cl many "sort --variants onesweep ${tiles/9001/25001}" "tiles do not count what lies before the last one" \
    'IS_THROUGH | (before + own)' 'IS_THROUGH | own'
mutant sort_histograms.kernel many "sort --variants onesweep ${tiles/9001/300007}" "the first pass moves nothing" \
    'u32 moves = all & ~constant_passes;' 'u32 moves = all & ~constant_passes & ~1u;'
mutant sort_wide.cl one "sort --variants radix8 $small" "the first pass is skipped" \
    'counts[p * DIGITS + d] == n ? SKIPPED' 'counts[p * DIGITS + d] == n || p == 0 ? SKIPPED'
mutant sort_wide.cl one "sort --variants radix8 ${tiles/9001/40001}" "lines that are not full do not leave" \
    'leave_keys(held + d * LINE, to + line, others, count, 0);' ''
mutant sort_wide.cl one "sort --variants radix8 ${tiles/9001/40001}" "all passes are skipped" \
    'if (sum == n) steps[p]' 'if (sum != 0) steps[p]'
mutant sort_merge_items.kernel many "sort --variants merge $tiles" "of equal elements the later one comes first" \
    '!comes_before(op, tile->key[j], tile->key[i])' 'comes_before(op, tile->key[i], tile->key[j])'
mutant sort_merge.kernel many "sort --variants merge $small" "the last round of a tile's merges is left out" \
    'width < TILE; width *= 2' 'width < TILE / 4; width *= 2'
mutant sort_merge_items.kernel many "sort --variants merge $small" "work-items begin to merge at the beginning" \
    'u32 i = a + path, j = b + diagonal - path;' 'u32 i = a, j = b;'
mutant sort_merge_wide.cl one "sort --variants merge $small" "of equal elements the later one comes first" \
    'const bool second = comes_before(op, y, x);' 'const bool second = !comes_before(op, x, y);'
mutant sort_merge_wide.cl one "sort --variants merge ${small/1009/300}" "an odd number of rounds ends in the other buffer" \
    'u32 side = rounds % 2;' 'u32 side = 0;'

mutant sort_onesweep.cu any "sort --variants onesweep ${tiles/9001/300007}" "tiles do not count what lies before the last one" \
    'IS_THROUGH | (before + own)' 'IS_THROUGH | own'
mutant sort_radix8.cu any "sort --variants radix8 $tiles" "all tiles take the values of the first" \
    'load_values(in_values + begin, count, value)' 'load_values(in_values, count, value)'
