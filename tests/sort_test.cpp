// Sort through the public API; `concord check` covers variants, types, sizes and patterns.
#include "devices.hpp"

#include <algorithm>

using namespace concord;
using test::random_values;
using test::throws;

TEST_SUITE_BEGIN("device");

DEVICE_TEST(sort_orders_keys_and_leaves_its_input) {
    const auto stream = device.create_stream();
    for (const u64 n : {0, 1, 2, 1000, 30001}) {
        CAPTURE(n);
        const auto x = random_values<u32>(n);
        auto expected = x;
        std::sort(expected.begin(), expected.end());
        const Array<u32> in(*stream, x), out(*stream, n);
        for (const Variant* variant : sort_variants()) {
            CAPTURE(variant->name);
            if (!detail::supports_dialect(device, *variant)) continue;
            const Run run = sort(*stream, in, out, {}, {variant->name});
            CHECK(run.variant == variant->name);
            CHECK(out.to_host(*stream) == expected);
            CHECK(in.to_host(*stream) == x);
        }
    }
}

TEST_SUITE_END();
