// Expressions as inputs of scan, compact, partition, count_if and histogram: each result is bitwise identical to that
// of the same call on the stored elements.
#include "expression_parts.hpp"

#include "devices.hpp"

#include <algorithm>
#include <cstdlib>

using namespace concord;
using test::difference;
using test::random_values;
using test::throws;

namespace {

CONCORD_FUNCTION(f32, two_test, (f32 x, f32 y), return x * 0.5f + y;)
CONCORD_FUNCTION(u8, inside_test, (f32 x, f32 low, f32 high), return x > low && x < high ? 1 : 0;)
CONCORD_FUNCTION(i64, below_test, (f32 x), return x < 0 ? i64(1) << 40 : 0;)
CONCORD_FUNCTION(f32, larger_magnitude_test, (f32 x, f32 y), return fabs(x) < fabs(y) ? y : x;)
CONCORD_FUNCTION(u64, wide_bin_test, (f32 x), return x < 0 ? (u64)1 << 40 : (u64)(x * 8);)

// Around a block of the CPU, tiles of all kernels, and a tile of the CPU; several tiles.
constexpr u64 sizes[] = {0,    1,    255,  256,  257,   511,   512,   513,   2047,  2049,  4095,  4096,
                         4097, 8191, 8192, 8193, 16383, 16384, 16385, 65535, 65536, 65537, 300001};
// Fewer, where a kernel of a type is the question.
constexpr u64 some_sizes[] = {1, 513, 4097, 8193, 70001};

// Whether every type is tested. A kernel takes half a second to compile on devices that compile at run time: these test
// one type of each size, and all types if CONCORD_TEST_LONG is set.
bool tests_all_types(const Device& device) {
    return device.traits().launch == LaunchModel::host || std::getenv("CONCORD_TEST_LONG") != nullptr;
}

// Calls f with a value of each element type, or of one of each size.
template <class F>
void each_tested_type(const Device& device, const F& f) {
    test::each_type(device, [&]<class T>(T tag) {
        constexpr bool is_one_of_its_size = std::is_same_v<T, u8> || std::is_same_v<T, i16> ||
                                            std::is_same_v<T, f32> || std::is_same_v<T, i64>;
        if (is_one_of_its_size || tests_all_types(device)) f(tag);
    });
}

// Operands of expressions: values, and indices of them.
template <class T>
struct Operands {
    Operands(Stream& stream, u64 n)
        : x(stream, random_values<T>(n, 1)),
          y(stream, random_values<T>(n, 2)),
          index(stream, test::random_indices(n, 3)) {}
    // A nested expression that reads elements at their own index, from the end on, and anywhere.
    auto nested() const {
        return transform(ReduceOp::max,
                         transform(ReduceOp::sum, x, transform(MapFunction::negate, reversed(y))),
                         gather(y, index));
    }
    Array<T> x, y;
    Array<u32> index;
};

// Compares results of a call on an expression with those of the call on its elements.
class Same {
  public:
    explicit Same(Stream& stream) : stream_(stream) {}
    template <class T>
    void operator()(const std::string& call, const Array<T>& expected, const Array<T>& got) const {
        CAPTURE(call);
        CHECK(difference(expected.to_host(stream_), got.to_host(stream_)) == "");
    }

  private:
    Stream& stream_;
};

template <class T>
std::vector<T> kept_of(const std::vector<T>& values, const std::vector<u8>& flags, bool kept = true) {
    std::vector<T> result;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if ((flags[i] != 0) == kept) result.push_back(values[i]);
    }
    return result;
}

// Flags of all bytes, also of those that are neither 0 nor 1.
std::vector<u8> random_flags(u64 n) {
    std::vector<u8> flags = random_values<u8>(n, 7);
    for (u64 i = 0; i < n; i += 2)
        flags[i] = 0;
    return flags;
}

template <class E, class T, class P>
void check_compact(Stream& stream, const E& e, const Array<T>& elements, const P& keep) {
    const Same same(stream);
    same("compact", compact(stream, elements, keep), compact(stream, e, keep));
    auto [stored, stored_count] = partition(stream, elements, keep);
    auto [fused, count] = partition(stream, e, keep);
    same("partition", stored, fused);
    CHECK(stored_count.get() == count.get());
    CHECK(count_if(stream, e, keep).get() == count_if(stream, elements, keep).get());
}

// Flags in a range and in an expression.
template <class E, class T>
void check_flags(Stream& stream, const E& e, const Array<T>& elements) {
    const std::vector<T> values = elements.to_host(stream);
    const u64 n = values.size();
    const std::vector<u8> flags = random_flags(n);
    const Array<u8> bytes(stream, flags);
    const auto kept = kept_of(values, flags), others = kept_of(values, flags, false);
    std::vector<T> parted = kept;
    parted.insert(parted.end(), others.begin(), others.end());
    const auto check = [&](const std::string& call, const auto& in, const auto& flag) {
        CAPTURE(call);
        CHECK(difference(kept, compact(stream, in, flag).to_host(stream)) == "");
        auto [out, count] = partition(stream, in, flag);
        CHECK(difference(parted, out.to_host(stream)) == "");
        CHECK(count.get() == kept.size());
    };
    check("range and range", elements, bytes);
    check("expression and expression", e,
          transform(UnaryPredicate::logical_not, transform(BinaryPredicate::equal, bytes, constant(u8{0}))));
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(expressions_compact_around_tiles) {
    for (const u64 n : sizes) {
        CAPTURE(n);
        const Operands<f32> a(stream, n);
        const auto e = transform(two_test, gather(a.x, a.index), reversed(a.y));
        const Array<f32> elements = evaluate(stream, e);
        check_compact(stream, e, elements, Keep::greater(0.1f));
        check_compact(stream, e, elements, inside_test.bind(-0.5f, 0.25f));
        check_flags(stream, e, elements);
    }
}

STREAM_TEST(expressions_compact_in_each_type) {
    each_tested_type(device, [&]<class T>(T) {
        for (const u64 n : some_sizes) {
            CAPTURE(n);
            const Operands<T> a(stream, n);
            const auto e = a.nested();
            const Array<T> elements = evaluate(stream, e);
            check_compact(stream, e, elements, KeepRule::positive);
            if constexpr (std::is_integral_v<T>) {
                if (tests_all_types(device)) {
                    check_compact(stream, e, elements, KeepRule::odd);
                    check_compact(stream, e, elements, KeepRule::even);
                }
            }
            if (tests_all_types(device)) {
                check_compact(stream, e, elements, KeepRule::nonzero);
                check_compact(stream, e, elements, Keep::less(T(1)));
                check_flags(stream, e, elements);
            }
        }
    });
}

STREAM_TEST(expressions_compact_in_all_variants) {
    constexpr u64 n = 20001;
    const Operands<f32> a(stream, n);
    const auto e = transform(two_test, a.x, reversed(a.y));
    const Array<f32> elements = evaluate(stream, e), stored(stream, n), fused(stream, n);
    const Array<u8> flags(stream, random_flags(n));
    const auto expected = kept_of(elements.to_host(stream), flags.to_host(stream));
    const Array<u64> count(stream, 1);
    test::each_variant(device, compact_algorithm, [&](const std::string& name) {
        const Options options{.variant = name};
        const Array<u64> other(stream, 1);
        fill(stream, fused.view(), 0.0f);
        fill(stream, stored.view(), 0.0f);
        const Enqueued done = compact(stream, e, fused, count, below_test, options);
        compact(stream, elements, stored, other, below_test, options);
        CHECK(done.variant == name);
        CHECK(difference(stored.to_host(stream), fused.to_host(stream)) == "");
        CHECK(count.to_host(stream) == other.to_host(stream));
        CHECK(count_if(stream, e, below_test, options).get() == count.to_host(stream)[0]);
        if (name == "scan_scatter") {
            CHECK(throws(ErrorCode::unsupported, "supports predicates only",
                         [&] { compact(stream, elements, flags, fused, count, options); }));
            return;
        }
        compact(stream, elements, flags, fused, count, options);
        CHECK(count.to_host(stream)[0] == expected.size());
        std::vector<f32> kept = fused.to_host(stream);
        kept.resize(expected.size());
        CHECK(difference(expected, kept) == "");
    });
}

STREAM_TEST(flags_of_compact_are_checked) {
    const Array<f32> in(stream, random_values<f32>(10)), out(stream, 10), nine(stream, 9);
    const Array<u8> flags(stream, 10), few(stream, 9);
    const Array<bool> truth(stream, 10);
    const Array<u64> count(stream, 1);
    fill(stream, flags.view(), u8{1});
    const auto refused = [&](std::string_view part, const auto& call) {
        CHECK(throws(ErrorCode::invalid_argument, part, call));
    };
    refused("all sources must have one size, got 10 and 9", [&] { compact(stream, in, few, out, count); });
    refused("all sources must have one size, got 10 and 9", [&] { partition(stream, in, few, out, count); });
    refused("out is too short, got 9", [&] { compact(stream, in, flags, nine, count); });
    refused("a range of the expression", [&] { compact(stream, in, flags, in, count); });
    refused("a range of the expression",
            [&] { compact(stream, flags, flags, Span<u8>(flags.view()), count); });
    refused("flags must be bool or u8, got f32", [&] {
        detail::compact(stream, detail::Input(in.view()), detail::Input(in.view()), out.view(), count.view(),
                        detail::Others::dropped, {});
    });
    // Flags of bool.
    evaluate(stream, transform(BinaryPredicate::greater, in, constant(0.0f)), truth);
    CHECK(difference(compact(stream, in, KeepRule::positive).to_host(stream),
                     compact(stream, in, truth).to_host(stream)) == "");
    CHECK(compact(stream, in, flags, out).get() == 10);
    CHECK(partition(stream, in, flags, out).get() == 10);
    CHECK(difference(in.to_host(stream), out.to_host(stream)) == "");
}

STREAM_TEST(expressions_scan_around_tiles) {
    const Same same(stream);
    for (const u64 n : sizes) {
        CAPTURE(n);
        const Operands<f32> a(stream, n);
        const auto e = transform(two_test, gather(a.x, a.index), reversed(a.y));
        const Array<f32> elements = evaluate(stream, e);
        for (const ScanKind kind : {ScanKind::inclusive, ScanKind::exclusive}) {
            CAPTURE(std::string(name_of(kind)));
            same("sum", scan(stream, elements, ReduceOp::sum, kind), scan(stream, e, ReduceOp::sum, kind));
            same("function", scan(stream, elements, larger_magnitude_test, 0.0f, kind),
                 scan(stream, e, larger_magnitude_test, 0.0f, kind));
        }
        // In place: each element is read at the index that is written.
        const auto own = transform(two_test, a.x, gather(a.y, a.index));
        const Array<f32> expected = scan(stream, evaluate(stream, own));
        scan(stream, own, a.x);
        same("in place", expected, a.x);
    }
}

STREAM_TEST(expressions_scan_in_each_type) {
    const Same same(stream);
    each_tested_type(device, [&]<class T>(T) {
        for (const u64 n : some_sizes) {
            CAPTURE(n);
            const Operands<T> a(stream, n);
            const auto e = a.nested();
            const Array<T> elements = evaluate(stream, e);
            same("sum", scan(stream, elements), scan(stream, e));
            if (!tests_all_types(device)) continue;
            for (const ReduceOp op : {ReduceOp::product, ReduceOp::min, ReduceOp::max})
                same(std::string(name_of(op)), scan(stream, elements, op, ScanKind::exclusive),
                     scan(stream, e, op, ScanKind::exclusive));
        }
    });
}

// More tiles than a tile looks back on in one step.
STREAM_TEST(expressions_of_many_tiles) {
    constexpr u64 n = (u64{1} << 21) + 77;
    const Same same(stream);
    const Operands<f32> a(stream, n);
    const auto e = transform(two_test, a.x, reversed(a.y));
    const Array<f32> elements = evaluate(stream, e);
    const Array<f32> sums = scan(stream, elements), kept = compact(stream, elements, Keep::less(0.25f)),
                     out(stream, n);
    same("scan", sums, scan(stream, e));
    same("compact", kept, compact(stream, e, Keep::less(0.25f)));
    test::each_variant(
        device, scan_algorithm,
        [&](const std::string& name) {
            scan(stream, e, out, ReduceOp::sum, ScanKind::inclusive, {.variant = name});
            same("scan", sums, out);
        },
        OperationOrder::canonical);
    test::each_variant(device, compact_algorithm, [&](const std::string& name) {
        same("compact", kept, compact(stream, e, Keep::less(0.25f), {.variant = name}));
    });
    CHECK(count_if(stream, elements, Keep::less(0.25f)).get() ==
          count_if(stream, e, Keep::less(0.25f)).get());
    same("histogram", histogram<u32>(stream, elements, 100, HistogramBins::even(-1, 1)),
         histogram<u32>(stream, e, 100, HistogramBins::even(-1, 1)));
}

STREAM_TEST(expressions_scan_in_all_variants) {
    constexpr u64 n = 20001;
    const Operands<f32> a(stream, n);
    const auto e = transform(two_test, a.x, reversed(a.y));
    const Array<f32> elements = evaluate(stream, e), stored(stream, n), fused(stream, n);
    test::each_variant(device, scan_algorithm, [&](const std::string& name) {
        const Enqueued done = scan(stream, e, fused, ReduceOp::sum, ScanKind::inclusive, {.variant = name});
        scan(stream, elements, stored, ReduceOp::sum, ScanKind::inclusive, {.variant = name});
        CHECK(done.variant == name);
        if (done.order != OperationOrder::unspecified)
            CHECK(difference(stored.to_host(stream), fused.to_host(stream)) == "");
    });
}

STREAM_TEST(expressions_of_samples) {
    const Same same(stream);
    for (const u64 n : {u64{0}, u64{1}, u64{255}, u64{257}, u64{1024}, u64{1025}, u64{8193}, u64{70001}}) {
        CAPTURE(n);
        const Operands<f32> a(stream, n);
        const auto e = transform(two_test, gather(a.x, a.index), reversed(a.y));
        const Array<f32> elements = evaluate(stream, e);
        const HistogramBins even = HistogramBins::even(-1, 1);
        same("u64", histogram(stream, elements, 7, even), histogram(stream, e, 7, even));
        same("u16", histogram<u16>(stream, elements, 7, even), histogram<u16>(stream, e, 7, even));
        same("many bins", histogram<u32>(stream, elements, 5000, even),
             histogram<u32>(stream, e, 5000, even));
        same("function", histogram(stream, elements, 9, wide_bin_test),
             histogram(stream, e, 9, wide_bin_test));
        const std::vector<f32> edges{-1, -0.5f, 0, 0.1f, 2};
        same("edges", histogram(stream, elements, 4, HistogramBins::edges(edges)),
             histogram(stream, e, 4, HistogramBins::edges(edges)));
    }
}

STREAM_TEST(expressions_of_samples_in_each_type) {
    const Same same(stream);
    each_tested_type(device, [&]<class T>(T) {
        for (const u64 n : some_sizes) {
            CAPTURE(n);
            const Operands<T> a(stream, n);
            const auto e = a.nested();
            const Array<T> elements = evaluate(stream, e);
            same("even", histogram(stream, elements, 16, HistogramBins::even(-2, 100)),
                 histogram(stream, e, 16, HistogramBins::even(-2, 100)));
        }
    });
}

STREAM_TEST(expressions_of_samples_in_all_variants) {
    constexpr u64 n = 20001, bins = 100;
    const Operands<f32> a(stream, n);
    const auto e = transform(two_test, a.x, reversed(a.y));
    const Array<f32> elements = evaluate(stream, e);
    const Array<u32> stored(stream, bins), fused(stream, bins);
    test::each_variant(device, histogram_algorithm, [&](const std::string& name) {
        const Enqueued done = histogram(stream, e, fused, HistogramBins::even(-1, 1), {.variant = name});
        histogram(stream, elements, stored, HistogramBins::even(-1, 1), {.variant = name});
        CHECK(done.variant == name);
        CHECK(difference(stored.to_host(stream), fused.to_host(stream)) == "");
    });
}

TEST_SUITE_END();
TEST_SUITE_BEGIN("core");

TEST_CASE("expressions as inputs compile for CUDA") {
    const auto gpu = test::cuda_compiler();
    REQUIRES(gpu, test::needs::nvrtc);
    const auto on_gpu = gpu->create_stream();
    Stream& stream = *on_gpu;
    constexpr u64 n = u64{1} << 25;
    const Array<u64> count(stream, 1), counters(stream, 100);
    const Array<u8> flags(stream, n);
    const auto check = [&]<class T>(T) {
        CAPTURE(std::string(name_of(type_of<T>())));
        const Array<T> x(stream, n), y(stream, n), out(stream, n);
        const Array<u32> index(stream, n);
        const auto e = transform(ReduceOp::max, transform(ReduceOp::sum, x, reversed(y)), gather(y, index));
        CHECK_NOTHROW(scan(stream, e, out));
        CHECK_NOTHROW(
            scan(stream, e, out, ReduceOp::sum, ScanKind::inclusive, {.variant = "reduce_then_scan"}));
        CHECK_NOTHROW(compact(stream, e, out, count, KeepRule::nonzero));
        CHECK_NOTHROW(compact(stream, e, flags, out, count));
        CHECK_NOTHROW(partition(stream, e, out, count, KeepRule::nonzero));
        CHECK_NOTHROW(partition(stream, e, flags, out, count));
        CHECK_NOTHROW(histogram(stream, e, counters, HistogramBins::even(0, 100)));
        CHECK_NOTHROW(
            histogram(stream, e, counters, HistogramBins::even(0, 100), {.variant = "global_atomic"}));
        CHECK_NOTHROW(histogram(stream, e, counters, HistogramBins::even(0, 100), {.variant = "packed16"}));
    };
    check(u8{});
    check(f32{});
    if (tests_all_types(*gpu)) {
        check(i16{});
        check(f64{});
    }
}

TEST_SUITE_END();
