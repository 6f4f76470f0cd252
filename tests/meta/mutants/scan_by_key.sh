# Mutants of scan_by_key, for mutation.sh.
# shellcheck shell=bash disable=SC2016

keys="scan_by_key --types f32 --patterns few,random --sizes 1009,9001"

mutant segment_flags.kernel any "$keys" "flags belong to the element before" \
    'load_item(in, i - 1)' 'load_item(in, min(i, n - 2))'
mutant segment_flags.kernel any "$keys" "the last element begins no run" 'i > 0 && i < n' 'i > 0 && i + 1 < n'
