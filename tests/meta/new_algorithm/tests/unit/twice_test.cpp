// Twice through the public API; `concord check` covers variants, types, sizes and patterns.
// No fixed bits: no operation follows another.
// No scratch limit: it allocates none.
// No baseline: no peer library has this operation.
#include "devices.hpp"

#include <concord/twice.hpp>

using namespace concord;
using test::throws;

TEST_SUITE_BEGIN("device");

DEVICE_TEST(twice_in_place_and_what_it_refuses) {
    const auto stream = device.create_stream();
    const Array<f32> x(*stream, std::vector<f32>{1, -2.5f, 0});
    twice(*stream, x.view(), x.view());
    CHECK(x.to_host(*stream) == std::vector<f32>{2, -5, 0});
    CHECK(throws(ErrorCode::invalid_argument, "differ",
                 [&] { twice(*stream, x.view(), x.view().part(0, 2)); }));
}

TEST_SUITE_END();
