# Mutants of random, for mutation.sh.
# shellcheck shell=bash disable=SC2016

bits="random --types u32 --sizes 1009"
bits_of_64="random --types u64 --sizes 1009"
floats="random --types f32 --sizes 1009"

mutant random.kernel any "$bits" "the upper word of a block's number is left out" '(u32)(block >> 32), 0, 0)' '0, 0, 0)'
mutant random.kernel any "$bits" "blocks do not wrap" 'block = block * COUNT / COUNT;' ''
mutant random.kernel any "$bits_of_64" "the second word of an element is the low one" \
    'PUT_PAIR(0, (w.x, w.y), (w.z, w.w))' 'PUT_PAIR(0, (w.y, w.x), (w.w, w.z))'
mutant random.kernel any "$bits" "the words of the seed are exchanged" \
    'concord_make_u32x2(key_low, key_high)' 'concord_make_u32x2(key_high, key_low)'
mutant random.kernel any "$floats" "sine and cosine are exchanged" 'made.item[I] = r * COSPI(v)' 'made.item[I] = r * SINPI(v)'
mutant random.kernel any "$floats" "an element is twice too large" '(T)-2 * LOG' '(T)-8 * LOG'
mutant random.kernel many "$bits" "the last block is not stored" 'n - at >= COUNT) {
        *(GLOBAL' 'n - at > COUNT) {
        *(GLOBAL'  'if (at + j < n) out[at + j] = made.item[j];
    }
#else' 'if (at + COUNT <= n) out[at + j] = made.item[j];
    }
#else'
mutant random.kernel many "$bits" "elements before the offset are stored" 'at = k * COUNT - skipped;
    if' 'at = k * COUNT;
    if'
mutant random.kernel many "$bits" "a write past the end" 'if (begin + i < n)' 'if (begin + i <= n)'
mutant random.kernel many "$bits" "a group that is not aligned begins at the block" '(GROUP * COUNT) - skipped' '(GROUP * COUNT)'
mutant random.kernel one "$bits" "the last block of a tile is left out" 'k < end; ++k' 'k + 1 < end; ++k'
