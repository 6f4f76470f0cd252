#pragma once
// The devices under test: those in CONCORD_TEST_DEVICES, a list of selectors, otherwise all devices.

#include "requires.hpp"

#include <concord/concord.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <random>
#include <sstream>

namespace concord::test {

inline std::vector<std::shared_ptr<Device>> devices() {
    std::vector<std::string> selectors;
    if (const char* list = std::getenv("CONCORD_TEST_DEVICES")) {
        std::stringstream text(list);
        for (std::string selector; std::getline(text, selector, ',');)
            selectors.push_back(selector);
    } else {
        selectors = device_selectors();
    }
    std::vector<std::shared_ptr<Device>> opened;
    opened.reserve(selectors.size());
    for (const std::string& selector : selectors)
        opened.push_back(open_device(selector));
    REQUIRE_MESSAGE(!opened.empty(), "no device to test");
    return opened;
}

// Whether the driver is modules/simulated_cuda.cpp, whose kernels do nothing.
inline bool is_simulated(const Device& device) {
    return device.info().name == "simulated GPU";
}

// The flag of test::kinds.
inline unsigned kind_of(const Device& device) {
    const std::string& backend = device.info().backend;
    const DeviceTraits& traits = device.traits();
    if (backend == "tbb") return open_device("tbb").get() == &device ? kinds::tbb : kinds::tbb_isa;
    if (backend == "opencl") return traits.launch == LaunchModel::groups ? kinds::opencl_many : kinds::opencl;
    if (backend == "minimal") return kinds::minimal;
    if (backend != "cuda") return kinds::other;
    return !traits.runs ? kinds::cuda_compiler : is_simulated(device) ? kinds::cuda_simulated : kinds::cuda;
}

// A device that compiles CUDA C++, or null without NVRTC.
inline std::shared_ptr<Device> cuda_compiler() {
    try {
        return open_device("cuda@sm_90");
    } catch (const Error& error) {
        MESSAGE(std::string(error.what()));
        return nullptr;
    }
}

// Runs a case on each device.
inline void each_device(void (*run)(Device&)) {
    for (const auto& device : devices()) {
        CAPTURE(device->info().selector);
        const OnDevice on(device->info().selector, kind_of(*device));
        run(*device);
    }
}

// Whether f throws a concord::Error with that code whose text contains `part`.
template <class F>
[[nodiscard]] bool throws(ErrorCode code, std::string_view part, F&& f) {
    try {
        f();
    } catch (const Error& error) {
        const bool right =
            error.code() == code && std::string_view(error.what()).find(part) != std::string_view::npos;
        if (!right)
            MESSAGE("threw " << std::string(name_of(error.code())) << ": " << std::string(error.what()));
        return right;
    }
    MESSAGE("threw nothing");
    return false;
}

// Calls f with each variant that is implemented for the device, at least in that order: with its descriptor or with its
// name. A variant may be unsupported, because it is written for the other group size; then the first call of f that
// needs it throws. Fails if f asserts nothing about any variant. If that is right, skip the case by REQUIRES.
template <class F>
void each_variant(const Device& device, const Algorithm& algorithm, F f,
                  OperationOrder order = OperationOrder::unspecified) {
    std::size_t ran = 0;
    for (const Variant* variant : algorithm.variants) {
        CAPTURE(variant->name);
        if (!detail::supports_dialect(device, *variant)) continue;
        if (order == OperationOrder::canonical && variant->order != order) continue;
        const std::size_t before = assertions();
        try {
            if constexpr (std::is_invocable_v<F&, const Variant&>)
                f(*variant);
            else
                f(std::string(variant->name));
        } catch (const Error& error) {
            const std::string reason = error.what();
            CAPTURE(reason);
            const bool is_first = assertions() == before;
            CHECK(error.code() == ErrorCode::unsupported);
            CHECK(is_first);
            continue;
        }
        ran += assertions() > before ? 1 : 0;
    }
    CHECK_MESSAGE(ran > 0,
                  "no variant of " << std::string(algorithm.name) << " runs on " << device.info().selector);
}

template <class T>
std::vector<T> random_values(u64 n, u32 seed = 1) {
    std::mt19937_64 random(seed);
    std::vector<T> values(n);
    for (T& value : values) {
        if constexpr (std::is_floating_point_v<T>) {
            value = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
        } else {
            value = static_cast<T>(random());
        }
    }
    return values;
}

}  // namespace concord::test

// A test case that runs once for every device.
#define DEVICE_TEST(NAME)                      \
    static void NAME(concord::Device& device); \
    TEST_CASE(#NAME) {                         \
        concord::test::each_device(&NAME);     \
    }                                          \
    static void NAME([[maybe_unused]] concord::Device& device)

// The same with a new stream of the device.
#define STREAM_TEST(NAME)                                                    \
    static void NAME##_on(concord::Device& device, concord::Stream& stream); \
    DEVICE_TEST(NAME) {                                                      \
        NAME##_on(device, *device.create_stream());                          \
    }                                                                        \
    static void NAME##_on([[maybe_unused]] concord::Device& device, concord::Stream& stream)
