// Statistics over axes: each line is bitwise identical to the call on a contiguous copy of it.
#include "devices.hpp"

#include <concord/any_all.hpp>
#include <concord/scan_axes.hpp>
#include <concord/sort_axes.hpp>
#include <concord/statistics.hpp>

#include <cstring>
#include <thread>

using namespace concord;
using test::random_values;
using test::throws;

namespace {

// The elements of an array view, line by line.
template <class T>
std::vector<std::vector<T>> lines_of(const std::vector<T>& memory, const NdView& t, const Axes& axes) {
    const Axes reduced = detail::sorted_axes("test", axes, t.rank());
    std::vector<u32> order;  // kept axes, then reduced ones
    for (u32 k = 0; k < t.rank(); ++k) {
        if (std::find(reduced.begin(), reduced.end(), k) == reduced.end()) order.push_back(k);
    }
    const u64 count = detail::element_count(detail::kept_extents(t, axes));
    order.insert(order.end(), reduced.begin(), reduced.end());
    std::vector<std::vector<T>> lines(count);
    const u64 n = count == 0 ? 0 : t.size() / count;
    for (u64 i = 0; i < t.size(); ++i) {
        u64 at = t.origin(), rest = i;
        for (auto k = order.rbegin(); k != order.rend(); rest /= t.extent(*k), ++k)
            at += rest % t.extent(*k) * static_cast<u64>(t.stride(*k));
        lines[i / n].push_back(memory.at(at));
    }
    return lines;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// Statistics over axes of an array view, against those of each line alone. all: also those that differ from the others
// in their functions only.
template <class T>
void compare(Stream& stream, const NdSpan<T>& t, const Axes& axes, bool all = false) {
    CAPTURE(std::string(name_of(type_of<T>())));
    CAPTURE(detail::shape_name(t.extents()));
    CAPTURE(axes.size() == 0 ? i64{-9} : axes[0]);
    using M = detail::MeanOf<T>;
    std::vector<T> memory(t.view().range().count);
    const View range = t.view().range();
    if (range.count > 0) stream.read(memory.data(), *range.buffer, range.offset, range.bytes());
    stream.synchronize();
    std::vector<u64> smallest, largest;
    std::vector<T> least, most;
    std::vector<M> means, variances, deviations, norms;
    const bool has_means = static_cast<bool>(detail::supports_type(stream.device(), type_of<M>()));
    for (const std::vector<T>& line : lines_of(memory, t.view(), axes)) {
        const Array<T> x(stream, line);
        smallest.push_back(argmin(stream, x).get());
        least.push_back(line[smallest.back()]);
        if (has_means) variances.push_back(variance(stream, x, 1).get());
        if (!all) continue;
        largest.push_back(argmax(stream, x).get());
        most.push_back(line[largest.back()]);
        if (!has_means) continue;
        means.push_back(mean(stream, x).get());
        deviations.push_back(standard_deviation(stream, x).get());
        norms.push_back(norm(stream, x).get());
    }
    CHECK(argmin(stream, t, axes).to_host(stream) == smallest);
    const auto both = argmin_with_value(stream, t, axes);
    CHECK(both.index.to_host(stream) == smallest);
    CHECK(same_bits(both.value.to_host(stream), least));
    if (has_means) CHECK(same_bits(variance(stream, t, axes, 1).to_host(stream), variances));
    if (!all) return;
    CHECK(argmax(stream, t, axes).to_host(stream) == largest);
    CHECK(same_bits(argmax_with_value(stream, t, axes).value.to_host(stream), most));
    if (!has_means) return;
    CHECK(same_bits(mean(stream, t, axes).to_host(stream), means));
    CHECK(same_bits(standard_deviation(stream, t, axes).to_host(stream), deviations));
    CHECK(same_bits(norm(stream, t, axes).to_host(stream), norms));
}

void append(std::vector<u8>& to, const auto& values) {
    for (const auto value : values) {
        const auto* const bytes = reinterpret_cast<const u8*>(&value);
        to.insert(to.end(), bytes, bytes + sizeof value);
    }
}

// The results of each call over axes, and of expressions of several array views.
std::vector<u8> results_over_axes(Stream& stream, u32 seed) {
    constexpr u64 rows = 90, columns = 40;
    const Array<f32> x(stream, random_values<f32>(rows * columns, seed)),
        row(stream, random_values<f32>(columns, seed + 1));
    const NdSpan t(x, {rows, columns});
    std::vector<u8> all;
    append(all, sum(stream, t, 0).to_host(stream));
    append(all, variance(stream, t, 1).to_host(stream));
    const auto least = argmin_with_value(stream, t, 0);
    append(all, least.index.to_host(stream));
    append(all, least.value.to_host(stream));
    append(all, any(stream, transform(BinaryPredicate::greater, t, row), 1).to_host(stream));
    append(all, scan(stream, t, ReduceOp::sum, 1).to_host(stream));
    append(all, sort(stream, t, 0).to_host(stream));
    append(all, argsort(stream, t, 1).to_host(stream));
    append(all, evaluate(stream, transform(BinaryFunction::subtract, t, row)).to_host(stream));
    append(all, evaluate(stream, where(transform(BinaryPredicate::less, t, row), t, clip(row, -0.5f, 0.5f)))
                    .to_host(stream));
    return all;
}

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(calls_over_axes_on_several_streams_and_threads) {
    // All threads compile the same kernels at once. Two of them have one stream.
    constexpr u32 threads = 4, rounds = 3;
    const std::shared_ptr<Stream> shared = device.create_stream();
    std::vector<std::vector<u8>> results(u64{threads} * rounds);
    std::vector<std::string> problems(threads);
    const auto run = [&](u32 thread) {
        try {
            const std::shared_ptr<Stream> stream = thread < 2 ? shared : device.create_stream();
            for (u32 round = 0; round < rounds; ++round)
                results[thread * rounds + round] = results_over_axes(*stream, thread * rounds + round);
        } catch (const std::exception& error) {
            problems[thread] = error.what();
        }
    };
    std::vector<std::thread> all;
    for (u32 thread = 0; thread < threads; ++thread)
        all.emplace_back(run, thread);
    for (std::thread& thread : all)
        thread.join();
    for (const std::string& problem : problems)
        CHECK(problem == "");
    for (u32 i = 0; i < threads * rounds; ++i) {
        CAPTURE(i);
        CHECK(results[i] == results_over_axes(*shared, i));
    }
}

STREAM_TEST(statistics_of_rows_and_columns) {
    for (const u64 n : {1, 17, 40, 1100}) {
        const Array<f32> x(stream, random_values<f32>(n * 9 + 4));
        compare(stream, NdSpan(x, {5, n}), {1});
        compare(stream, NdSpan(x, {n, 5}), {-2});
        compare(stream, NdSpan(x, {4, n}, {static_cast<i64>(2 * n), 1}, 3), {1});
    }
}

STREAM_TEST(statistics_of_any_axes) {
    const Array<f32> x(stream, random_values<f32>(6 * 30 * 7));
    const NdSpan t(x, {6, 30, 7});
    for (const Axes& axes : {Axes{0}, Axes{1}, Axes{2}, Axes{0, 2}, Axes{2, 1, 0}, Axes{}})
        compare(stream, t, axes);
    compare(stream, t.transposed(), {1});
    compare(stream, t.permuted({1, 2, 0}), {0, 2});
    compare(stream, t.reversed(1).reversed(0), {1});
    compare(stream, t.part(0, 1, 4).part(1, 2, 25).part(2, 1, 3), {1});
    compare(stream, NdSpan(x, {1, 40}).broadcast({5, 40}), {0});
    compare(stream, NdSpan(x, {2, 3, 2, 3, 4}), {1, 3});
    compare(stream, NdSpan(x, {}), {});
}

STREAM_TEST(statistics_over_axes_of_all_types) {
    const auto each = [&]<class T>(T) {
        const Array<T> x(stream, random_values<T>(7 * 150));
        compare(stream, NdSpan(x, {7, 150}), {1}, true);
        compare(stream, NdSpan(x, {150, 7}), {0});
    };
    each(i8{});
    each(u16{});
    each(u64{});
    if (device.traits().fp64) each(f64{});
}

STREAM_TEST(statistics_of_many_lines) {
    // So many that groups of GPUs reduce them in other ways.
    const u64 n = 40, lines = 4000;
    const auto values = random_values<i32>(n * lines);
    const Array<i32> x(stream, values);
    std::vector<u64> rows, columns;
    for (u64 line = 0; line < lines; ++line) {
        u64 row = 0, column = 0;
        for (u64 i = 1; i < n; ++i) {
            if (values[line * n + i] < values[line * n + row]) row = i;
            if (values[i * lines + line] < values[column * lines + line]) column = i;
        }
        rows.push_back(row);
        columns.push_back(column);
    }
    CHECK(argmin(stream, NdSpan(x, {lines, n}), 1).to_host(stream) == rows);
    CHECK(argmin(stream, NdSpan(x, {n, lines}), 0).to_host(stream) == columns);
}

STREAM_TEST(statistics_over_axes_of_special_values) {
    const f32 nan = std::numeric_limits<f32>::quiet_NaN();
    const Array<f32> x(stream, {3, 1, 1, -0.0f, 0, 2, 1, nan, nan, 5, 5, 4});
    const NdSpan t(x, {4, 3});
    CHECK(argmin(stream, t, 1).to_host(stream) == std::vector<u64>{1, 0, 1, 2});
    CHECK(argmax(stream, t, 1).to_host(stream) == std::vector<u64>{0, 2, 1, 0});
    CHECK(argmin(stream, t, 0).to_host(stream) == std::vector<u64>{1, 2, 2});
    // Elements at the indices: -0 keeps its sign, NaNs are canonical.
    const f32 payload = std::bit_cast<f32>(0xffc01234);
    const Array<f32> y(stream, {3, 1, 1, -0.0f, 0, 2, 1, payload, nan, 0, -0.0f, 4});
    CHECK(same_bits(argmin_with_value(stream, NdSpan(y, {4, 3}), 1).value.to_host(stream),
                    {1, -0.0f, std::bit_cast<f32>(0x7fc00000), 0}));
    // Empty lines, and no lines.
    const NdSpan none(x, {3, 0});
    for (const f32 value : mean(stream, none, 1).to_host(stream))
        CHECK(value != value);
    for (const f32 value : variance(stream, none, 1).to_host(stream))
        CHECK(value != value);
    CHECK(norm(stream, none, 1).to_host(stream) == std::vector<f32>(3));
    CHECK(mean(stream, none, 0).size() == 0);
    CHECK(argmin(stream, none, 0).size() == 0);
    CHECK(argmin_with_value(stream, none, 0).value.size() == 0);
}

STREAM_TEST(statistics_over_axes_go_to_array_views) {
    const auto values = random_values<f32>(12 * 30);
    const Array<f32> x(stream, values);
    const NdSpan t(x, {12, 30});
    const auto means = mean(stream, t, 1).to_host(stream),
               deviations = variance(stream, t, 1).to_host(stream);
    const auto indices = argmax(stream, t, 1).to_host(stream);
    Array<f32> out(stream, std::vector<f32>(40, -1.0f));
    CHECK(mean(stream, t, NdSpan(out, {12}, {-3}, 35), 1).order == OperationOrder::canonical);
    const auto spread = out.to_host(stream);
    for (u64 i = 0; i < 12; ++i) {
        CHECK(spread[35 - 3 * i] == means[i]);
        CHECK(spread[34 - 3 * i + (i == 11 ? 2 : 0)] == -1.0f);
    }
    variance(stream, t, out.span().part(2, 12), 1);
    CHECK(same_bits(std::vector<f32>(deviations), [&] {
        const auto all = out.to_host(stream);
        return std::vector<f32>(all.begin() + 2, all.begin() + 14);
    }()));
    Array<u64> at(stream, 24);
    argmax(stream, t, NdSpan(at, {12}, {2}), 1);
    const auto found = at.to_host(stream);
    for (u64 i = 0; i < 12; ++i)
        CHECK(found[2 * i] == indices[i]);
    const Array<i64> wide(stream, random_values<i64>(12 * 30));
    argmin(stream, NdSpan(wide, {12, 30}), NdSpan(at, {12}, {2}, 1), 1);
    const auto lowest = argmin(stream, NdSpan(wide, {12, 30}), 1).to_host(stream), both = at.to_host(stream);
    for (u64 i = 0; i < 12; ++i) {
        CHECK(both[2 * i] == indices[i]);
        CHECK(both[2 * i + 1] == lowest[i]);
    }
    // Indices and elements, each in an array view of its own.
    const auto wide_values = wide.to_host(stream);
    const Array<i64> elements(stream, std::vector<i64>(40, -1));
    const Enqueued done =
        argmin(stream, NdSpan(wide, {12, 30}), NdSpan(at, {12}, {-2}, 23), NdSpan(elements, {12}, {3}, 2), 1);
    CHECK(done.order == OperationOrder::canonical);
    const auto places = at.to_host(stream);
    const auto written = elements.to_host(stream);
    for (u64 i = 0; i < 40; ++i) {
        const u64 line = (i - 2) / 3;
        const bool is_element = i >= 2 && (i - 2) % 3 == 0 && line < 12;
        CHECK(written[i] == (is_element ? wide_values[line * 30 + lowest[line]] : -1));
        if (is_element) CHECK(places[23 - 2 * line] == lowest[line]);
    }
    // Of an expression, to ranges.
    const auto negative = transform(MapFunction::negate, t);
    argmin(stream, negative, at.span().part(3, 12), out.span().part(5, 12), 1);
    const auto highest = out.to_host(stream);
    for (u64 i = 0; i < 12; ++i) {
        CHECK(at.to_host(stream)[3 + i] == indices[i]);
        CHECK(highest[5 + i] == -values[i * 30 + indices[i]]);
    }
}

STREAM_TEST(statistics_over_axes_reject_invalid_calls) {
    const Array<f32> x(stream, 60), out(stream, 20);
    const Array<u64> at(stream, 5);
    const NdSpan t(x, {4, 5, 3});
    const auto refused = [](const char* words, const auto& f) {
        CHECK(throws(ErrorCode::invalid_argument, words, f));
    };
    refused("mean: axis out of range, got 3", [&] { mean(stream, t, NdSpan(out, {4, 5}), 3); });
    refused("variance: repeated axis", [&] { variance(stream, t, NdSpan(out, {4}), {1, 1}); });
    refused("mean: out must have the extents of the kept axes, 4 x 5, got 5 x 4", [&] {
        mean(stream, t, NdSpan(out, {5, 4}), 2);
    });
    refused("norm: indices of out may share elements", [&] {
        norm(stream, t, NdSpan(out, {4, 5}, {1, 1}), 2);
    });
    refused("argmin: an empty axis, got 4 x 0; pass at least one element along it", [&] {
        (void)argmin(stream, NdSpan(x, {4, 0}), 1);
    });
    refused("argmin: values must have the extents of the kept axes, 5, got 4", [&] {
        argmin(stream, NdSpan(x, {5, 12}), at, NdSpan(out, {4}), 1);
    });
    refused("argmax: indices of values may share elements", [&] {
        argmax(stream, NdSpan(x, {5, 12}), at, NdSpan(out, {5}, {0}), 1);
    });
    refused("overlaps", [&] { argmax(stream, NdSpan(x, {5, 12}), at, x.span().part(40, 5), 1); });
    refused("overlaps", [&] { mean(stream, t, x.span().part(40, 20), 2); });
    CHECK_NOTHROW(argmax(stream, NdSpan(x, {5, 12}), at, 1));
    CHECK_NOTHROW(stream.synchronize());
}
