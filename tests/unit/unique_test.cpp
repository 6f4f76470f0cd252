// Unique through the public API; `concord check` covers types, sizes and patterns.
// No fixed bits: elements move as bits.
#include "devices.hpp"

#include <concord/unique.hpp>

#include <bit>
#include <limits>

using namespace concord;
using test::throws;

TEST_SUITE_BEGIN("device");

DEVICE_TEST(unique_keeps_one_element_per_run) {
    const auto stream = device.create_stream();
    const Array<i32> x(*stream, std::vector<i32>{3, 3, 3, 1, 3, 3, 7});
    CHECK(unique(*stream, x).to_host(*stream) == std::vector<i32>{3, 1, 3, 7});
    // Elements past the runs stay.
    const Array<i32> out(*stream, std::vector<i32>(9, -1));
    CHECK(unique(*stream, x, out).get() == 4);
    CHECK(out.to_host(*stream) == std::vector<i32>{3, 1, 3, 7, -1, -1, -1, -1, -1});
    // An expression.
    const auto halves = transform(MapFunction::square, x);
    CHECK(unique(*stream, halves).to_host(*stream) == std::vector<i32>{9, 1, 9, 49});
}

DEVICE_TEST(nans_differ_and_zeros_have_signs) {
    const auto stream = device.create_stream();
    const auto check = [&]<class T>(T nan) {
        const Array<T> x(*stream, std::vector<T>{nan, nan, T(0), T(0), -T(0), T(1), T(1), nan});
        const std::vector<T> got = unique(*stream, x).to_host(*stream);
        REQUIRE(got.size() == 6);
        CHECK(got[0] != got[0]);
        CHECK(got[1] != got[1]);
        CHECK(!std::signbit(got[2]));
        CHECK((got[3] == 0 && std::signbit(got[3])));
        CHECK(got[4] == 1);
        CHECK(got[5] != got[5]);
    };
    check(std::numeric_limits<f32>::quiet_NaN());
    check(std::numeric_limits<f64>::quiet_NaN());
    // Infinities are equal.
    const f32 inf = std::numeric_limits<f32>::infinity();
    const Array<f32> x(*stream, std::vector<f32>{inf, inf, -inf, -inf});
    CHECK(unique(*stream, x).to_host(*stream) == std::vector<f32>{inf, -inf});
}

DEVICE_TEST(unique_of_bool_nothing_and_one) {
    const auto stream = device.create_stream();
    const Array<u8> bytes(*stream, std::vector<u8>{2, 1, 0, 0, 255}), out(*stream, std::vector<u8>(5, 9));
    const Array<u64> count(*stream, 1);
    View flags = bytes.view(), to = out.view();
    flags.type = to.type = Type::boolean;
    unique(*stream, flags, to, count.view());
    CHECK(count.to_host(*stream) == std::vector<u64>{3});
    CHECK(out.to_host(*stream) == std::vector<u8>{1, 0, 1, 9, 9});
    const Array<f32> none(*stream, 0), one(*stream, std::vector<f32>{5});
    CHECK(unique(*stream, none).size() == 0);
    CHECK(unique(*stream, one).to_host(*stream) == std::vector<f32>{5});
}

DEVICE_TEST(unique_refuses) {
    const auto stream = device.create_stream();
    const Array<u32> x(*stream, 8), out(*stream, 8);
    const Array<u64> count(*stream, 2);
    const View one = count.view().part(0, 1);
    CHECK(throws(ErrorCode::invalid_argument, "unique: out is too short, got 7 elements for 8 of in",
                 [&] { unique(*stream, x.view(), out.view().part(0, 7), one); }));
    CHECK(throws(ErrorCode::invalid_argument, "unique: count must be one u64, got 2 elements of u64",
                 [&] { unique(*stream, x.view(), out.view(), count.view()); }));
    CHECK(throws(ErrorCode::invalid_argument, "overlap", [&] { unique(*stream, x.view(), x.view(), one); }));
    CHECK(throws(ErrorCode::invalid_argument, "unique: in and out must have the same type, got u32 and u64",
                 [&] { unique(*stream, x.view(), count.view(), one); }));
}

TEST_SUITE_END();
