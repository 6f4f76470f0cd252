#pragma once
// What tests of expressions compare, and parts of expressions that are defined in another file.

#include "devices.hpp"

#include <concord/concord.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace concord::test {

// Element i is x[i] / 4, by a function that has the name of one in expression_test.cpp. See statistics_test.cpp.
Expression<f32> part_of_another_file(const Array<f32>& x);

// Random indices of a range of n elements.
inline std::vector<u32> random_indices(u64 n, u32 seed) {
    std::vector<u32> list = random_values<u32>(n, seed);
    for (u32& i : list)
        i = static_cast<u32>(i % n);
    return list;
}

// Calls f with a value of each element type that the device supports.
template <class F>
void each_type(const Device& device, const F& f) {
    const auto call = [&]<class T>(T tag) {
        if (detail::supports_type(device, type_of<T>())) f(tag);
    };
    call(i8{});
    call(u8{});
    call(i16{});
    call(u16{});
    call(i32{});
    call(u32{});
    call(i64{});
    call(u64{});
    call(f32{});
    call(f64{});
}

template <class T>
using BitsOf =
    std::conditional_t<sizeof(T) == 1, u8,
                       std::conditional_t<sizeof(T) == 2, u16, std::conditional_t<sizeof(T) == 4, u32, u64>>>;

// The first element whose bits differ, for messages; empty if there is none.
template <class T>
std::string difference(const std::vector<T>& expected, const std::vector<T>& got) {
    if (expected.size() != got.size())
        return std::to_string(got.size()) + " elements for " + std::to_string(expected.size());
    for (u64 i = 0; i < got.size(); ++i) {
        const auto right = std::bit_cast<BitsOf<T>>(expected[i]), bits = std::bit_cast<BitsOf<T>>(got[i]);
        if (right == bits) continue;
        std::ostringstream text;
        text << "element " << i << ": " << +got[i] << " for " << +expected[i] << ", bits " << std::hex
             << +bits << " for " << +right;
        return text.str();
    }
    return {};
}

template <class T>
T canonical_nan() {
    if constexpr (sizeof(T) == 4) {
        return std::bit_cast<T>(u32{0x7fc00000});
    } else {
        return std::bit_cast<T>(u64{0x7ff8000000000000});
    }
}

// The value with the canonical NaN for any NaN.
template <class T>
T without_payload(T value) {
    if constexpr (std::is_floating_point_v<T>) {
        return value != value ? canonical_nan<T>() : value;
    } else {
        return value;
    }
}

// The result of reduce in the canonical order, as docs/algorithms/reduce.md defines it, for at most 2^22 elements.
template <class T, class F>
T canonical_reduce(std::vector<T> x, T identity, const F& op) {
    constexpr std::size_t chunk = 1024, columns = 128;
    while (true) {
        std::vector<T> partial;
        for (std::size_t begin = 0; begin < std::max<std::size_t>(x.size(), 1); begin += chunk) {
            std::vector<T> column(columns, identity);
            for (std::size_t i = begin; i < std::min(x.size(), begin + chunk); ++i)
                column[i % columns] = static_cast<T>(op(column[i % columns], x[i]));
            for (std::size_t step = columns / 2; step > 0; step /= 2) {
                for (std::size_t l = 0; l < step; ++l)
                    column[l] = static_cast<T>(op(column[l], column[l + step]));
            }
            partial.push_back(column[0]);
        }
        if (partial.size() == 1) return without_payload(partial[0]);
        x = std::move(partial);
    }
}

}  // namespace concord::test
