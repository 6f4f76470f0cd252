# Mutants of segmented reduce, for mutation.sh.
# shellcheck shell=bash disable=SC2016

few="segmented_reduce --types f32 --patterns random --sizes 1025"
some="segmented_reduce --types f32 --patterns random --sizes 16385"
many="segmented_reduce --types f32 --patterns random --sizes 70001"

mutant segmented_short.kernel many "$few" "an element behind a segment is counted" \
    'if (i < length) sum[j] =' 'if (i <= length) sum[j] ='
mutant segmented_short.kernel many "$few" "another association: columns meet crosswise" \
    'sum[j + distance]' 'sum[2 * distance - 1 - j]'
mutant segmented_short.kernel many "$few" "segments of more elements than the small teams take are left out" \
    'const bool longer = has_longer;' 'const bool longer = false;'
mutant segmented_short.kernel many "$some" "a segment behind each full tile is left out" \
    's = max(end, s + 1);' 's = max(end, s) + 1;'
mutant segmented_middle.kernel many "$few" "an element behind a segment is counted" \
    'if (i + j * TEAM < length)' 'if (i + j * TEAM <= length)'
mutant segmented_middle.kernel many "$some" "a chunk lacks its last element" \
    'min(length - first_of, (u32)ONE_CHUNK)' 'min(length - first_of, (u32)ONE_CHUNK - 1)'
mutant segmented_lists.kernel many "$many" "the chunks of a segment begin one element late" \
    'at[s] + c * chunk' 'at[s] + c * chunk + 1'
mutant segmented_parts.kernel many "$many" "the last chunk of the list is lost" \
    'p < count) sums[p]' 'p + 1 < count) sums[p]'
mutant segmented_upper.kernel many "$many" "the sums of a segment are read one late" \
    'input_of(sums + w.first)' 'input_of(sums + w.first + (w.chunks > 0 ? 1 : 0))'
mutant segmented_reduce_wide.cl one "$few" "an empty segment gives what stands there" \
    'out[s] = length == 0 ? canonical(identity) :' 'if (length > 0) out[s] ='
mutant segmented_reduce_wide.cl one "$few" "another association: columns meet crosswise" \
    'sum[l + distance]' 'sum[2 * distance - 1 - l]'
mutant segmented_reduce_wide.cl one "$many" "chunks lack their last element" \
    'put_part(parts, w.first + c, p);' 'p.length -= c + 1 < w.chunks ? 1 : 0;
                put_part(parts, w.first + c, p);'
