# Mutants of transpose, for mutation.sh.
# shellcheck shell=bash disable=SC2016

turn="transpose --variants vectorized --types u32 --patterns random --sizes 20011"
turn_small="${turn/u32/u8}"
bands="transpose --variants vectorized --types u64 --patterns random --sizes 100003"
strip="${turn/20011/1009}"
tiled="transpose --variants tiled_padded --types u32 --patterns random --sizes 1009"
naive="${tiled/tiled_padded/naive}"
blocked="transpose --variants blocked --types u32 --patterns random --sizes 1009,20011"
blocked_large="${blocked/1009,20011/2000003}"

mutant tile_order.kernel many "$bands" "all bands are the first" '/ tiles * band, rest' '/ tiles * 0, rest'
mutant tile_order.kernel many "$bands" "the last band has the others' columns" 'rest % height, rest / height' 'rest % height, rest / band'
mutant transpose_tile.kernel any "$tiled" "a pair of tiles is left out" 'column >= row + even' 'column > row + even'
mutant transpose_steps.kernel any "$naive" "a column past the end" \
    'r < rows && c < columns) out' 'r < rows && c <= columns) out'
mutant transpose_steps.kernel any "$naive" "a pitch is taken for the other" \
    'in[r * in_pitch + c]' 'in[r * out_pitch + c]'
mutant transpose_steps.kernel any "$tiled" "no barrier: a tile leaves before it is there" '    local_barrier();
    store_turned(tile, out +' '    store_turned(tile, out +'
mutant transpose_steps.kernel any "$tiled" "what lies between rows is written" \
    'x < columns) out[(j + y) * pitch + x]' 'x <= columns) out[(j + y) * pitch + x]'
mutant transpose_steps.kernel any "$tiled" "in place, tiles on the diagonal only" \
    'if (r != c) store_turned(mirrored, here' 'if (r == c) store_turned(mirrored, here'
mutant transpose.kernel many "$turn" "blocks are not turned" \
    'turned.item[i] = block[i].item[j];' 'turned.item[i] = block[j].item[i];'
mutant transpose.kernel many "$turn_small" "a block's last row is the one before" \
    'block[i] = *(GLOBAL const PackB*)(from + i * pitch);' \
    'block[i] = *(GLOBAL const PackB*)(from + (i < PACK - 1 ? i : i - 1) * pitch);'
mutant transpose.kernel many "$turn" "rows of the stage change places" \
    '= stage[staged(row, pack)];' '= stage[staged(row ^ 1, pack)];'
mutant transpose.kernel many "$turn" "an element is stored past a row's end" 'if (row < rows && c < columns) out' \
    'if (row < rows && c <= columns) out'
mutant transpose.kernel many "${turn/20011/16130}" "packs past the edge" 'if (aligned && rows >= TILE && columns >= TILE) {
        const u32 pack' 'if (aligned && rows + 1 >= TILE && columns + 1 >= TILE) {
        const u32 pack'
mutant transpose.kernel many "$turn" "in place, the mirror image stays" 'if (r != c) store_rows(' 'if (r == c) store_rows('
mutant transpose_thin.kernel many "$strip" "what is in no whole pack is not loaded" 'i < count; i += GROUP) {
        const u32 k = i / thin;
        *item' 'i < count / PACK * PACK; i += GROUP) {
        const u32 k = i / thin;
        *item'
mutant transpose_thin.kernel many "$strip" "of gaps between thin rows nothing is known" \
    '*item(stage, i) = in[k * pitch + (i - k * thin)];' '*item(stage, i) = in[i];'
mutant transpose_thin.kernel many "$strip" "long rows end one late" 'if (k < lines) out[' 'if (k <= lines) out['
mutant transpose_thin.kernel many "$strip" "stages overlap: padding is counted late" \
    'word + word / LINE_WORDS' 'word + word / LINE_WORDS % 2'
mutant transpose_wide.cl one "$blocked" "a round is left out" '#elif PACK == 4
    ROUND(next, row)
#define TURNED row' '#elif PACK == 4
#define TURNED next'
mutant transpose_wide.cl one "$blocked" "the last column of a tile stays behind" \
    'for (u64 c = 0; c < columns; c += PACK)' 'for (u64 c = 0; c + 1 < columns; c += PACK)'
mutant transpose_wide.cl one "$blocked" "the first blocks of a row come last" \
    'for (u64 r = (rows + PACK - 1) / PACK * PACK; r > 0;) {
            r -= PACK;' 'for (u64 r = 0; r < rows; r += PACK) {'
mutant transpose_wide.cl one "$blocked" "in place, a tile gets itself, not its mirror image" \
    'store_tile(here, pitch, mirrored' 'store_tile(here, pitch, to'
mutant transpose_wide.cl one "$blocked_large" "what waits for the rest of its line is lost" \
    'store_row(to - waited, row - waited, waited + length - waits' 'store_row(to, row, length - waits'
