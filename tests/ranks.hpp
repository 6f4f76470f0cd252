#pragma once
// Ranks for tests: some of the device under test, and some of oneTBB's beside it.
#include "devices.hpp"

#include <concord/communicator.hpp>

namespace concord::test {

// oneTBB's device, unless it is this one.
inline std::shared_ptr<Device> other_than(const Device& device) {
    auto other = open_device("tbb");
    return other.get() != &device ? other : nullptr;
}

/// Calls f as that many ranks, of the device alone, and of it and oneTBB's in turn. f runs on their threads: it throws
/// where something is wrong.
inline void each_ranks(Device& device, std::initializer_list<u32> sizes,
                       const std::function<void(Communicator&, Stream&)>& f) {
    const auto self = device.shared_from_this(), other = other_than(device);
    for (const u32 size : sizes) {
        CAPTURE(size);
        for (const bool mixed : {false, true}) {
            if (mixed && (!other || size == 1)) continue;
            CAPTURE(mixed);
            std::vector<std::shared_ptr<Device>> devices;
            for (u32 rank = 0; rank < size; ++rank)
                devices.push_back(mixed && rank % 2 == 1 ? other : self);
            CHECK_NOTHROW(run_on_devices(devices, f));
        }
    }
}

}  // namespace concord::test
