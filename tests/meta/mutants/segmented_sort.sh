# Mutants of segmented sort, for mutation.sh.
# shellcheck shell=bash disable=SC2016

few="segmented_sort --types u16 --patterns few --sizes 1025"
some="segmented_sort --types u16 --patterns few --sizes 16385"
many="segmented_sort --types u16 --patterns few --sizes 70001"

mutant segmented_sort_borders.kernel many "$some" "a segment that begins at a border reaches over it" \
    '(u64)offsets[above - 1] < border' '(u64)offsets[above - 1] <= border'
mutant segmented_sort_tiles.kernel many "$few" "elements move across the beginning of a segment" \
    'joined &= ~((u32)1 << (next - mine.first));' ''
mutant segmented_sort_tiles.kernel many "$some" "a segment over the left border lacks its first element in the tile" \
    'max((u64)offsets[above - 1], begin) - begin' 'max((u64)offsets[above - 1], begin + 1) - begin'
mutant segmented_sort_tiles.kernel many "$few" "runs are merged whatever the segments are" \
    'first = max(around[pair + run] & 0xffffu, pair * ITEMS);' 'first = pair * ITEMS;'
mutant segmented_sort_tiles.kernel many "$some" "segments over a border are decoded too early" \
    '? key_of(tile.key[i], code) : tile.key[i];' '|| at >= right_begin ? key_of(tile.key[i], code) : tile.key[i];'
mutant segmented_sort_items.kernel many "$few" "of equal elements the later one comes first" \
    '(i < b && !(y < x))' '(i < b && x < y)'
mutant segmented_sort_merge.kernel many "$some" "the segment over the second border of a tile is left out" \
    'border < 2; ++border' 'border < 1; ++border'
mutant segmented_sort_merge.kernel many "$many" "a tile takes the elements of the first run from its beginning" \
    'm.low == m.first ? 0 : splits[t]' '0'
mutant segmented_sort_merge.kernel many "$many" "the last pass of a segment stores codes" \
    'is_last = span >> (pass + 1) == 0' 'is_last = span >> pass == 0'
mutant segmented_sort_wide.cl one "$few" "of equal elements the later one comes first" \
    'keys[now + j] < keys[now + i]' 'keys[now + j] <= keys[now + i]'
mutant segmented_sort_wide.cl one "$few" "the values of a segment are those of the array's first elements" \
    'values[i] = in_values[first + i];' 'values[i] = in_values[i];'
mutant segmented_sort_wide.cl one "$many" "the path through both runs is left out" \
    'u64 i = m.first + path_of(from + m.first, m.middle - m.first, from + m.middle, m.end - m.middle,
                                      m.low - m.first);' 'u64 i = m.first;'
