// Run-length encoding through the public API; `concord check` covers types, sizes and patterns.
// No fixed bits: elements move as bits.
#include "devices.hpp"

#include <concord/run_length_encode.hpp>

using namespace concord;
using test::throws;

TEST_SUITE_BEGIN("device");

DEVICE_TEST(runs_have_an_element_and_a_length) {
    const auto stream = device.create_stream();
    const Array<u8> x(*stream, std::vector<u8>{7, 7, 7, 0, 9, 9});
    const auto [values, lengths] = run_length_encode(*stream, x);
    CHECK(values.to_host(*stream) == std::vector<u8>{7, 0, 9});
    CHECK(lengths.to_host(*stream) == std::vector<u64>{3, 1, 2});
    const Array<u8> none(*stream, 0);
    CHECK(run_length_encode(*stream, none).second.size() == 0);
    // One run of many elements, and an expression.
    const u64 n = 100001;
    const Array<f32> constants(*stream, std::vector<f32>(n, 2));
    const auto [all, length] = run_length_encode(*stream, transform(MapFunction::square, constants));
    CHECK(all.to_host(*stream) == std::vector<f32>{4});
    CHECK(length.to_host(*stream) == std::vector<u64>{n});
}

DEVICE_TEST(lengths_past_the_runs_stay) {
    const auto stream = device.create_stream();
    const Array<f64> x(*stream, std::vector<f64>{1, 1, 2}), out(*stream, std::vector<f64>(4, -1));
    const Array<u64> lengths(*stream, std::vector<u64>(4, 77));
    CHECK(run_length_encode(*stream, x, out, lengths).get() == 2);
    CHECK(out.to_host(*stream) == std::vector<f64>{1, 2, -1, -1});
    CHECK(lengths.to_host(*stream) == std::vector<u64>{2, 1, 77, 77});
}

DEVICE_TEST(run_length_encode_refuses) {
    const auto stream = device.create_stream();
    const Array<u64> x(*stream, 8), out(*stream, 8), lengths(*stream, 8), count(*stream, 1);
    CHECK(throws(ErrorCode::invalid_argument,
                 "run_length_encode: lengths is too short, got 7 elements for 8 of in",
                 [&] { run_length_encode(*stream, x, out, lengths.span().part(0, 7), count); }));
    CHECK(throws(ErrorCode::invalid_argument, "run_length_encode: lengths must be u64, got i64", [&] {
        View wrong = lengths.view();
        wrong.type = Type::i64;
        run_length_encode(*stream, x.view(), out.view(), wrong, count.view());
    }));
    CHECK(throws(ErrorCode::invalid_argument, "overlap",
                 [&] { run_length_encode(*stream, x, out, out, count); }));
    CHECK(throws(ErrorCode::invalid_argument, "overlap",
                 [&] { run_length_encode(*stream, x, out, x, count); }));
}

TEST_SUITE_END();
