// A NaN that arithmetic produces is the canonical NaN on every device and in every variant. Moves and operations on
// bits keep the NaN.
#include "devices.hpp"
#include "test_ranks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace concord;
using test::each_variant;

CONCORD_FUNCTION(f32, nan_same_f32, (f32 x), return x;)
CONCORD_FUNCTION(f64, nan_same_f64, (f64 x), return x;)
CONCORD_FUNCTION(f32, nan_from_int, (i32 x), return sqrt((f32)x);)
CONCORD_FUNCTION(f32, nan_minus_f32, (f32 x, f32 y), return x - y;)
CONCORD_FUNCTION(f64, nan_minus_f64, (f64 x, f64 y), return x - y;)
// Sums of the numbers. Their identity is a NaN.
CONCORD_FUNCTION(f32, nan_skipped_f32, (f32 x, f32 y), return x != x ? y : y != y ? x : x + y;)
CONCORD_FUNCTION(f64, nan_skipped_f64, (f64 x, f64 y), return x != x ? y : y != y ? x : x + y;)

namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, u32, u64>;
template <class T>
constexpr BitsOf<T> sign_bit = BitsOf<T>(1) << (8 * sizeof(T) - 1);
template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

template <class T>
BitsOf<T> canonical_nan() {
    return static_cast<BitsOf<T>>(sizeof(T) == 4 ? u64{0x7fc00000} : u64{0x7ff8000000000000});
}

// Quiet and signalling NaNs of both signs, with payloads.
template <class T>
std::vector<T> nans() {
    const BitsOf<T> quiet = canonical_nan<T>(), infinite = std::bit_cast<BitsOf<T>>(infinity<T>);
    std::vector<T> values;
    for (const BitsOf<T> bits : {quiet, quiet | 0x1234, quiet | 1, infinite | 1, infinite | 0x4321})
        values.insert(values.end(), {std::bit_cast<T>(bits), std::bit_cast<T>(bits | sign_bit<T>)});
    return values;
}

// n numbers, with a NaN at every seventh place from the first on and an infinity at every ninth.
template <class T>
std::vector<T> with_nans(u64 n) {
    std::vector<T> values = test::random_values<T>(n);
    const std::vector<T> list = nans<T>();
    for (u64 i = 0; i < n; ++i) {
        if (i % 9 == 4) values[i] = i % 2 == 0 ? infinity<T> : -infinity<T>;
        if (i % 7 == 0) values[i] = list[i / 7 % list.size()];
    }
    return values;
}

// The first element whose bits differ, for messages; empty if there is none.
template <class T>
std::string difference(const std::vector<T>& expected, const std::vector<T>& got) {
    if (expected.size() != got.size()) return "sizes";
    for (u64 i = 0; i < got.size(); ++i) {
        const auto right = std::bit_cast<BitsOf<T>>(expected[i]), bits = std::bit_cast<BitsOf<T>>(got[i]);
        if (right == bits) continue;
        std::ostringstream text;
        text << "element " << i << ": " << std::hex << bits << " for " << right;
        return text.str();
    }
    return {};
}

// The values with canonical NaNs.
template <class T>
std::vector<T> canonical(std::vector<T> values) {
    for (T& value : values) {
        if (std::isnan(value)) value = std::bit_cast<T>(canonical_nan<T>());
    }
    return values;
}

template <class T>
std::vector<T> one(T value) {
    return std::vector<T>{value};
}

// Calls f with all variants' options for f32, and with the default options for f64.
template <class F>
void with_types(const Device& device, const Algorithm& algorithm, F f) {
    each_variant(device, algorithm, [&](const std::string& name) { f(f32{}, Options{name}); });
    if (detail::supports_type(device, Type::f64)) f(f64{}, Options{});
}

// The results on the host of an elementwise function, with canonical NaNs.
template <class T, class F>
std::vector<T> mapped(std::vector<T> values, F f) {
    for (T& value : values)
        value = f(value);
    return canonical(std::move(values));
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(nan_bits_survive_copy_negate_and_abs) {
    with_types(device, map_algorithm, [&]<class T>(T, const Options& options) {
        const std::vector<T> x = with_nans<T>(300);
        const Array<T> in(stream, x), out(stream, x.size());
        const auto bits_after = [&](MapFunction function, BitsOf<T> kept, BitsOf<T> flipped) {
            std::vector<T> expected = x;
            for (T& value : expected)
                value = std::bit_cast<T>((std::bit_cast<BitsOf<T>>(value) & kept) ^ flipped);
            map(stream, in, out, function, options);
            CHECK(difference(expected, out.to_host(stream)) == "");
        };
        bits_after(MapFunction::copy, ~BitsOf<T>(0), 0);
        bits_after(MapFunction::negate, ~BitsOf<T>(0), sign_bit<T>);
        bits_after(MapFunction::abs, ~sign_bit<T>, 0);
    });
}

STREAM_TEST(nan_bits_survive_sort_compact_and_transpose) {
    std::vector<f32> x = with_nans<f32>(1000);
    const Array<f32> in(stream, x), out(stream, x.size());
    transpose(stream, Matrix(in, 40, 25), Matrix(out, 25, 40));
    std::vector<f32> expected(x.size());
    for (u64 i = 0; i < x.size(); ++i)
        expected[i % 25 * 40 + i / 25] = x[i];
    CHECK(difference(expected, out.to_host(stream)) == "");
    const Array<u64> count(stream, 1);
    compact(stream, in, out, count, KeepRule::nonzero);
    CHECK(difference(x, out.to_host(stream)) == "");
    sort(stream, in, out);
    std::ranges::sort(x, {}, [](f32 value) {
        const u32 bits = std::bit_cast<u32>(value);
        return (bits & sign_bit<f32>) != 0 ? ~bits : bits | sign_bit<f32>;
    });
    CHECK(difference(x, out.to_host(stream)) == "");
}

STREAM_TEST(map_and_add_store_the_canonical_nan) {
    with_types(device, map_algorithm, [&]<class T>(T, const Options& options) {
        const std::vector<T> x = with_nans<T>(300);
        const std::vector<T> y(x.rbegin(), x.rend());
        const Array<T> a(stream, x), b(stream, y), out(stream, x.size());
        const auto check = [&](const std::vector<T>& expected) {
            CHECK(difference(expected, out.to_host(stream)) == "");
        };
        map(stream, a, out, MapFunction::square, options);
        check(mapped(x, [](T value) { return value * value; }));
        if (std::is_same_v<T, f64> || device.traits().exact_divide_sqrt) {
            map(stream, a, out, MapFunction::sqrt, options);
            check(mapped(x, [](T value) { return std::sqrt(value); }));
        }
        std::vector<T> sums = x, differences = x;
        for (u64 i = 0; i < x.size(); ++i) {
            sums[i] += y[i];
            differences[i] -= y[i];
        }
        add(stream, a, b, out, options);
        check(canonical(sums));
        // Results of the user's functions, also if they only return an argument.
        if constexpr (sizeof(T) == 4) {
            map(stream, a, out, nan_same_f32, options);
            check(canonical(x));
            map(stream, a, b, out, nan_minus_f32, options);
        } else {
            map(stream, a, out, nan_same_f64, options);
            check(canonical(x));
            map(stream, a, b, out, nan_minus_f64, options);
        }
        check(canonical(differences));
    });
    const Array<i32> negative(stream, std::vector<i32>(20, -1));
    CHECK(difference(std::vector<f32>(20, std::bit_cast<f32>(0x7fc00000u)),
                     map(stream, negative, nan_from_int).to_host(stream)) == "");
}

STREAM_TEST(reduce_stores_the_canonical_nan) {
    with_types(device, reduce_algorithm, [&]<class T>(T, const Options& options) {
        const Array<T> out(stream, 1);
        const auto nan = canonical(one(nans<T>().back()));
        const auto check = [&](const std::vector<T>& values, ReduceOp op) {
            CAPTURE(values.size());
            reduce(stream, Array<T>(stream, values), out, op, options);
            CHECK(difference(nan, out.to_host(stream)) == "");
        };
        for (const ReduceOp op : all_reduce_ops) {
            CAPTURE(name_of(op));
            for (const T value : nans<T>())
                check(one(value), op);
            check(with_nans<T>(5000), op);
            std::vector<T> last(300000, T(0.5));
            last.back() = nans<T>()[3];
            check(last, op);
        }
        check({infinity<T>, T(1), -infinity<T>}, ReduceOp::sum);
        check({infinity<T>, T(1), T(0)}, ReduceOp::product);
        // Without elements the result is the identity.
        const Array<T> none(stream, 0);
        for (const T identity : nans<T>()) {
            if constexpr (sizeof(T) == 4) {
                reduce(stream, none, out, nan_skipped_f32, identity, options);
            } else {
                reduce(stream, none, out, nan_skipped_f64, identity, options);
            }
            CHECK(difference(nan, out.to_host(stream)) == "");
        }
    });
}

STREAM_TEST(scan_stores_the_canonical_nan) {
    with_types(device, scan_algorithm, [&]<class T>(T, const Options& options) {
        const T nan = canonical(one(nans<T>().back()))[0];
        // Values that are exact in any order, then a NaN.
        const auto check = [&](u64 n, u64 at, T value, ScanKind kind) {
            CAPTURE(n);
            CAPTURE(at);
            std::vector<T> x(n, T(1)), expected(n);
            x[at] = value;
            for (u64 i = 0; i < n; ++i)
                expected[i] = i < at || (i == at && kind == ScanKind::exclusive)
                                  ? static_cast<T>(kind == ScanKind::inclusive ? i + 1 : i)
                                  : nan;
            const Array<T> in(stream, x), out(stream, n);
            scan(stream, in, out, ReduceOp::sum, kind, options);
            CHECK(difference(expected, out.to_host(stream)) == "");
            if (options.variant == "lookback_fallback") return;  // does not support in-place operation
            scan(stream, in, in, ReduceOp::sum, kind, options);
            CHECK(difference(expected, in.to_host(stream)) == "");
        };
        for (const ScanKind kind : {ScanKind::inclusive, ScanKind::exclusive}) {
            CAPTURE(name_of(kind));
            for (const T value : nans<T>()) {
                check(1, 0, value, kind);
                check(40, 3, value, kind);
            }
            check(10000, 9990, nans<T>()[3], kind);
            check(150001, 4321, nans<T>()[7], kind);  // the carries of later tiles are NaN
            check(20000, 0, nans<T>()[1], kind);
        }
        const std::vector<T> infinite = {T(1), infinity<T>, -infinity<T>, T(2)};
        const Array<T> in(stream, infinite), out(stream, 4);
        scan(stream, in, out, ReduceOp::sum, ScanKind::inclusive, options);
        CHECK(difference({T(1), infinity<T>, nan, nan}, out.to_host(stream)) == "");
        // Sums that overflow and are not a part of later sums: after -inf they give NaNs, and later results are -inf.
        const T most = std::numeric_limits<T>::max(), pattern[] = {most / 2, most / 2, most, -most};
        std::vector<T> overflowing(20000);
        overflowing[0] = -infinity<T>;
        for (u64 i = 16; i < overflowing.size(); ++i)
            overflowing[i] = i % 8 < 4 ? pattern[i % 4] : -pattern[i % 4];
        const Array<T> from(stream, overflowing), to(stream, overflowing.size());
        scan(stream, from, to, ReduceOp::sum, ScanKind::inclusive, options);
        const std::vector<T> sums = to.to_host(stream);
        CHECK(difference(canonical(sums), sums) == "");
        // The identity is the first result of an exclusive scan.
        for (const u64 n : {1, 3000}) {
            const Array<T> ones(stream, std::vector<T>(n, T(1))), results(stream, n);
            if constexpr (sizeof(T) == 4) {
                scan(stream, ones, results, nan_skipped_f32, nans<T>()[3], ScanKind::exclusive, options);
            } else {
                scan(stream, ones, results, nan_skipped_f64, nans<T>()[3], ScanKind::exclusive, options);
            }
            std::vector<T> counts(n, nan);
            for (u64 i = 1; i < n; ++i)
                counts[i] = static_cast<T>(i);
            CHECK(difference(counts, results.to_host(stream)) == "");
        }
    });
}

STREAM_TEST(matmul_stores_the_canonical_nan) {
    with_types(device, matmul_algorithm, [&]<class T>(T, const Options& options) {
        const T nan = canonical(one(nans<T>().back()))[0];
        // Row 1 of A is infinite and B is 0, so row 1 of the product is NaN. Column 2 of B is a NaN.
        for (const u64 n : {3, 70, 131}) {
            CAPTURE(n);
            const u64 k = 9;
            std::vector<T> a(n * k, T(1)), b(k * n, T(0)), expected(n * n, T(0));
            std::fill_n(a.begin() + static_cast<std::ptrdiff_t>(k), k, infinity<T>);
            for (u64 l = 0; l < k; ++l)
                b[l * n + 2] = nans<T>()[3];
            for (u64 i = 0; i < n; ++i) {
                expected[n + i] = nan;
                expected[i * n + 2] = nan;
            }
            const Array<T> from_a(stream, a), from_b(stream, b), out(stream, std::vector<T>(n * n, T(0)));
            const Matrix of_a(from_a, n, k), of_b(from_b, k, n), to(out, n, n);
            matmul(stream, of_a, of_b, to, {}, options);
            CHECK(difference(expected, out.to_host(stream)) == "");
            // With beta the NaNs of C count.
            matmul(stream, of_a, of_b, to, {.alpha = 2, .beta = 1}, options);
            CHECK(difference(expected, out.to_host(stream)) == "");
        }
    });
}

STREAM_TEST(convolve_stores_the_canonical_nan) {
    with_types(device, convolve_algorithm, [&]<class T>(T, const Options& options) {
        // A NaN reaches the 3 x 3 results around it, an infinity under a tap of 0 too.
        for (const u64 columns : {5, 300}) {
            CAPTURE(columns);
            const u64 rows = 20;
            std::vector<T> x(rows * columns, T(0)), expected = x;
            const auto put = [&](u64 row, u64 column, T value) {
                x[row * columns + column] = value;
                for (u64 r = row - 1; r <= row + 1; ++r) {
                    for (u64 c = column - 1; c <= column + 1; ++c)
                        expected[r * columns + c] = canonical(one(nans<T>()[0]))[0];
                }
            };
            put(2, 2, nans<T>()[3]);
            put(11, columns - 3, infinity<T>);
            put(6, columns / 2, nans<T>()[8]);
            const std::vector<T> mask(9, T(0));
            const Array<T> in(stream, x), out(stream, x.size());
            convolve(stream, MatrixView{in.view(), rows, columns}, ConvolveMask(mask, 3, 3),
                     MatrixView{out.view(), rows, columns}, ConvolveBorder::zero, options);
            CHECK(difference(expected, out.to_host(stream)) == "");
        }
    });
}

STREAM_TEST(stencil_stores_the_canonical_nan) {
    with_types(device, stencil_algorithm, [&]<class T>(T, const Options& options) {
        const VolumeExtents s{6, 10, 44};
        const StarCoefficients star{0.0, 0.0};
        for (const u64 steps : {1, 3}) {
            CAPTURE(steps);
            std::vector<T> x(s.depth * s.rows * s.columns, T(0)), expected = x;
            x[(3 * s.rows + 4) * s.columns + 20] = nans<T>()[3];
            x[5] = -infinity<T>;  // times 0 is NaN
            for (u64 i = 0; i < x.size(); ++i) {
                const u64 row = i / s.columns;
                const auto distance = [&](u64 z, u64 y, u64 column) {
                    const auto away = [](u64 p, u64 q) { return p > q ? p - q : q - p; };
                    return away(row / s.rows, z) + away(row % s.rows, y) + away(i % s.columns, column);
                };
                if (std::min(distance(3, 4, 20), distance(0, 0, 5)) <= steps)
                    expected[i] = canonical(one(nans<T>()[0]))[0];
            }
            const Array<T> in(stream, x), out(stream, x.size());
            stencil(stream, VolumeView{in.view(), s.depth, s.rows, s.columns}, star,
                    VolumeView{out.view(), s.depth, s.rows, s.columns}, steps, options);
            CHECK(difference(expected, out.to_host(stream)) == "");
        }
    });
}

DEVICE_TEST(distributed_calls_store_the_canonical_nan) {
    const auto list = nans<f32>();
    const std::vector<f32> expected = canonical(list), first = canonical(one(list[3]));
    test::each_ranks(device, {1, 2}, [&](Communicator& ranks, Stream& stream) {
        const Array<f32> data(stream, list), in(stream, one(list[3])), out(stream, 1);
        all_reduce(ranks, stream, data.view(), ReduceOp::sum);
        if (!difference(expected, data.to_host(stream)).empty()) throw std::runtime_error("all_reduce");
        distributed_reduce(ranks, stream, in.view(), out.view(), ReduceOp::max);
        if (!difference(first, out.to_host(stream)).empty()) throw std::runtime_error("distributed_reduce");
        distributed_scan(ranks, stream, in.view(), out.view(), ReduceOp::min, ScanKind::inclusive);
        if (!difference(first, out.to_host(stream)).empty()) throw std::runtime_error("distributed_scan");
    });
}

DEVICE_TEST(pipelines_store_the_canonical_nan) {
    const std::vector<f32> x = with_nans<f32>(10000);
    std::vector<f32> out(x.size()), sum(1);
    const PipelineOptions options{.segment = 3000};
    HostSink to(out), sum_to(sum);
    pipeline_map(device, HostSource(x), to, MapFunction::square, options);
    CHECK(difference(mapped(x, [](f32 value) { return value * value; }), out) == "");
    pipeline_reduce(device, HostSource(x), sum_to, ReduceOp::min, options);
    CHECK(difference(canonical(one(x[0])), sum) == "");
    HostSink scanned(out);
    pipeline_scan(device, HostSource(x), scanned, ReduceOp::max, ScanKind::inclusive, options);
    CHECK(difference(std::vector<f32>(x.size(), canonical(one(x[0]))[0]), out) == "");
}

TEST_SUITE_END();
