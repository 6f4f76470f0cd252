// Digits of 8 bits, CUDA C++: the digit of a key in a pass. Parallel source: sort_digits.cl.

#include "sort_keys.cu"

constexpr u32 digits = 256;
constexpr u32 digit_bits = 8;

struct Digit {
    u32 shift, mask;
    Code code;

    __device__ __forceinline__ u32 of(K key) const { return digit_of(key, shift, mask, code); }
};

// The digit of the pass that begins at bit `shift`, of bits below `last`.
__device__ __forceinline__ Digit digit_at(u32 shift, u32 last, Code code) {
    return {shift, last - shift < digit_bits ? (1u << (last - shift)) - 1 : digits - 1, code};
}
