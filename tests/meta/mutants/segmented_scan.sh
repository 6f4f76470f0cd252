# Mutants of segmented_scan, for mutation.sh.
# shellcheck shell=bash disable=SC2016

few="segmented_scan --types f32 --patterns random --sizes 1025"
some="segmented_scan --types f32 --patterns random --sizes 16385"
many="segmented_scan --types f32 --patterns random --sizes 70001"

mutant segmented_scan.kernel any "$few" "another association: the last value instead of the left half" \
    'value = apply(op, saved[k], value);' 'value = apply(op, saved[0], value);'
mutant segmented_scan.kernel any "$few" "a block does not end where a segment begins" \
    'if (is_head || j == FAN) {' 'if (j == FAN) {'
mutant segmented_scan.kernel any "$few" "the blocks of a segment that is open at a strip begin one element late" \
    'u32 i = (0 - in_segment) % FAN' 'u32 i = (1 - in_segment) % FAN'
mutant segmented_scan.kernel any "$few" "the carry of a block lacks the block before it" \
    'apply(op, carry, sums[s - 1])' 'carry'
mutant segmented_scan.kernel any "$some" "the piece behind a tile begins at the end of the tile" \
    'to_piece(from + TILE, next)' '0'
mutant segmented_scan.kernel any "$some" "the carry of a piece has the nodes of another segment" \
    'places[window] - pieces[window] +' 'places[window] - pieces[window] + 1 +'
mutant segmented_scan.kernel any "$some" "tiles with complete pieces are left out" \
    '> PIECE - 32) is_needed = 1' '> PIECE + PIECE) is_needed = 0'
mutant segmented_scan.kernel any "$few" "exclusive results include the element" \
    'tile[PLACE(k - exclusive)]' 'tile[PLACE(k)]'
mutant segment_nodes.kernel any "$many" "a node lacks its first child" \
    'totals[last + 1 - FAN + j]' 'totals[last + 1 - FAN + (j > 0 ? j : 1)]'
mutant segment_nodes.kernel any "$many" "nodes count one too many" \
    'nodes = mark / FAN;' 'nodes = mark / FAN + 1;'
mutant segment_tiles.kernel any "$some" "the first head of a word is taken for its last one" \
    'highest_bit(word) + 1' 'highest_bit(word & (0 - word)) + 1'
mutant segment_heads.kernel any "$some" "offsets far from the first one of a group are lost" \
    'atomic_or(bits + at / 32, 1u << (at % 32));' ';'
mutant segment_words.kernel any "$few" "flags of four elements lie in reverse order" \
    '0x01020408u' '0x08040201u'
