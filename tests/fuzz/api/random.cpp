// Calls of random. The reference is the generator of bodies.
#include "../api.hpp"

namespace concord::fuzz {

namespace {

// Element i, as bits.
template <class W>
W bits_of(u64 seed, u64 i) {
    constexpr u64 count = 16 / sizeof(W);
    using V = Vocabulary;
    const u64 number = i / count;
    const u32x4 block =
        V::philox4x32(V::make_u32x4(static_cast<u32>(number), static_cast<u32>(number >> 32), 0, 0),
                      V::make_u32x2(static_cast<u32>(seed), static_cast<u32>(seed >> 32)));
    const std::array<u32, 4> words{block.x, block.y, block.z, block.w};
    W all[count];
    std::memcpy(all, words.data(), sizeof all);
    return all[i % count];
}

template <class T>
T element(Distribution distribution, u64 seed, u64 i) {
    using W = std::conditional_t<sizeof(T) == 4, u32, u64>;
    constexpr int width = 8 * sizeof(W);
    const auto uniform = [&](u64 at) {
        constexpr int digits = std::numeric_limits<T>::digits;
        return std::ldexp(static_cast<T>(bits_of<W>(seed, at) >> (width - digits)), -digits);
    };
    if (distribution == Distribution::uniform) return uniform(i);
    const u64 first = i - i % 2;
    const T u = std::ldexp(static_cast<T>(bits_of<W>(seed, first)), -width) + std::ldexp(T(1), -width - 1);
    const T v = 2 * uniform(first + 1), r = std::sqrt(-2 * Vocabulary::log(u));
    return r * (i % 2 == 0 ? Vocabulary::cospi(v) : Vocabulary::sinpi(v));
}

}  // namespace

FUZZ_CALLS(random) {
    const Type type = any_type();
    const Distribution distribution = choices_.any(all_distributions);
    fill();
    const View out = range(type, elements(type, 1200));
    const u64 seed = choices_.huge(), offset = choices_.huge();
    const bool is_bits = distribution == Distribution::bits;
    if (is_bits ? type != Type::u32 && type != Type::u64 : !is_float(type)) outcome_ = Outcome::refused;
    const Options asked = options(random_algorithm);
    verify(
        type, [&] { concord::random(stream(), out, distribution, seed, offset, asked); },
        [&]<class T>(Bytes& to, T) {
            for (u64 i = 0; i < out.count; ++i) {
                if constexpr (std::is_floating_point_v<T>) {
                    store(to, out, i, element<T>(distribution, seed, offset + i));
                } else if constexpr (sizeof(T) >= 4) {
                    store(to, out, i, static_cast<T>(bits_of<std::make_unsigned_t<T>>(seed, offset + i)));
                }
            }
        });
}

}  // namespace concord::fuzz
