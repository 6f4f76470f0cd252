// Compress-stores of the CPU.
//
// The flags of 16 elements form a mask. A compress instruction moves the flagged elements of one register together,
// then the whole register is stored. Compressing straight to memory is slow on some CPUs. Elements of 8 and 16 bits
// are widened to 32 bits. Source: D. Lemire, W. Muła and others, on AVX-512 compress.

#include "compact_move.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace concord::detail::host {
namespace {

template <class T>
T element_at(const void* x, u64 i) {
    T value;
    std::memcpy(&value, static_cast<const char*>(x) + i * sizeof(T), sizeof value);
    return value;
}

// Without branches: stores every element at the position of the next kept one.
template <class T>
u64 compress_scalar(const void* x, const u8* flags, u64 count, Select select, void* to) {
    auto* target = static_cast<char*>(to);
    u64 kept = 0;
    for (u64 i = 0; i < count; ++i) {
        const T value = element_at<T>(x, i);
        std::memcpy(target + kept * sizeof(T), &value, sizeof value);
        kept += flags[i] ^ static_cast<u8>(select);
    }
    return kept;
}

template <u64 SIZE>
using Bits = std::conditional_t<SIZE == 1, u8,
                                std::conditional_t<SIZE == 2, u16, std::conditional_t<SIZE == 4, u32, u64>>>;

#if defined(__x86_64__)
#define CONCORD_COMPRESS_TARGET gnu::target("avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi,bmi2")

// The mask of 16 flags, inverted where `invert` has bits.
[[CONCORD_COMPRESS_TARGET]] inline u32 mask_of(const u8* flags, u32 invert) {
    const __m128i bytes = _mm_load_si128(reinterpret_cast<const __m128i*>(flags));
    return _mm_test_epi8_mask(bytes, bytes) ^ invert;
}

template <u64 SIZE>
[[CONCORD_COMPRESS_TARGET]] u64 compress_avx512(const void* x, const u8* flags, u64 count, Select select,
                                                void* to) {
    const auto* from = static_cast<const char*>(x);
    auto* target = static_cast<char*>(to);
    const u32 invert = select == Select::unflagged ? 0xffff : 0;
    // Unmasked intrinsics cause warnings in headers of g++ 12.
    [[maybe_unused]] constexpr __mmask16 all = 0xffff;
    u64 i = 0;
    for (; i + 16 <= count; i += 16) {
        const u32 mask = mask_of(flags + i, invert);
        const char* at = from + i * SIZE;
        if constexpr (SIZE == 1) {
            const __m512i wide =
                _mm512_maskz_cvtepu8_epi32(all, _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
            const __m512i kept = _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), wide);
            _mm_storeu_si128(reinterpret_cast<__m128i*>(target), _mm512_maskz_cvtepi32_epi8(all, kept));
        } else if constexpr (SIZE == 2) {
            const __m512i wide =
                _mm512_maskz_cvtepu16_epi32(all, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
            const __m512i kept = _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), wide);
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), _mm512_maskz_cvtepi32_epi16(all, kept));
        } else if constexpr (SIZE == 4) {
            const __m512i kept =
                _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), _mm512_loadu_si512(at));
            _mm512_storeu_si512(target, kept);
        } else {
            const __m512i low =
                _mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), _mm512_loadu_si512(at));
            const __m512i high =
                _mm512_maskz_compress_epi64(static_cast<__mmask8>(mask >> 8), _mm512_loadu_si512(at + 64));
            _mm512_storeu_si512(target, low);
            _mm512_storeu_si512(target + static_cast<u64>(_mm_popcnt_u32(mask & 0xff)) * SIZE, high);
        }
        target += static_cast<u64>(_mm_popcnt_u32(mask)) * SIZE;
    }
    const u64 done = static_cast<u64>(target - static_cast<char*>(to)) / SIZE;
    return done + compress_scalar<Bits<SIZE>>(from + i * SIZE, flags + i, count - i, select, target);
}
#endif

}  // namespace

template <u64 SIZE>
u64 compress(HostIsa isa, const void* x, const u8* flags, u64 count, Select select, void* to) {
#if defined(__x86_64__)
    if (isa == HostIsa::avx512) return compress_avx512<SIZE>(x, flags, count, select, to);
#endif
    return compress_scalar<Bits<SIZE>>(x, flags, count, select, to);
}

template u64 compress<1>(HostIsa, const void*, const u8*, u64, Select, void*);
template u64 compress<2>(HostIsa, const void*, const u8*, u64, Select, void*);
template u64 compress<4>(HostIsa, const void*, const u8*, u64, Select, void*);
template u64 compress<8>(HostIsa, const void*, const u8*, u64, Select, void*);

}  // namespace concord::detail::host
