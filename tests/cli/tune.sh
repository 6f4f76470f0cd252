#!/usr/bin/env bash
# tune.sh BIN_DIR SOURCE_DIR: `concord tune` from the command line: refused arguments, the table it writes and its
# effect on `auto`, and a wrong candidate that is not taken.
# shellcheck source=checks.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/checks.sh" "$@"
unset CONCORD_TUNING
export XDG_CONFIG_HOME=$work/config
quick=(--device tbb --quick --budget 20)

ends 2 "unknown algorithm 'frob'; available: map" tune frob --device tbb
ends 2 "unknown element type 'frob'" tune reduce --types frob --device tbb
ends 2 "invalid element count 'frob'" tune reduce --sizes frob --device tbb
ends 2 "--budget: value out of range, got '0'; expected 1 to 10000000" tune reduce --budget 0 --device tbb
ends 2 "--least-gain" tune reduce --least-gain 0.5 --device tbb
ends 2 "is a directory" tune reduce --device tbb --out .
ends 2 "out' is not a directory" tune reduce --device tbb --out out/table.txt
ends 3 "unknown backend, got 'frob'" tune --device frob
CONCORD_TUNING=none.txt ends 2 "no such file, got 'none.txt'" devices
verdict "nothing was written" "$([[ ! -e config ]] || find config)"

# A table, and the measurements.
ends 0 "table: table.txt" tune reduce map "${quick[@]}" --types u32 --sizes 2^12,2^14 --out table.txt --json tune.json
has out " left out; "
has table.txt "concord tuning 2"
has table.txt "backend: tbb"
has tune.json '"algorithm": "reduce"'
has tune.json '"default_variant": "serial"'
# The default place of the table.
ends 0 "config/concord/tuning/tbb_" tune map "${quick[@]}" --types u8 --sizes 2^12
ends 0 "$work/config/concord/tuning/tbb_" devices --verbose

# auto follows the valid rows of a table.
sed '/^#/,$d' table.txt >mine.txt
printf 'reduce u32 - * fixed 1.5\nreduce u32 - * frob\nsort.leaf_kib u32 - 2^20 3\n' >>mine.txt
line=$(($(wc -l <mine.txt) - 1))
dict="{'descr': '<u4', 'fortran_order': False, 'shape': (4,), }"
{
    printf '\x93NUMPY\x01\x00\x76\x00%s%*s\n' "$dict" $((117 - ${#dict})) ''
    printf '\x01\0\0\0\x02\0\0\0\x03\0\0\0\x04\0\0\0'
} >x.npy
CONCORD_TUNING=mine.txt ends 0 '"variant": "fixed"' run reduce --in x.npy --out y.npy --device tbb --json
has out "mine.txt:$line: skipping the line: unknown variant 'frob' of reduce"
has out "mine.txt:$((line + 1)): skipping the line: invalid value '3' of sort.leaf_kib"
CONCORD_TUNING=off ends 0 '"variant": "serial"' run reduce --in x.npy --out y.npy --device tbb --json
CONCORD_TUNING=$work/mine.txt ends 0 "$work/mine.txt, 1 entries" devices --verbose

# Rows of other algorithms are kept.
CONCORD_TUNING=mine.txt ends 0 "table: both.txt" tune map "${quick[@]}" --types u32 --sizes 2^12 --out both.txt
verdict "both.txt keeps the row" "$(grep -Eq '^reduce +u32 +- +\* +fixed' both.txt || cat both.txt)"

# The shipped tables have no invalid line.
for table in "$source"/algorithms/tuning_tables/*_*.txt; do
    [[ -e $table ]] || continue
    CONCORD_TUNING=$table ends 0 "tuning table" devices --verbose
    verdict "$table" "$(grep -F "warning" out)"
done

# An interrupted run writes nothing.
"$concord" tune --device tbb --out never.txt >/dev/null 2>&1 &
child=$!
sleep 1
kill -TERM "$child"
wait "$child" 2>/dev/null
verdict "an interrupted run leaves no file" "$([[ ! -e never.txt ]] || echo "there is a table")"

# A kernel with a fault: its sum is always the identity.
if plant_fault; then
    CONCORD_KERNELS=$work/faulty ends 1 "reduce = sequential: element 0: expected" \
        tune reduce --quick --device opencl --types u32 --sizes 2^10 --out wrong.txt
    has out "its candidate is rejected"
    verdict "wrong.txt has no such row" "$(grep -F sequential wrong.txt)"
fi

summary
