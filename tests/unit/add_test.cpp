// Add through the public API. `concord check` covers variants, types, sizes and patterns.
// No fixed bits: no operation follows another.
// No scratch limit: it allocates none.
#include "devices.hpp"

using namespace concord;
using test::random_values;
using test::throws;

TEST_SUITE_BEGIN("device");

DEVICE_TEST(add_supports_offsets_and_in_place_operation) {
    const auto stream = device.create_stream();
    const auto x = random_values<i32>(5001, 1), y = random_values<i32>(5001, 2);
    const Array<i32> a(*stream, x), b(*stream, y);
    add(*stream, a.view().part(1, 5000), b.view().part(0, 5000), a.view().part(1, 5000));
    const auto got = a.to_host(*stream);
    u64 wrong = got[0] != x[0];
    for (u64 i = 0; i < 5000; ++i)
        wrong += static_cast<u32>(got[i + 1]) != static_cast<u32>(x[i + 1]) + static_cast<u32>(y[i]);
    CHECK(wrong == 0);
}

DEVICE_TEST(add_rejects_invalid_calls) {
    const auto stream = device.create_stream();
    const Array<float> a(*stream, random_values<float>(100));
    const Array<i32> ints(*stream, 100);
    CHECK(throws(ErrorCode::invalid_argument, "the same type, got f32, f32 and i32",
                 [&] { add(*stream, a.view(), a.view(), ints.view()); }));
}

TEST_SUITE_END();
