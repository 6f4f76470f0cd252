#pragma once
// Ranks for tests: on the device under test, and on oneTBB's in addition.
#include "devices.hpp"

#include <concord/communicator.hpp>

namespace concord::test {

// oneTBB's device, or null if it is this one.
inline std::shared_ptr<Device> other_than(const Device& device) {
    auto other = open_device("tbb");
    return other.get() != &device ? other : nullptr;
}

// The other devices of the same backend that can run kernels, such as more GPUs.
inline std::vector<std::shared_ptr<Device>> siblings_of(const Device& device) {
    std::vector<std::shared_ptr<Device>> others;
    for (const BackendStatus& backend : backends()) {
        if (backend.name != device.info().backend) continue;
        for (const DeviceInfo& info : backend.devices) {
            auto other = open_device(info.selector);
            if (other.get() != &device && other->traits().runs) others.push_back(std::move(other));
        }
    }
    return others;
}

// The first of them, or null.
inline std::shared_ptr<Device> sibling_of(const Device& device) {
    const auto others = siblings_of(device);
    return others.empty() ? nullptr : others.front();
}

// Calls f on that many ranks: on the device alone, then on the device and oneTBB's, then on the device and another
// one of its backend. f runs on the ranks' threads and throws if a result is wrong.
inline void each_ranks(Device& device, std::initializer_list<u32> sizes,
                       const std::function<void(Communicator&, Stream&)>& f) {
    const auto self = device.shared_from_this();
    std::vector<std::shared_ptr<Device>> seconds = {self};
    for (const auto& other : {other_than(device), sibling_of(device)}) {
        if (other) seconds.push_back(other);
    }
    for (const u32 size : sizes) {
        CAPTURE(size);
        for (const auto& second : seconds) {
            if (second != self && size == 1) continue;
            CAPTURE(second->info().selector);
            std::vector<std::shared_ptr<Device>> devices;
            for (u32 rank = 0; rank < size; ++rank)
                devices.push_back(rank % 2 == 1 ? second : self);
            CHECK_NOTHROW(run_on_devices(devices, f));
        }
    }
}

}  // namespace concord::test
