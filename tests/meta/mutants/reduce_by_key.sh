# Mutants of reduce_by_key, for mutation.sh.
# shellcheck shell=bash disable=SC2016

keys="reduce_by_key --types f32 --patterns few,random --sizes 1009,9001"

mutant segmented_lists.kernel any "$keys" "the number of runs is one less" \
    'return min(segments, *(const GLOBAL u64*)(counts + 2));' 'return min(segments, *(const GLOBAL u64*)(counts + 2) - 1);'
mutant segmented_short.kernel many "$keys" "groups leave out every second unit" \
    'first += LIVE ? group_count() * unit : RUN' 'first += LIVE ? group_count() * unit * 2 : RUN'
mutant segmented_short.kernel many "$keys" "both kernels leave short runs to the other" 'total * STAGED < n' 'total * STAGED >= n'
mutant segmented_middle.kernel many "reduce_by_key --types f32 --patterns random --sizes 9001" \
    "both kernels leave long runs to the other" 'total * STAGED >= n' 'total * STAGED < n'
