# Mutants of histogram, for mutation.sh.
# shellcheck shell=bash disable=SC2016

# counted VARIANTS [TYPES [PATTERNS [SIZES]]]: samples on the edges of bins are always included.
counted() { echo "histogram --variants $1 --types ${2:-f64} --patterns ${3:-random} --sizes ${4:-1009}"; }
equal="i32 constant 70001"
full="i64 constant 1100003"             # one processor counts more than 2^15 of them
full_groups="i64 constant 20000003"     # a group of a large GPU too
# shellcheck disable=SC2086  # lists of words
{
mutant histogram.kernel many "$(counted shared_atomic)" "the tail is dropped" \
    'if (part == 0 && own < layout.ends)' 'if (part == 0 && own < layout.head)'
mutant histogram.kernel many "$(counted shared_atomic)" "what is outside counts in the last bin" \
    'if (bin < held) atomic_inc(mine + (u32)bin * COPIES);' 'atomic_inc(mine + (u32)(bin < held ? bin : held - 1) * COPIES);'
mutant histogram.kernel many "$(counted shared_atomic)" "the last access of the broken tile is dropped" \
    'if (at + k * GROUP < layout.packs) count_pack(' 'if (at + k * GROUP + 1 < layout.packs) count_pack('
mutant histogram.kernel many "$(counted multi_copy)" "a copy is not merged" \
    'for (u32 k = 0; k < COPIES; ++k)' 'for (u32 k = 0; k + 1 < COPIES; ++k)'
mutant histogram.kernel many "$(counted passes)" "the last pass is short of one bin" \
    'bins - first : 0) : range' 'bins - first - 1 : 0) : range'
mutant histogram.kernel many "$(counted packed16 $full_groups)" "a half that is full carries" \
    'if (full == 0) return;' 'return;'
mutant histogram.kernel many "$(counted packed16 $full_groups)" "what is spilled stays" \
    'atomic_sub(table + word[j], add[j]);' ''
mutant histogram.kernel many "$(counted packed16)" "runs of equal bins count as one" 'run = ends ? 1 : run + 1;' 'run = 1;'
mutant histogram.kernel many "$(counted packed16)" "upper halves are lost" \
    'if (upper != 0) add_to(out, halves + w, upper);' ''
mutant histogram.kernel many "$(counted shared_atomic f32)" "of an expression, the last sample is dropped" \
    'layout.packs = n / PACK;' 'layout.packs = n / PACK; n -= n % PACK != 0 ? 1 : 0;'
mutant histogram_bins.cl one "$(counted private_bins)" "what is outside counts in the last bin" \
    '? (u32)b : none;' '? (u32)b : none - 1;'
mutant histogram_bins.cl one "$(counted private_bins)" "exact bins: undecided samples are not counted" \
    'if (unsure != 0)' 'if (unsure > 1)'
mutant histogram_bins.cl one "$(counted private_bins $full)" "runs are counted short" 'table[bin[i]] += RUN;' 'table[bin[i]] += RUN - 1;'
mutant histogram_bins.cl one "$(counted private_bins)" "a sub-table is not merged" 'k < COPIES; ++k) {' 'k + 1 < COPIES; ++k) {'
mutant histogram_bins.cl one "$(counted private_bins)" "shares are short of one sample" 'min(n, begin + share)' 'min(n, begin + share - 1)'
mutant histogram_merge.cl one "$(counted private_bins $equal)" "counters of 16 bits wrap" \
    'sizeof(COUNTER) == 2 && sum[i] > 65535 ? 65535 : sum[i]' 'sum[i]'
mutant histogram_ids.kernel any "$(counted sorted)" "what is not counted counts in the first bin" \
    '? (u32)bin : none' '? (u32)bin : 0'
mutant histogram_sorted.kernel any "$(counted sorted i64)" "a coarse bin begins one late" \
    'positions[c] = low;' 'positions[c] = low + (c > 0 && low < n ? 1 : 0);'
mutant histogram_sorted.kernel any "$(counted sorted f64 random 100003)" "a segment ends one early" \
    'end = min(n, begin + segment)' 'end = min(n, begin + segment - 1)'
mutant histogram_global.kernel any "$(counted global_atomic u8)" "a bin past the last: < becomes <=" \
    'if (bin < bins)' 'if (bin <= bins)'
mutant histogram_saturate.kernel any "$(counted global_atomic $equal)" "counters of 16 bits wrap" \
    ': (u16)65535;' ': (u16)low;'
}
