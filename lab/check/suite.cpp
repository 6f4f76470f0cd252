#include <concord/lab/suite.hpp>

#include "suite_entries.hpp"

#include <concord/algorithm.hpp>

#include <algorithm>

namespace concord::lab {
namespace {

// Sizes around the kernels' tiles (128 to 65536 elements), primes, and sizes past 2^20, where reductions have three
// levels.
constexpr u64 all_sizes[] = {0,     1,     2,     3,     7,     31,      32,      33,      127,     128,
                             129,   255,   256,   257,   511,   512,     513,     1009,    1023,    1024,
                             1025,  4095,  4096,  4097,  8191,  8192,    8193,    16383,   16384,   16385,
                             32768, 65521, 65535, 65536, 65537, 1000003, 1048575, 1048576, 1048577, 2109497};
constexpr u64 longer_size = (1 << 23) + 12345;  // f32 only: here reductions have longer chunks
constexpr u64 few_sizes[] = {1, 1025, 16385};
constexpr u64 some_sizes[] = {0, 1, 3, 257, 1009, 1025, 8193, 65537, (1 << 20) + 1};
constexpr u64 compile_sizes[] = {1, 1025, (1 << 20) + 1};
constexpr u64 large_sizes[] = {u64{1} << 24, (u64{1} << 26) + 12345, u64{1} << 28};
// Sizes past the range of i32 and u32: element counts, and for f32 byte counts.
constexpr u64 huge_sizes[] = {(u64{1} << 31) - 1, (u64{1} << 31) + 1, (u64{1} << 32) + 1};
constexpr u64 huge_size_f32 = (u64{1} << 31) + 1;

// The types that are tested at all sizes: every size of element, signed, unsigned and floating-point.
bool is_main(Type type) {
    return type == Type::f32 || type == Type::f64 || type == Type::i32 || type == Type::u8 ||
           type == Type::u64;
}

constexpr Placement placements[] = {{},
                                    {.a = 1, .b = 1, .out = 1},
                                    {.b = 1, .out = 3},
                                    {.a = 3, .b = 3, .out = 3},
                                    {.in_place = true},
                                    {.a = 3, .b = 1, .out = 3, .in_place = true},
                                    {.a = 1}};

}  // namespace

std::vector<Suite> suites() {
    std::vector<Suite> all;
    for (const Algorithm* algorithm : algorithms()) {
        const auto entry = std::find_if(suite_entries.begin(), suite_entries.end(),
                                        [&](const SuiteEntry& e) { return e.algorithm == algorithm->name; });
        Suite suite = entry->make();
        suite.name = algorithm->name;
        suite.summary = algorithm->summary;
        suite.variants.assign(algorithm->variants.begin(), algorithm->variants.end());
        suite.must_run = true;
        suite.refusals = refusals();
        all.push_back(std::move(suite));
    }
    return all;
}

std::vector<u64> powers_of_two(int first, int last, int step) {
    std::vector<u64> sizes;
    for (int k = first; k <= last; k += step)
        sizes.push_back(u64{1} << k);
    return sizes;
}

bool asked_for(const std::vector<std::string>& list, std::string_view name) {
    if (list.empty() || (list.size() == 1 && list.front() == "all")) return true;
    return std::find(list.begin(), list.end(), name) != list.end();
}

std::string Placement::name() const {
    std::string text = "offsets " + std::to_string(a) + ", " + std::to_string(b) + ", " + std::to_string(out);
    return in_place ? text + " in place" : text;
}

std::vector<u64> Plan::sizes(Type type, Depth depth) const {
    if (!only_.empty()) return only_;
    if (extent_ == Extent::compile) return {std::begin(compile_sizes), std::end(compile_sizes)};
    if (extent_ != Extent::full && depth == Depth::few) return {std::begin(few_sizes), std::end(few_sizes)};
    const bool has_all = (depth == Depth::huge || depth == Depth::all) && is_main(type);
    std::vector<u64> sizes;
    if (has_all) {
        sizes.assign(std::begin(all_sizes), std::end(all_sizes));
        if (type == Type::f32) sizes.push_back(longer_size);
    } else {
        sizes.assign(std::begin(some_sizes), std::end(some_sizes));
    }
    if (extent_ != Extent::full) return sizes;
    if (has_all) sizes.insert(sizes.end(), std::begin(large_sizes), std::end(large_sizes));
    if (depth == Depth::huge && type == Type::u8)
        sizes.insert(sizes.end(), std::begin(huge_sizes), std::end(huge_sizes));
    if (depth == Depth::huge && type == Type::f32) sizes.push_back(huge_size_f32);
    return sizes;
}

std::vector<u64> Plan::sizes_or(const std::vector<u64>& otherwise) const {
    return only_.empty() ? otherwise : only_;
}

std::vector<Plan::Shape> Plan::shapes(std::size_t index, u64 n, const std::vector<Pattern>& patterns,
                                      Coverage coverage) const {
    constexpr std::size_t places = std::size(placements);
    std::vector<Shape> shapes;
    if (extent_ == Extent::compile)
        return {{patterns.front(), 0, {placements[0], placements[1], placements[2]}}};
    for (std::size_t p = 0; p < patterns.size(); ++p) {
        auto emit = [&](std::vector<Placement> at) { shapes.push_back({patterns[p], p, std::move(at)}); };
        auto place = [&](std::size_t more) { return placements[(index + p + more) % places]; };
        if (!patterns_.empty() &&
            std::find(patterns_.begin(), patterns_.end(), patterns[p]) == patterns_.end())
            continue;
        const bool asked = coverage == Coverage::every || !only_.empty() || !patterns_.empty();
        if (asked && n <= (u64{1} << 24)) {
            emit({std::begin(placements), std::end(placements)});
        } else if (n > (u64{1} << 27)) {
            // These cases take seconds each: one pattern with one placement.
            if (p == n % 2 % patterns.size() || !patterns_.empty()) emit({placements[n / 2 % 2]});
        } else if (n > (u64{1} << 24)) {
            if (p == n % 2 % patterns.size() || !patterns_.empty()) emit({placements[0], placements[1]});
        } else if (n > 16385) {
            if (p == index % patterns.size() || p == 0) emit({place(0), place(1)});
        } else if (p < 3) {
            emit({place(0), place(3)});
        } else if ((index + p) % 2 == 0) {
            emit({place(0)});
        }
    }
    return shapes;
}

std::vector<Pattern> patterns_of(Type type) {
    if (!is_float(type)) return {Pattern::random, Pattern::mixed, Pattern::constant};
    return {Pattern::random, Pattern::mixed, Pattern::constant,
            Pattern::tiny,   Pattern::zeros, Pattern::special};
}

}  // namespace concord::lab
