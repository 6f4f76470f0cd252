// host_mutation.sh compiles this file with a fault in map_host.hpp, reduce_host.hpp or sort_host.hpp. It instantiates
// the kernels of those headers for operators of its own and runs the suite on them. Ends with the suite's status.
#include <concord/lab/baseline.hpp>
#include <concord/lab/bench.hpp>
#include <concord/lab/check.hpp>
#include <concord/lab/compare.hpp>
#include <concord/lab/kernel_test.hpp>
#include <concord/lab/measure.hpp>
#include <concord/map.hpp>
#include <concord/reduce.hpp>
#include <concord/sort.hpp>

#include <algorithm>
#include <iostream>
#include <numeric>

using namespace concord;
using namespace concord::lab;

CONCORD_FUNCTION(i32, minus, (i32 x, i32 y), return (i32)((u32)x - (u32)y);)
CONCORD_FUNCTION(u8, less_of_thousand, (u32 x, u32 y), return x % 1000 < y % 1000 ? (u8)1 : (u8)0;)
CONCORD_FUNCTION(f64, plus_in_order, (f64 x, f64 y), return x + y;)

namespace {

u64 same(u64 n) {
    return n;
}
u64 one(u64 /*n*/) {
    return 1;
}

KernelTest map_test() {
    KernelTest test;
    test.name = "map";
    test.inputs = {{Type::i32, same}, {Type::i32, same}};
    test.outputs = {{Type::i32, same}};
    for (const char* const variant : {"naive", "vectorized"})
        test.variants.push_back({variant, [variant](Stream& stream, const KernelCall& call) {
                                     map(stream, Span<const i32>(call.in[0]), Span<const i32>(call.in[1]),
                                         Span<i32>(call.out[0]), minus, {.variant = variant});
                                 }});
    test.reference = [](const ReferenceCall& call) {
        const auto x = call.in<i32>(0), y = call.in<i32>(1);
        const auto out = call.out<i32>(0);
        for (u64 i = 0; i < call.n; ++i)
            out[i] = minus(x[i], y[i]);
    };
    // The last size exceeds the caches of most CPUs and is not a multiple of any tile.
    test.sizes = {0, 1, 1009, 70001, (1 << 23) + 12345};
    return test;
}

// The canonical order, as reduce.hpp defines it.
f64 in_canonical_order(std::span<const f64> x) {
    const u64 chunk = canonical_chunk(x.size());
    std::vector<f64> sums;
    for (u64 first = 0; first == 0 || first < x.size(); first += chunk) {
        f64 lanes[128] = {};
        for (u64 i = 0; i < chunk && first + i < x.size(); ++i)
            lanes[i % 128] += x[first + i];
        for (u64 distance = 64; distance > 0; distance /= 2) {
            for (u64 lane = 0; lane < distance; ++lane)
                lanes[lane] += lanes[lane + distance];
        }
        sums.push_back(lanes[0]);
    }
    return sums.size() == 1 ? sums[0] : in_canonical_order(sums);
}

KernelTest reduce_test() {
    KernelTest test;
    test.name = "reduce";
    test.inputs = {{Type::f64, same}};
    test.outputs = {{Type::f64, one}};
    test.variants = {{"fixed", [](Stream& stream, const KernelCall& call) {
                          reduce(stream, Span<const f64>(call.in[0]), Span<f64>(call.out[0]), plus_in_order,
                                 0.0, {.variant = "fixed"});
                      }}};
    test.reference = [](const ReferenceCall& call) {
        call.out<f64>(0)[0] = in_canonical_order(call.in<f64>(0));
    };
    // Partly filled rows, then two and three levels and several groups.
    test.sizes = {0, 1, 127, 1009, 1025, 70001, (1 << 20) + 2049};
    return test;
}

// Pairs by a comparator for which some keys are equal: only a stable order gives these values.
KernelTest sort_test() {
    KernelTest test;
    test.name = "sort";
    test.inputs = {{Type::u32, same}, {Type::u32, same}};
    test.outputs = {{Type::u32, same}, {Type::u32, same}};
    test.variants = {{"merge", [](Stream& stream, const KernelCall& call) {
                          sort_pairs(stream, Span<const u32>(call.in[0]), Span<const u32>(call.in[1]),
                                     Span<u32>(call.out[0]), Span<u32>(call.out[1]), less_of_thousand, {},
                                     {.variant = "merge"});
                      }}};
    test.reference = [](const ReferenceCall& call) {
        std::vector<u64> from(call.n);
        std::iota(from.begin(), from.end(), u64{0});
        const auto keys = call.in<u32>(0), values = call.in<u32>(1);
        const auto keys_out = call.out<u32>(0), values_out = call.out<u32>(1);
        std::stable_sort(from.begin(), from.end(),
                         [&](u64 a, u64 b) { return less_of_thousand(keys[a], keys[b]) != 0; });
        for (u64 i = 0; i < call.n; ++i) {
            keys_out[i] = keys[from[i]];
            values_out[i] = values[from[i]];
        }
    };
    // A block, a tile, and several merges of tiles.
    test.sizes = {0, 1, 13, 1009, 70001};
    return test;
}

}  // namespace

int main() try {
    const CheckReport report = check({suite_of(map_test()), suite_of(sort_test()), suite_of(reduce_test())},
                                     {.devices = {"tbb"}}, &std::cout);
    report.print(std::cout);
    return report.status();
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
}
