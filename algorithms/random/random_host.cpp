// Random, host dialect. Parallel source: random.kernel.
//
// Algorithm  A group makes its elements in pieces, which fit in L1: the words of the blocks that contain them, numbers
//            in place of the words, and a copy to the output, which may begin within a block.
// Passes     one; traffic: writes the output once, with non-temporal stores if it exceeds the caches.
// Vectors    A lane has a block, and each word of it has 64 bits, whose upper half is ignored, because products of 32
//            bits have 64. Two vectors at a time hide the latency of the products.
// Tunables   tile: elements per group.
//
// W: unsigned integer of the size of an element; Bytes: size of a vector.

#include "random_host.hpp"

#include <concord/detail/host_vector.hpp>
#include <concord/random.hpp>
#include <concord/vocabulary.hpp>

#include <algorithm>
#include <bit>

namespace concord::detail {
namespace {

using namespace vocabulary;

constexpr u64 piece_blocks = 256, block_bytes = 16;

// A type of its own, because g++ 12 fails on vectors of a size that the template in hand names.
template <u64 Bytes>
struct VectorOf {
    typedef u64 Type __attribute__((vector_size(Bytes)));
};

template <u64 Bytes>
struct PhiloxVectors {
    using V = typename VectorOf<Bytes>::Type;
    typedef u64 Half __attribute__((may_alias));  // of a block
    static constexpr u64 lanes = Bytes / sizeof(u64), wide = 2, step = wide * lanes;

    // The products of the lower halves of lanes. g++ replaces a product with a constant by sums of shifts, and other
    // products by three.
    [[gnu::always_inline]] static void multiply(V& product, const V& a, const V& b) {
#if defined(__x86_64__) && !defined(__clang__)
        if constexpr (Bytes == 16) {
            asm("pmuludq %2, %0" : "=x"(product) : "0"(a), "x"(b));
        } else {
            asm("vpmuludq %2, %1, %0" : "=v"(product) : "v"(a), "v"(b));
        }
#else
        product = (a & 0xffffffff) * b;
#endif
    }

    // Blocks [first, first + count) of the sequence, which ends with block `last`. Rounds the count up to whole steps.
    [[gnu::always_inline]] static void blocks(void* to, u64 first, u64 last, u64 count, u64 seed) {
        u64 keys[10][2];
        for (u32 round = 0; round < 10; ++round) {
            keys[round][0] = static_cast<u32>(seed) + round * 0x9e3779b9U;
            keys[round][1] = static_cast<u32>(seed >> 32) + round * 0xbb67ae85U;
        }
        auto* const halves = static_cast<Half*>(to);
        const V a = V{} + 0xd2511f53, b = V{} + 0xcd9e8d57;
        constexpr u64 numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        V lane;
        std::memcpy(&lane, numbers, sizeof lane);
        for (u64 k = 0; k < count; k += step) {
            V x[wide], y[wide], z[wide], w[wide];
#pragma GCC unroll 2
            for (u64 j = 0; j < wide; ++j) {
                x[j] = (first + k + j * lanes + lane) & last;
                y[j] = x[j] >> 32;
                z[j] = w[j] = V{};
            }
#pragma GCC unroll 10
            for (const u64(&key)[2] : keys) {
#pragma GCC unroll 2
                for (u64 j = 0; j < wide; ++j) {
                    V p, q;
                    multiply(p, x[j], a);
                    multiply(q, z[j], b);
                    x[j] = (q >> 32) ^ y[j] ^ key[0];
                    z[j] = (p >> 32) ^ w[j] ^ key[1];
                    y[j] = q;
                    w[j] = p;
                }
            }
            u64 low[step], high[step];
#pragma GCC unroll 2
            for (u64 j = 0; j < wide; ++j) {
                const V words[2] = {(x[j] & 0xffffffff) | (y[j] << 32), (z[j] & 0xffffffff) | (w[j] << 32)};
                std::memcpy(low + j * lanes, words, Bytes);
                std::memcpy(high + j * lanes, words + 1, Bytes);
            }
#pragma GCC unroll 1
            for (u64 i = 0; i < step; ++i) {
                halves[2 * (k + i)] = low[i];
                halves[2 * (k + i) + 1] = high[i];
            }
        }
    }
};

[[gnu::always_inline]] inline f32 uniform(u32 bits) {
    return static_cast<f32>(static_cast<i32>(bits >> 8)) * 0x1p-24F;
}
// The halves of bits as multiples of 2^32 and 1; few instruction sets convert integers of 64 bits. Their sum rounds.
[[gnu::always_inline]] inline f64 rounded(u64 bits) {
    const f64 high = CONCORD_F64_OF(0x4530000000000000 | (bits >> 32)),
              low = CONCORD_F64_OF(0x4330000000000000 | (bits & 0xffffffff));
    return (high - (0x1p84 + 0x1p52)) + low;
}
[[gnu::always_inline]] inline f64 uniform(u64 bits) {
    return rounded(bits >> 11) * 0x1p-53;
}
[[gnu::always_inline]] inline f32 positive(u32 bits) {
    const f64 exact = CONCORD_F64_OF(0x4330000000000000 | bits) - 0x1p52;
    return static_cast<f32>(exact) * 0x1p-32F + 0x1p-33F;
}
[[gnu::always_inline]] inline f64 positive(u64 bits) {
    return rounded(bits) * 0x1p-64 + 0x1p-65;
}

// Normal numbers in place of words.
template <u64 Pairs, class W>
[[gnu::always_inline]] inline void make_normal(W* words) {
    using T = std::conditional_t<sizeof(W) == 4, f32, f64>;
    T u[Pairs], v[Pairs], x[Pairs], y[Pairs];
    // Unrolled, the loops would not be vectorised.
#pragma GCC unroll 1
    for (u64 i = 0; i < Pairs; ++i) {
        u[i] = positive(words[2 * i]);
        v[i] = 2 * uniform(words[2 * i + 1]);
    }
#pragma GCC unroll 1
    for (u64 i = 0; i < Pairs; ++i) {
        const T logarithm = Vocabulary::log(u[i]);
        T r;
        if constexpr (sizeof(T) == 4) {
            r = __builtin_sqrtf(-2 * logarithm);
        } else {
            r = __builtin_sqrt(-2 * logarithm);
        }
        x[i] = r * Vocabulary::cospi(v[i]);
        y[i] = r * Vocabulary::sinpi(v[i]);
    }
#pragma GCC unroll 1
    for (u64 i = 0; i < Pairs; ++i) {
        words[2 * i] = std::bit_cast<W>(x[i]);
        words[2 * i + 1] = std::bit_cast<W>(y[i]);
    }
}

template <class W, u64 Bytes>
[[gnu::always_inline]] inline void random_pieces(const Group& group, W* out, u64 n, u64 tile, u64 offset,
                                                 u64 seed, u32 distribution, u32 non_temporal) {
    using Philox = PhiloxVectors<Bytes>;
    constexpr u64 of_block = block_bytes / sizeof(W), line = 64 / sizeof(W),
                  of_step = Philox::step * of_block;
    // Pieces end where lines of the output end. The first element may be the last one of its block.
    constexpr u64 most = piece_blocks * of_block - 2 * line;
    static_assert((most + line + of_block) <= piece_blocks * of_block && piece_blocks % Philox::step == 0);
    alignas(64) W words[piece_blocks * of_block];
    const u64 begin = group.x * tile, end = std::min(n, begin + tile);
    for (u64 at = begin, count; at < end; at += count) {
        count = std::min(most + host::elements_to_line(out + at), end - at);
        const u64 skipped = (offset + at) % of_block, made = skipped + count;
        Philox::blocks(words, (offset + at) / of_block, ~u64{0} / of_block, (made + of_block - 1) / of_block,
                       seed);
        if (distribution == static_cast<u32>(Distribution::uniform)) {
#pragma GCC unroll 1
            for (u64 i = 0; i < made; ++i)
                words[i] = std::bit_cast<W>(uniform(words[i]));
        } else if (distribution == static_cast<u32>(Distribution::normal)) {
            for (u64 i = 0; i < made; i += of_step)
                make_normal<of_step / 2>(words + i);
        }
        if (non_temporal != 0) {
            host::stream_store(out + at, words + skipped, count * sizeof(W));
        } else {
            std::memcpy(out + at, words + skipped, count * sizeof(W));
        }
    }
    if (non_temporal != 0) host::stream_fence();
}

template <class W>
constexpr HostKernel versions() {
    HostKernel kernel = plain_host_kernel<&random_pieces<W, 16>>();
#if defined(__x86_64__) && !defined(CONCORD_SANITIZED)
    kernel = with_version<&random_pieces<W, 32>, HostIsa::avx2>(kernel);
    kernel = with_version<&random_pieces<W, 64>, HostIsa::avx512>(kernel);
#endif
    return kernel;
}

}  // namespace

HostKernel random_host(u32 size) {
    static constexpr HostKernel of_4 = versions<u32>(), of_8 = versions<u64>();
    return size == sizeof(u32) ? of_4 : of_8;
}

}  // namespace concord::detail
