// Segmented scan through the public API; `concord check` covers types, sizes, patterns and shapes of segments.
#include "devices.hpp"

#include <concord/segmented_scan.hpp>

#include <bit>
#include <limits>

using namespace concord;
using test::throws;

// Not commutative.
CONCORD_FUNCTION(u32, last_nonzero, (u32 a, u32 b), return b != 0 ? b : a;)

namespace {

std::vector<f32> values_of(u64 n) {
    std::vector<f32> values(n);
    for (u64 i = 0; i < n; ++i)
        values[i] = static_cast<f32>((i * 2654435761U) % 1000003) * 1e-3F - 400;
    return values;
}

std::vector<u32> bits_of(const std::vector<f32>& values) {
    std::vector<u32> bits(values.size());
    for (std::size_t i = 0; i < bits.size(); ++i)
        bits[i] = std::bit_cast<u32>(values[i]);
    return bits;
}

// The results of scan on each segment alone; 5 elsewhere.
std::vector<f32> one_by_one(Stream& stream, const Array<f32>& in, const std::vector<u64>& offsets,
                            ScanKind kind) {
    const Array<f32> out(stream, std::vector<f32>(in.size(), 5));
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
        const u64 length = offsets[s + 1] - offsets[s];
        scan(stream, in.span().part(offsets[s], length), out.span().part(offsets[s], length), ReduceOp::sum,
             kind);
    }
    return out.to_host(stream);
}

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(segments_have_the_bits_of_scans_on_them_alone) {
    const auto stream = device.create_stream();
    // Empty, short, complete nodes and one element more or less, tiles of GPUs, and one that several groups share;
    // elements before the first segment and behind the last one.
    std::vector<u64> offsets{7};
    for (const u64 length : {0,    1,    15,   16,   17,   0,    0, 255, 256, 257,    4095,  4096,
                             4097, 3840, 3839, 3841, 1792, 5000, 1, 2,   3,   150000, 65536, 65537})
        offsets.push_back(offsets.back() + static_cast<u64>(length));
    const Array<f32> x(*stream, values_of(offsets.back() + 11));
    const Array<u64> at(*stream, offsets);
    for (const ScanKind kind : {ScanKind::inclusive, ScanKind::exclusive}) {
        const std::vector<f32> expected = one_by_one(*stream, x, offsets, kind);
        const Array<f32> out(*stream, std::vector<f32>(x.size(), 5));
        segmented_scan(*stream, x, at, out, ReduceOp::sum, kind);
        CHECK(bits_of(out.to_host(*stream)) == bits_of(expected));
        // In place, elements outside stay.
        const Array<f32> same(*stream, x.to_host(*stream));
        segmented_scan(*stream, same, at, same, ReduceOp::sum, kind);
        std::vector<f32> in_place = same.to_host(*stream);
        for (u64 i = 0; i < x.size(); ++i) {
            if (i >= offsets.front() && i < offsets.back()) continue;
            CHECK(in_place[i] == x.to_host(*stream)[i]);
            in_place[i] = 5;
        }
        CHECK(bits_of(in_place) == bits_of(expected));
    }
    // The same of an expression, which the kernels compute.
    const auto squares = transform(MapFunction::square, x);
    const Array<f32> stored(*stream, x.size()), out(*stream, std::vector<f32>(x.size(), 5));
    evaluate(*stream, squares, stored);
    segmented_scan(*stream, squares, at, out);
    CHECK(bits_of(out.to_host(*stream)) ==
          bits_of(one_by_one(*stream, stored, offsets, ScanKind::inclusive)));
}

DEVICE_TEST(many_short_segments_around_a_long_one) {
    const auto stream = device.create_stream();
    std::vector<u64> offsets{0};
    for (u64 s = 0; s < 6000; ++s)
        offsets.push_back(offsets.back() + (s == 3000 ? 90000 : s * 7 % 5));
    const u64 n = offsets.back();
    const Array<f32> x(*stream, values_of(n)), out(*stream, n);
    const Array<u64> at(*stream, offsets);
    segmented_scan(*stream, x, at, out);
    const std::vector<f32> in = x.to_host(*stream), got = out.to_host(*stream);
    const Array<f32> alone(*stream, 90000);
    scan(*stream, x.span().part(offsets[3000], 90000), alone);
    const std::vector<f32> expected = alone.to_host(*stream);
    u64 wrong = 0;
    for (u64 s = 0; s < 6000; ++s) {
        f32 sum = 0;
        for (u64 i = offsets[s]; i < offsets[s + 1]; ++i) {
            // The order of up to three elements is that of a loop; the fourth one is added to the third first.
            sum = s == 3000             ? expected[i - offsets[s]]
                  : i - offsets[s] == 3 ? got[i - 2] + (in[i - 1] + in[i])
                                        : sum + in[i];
            wrong += sum != got[i];
        }
    }
    CHECK(wrong == 0);
}

DEVICE_TEST(own_operators_scan_segments_with_offsets_of_every_type) {
    const auto stream = device.create_stream();
    std::vector<u32> values(5000), expected(5000);
    const std::vector<u32> ends{0, 1, 3, 3, 40, 5000};
    for (u32 i = 0; i < values.size(); ++i)
        values[i] = i % 7 == 3 ? i : 0;
    for (std::size_t s = 0; s + 1 < ends.size(); ++s) {
        for (u32 i = ends[s], last = 0; i < ends[s + 1]; ++i) {
            last = values[i] != 0 ? values[i] : last;
            expected[i] = last;
        }
    }
    const Array<u32> x(*stream, values);
    const auto check = [&]<class O>(O) {
        const Array<O> offsets(*stream, std::vector<O>{0, 1, 3, 3, 40, 5000});
        const Array<u32> out(*stream, 5000);
        segmented_scan(*stream, x, offsets, out, last_nonzero, 0U);
        CHECK(out.to_host(*stream) == expected);
    };
    check(u32{});
    check(i32{});
    check(u64{});
    check(i64{});
}

DEVICE_TEST(nan_stays_in_its_segment) {
    const auto stream = device.create_stream();
    const f32 nan = std::bit_cast<f32>(0xffc12345U);
    const Array<f32> x(*stream, std::vector<f32>{1, nan, 2, 3, nan, 4}), out(*stream, 6);
    const Array<u32> offsets(*stream, std::vector<u32>{0, 3, 5, 6});
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min}) {
        segmented_scan(*stream, x, offsets, out, op);
        const std::vector<u32> bits = bits_of(out.to_host(*stream));
        CHECK(bits ==
              std::vector<u32>{0x3f800000, 0x7fc00000, 0x7fc00000, 0x40400000, 0x7fc00000, 0x40800000});
    }
}

DEVICE_TEST(wrong_offsets_of_a_scan_access_nothing_outside) {
    const auto stream = device.create_stream();
    const std::vector<f32> values = values_of(3000);
    const Array<f32> x(*stream, values), guarded(*stream, std::vector<f32>(3002, 5));
    const Array<i64> offsets(*stream, std::vector<i64>{-1, 0, 3000, 0, 3000, 0, 3000, i64{1} << 62, 4, 3000});
    segmented_scan(*stream, x, offsets, guarded.span().part(1, 3000));
    CHECK(throws(
        ErrorCode::invalid_argument,
        "segmented_scan: offset that does not ascend or is out of range at position 0; expected 0 to 3000",
        [&] { stream->synchronize(); }));
    for (const u32 step : {10U, 500U}) {
        std::vector<u32> descending(3000 / step);
        for (u32 i = 0; i < descending.size(); ++i)
            descending[i] = i * step;
        descending[4] -= 2 * step;
        const Array<u32> at(*stream, descending);
        segmented_scan(*stream, x, at, guarded.span().part(1, 3000));
        CHECK(throws(ErrorCode::invalid_argument, "at position 4;", [&] { stream->synchronize(); }));
    }
    const std::vector<f32> after = guarded.to_host(*stream);
    CHECK(after.front() == 5);
    CHECK(after.back() == 5);
    CHECK(x.to_host(*stream) == values);
}

DEVICE_TEST(scans_of_no_segments) {
    const auto stream = device.create_stream();
    const Array<f32> none(*stream, 0), x(*stream, values_of(10)), out(*stream, std::vector<f32>(10, 5));
    const Array<u32> zeros(*stream, std::vector<u32>(4, 0)), one(*stream, std::vector<u32>{4});
    segmented_scan(*stream, none, zeros, none);
    segmented_scan(*stream, x, zeros, out);
    segmented_scan(*stream, x, one, out);
    CHECK(out.to_host(*stream) == std::vector<f32>(10, 5));
}

DEVICE_TEST(recorded_scans_of_segments_read_offsets_anew) {
    const auto stream = device.create_stream();
    const Array<i32> x(*stream, std::vector<i32>(2000, 1)), out(*stream, 2000);
    const Array<u32> offsets(*stream, std::vector<u32>{0, 600, 2000});
    stream->begin_recording();
    segmented_scan(*stream, x, offsets, out);
    const auto recording = stream->end_recording();
    recording->replay(*stream);
    CHECK(out.to_host(*stream)[599] == 600);
    CHECK(out.to_host(*stream)[1999] == 1400);
    const std::vector<u32> others{0, 1000, 2000};
    stream->write(*offsets.buffer(), 0, others.data(), others.size() * sizeof(u32));
    recording->replay(*stream);
    CHECK(out.to_host(*stream)[599] == 600);
    CHECK(out.to_host(*stream)[999] == 1000);
    CHECK(out.to_host(*stream)[1999] == 1000);
}

DEVICE_TEST(segmented_scan_refuses) {
    const auto stream = device.create_stream();
    const Array<f32> x(*stream, values_of(10)), out(*stream, 10);
    const Array<u32> offsets(*stream, std::vector<u32>{0, 4, 10}), none(*stream, 0);
    CHECK(throws(ErrorCode::invalid_argument, "in and out must have the same element count, got 10 and 9",
                 [&] { segmented_scan(*stream, x, offsets, out.span().part(0, 9)); }));
    CHECK(throws(ErrorCode::invalid_argument,
                 "offsets must have 1 element more than there are segments, got 0",
                 [&] { segmented_scan(*stream, x, none, out); }));
    CHECK(throws(ErrorCode::invalid_argument, "overlap",
                 [&] { segmented_scan(*stream, x.span().part(0, 9), offsets, x.span().part(1, 9)); }));
    CHECK(throws(ErrorCode::invalid_argument, "offsets must have type u32, u64, i32 or i64, got f32",
                 [&] { segmented_scan(*stream, x.view(), x.view(), out.view()); }));
    CHECK(throws(ErrorCode::invalid_argument, "same type",
                 [&] { segmented_scan(*stream, x.view().part(0, 3), offsets.view(), offsets.view()); }));
}

TEST_SUITE_END();
