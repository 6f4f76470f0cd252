# Mutants of run_length_encode, for mutation.sh.
# shellcheck shell=bash disable=SC2016

keys="run_length_encode --types u32 --patterns few,random --sizes 1009,9001"

mutant run_ends.kernel any "$keys" "the last run ends one early" '(P)n' '(P)(n - 1)'
mutant run_ends.kernel any "$keys" "the first run begins at element 1" 'offsets[0] = 0' 'offsets[0] = 1'
mutant run_ends.kernel any "$keys" "the first run is not counted" 'count[0] = all' 'count[0] = all - 1'
mutant run_elements.kernel any "$keys" "groups leave out their last run" 'row < end; row +=' 'row + part <= end; row +='
mutant run_elements.kernel any "$keys" "lengths are one short" '(u64)next[k] - begin[k]' '(u64)next[k] - begin[k] - (r > 5 ? 1 : 0)'
