#pragma once
// The loops that one would write for the CPU: vectors of V, in registers, and blocks that stay in the caches.

#include "references.hpp"

#include <barrier>

namespace ports {

using V = f32 __attribute__((vector_size(64), aligned(4), may_alias));
inline constexpr u64 lanes = 16;

[[gnu::always_inline]] inline V& vector_at(f32* values) {
    return *reinterpret_cast<V*>(values);
}
[[gnu::always_inline]] inline const V& vector_at(const f32* values) {
    return *reinterpret_cast<const V*>(values);
}

// Adds the product of 4 rows of a and 2 * lanes columns of b to c, or subtracts it. All have the same pitch.
template <bool subtract>
[[gnu::always_inline]] inline void multiply_rows(f32* __restrict out, const f32* a, const f32* b, u64 pitch,
                                                 u64 depth) {
    V sum[4][2];
    for (u64 i = 0; i < 4; ++i) {
        for (u64 j = 0; j < 2; ++j)
            sum[i][j] = vector_at(out + i * pitch + j * lanes);
    }
    for (u64 k = 0; k < depth; ++k) {
        const V right[2] = {vector_at(b + k * pitch), vector_at(b + k * pitch + lanes)};
        for (u64 i = 0; i < 4; ++i) {
            for (u64 j = 0; j < 2; ++j) {
                const V p = a[i * pitch + k] * right[j];
                sum[i][j] = subtract ? sum[i][j] - p : sum[i][j] + p;
            }
        }
    }
    for (u64 i = 0; i < 4; ++i) {
        for (u64 j = 0; j < 2; ++j)
            vector_at(out + i * pitch + j * lanes) = sum[i][j];
    }
}

[[gnu::always_inline]] inline void product_loop(const Group& part, f32* __restrict out, const f32* a,
                                                const f32* b, u64 n) {
    constexpr u64 depth = 256;
    const u64 first = n / 4 * part.x / part.count_x * 4, last = n / 4 * (part.x + 1) / part.count_x * 4;
    std::fill(out + first * n, out + last * n, 0.0f);
    for (u64 k = 0; k < n; k += depth) {
        for (u64 j = 0; j < n; j += 2 * lanes) {
            for (u64 i = first; i < last; i += 4)
                multiply_rows<false>(out + i * n + j, a + i * n + k, b + k * n + j, n,
                                     std::min(depth, n - k));
        }
    }
}

// Tiles of `block` columns. The threads share the tiles of a step, and wait for each other.
[[gnu::always_inline]] inline void lud_loop(const Group& part, f32* m, const f32* from, u64 n,
                                            std::barrier<>* all) {
    constexpr u64 block = 32;
    std::copy(from + n * n * part.x / part.count_x, from + n * n * (part.x + 1) / part.count_x,
              m + n * n * part.x / part.count_x);
    all->arrive_and_wait();
    for (u64 offset = 0; offset < n; offset += block) {
        const u64 next = offset + block;
        if (part.x == 0) {
            for (u64 k = offset; k < next; ++k) {
                for (u64 i = k + 1; i < next; ++i) {
                    const f32 factor = m[i * n + k] /= m[k * n + k];
                    for (u64 j = k + 1; j < next; ++j)
                        m[i * n + j] -= factor * m[k * n + j];
                }
            }
        }
        all->arrive_and_wait();
        const u64 tiles = (n - next) / block;
        const u64 begin = next + tiles * part.x / part.count_x * block;
        const u64 end = next + tiles * (part.x + 1) / part.count_x * block;
        for (u64 i = begin; i < end; ++i) {
            for (u64 k = offset; k < next; ++k) {
                const f32 factor = m[i * n + k] /= m[k * n + k];
                for (u64 j = k + 1; j < next; ++j)
                    m[i * n + j] -= factor * m[k * n + j];
            }
        }
        for (u64 j = begin; j < end; j += 2 * lanes) {
            for (u64 k = offset; k < next; ++k) {
                for (u64 i = k + 1; i < next; ++i) {
                    for (u64 l = 0; l < 2 * lanes; l += lanes)
                        vector_at(m + i * n + j + l) -= m[i * n + k] * vector_at(m + k * n + j + l);
                }
            }
        }
        all->arrive_and_wait();
        for (u64 j = next; j < n; j += 2 * lanes) {
            for (u64 i = begin; i < end; i += 4)
                multiply_rows<true>(m + i * n + j, m + i * n + offset, m + offset * n + j, n, block);
        }
        all->arrive_and_wait();
    }
}

[[gnu::always_inline]] inline void layernorm_loop(const Group& part, f32* __restrict out,
                                                  const f32* __restrict in, const f32* __restrict scale,
                                                  const f32* __restrict shift, u64 rows, u64 columns) {
    constexpr u64 sums = 4;
    for (u64 row = rows * part.x / part.count_x; row < rows * (part.x + 1) / part.count_x; ++row) {
        const f32* const x = in + row * columns;
        f32* const y = out + row * columns;
        const auto total = [&](auto value) {
            V sum[sums] = {};
            u64 i = 0;
            for (; i + sums * lanes <= columns; i += sums * lanes) {
                for (u64 s = 0; s < sums; ++s)
                    sum[s] += value(vector_at(x + i + s * lanes));
            }
            f32 all = 0;
            for (; i < columns; ++i)
                all += value(x[i]);
            const V four = (sum[0] + sum[1]) + (sum[2] + sum[3]);
            for (u64 l = 0; l < lanes; ++l)
                all += four[l];
            return all;
        };
        const f32 mean = total([](auto v) { return v; }) / static_cast<f32>(columns);
        const f32 variance =
            total([&](auto v) { return (v - mean) * (v - mean); }) / static_cast<f32>(columns);
        const f32 factor = 1 / std::sqrt(variance + epsilon);
        for (u64 i = 0; i < columns; ++i)
            y[i] = (x[i] - mean) * factor * scale[i] + shift[i];
    }
}

// Exchanges keys of the distance d, for all of [begin, end).
template <u64 D = 0>
[[gnu::always_inline]] inline void exchange_all(f32* keys, u64 begin, u64 end, u64 size, u64 distance) {
    const u64 d = D > 0 ? D : distance;
    for (u64 low = begin; low < end; low += 2 * d) {
        const bool up = (low & size) == 0;
#pragma GCC ivdep
        for (u64 i = low; i < low + d; ++i) {
            const f32 a = keys[i], b = keys[i + d], least = std::min(a, b), most = std::max(a, b);
            keys[i] = up ? least : most;
            keys[i + d] = up ? most : least;
        }
    }
}
// All steps of a size from the distance d on, in a range that stays in the cache.
[[gnu::always_inline]] inline void merge_range(f32* keys, u64 begin, u64 end, u64 size, u64 d) {
    for (; d >= 16; d /= 2)
        exchange_all(keys, begin, end, size, d);
    if (d >= 8) exchange_all<8>(keys, begin, end, size, 8);
    if (d >= 4) exchange_all<4>(keys, begin, end, size, 4);
    if (d >= 2) exchange_all<2>(keys, begin, end, size, 2);
    exchange_all<1>(keys, begin, end, size, 1);
}
[[gnu::always_inline]] inline void bitonic_loop(const Group& part, f32* keys, const f32* from, u64 n,
                                                std::barrier<>* all) {
    constexpr u64 range = 4096;
    const u64 first = n / range * part.x / part.count_x * range;
    const u64 last = n / range * (part.x + 1) / part.count_x * range;
    std::copy(from + first, from + last, keys + first);
    for (u64 begin = first; begin < last; begin += range) {
        for (u64 size = 2; size <= range; size *= 2)
            merge_range(keys, begin, begin + range, size, size / 2);
    }
    for (u64 size = 2 * range; size <= n; size *= 2) {
        for (u64 d = size / 2; d >= range; d /= 2) {
            all->arrive_and_wait();
            // Half of the pairs of each block of 2 d for each of two threads, and so on.
            for (u64 low = 0; low < n; low += 2 * d) {
                const u64 begin = low + d * part.x / part.count_x,
                          end = low + d * (part.x + 1) / part.count_x;
                const bool up = (low & size) == 0;
#pragma GCC ivdep
                for (u64 i = begin; i < end; ++i) {
                    const f32 a = keys[i], b = keys[i + d], least = std::min(a, b), most = std::max(a, b);
                    keys[i] = up ? least : most;
                    keys[i + d] = up ? most : least;
                }
            }
        }
        all->arrive_and_wait();
        for (u64 begin = first; begin < last; begin += range)
            merge_range(keys, begin, begin + range, size, range / 2);
    }
}

[[gnu::always_inline]] inline void heat_loop(const Group& part, f32* __restrict next,
                                             const f32* __restrict now, u64 width, u64 height) {
    const u64 pitch = width + 2;
    const u64 last = 1 + height * (part.x + 1) / part.count_x;
    for (u64 y = 1 + height * part.x / part.count_x; y < last; ++y) {
        for (u64 i = y * pitch + 1; i < y * pitch + 1 + width; ++i) {
            const f32 sum = now[i - 1] + now[i + 1] + now[i - pitch] + now[i + pitch];
            next[i] = now[i] + c * (sum - 4 * now[i]);
        }
    }
}

// Eight blocks at a time, whose sums do not wait for each other.
[[gnu::always_inline]] inline void scan_loop(const Group& part, f32* __restrict out, const f32* __restrict in,
                                             u64 blocks) {
    for (u64 block = blocks / 8 * part.x / part.count_x * 8;
         block < blocks / 8 * (part.x + 1) / part.count_x * 8; block += 8) {
        f32 sums[8] = {};
        for (u64 i = block * 256; i < block * 256 + 256; ++i) {
            for (u64 b = 0; b < 8; ++b)
                out[b * 256 + i] = sums[b] += in[b * 256 + i];
        }
    }
}

}  // namespace ports
