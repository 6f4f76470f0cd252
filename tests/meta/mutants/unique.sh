# Mutants of unique, for mutation.sh.
# shellcheck shell=bash disable=SC2016

keys="unique --types u32 --patterns few,random --sizes 1,1009"

mutant unique_first.kernel any "$keys" "the first run is not counted" 'later[0] + (is_empty ? 0 : 1)' 'later[0]'
mutant unique_first.kernel any "$keys" "the second element is the first" 'out[0] = in[0]' 'out[0] = in[later[0] > 0 ? 1 : 0]'
