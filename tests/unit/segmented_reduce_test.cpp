// Segmented reduce through the public API; `concord check` covers types, sizes, patterns and shapes of segments.
#include "devices.hpp"

#include <concord/segmented_reduce.hpp>

#include <bit>

using namespace concord;
using test::throws;

CONCORD_FUNCTION(u32, either, (u32 a, u32 b), return a | b;)

namespace {

std::vector<f32> values_of(u64 n) {
    std::vector<f32> values(n);
    for (u64 i = 0; i < n; ++i)
        values[i] = static_cast<f32>((i * 2654435761U) % 1000003) * 1e-3F - 400;
    return values;
}

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(segments_have_the_bits_of_calls_on_them_alone) {
    const auto stream = device.create_stream();
    // Empty, short, of one chunk, of several, and of so many that they have three levels.
    const std::vector<u64> lengths{0, 1, 5, 129, 1024, 0, 1025, 40000, 3, 70000, 1100000, 2};
    std::vector<u64> offsets{7};
    for (const u64 length : lengths)
        offsets.push_back(offsets.back() + length);
    const std::vector<f32> values = values_of(offsets.back() + 11);
    const Array<f32> x(*stream, values);
    const Array<u64> at(*stream, offsets);
    const std::vector<f32> sums = segmented_reduce(*stream, x, at).to_host(*stream);
    REQUIRE(sums.size() == lengths.size());
    for (u64 s = 0; s < lengths.size(); ++s) {
        CAPTURE(s);
        CHECK(std::bit_cast<u32>(sums[s]) ==
              std::bit_cast<u32>(sum(*stream, x.span().part(offsets[s], lengths[s])).get()));
    }
    // The same of an expression, which computes every element once.
    const auto squares = transform(MapFunction::square, x);
    const std::vector<f32> of_squares = segmented_reduce(*stream, squares, at).to_host(*stream);
    const Array<f32> stored(*stream, x.size());
    evaluate(*stream, squares, stored);
    CHECK(of_squares == segmented_reduce(*stream, stored, at).to_host(*stream));
}

DEVICE_TEST(segments_of_gathered_elements) {
    // Short, middle and short: on CPUs they share a room for computed elements.
    const auto stream = device.create_stream();
    std::vector<u64> places(400);
    for (u64 i = 0; i < places.size(); ++i)
        places[i] = i * 7 % 400;
    places[399] = 1000;  // behind the last segment: not read
    const Array<u64> inner(*stream, places);
    const Array<f32> x(*stream, values_of(400));
    const Array<u32> offsets(*stream, std::vector<u32>{0, 5, 105, 110, 390});
    const auto elements = gather(x, reversed(reversed(inner)));
    const Array<f32> stored(*stream, 399);
    evaluate(*stream, gather(x, inner.span().part(0, 399)), stored);
    CHECK(segmented_reduce(*stream, elements, offsets).to_host(*stream) ==
          segmented_reduce(*stream, stored, offsets).to_host(*stream));
    stream->synchronize();
}

DEVICE_TEST(segments_of_own_operators_and_offsets_of_every_type) {
    const auto stream = device.create_stream();
    std::vector<u32> bits(5000);
    for (u32 i = 0; i < bits.size(); ++i)
        bits[i] = 1U << (i % 32);
    const Array<u32> x(*stream, bits);
    const auto check = [&]<class O>(O) {
        const Array<O> offsets(*stream, std::vector<O>{0, 1, 3, 3, 40, 5000});
        CHECK(segmented_reduce(*stream, x, offsets, either, 0U).to_host(*stream) ==
              std::vector<u32>{1, 6, 0, 0xffffffff, 0xffffffff});
        CHECK(segmented_reduce(*stream, x, offsets, ReduceOp::max).to_host(*stream) ==
              std::vector<u32>{1, 4, 0, 1U << 31, 1U << 31});
    };
    check(u32{});
    check(i32{});
    check(u64{});
    check(i64{});
}

DEVICE_TEST(wrong_offsets_access_nothing_outside) {
    const auto stream = device.create_stream();
    const std::vector<f32> values = values_of(3000);
    const Array<f32> x(*stream, values), guarded(*stream, std::vector<f32>(12, 5));
    const Array<i64> offsets(*stream, std::vector<i64>{-1, 0, 3000, 0, 3000, 0, 3000, i64{1} << 62, 4, 3000});
    const Array<f32> out(*stream, 9);
    segmented_reduce(*stream, x, offsets, guarded.span().part(1, 9));
    CHECK(throws(
        ErrorCode::invalid_argument,
        "segmented_reduce: offset that does not ascend or is out of range at position 0; expected 0 to 3000",
        [&] { stream->synchronize(); }));
    // The first one that descends, of short and of long segments.
    for (const u32 step : {10U, 500U}) {
        std::vector<u32> descending(3000 / step);
        for (u32 i = 0; i < descending.size(); ++i)
            descending[i] = i * step;
        descending[4] -= 2 * step;
        const Array<u32> at(*stream, descending);
        const Array<f32> sums = segmented_reduce(*stream, x, at);
        CHECK(throws(ErrorCode::invalid_argument, "at position 4;", [&] { stream->synchronize(); }));
    }
    const std::vector<f32> after = guarded.to_host(*stream);
    CHECK(after.front() == 5);
    CHECK(after[10] == 5);
    CHECK(after[11] == 5);
    CHECK(x.to_host(*stream) == values);
}

DEVICE_TEST(segments_of_nothing) {
    const auto stream = device.create_stream();
    const Array<f32> none(*stream, 0), x(*stream, values_of(10));
    const Array<u32> zeros(*stream, std::vector<u32>(4, 0)), one(*stream, std::vector<u32>{4});
    CHECK(segmented_reduce(*stream, none, zeros, ReduceOp::product).to_host(*stream) ==
          std::vector<f32>{1, 1, 1});
    CHECK(segmented_reduce(*stream, x, zeros).to_host(*stream) == std::vector<f32>{0, 0, 0});
    CHECK(segmented_reduce(*stream, x, one).to_host(*stream).empty());
}

DEVICE_TEST(segmented_reduce_refuses) {
    const auto stream = device.create_stream();
    const Array<f32> x(*stream, values_of(10)), out(*stream, 2);
    const Array<u32> offsets(*stream, std::vector<u32>{0, 4, 10}), none(*stream, 0);
    CHECK(throws(ErrorCode::invalid_argument, "out must have 2 elements, one less than offsets, got 1",
                 [&] { segmented_reduce(*stream, x, offsets, out.span().part(0, 1)); }));
    CHECK(throws(ErrorCode::invalid_argument,
                 "offsets must have 1 element more than there are segments, got 0",
                 [&] { segmented_reduce(*stream, x, none, out); }));
    CHECK(throws(ErrorCode::invalid_argument, "overlap",
                 [&] { segmented_reduce(*stream, x, offsets, x.span().part(3, 2)); }));
    CHECK(throws(ErrorCode::invalid_argument, "offsets must have type u32, u64, i32 or i64, got f32",
                 [&] { segmented_reduce(*stream, x.view(), x.view(), x.view().part(0, 9)); }));
    CHECK(throws(ErrorCode::invalid_argument, "same type",
                 [&] { segmented_reduce(*stream, x.view(), offsets.view(), offsets.view().part(0, 2)); }));
}

TEST_SUITE_END();
