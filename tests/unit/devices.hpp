#pragma once
// The devices under test: those in CONCORD_TEST_DEVICES, a list of selectors, otherwise all devices.

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

// Calls f with the name of each variant that is implemented for the device, at least in that order. A variant may be
// unsupported, because it is written for the other group size.
template <class F>
void each_variant(const Device& device, const Algorithm& algorithm, F f,
                  OperationOrder order = OperationOrder::unspecified) {
    for (const Variant* variant : algorithm.variants) {
        CAPTURE(variant->name);
        if (!detail::supports_dialect(device, *variant)) continue;
        if (order == OperationOrder::canonical && variant->order != order) continue;
        try {
            f(std::string(variant->name));
        } catch (const Error& error) {
            CHECK(error.code() == ErrorCode::unsupported);
        }
    }
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
#define DEVICE_TEST(NAME)                                     \
    static void NAME(concord::Device& device);                \
    TEST_CASE(#NAME) {                                        \
        for (const auto& device : concord::test::devices()) { \
            CAPTURE(device->info().selector);                 \
            NAME(*device);                                    \
        }                                                     \
    }                                                         \
    static void NAME([[maybe_unused]] concord::Device& device)

// The same with a new stream of the device.
#define STREAM_TEST(NAME)                                                    \
    static void NAME##_on(concord::Device& device, concord::Stream& stream); \
    DEVICE_TEST(NAME) {                                                      \
        NAME##_on(device, *device.create_stream());                          \
    }                                                                        \
    static void NAME##_on([[maybe_unused]] concord::Device& device, concord::Stream& stream)
