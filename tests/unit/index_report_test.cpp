// Indices that kernels find out of range: what synchronize() reports, and what works after it.
#include "devices.hpp"

#include <concord/recording.hpp>

#include <limits>
#include <numeric>

using namespace concord;
using test::random_values;
using test::throws;

namespace {

CONCORD_FUNCTION(f32, doubled_test, (f32 x), return x * 2;)

// The message of an index of gather.
std::string gather_message(u64 position, u64 size) {
    return "gather: index out of range at position " + std::to_string(position) + "; expected 0 to " +
           std::to_string(size - 1);
}

// Indices in range, and `bad` at some positions.
template <class I>
std::vector<I> indices(u64 n, u64 size, I bad, std::initializer_list<u64> positions) {
    std::vector<I> list(n);
    for (u64 i = 0; i < n; ++i)
        list[i] = static_cast<I>(i * 7 % size);
    for (const u64 position : positions)
        list[position] = bad;
    return list;
}

void reports(Stream& stream, u64 position, u64 size) {
    CHECK(throws(ErrorCode::invalid_argument, gather_message(position, size), [&] { stream.synchronize(); }));
    stream.synchronize();  // once only
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(synchronize_names_the_first_index_out_of_range) {
    const u64 size = 100, n = 70001;
    const Array<f32> x(stream, std::vector<f32>(size, 1.0f)), out(stream, n), total(stream, 1);
    const auto check = [&]<class I>(I bad) {
        CAPTURE(std::string(name_of(type_of<I>())));
        CAPTURE(bad);
        for (const u64 first : {u64{0}, u64{513}, n - 1}) {
            const Array<I> at(stream, indices<I>(n, size, bad, {first, n - 1, std::max(first, n / 2)}));
            evaluate(stream, gather(x, at), out);
            reports(stream, first, size);
            reduce(stream, gather(x, at), total);
            reports(stream, first, size);
        }
        const Array<I> good(stream, indices<I>(n, size, I(99), {0, n - 1}));
        evaluate(stream, gather(x, good), out);
        stream.synchronize();
        CHECK(out.to_host(stream) == std::vector<f32>(n, 1.0f));
    };
    check(i32{-1});
    check(i32{100});
    check(u32{100});
    check((std::numeric_limits<u32>::max)());
    check(i64{-1});
    check((std::numeric_limits<i64>::min)());
    check(u64{100});
    check(u64{1} << 32);
    check((std::numeric_limits<u64>::max)());
    check(i8{-128});
    check(u16{50000});
}

STREAM_TEST(synchronize_names_the_first_call_with_an_index_out_of_range) {
    const Array<f32> x(stream, std::vector<f32>(10, 1.0f)), y(stream, std::vector<f32>(20, 1.0f)),
        out(stream, 1000), total(stream, 1);
    const Array<u32> good(stream, indices<u32>(1000, 10, 9, {})),
        bad(stream, indices<u32>(1000, 10, 77, {3})), worse(stream, indices<u32>(1000, 10, 15, {500}));
    evaluate(stream, gather(x, good), out);
    evaluate(stream, gather(x, worse), out);
    evaluate(stream, gather(y, bad), out);
    reports(stream, 500, 10);
    evaluate(stream, gather(y, worse), out);  // in range here
    evaluate(stream, gather(y, bad), out);
    reports(stream, 3, 20);
    // Reading an array synchronizes too.
    evaluate(stream, gather(x, worse), out);
    CHECK(throws(ErrorCode::invalid_argument, gather_message(500, 10), [&] { (void)out.to_host(stream); }));
    evaluate(stream, gather(x, good), out);
    CHECK(out.to_host(stream) == std::vector<f32>(1000, 1.0f));
}

STREAM_TEST(nested_gathers_report_positions_in_their_own_index) {
    const u64 n = 3000;
    const Array<f32> x(stream, std::vector<f32>(50, 1.0f)), out(stream, n);
    const Array<i32> inner(stream, indices<i32>(60, 50, -3, {41}));
    std::vector<u64> outer_list = indices<u64>(n, 41, 0, {});
    const Array<u64> clean(stream, outer_list);
    evaluate(stream, gather(gather(x, inner), clean), out);  // does not read index 41
    stream.synchronize();
    outer_list[2222] = 41;
    const Array<u64> outer(stream, outer_list);
    evaluate(stream, gather(gather(x, inner), outer), out);
    reports(stream, 41, 50);
    outer_list[2222] = 60;
    const Array<u64> beyond(stream, outer_list);
    evaluate(stream, gather(gather(x, inner), beyond), out);
    reports(stream, 2222, 60);
    // In other parts: the position is that of the index.
    evaluate(stream, reversed(transform(doubled_test, gather(gather(x, inner), beyond))), out);
    reports(stream, 2222, 60);
    evaluate(stream, gather(x, gather(inner, outer)), out);
    reports(stream, 2222, 50);
}

STREAM_TEST(indices_are_reported_by_every_algorithm_that_computes_its_input) {
    const u64 n = 20000;
    const Array<f32> x(stream, std::vector<f32>(50, 1.0f)), out(stream, n);
    const Array<u64> counts(stream, 2), count(stream, 1);
    const Array<u32> at(stream, indices<u32>(n, 50, 50, {12345, 19999}));
    const auto e = gather(x, at);
    scan(stream, e, out);
    reports(stream, 12345, 50);
    histogram(stream, e, counts, HistogramBins::even(0, 2));
    reports(stream, 12345, 50);
    compact(stream, e, out, count, KeepRule::nonzero);
    reports(stream, 12345, 50);
    sort(stream, e, out);
    reports(stream, 12345, 50);
    map(stream, e, out, doubled_test);
    reports(stream, 12345, 50);
}

STREAM_TEST(many_calls_before_a_synchronize_share_their_reports) {
    const u64 n = 64;
    const Array<f32> x(stream, std::vector<f32>(10, 1.0f)), y(stream, std::vector<f32>(11, 1.0f)),
        out(stream, n);
    const Array<u32> good(stream, indices<u32>(n, 10, 9, {})), bad(stream, indices<u32>(n, 10, 12, {5}));
    for (u32 i = 0; i < 1000; ++i)
        evaluate(stream, gather(x, good), out);
    stream.synchronize();
    for (u32 i = 0; i < 1000; ++i)
        evaluate(stream, gather(x, i == 998 ? bad : good), out);
    reports(stream, 5, 10);
    for (u32 i = 0; i < 1000; ++i)
        evaluate(stream, gather(i % 2 == 0 ? x : y, i == 998 ? bad : good), out);
    CHECK(throws(ErrorCode::invalid_argument,
                 "Stream::synchronize: index out of range at position 5 of one of several calls",
                 [&] { stream.synchronize(); }));
    evaluate(stream, gather(x, bad), out);
    reports(stream, 5, 10);
}

STREAM_TEST(a_replay_reports_indices_at_the_next_synchronize) {
    const u64 n = 1000;
    const Array<f32> x(stream, std::vector<f32>(10, 1.0f)), out(stream, n);
    const std::vector<u32> good = indices<u32>(n, 10, 9, {}), bad = indices<u32>(n, 10, 12, {700, 900});
    const Array<u32> at(stream, good);
    stream.begin_recording();
    evaluate(stream, gather(x, at), out);
    const auto recording = stream.end_recording();
    stream.synchronize();
    const auto use = [&](const std::vector<u32>& list) {
        stream.write(*at.buffer(), 0, list.data(), n * sizeof(u32));
        recording->replay(stream);
    };
    for (u32 round = 0; round < 2; ++round) {
        use(good);
        stream.synchronize();
        use(bad);
        recording->replay(stream);
        reports(stream, 700, 10);
    }
    // Also on another stream.
    const auto other = device.create_stream();
    recording->replay(*other);
    reports(*other, 700, 10);
    stream.synchronize();
    // The stream of the last replay reads the words: what the one before it did not read is dropped.
    use(bad);
    stream.write(*at.buffer(), 0, good.data(), n * sizeof(u32));
    recording->replay(*other);
    other->synchronize();
    stream.synchronize();
    {
        const auto brief = device.create_stream();
        use(bad);
        recording->replay(*brief);
    }
    use(good);
    stream.synchronize();
    // A report that is not read is dropped with its stream.
    {
        const auto brief = device.create_stream();
        evaluate(*brief, gather(x, at), out);
    }
    stream.synchronize();
}

TEST_SUITE_END();
