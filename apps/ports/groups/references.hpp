#pragma once
// The references of the ports: plain loops on the host.

#include "../port.hpp"

#include <algorithm>
#include <cmath>

namespace ports {

inline constexpr f32 epsilon = 1e-5f, c = 0.2f;

inline std::vector<f32> lu_of(std::vector<f32> m, u64 n) {
    for (u64 offset = 0; offset < n; offset += 16) {
        const u64 next = offset + 16;
        // Right-looking in the columns of the tile and in its rows. The rest adds the products of the tile first.
        for (u64 k = offset; k < next; ++k) {
            for (u64 i = k + 1; i < n; ++i) {
                m[i * n + k] /= m[k * n + k];
                for (u64 j = k + 1; j < (i < next ? n : next); ++j)
                    m[i * n + j] -= m[i * n + k] * m[k * n + j];
            }
        }
        for (u64 i = next; i < n; ++i) {
            for (u64 j = next; j < n; ++j) {
                f32 sum = 0;
                for (u64 k = offset; k < next; ++k)
                    sum += m[i * n + k] * m[k * n + j];
                m[i * n + j] -= sum;
            }
        }
    }
    return m;
}
// The sum of values in a tree over neighbours. Their number is a power of two.
inline f32 tree(const f32* values, u64 n) {
    return n == 1 ? values[0] : tree(values, n / 2) + tree(values + n / 2, n / 2);
}
inline std::vector<f32> normalised(const std::vector<f32>& in, const std::vector<f32>& scale,
                                   const std::vector<f32>& shift, u64 columns) {
    std::vector<f32> out(in.size());
    for (u64 row = 0; row < in.size(); row += columns) {
        std::array<f32, 256> sums{}, squares{};
        for (u64 i = 0; i < columns; ++i)
            sums[i % 256] += in[row + i];
        const f32 mean = tree(sums.data(), 256) / static_cast<f32>(columns);
        for (u64 i = 0; i < columns; ++i)
            squares[i % 256] += (in[row + i] - mean) * (in[row + i] - mean);
        const f32 factor = 1 / std::sqrt(tree(squares.data(), 256) / static_cast<f32>(columns) + epsilon);
        for (u64 i = 0; i < columns; ++i)
            out[row + i] = (in[row + i] - mean) * factor * scale[i] + shift[i];
    }
    return out;
}
inline std::vector<f32> product_of(const std::vector<f32>& a, const std::vector<f32>& b, u64 n) {
    std::vector<f32> out(n * n);
    for (u64 i = 0; i < n; ++i) {
        for (u64 k = 0; k < n; ++k) {
            for (u64 j = 0; j < n; ++j)
                out[i * n + j] += a[i * n + k] * b[k * n + j];
        }
    }
    return out;
}
inline std::vector<f32> heat_of(const std::vector<f32>& now, u64 width, u64 height) {
    const u64 pitch = width + 2;
    std::vector<f32> next = now;
    for (u64 y = 1; y <= height; ++y) {
        for (u64 x = 1; x <= width; ++x) {
            const u64 i = y * pitch + x;
            const f32 sum = now[i - 1] + now[i + 1] + now[i - pitch] + now[i + pitch];
            next[i] = now[i] + c * (sum - 4 * now[i]);
        }
    }
    return next;
}
// Prefixes in blocks of 256. Each adds the sums of the blocks that its length has as a binary number, from the right.
inline std::vector<f32> block_sums_of(const std::vector<f32>& in) {
    std::vector<f32> out(in.size());
    for (u64 i = 0; i < in.size(); ++i) {
        u64 length = i % 256 + 1;
        const f32* const begin = in.data() + i / 256 * 256;
        u64 block = length & (~length + 1);
        f32 sum = tree(begin + length - block, block);
        while ((length -= block) > 0) {
            block = length & (~length + 1);
            sum = tree(begin + length - block, block) + sum;
        }
        out[i] = sum;
    }
    return out;
}

// A matrix that needs no pivoting.
inline std::vector<f32> dominant(u64 n) {
    std::vector<f32> m = random_values(n * n, -1, 1, n);
    for (u64 i = 0; i < n; ++i)
        m[i * n + i] += static_cast<f32>(n);
    return m;
}

}  // namespace ports
