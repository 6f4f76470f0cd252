#pragma once
// Arithmetic on shapes, pitches and sizes that detects overflow.

#include <concord/types.hpp>

#include <string_view>

namespace concord::detail {

// The limit of a size in bytes. No 64-bit processor or GPU addresses more than 2^57 bytes, and sums and small multiples
// of a few sizes still fit 64 bits.
inline constexpr u64 max_bytes = u64{1} << 60;

// An unsigned integer that remembers whether its exact value exceeds 64 bits. A product with 0 is 0.
class CheckedSize {
  public:
    constexpr CheckedSize(u64 value) : value_(value) {}

    // Whether the exact value is at most `limit`.
    constexpr bool fits(u64 limit = ~u64{0}) const { return !overflow_ && value_ <= limit; }
    // The exact value if it fits 64 bits.
    constexpr u64 value() const { return value_; }

    friend constexpr CheckedSize operator+(CheckedSize a, CheckedSize b) {
        CheckedSize sum = 0;
        const bool overflow = __builtin_add_overflow(a.value_, b.value_, &sum.value_);
        sum.overflow_ = overflow || a.overflow_ || b.overflow_;
        return sum;
    }
    friend constexpr CheckedSize operator*(CheckedSize a, CheckedSize b) {
        if (a.is_zero() || b.is_zero()) return 0;
        CheckedSize product = 0;
        const bool overflow = __builtin_mul_overflow(a.value_, b.value_, &product.value_);
        product.overflow_ = overflow || a.overflow_ || b.overflow_;
        return product;
    }

  private:
    constexpr bool is_zero() const { return value_ == 0 && !overflow_; }

    u64 value_;
    bool overflow_ = false;
};

[[noreturn]] void refuse_size(std::string_view call, u64 count, u64 element_size);

// The size of `count` elements in bytes. Throws invalid_argument if it exceeds max_bytes.
inline u64 checked_bytes(std::string_view call, u64 count, u64 element_size) {
    const CheckedSize bytes = CheckedSize(count) * element_size;
    if (!bytes.fits(max_bytes)) [[unlikely]]
        refuse_size(call, count, element_size);
    return bytes.value();
}

}  // namespace concord::detail
