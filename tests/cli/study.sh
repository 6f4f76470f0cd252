#!/usr/bin/env bash
# study.sh BIN_DIR SOURCE_DIR: `concord study` from the command line: refused arguments, a killed run that is
# continued, a wrong variant that gets no number, and the comparison of two runs.
# shellcheck source=checks.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/checks.sh" "$@"
study() { ends "$1" "$2" study "${@:3}"; }

study 0 "reduce-steps" --list
study 2 "no earlier results in 'box/results.jsonl'" --out box
study 2 "unknown study 'frob'" frob --out box
study 2 "--out" reduce-steps
study 2 "'frob'" reduce-steps --types frob --out box
study 3 "unknown backend, got 'frob'" reduce-steps --devices frob --out box
study 2 "results.jsonl" --compare box box2
study 2 "--devices" reduce-steps --devices "" --out box
study 2 "excludes" --compare box box2 --quick
study 2 "excludes" --compare box box2 --devices tbb
study 2 "--from: cannot be read, got 'none.json'" reduce-steps --from none.json --out box
echo '{"matrix": [{}]}' >shape.json
study 2 "shape.json': unexpected content" --from shape.json --out box
verdict "nothing was written" "$([[ ! -e box ]] || echo "there is a folder")"
mkdir full
touch full/csv
study 2 "csv' is not a directory" reduce-steps --quick --devices tbb --out full
verdict "nothing was measured" "$([[ ! -e full/results.jsonl ]] || echo "there are results")"

# Killed when there are some results.
"$concord" study group-size --quick --devices tbb --out killed >/dev/null 2>&1 &
child=$!
for _ in {1..300}; do
    (($(grep -sc '"kind":"result"' killed/results.jsonl || true) + 0 >= 5)) && break
    sleep 0.05
done
study 2 "killed: another study is writing its results there" coalescing --quick --devices tbb --out killed
kill -KILL "$child"
wait "$child" 2>/dev/null
before=$(grep -c '"kind":"result"' killed/results.jsonl)
verdict "some were measured, not all" "$(((before >= 5 && before < 60)) || echo "$before")"
study 0 "report: killed/report.html" --out killed
has killed/report.md "Not finished: this study was interrupted"
printf '{"kind":"result","key":"torn' >>killed/results.jsonl
study 0 "$before known before, 0 failed" group-size --quick --devices tbb --out killed
study 0 "group-size: 0 measured" group-size --quick --devices tbb --out killed
for file in report.html report.md results.json csv/group-size-1-1.csv; do
    verdict "$file" "$([[ -s killed/$file ]] || echo "is not there")"
done

# A kernel with a fault: its sum is always the identity.
if plant_fault; then
    CONCORD_KERNELS=$work/faulty study 1 "FAILED reduce sum, sequential, opencl:0" reduce-steps --quick --devices opencl --out wrong
    has wrong/report.html '<span class="bad">failed</span>: reduce sum, sequential, opencl:0'
    has wrong/report.md '- failed: reduce sum, sequential, opencl:0'
    has wrong/results.json '"problem": "WRONG: element 0'
    verdict "what is wrong has no mark" "$(grep -qF '<title>sequential' wrong/report.html && echo "it has one")"
    # Faulty sums of chunks, and faulty counters.
    mkdir faulty-ranks
    sed 's/canonical(sum\[0\])/canonical(sum[1])/' "$source/algorithms/common/reduce_chunk_wide.cl" >faulty-ranks/reduce_chunk_wide.cl
    sed 's/+ bin\[i + j\]\];/+ bin[i]];/' "$source/algorithms/histogram/histogram_bins.cl" >faulty-ranks/histogram_bins.cl
    for name in common/reduce_chunk_wide histogram/histogram_bins; do
        verdict "a fault of $name is planted" "$(cmp -s "$source/algorithms/$name.cl" "faulty-ranks/${name#*/}.cl" && echo "it is not planted")"
    done
    CONCORD_KERNELS=$work/faulty-ranks study 1 "throughput-scaling: 0 measured" throughput-scaling --algorithms distributed_reduce,distributed_histogram --quick \
        --devices opencl:0 --out wrong-ranks
    for name in reduce histogram; do
        verdict "all ranks of $name are wrong" "$([[ $(grep -c "\"algorithm\":\"distributed_$name\".*\"problem\":\"WRONG: rank [0-3]: element " wrong-ranks/results.jsonl) == 6 ]] ||
            cat wrong-ranks/results.jsonl)"
    done
fi

study 0 " 0 failed" matmul-steps --quick --devices tbb --out matmul
study 0 "coalescing:" coalescing --quick --devices tbb --out a
study 0 "coalescing:" coalescing --quick --devices tbb --out b
sed -i 's/"driver":"/&an older /' b/results.jsonl
study 0 "existing results of tbb:0 have another driver: copied to results-20" coalescing --quick --devices tbb --out b
verdict "it was measured again" "$(grep -qF 'coalescing: 15 measured, 0 known before' out || cat out)"
study 0 "15 results in both" --compare a b --out both
has both/compare.html "All results in both runs"

# Only the report, of another machine's results.
mkdir elsewhere
sed '1s/"cpu":"/&another /' a/results.jsonl >elsewhere/results.jsonl
study 0 "report: elsewhere/report.html" --out elsewhere
verdict "it is the same except for the machine" "$(diff <(sed 's/another //' elsewhere/report.md) a/report.md)"
has elsewhere/report.md '| stride in elements | stride, bytes per second |'
verdict "nothing was set aside" "$(cmp <(sed '1s/another //' elsewhere/results.jsonl) a/results.jsonl)"
study 2 "STUDY: no study named" --out nowhere
study 2 "STUDY: no study named" --quick --out elsewhere

# On a busy machine a size may exceed its time limit.
study 0 "measured, 0 known before, 0 failed" throughput-scaling --quick --devices tbb --out ranks
verdict "all were measured, or left out" "$(awk '$1 == "throughput-scaling:" && $2 >= 6 && $2 + $9 == 18 { found = 1 } END { exit !found }' out || cat out)"
study 0 "throughput-scaling: 0 measured" throughput-scaling --quick --devices tbb --out ranks
has ranks/report.html "Efficiency with 4 ranks, by elements per rank: "

# Studies that compare two calls of each algorithm take their names.
study 0 "regret: 2 measured, 0 known before, 0 failed" regret --algorithms map --types u8 --sizes 2^10 --quick --devices tbb --out regret
has regret/report.md "Median "
study 2 "unknown algorithm 'mop'" regret --algorithms mop --quick --devices tbb --out regret

"$concord" bench map --devices tbb --sizes 2^10,2^12 --json bench.json >/dev/null
study 0 "report: a/report.html" --from bench.json --out a
has a/report.html "Imported benchmarks: bench.json"
has a/report.html "Coalescing"
study 2 "not a file of" --from a/report.html --out a
study 2 "cannot be read" --from none.json --out a

summary
