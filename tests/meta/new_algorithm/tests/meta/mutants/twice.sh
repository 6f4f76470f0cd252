# Mutants of twice, for mutation.sh.
# shellcheck shell=bash disable=SC2016

mutant twice.kernel any "twice --types f32 --sizes 1025" "the last element of a tile stays behind" \
    'i < end' 'i + 1 < end'
