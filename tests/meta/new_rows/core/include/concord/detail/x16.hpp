#pragma once
// A made-up storage type: the upper half of an f32, truncated.

#include <bit>
#include <cstdint>
#include <string_view>

namespace concord::detail {

struct X16 {
    std::uint16_t bits;

    X16() = default;
    explicit X16(float value) : bits(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16)) {}
    explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

    static constexpr std::string_view cuda = R"(
static __device__ __forceinline__ f32 x16_to_f32(x16 x) { return __uint_as_float((u32)x.bits << 16); }
static __device__ __forceinline__ x16 f32_to_x16(f32 x) { return {(u16)(__float_as_uint(x) >> 16)}; }
)",
                                      opencl = R"(
static inline f32 x16_to_f32(x16 x) { return as_float((u32)x.bits << 16); }
static inline x16 f32_to_x16(f32 x) { x16 y; y.bits = (u16)(as_uint(x) >> 16); return y; }
)";
};

}  // namespace concord::detail
