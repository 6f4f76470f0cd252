#pragma once
/// @file
/// Matrix product, scaled and added to a third matrix (GEMM).
///
///     C = alpha * A * B + beta * C
///
/// A is m x k, B is k x n, C is m x n.
///
/// Order: canonical. For every element t = 0, then t = fma(a(i, l), b(l, j), t) for l = 0, 1, ... k - 1. If C has few
/// elements and k is long, k is split into parts of canonical_part(m, n, k) terms; the last one may be shorter. Each
/// part is a chain of its own from 0. Their results are added in pairs: the first and the second, the third and the
/// fourth, ...; an odd last one stays. This is repeated until one is left, t. Up to k = 1024, and if C has more than
/// 2^21 elements, there is one part. Else let P be the largest power of two, at most 1024, such that floor(k / P) >=
/// 256, P m n <= 2^22 and P m n <= 2^12 floor(k / P). A part has ceil(k / P) terms, rounded up to a multiple of 64. The
/// parts depend on m, n and k alone: not on the device, the variant or the batch.
///
/// The result is alpha * t if beta is 0, else fma(alpha, t, beta * c). Every operation rounds to the element type.
/// Results are bitwise identical on every device and in every variant of canonical order; NaNs are canonical. If beta
/// is 0, C is not read. If k is 0, t is 0. NaN and infinities of A and B propagate even if alpha is 0.
///
/// Shapes: the views define them (concord/matrix.hpp). Each may have any pitch and layout, so a transposed operand is
/// `a.transposed()`. Padding of C is not accessed. A batch runs one product per plane of C in one launch. A and B have
/// as many planes as C, or one plane, which all products share. Planes of A or B may overlap each other. The plane
/// pitch of C is at least the number of elements from the first to the last of a plane.
///
/// Types: f32 and f64, the same for A, B and C.
///
/// Work: 2 m n k floating-point operations per product. Traffic: with tiles of M x N elements of C, k (1 / M + 1 / N)
/// elements of A and B are read per element of C. Every element of C is written once, and read once if beta is not 0.
///
/// Asynchronous: enqueues on the stream and returns. Scratch: `packed` takes padded copies of B and, on the CPU, of A,
/// for as many products of a batch as fit 64 MiB, at least one. For one product these have at most twice the size of
/// the originals, or at most 64 MiB; other shapes are unsupported. For a long, unsplit k with beta != 0 it also
/// copies C. If k has several parts, every variant takes m n elements for each part, for as many products of a batch as
/// fit 64 MiB, at least one; a product takes at most 2^22 elements. In-place operation is not supported: C must not
/// overlap A or B. It may be another part of the same matrix. Batches overlap if their ranges do.
///
/// Errors: invalid_argument (types, shapes, a view that exceeds its range, overlap), wrong_device, unsupported,
/// out_of_memory, compile_failed.
///
/// The variant `tf32x3` (CUDA, f32) has its own error bound: the error of an element is at most gamma(6 k + 18) times
/// |alpha| |A| |B| + |beta| |C|, if nothing under- or overflows. Infinities give NaN. `auto` never chooses it.
///
/// Sources: V. Volkov, J. Demmel, Benchmarking GPUs to Tune Dense Linear Algebra, 2008; K. Goto, R. van de Geijn,
/// Anatomy of High-Performance Matrix Multiplication, 2008; H. Ootomo, R. Yokota, Recovering Single Precision
/// Accuracy from Tensor Cores, 2022.

#include <concord/algorithm.hpp>
#include <concord/matrix.hpp>

namespace concord {

/// Factors of the product and of the previous C. Both are first rounded to the element type.
struct MatmulScale {
    f64 alpha = 1;  ///< factor of the product
    f64 beta = 0;   ///< factor of the previous C; 0: C is not read
};

/// The number of terms of a part of k in the canonical order, for a product of m x k and k x n elements. A multiple of
/// 64, or k if there is one part.
constexpr u64 canonical_part(u64 m, u64 n, u64 k) {
    constexpr u64 one_chain = 1024, shortest = 256, multiple = 64, max_parts = 1024,
                  max_results = u64{1} << 22, results_per_term = u64{1} << 12;
    if (k <= one_chain || m == 0 || n == 0 || m > max_results || n > max_results / m) return k;
    // Twice as many parts, as long as each has work enough to pay for its results.
    u64 parts = 1;
    for (u64 p = 2; p <= max_parts; p *= 2) {
        const u64 results = p * m * n;
        if (p > k / shortest || results > max_results || (results - 1) / results_per_term >= k / p) break;
        parts = p;
    }
    return parts == 1 ? k : ((k + parts - 1) / parts + multiple - 1) / multiple * multiple;
}

/// Descriptor of matmul.
extern const Algorithm matmul_algorithm;

/// Computes C = alpha * A * B + beta * C for matrices, or for each plane of a batch. See the file comment for the
/// contract.
Enqueued matmul(Stream& stream, const VolumeView& a, const VolumeView& b, const VolumeView& c,
                const MatmulScale& scale = {}, const Options& options = {});

namespace detail {
// The element type of a product. Checks the operands at compile time.
template <class A, class B>
constexpr auto matmul_type() {
    using T = typename A::Element;
    static_assert(std::is_same_v<typename B::Element, T>, "matmul: a and b must have the same type");
    static_assert(std::is_floating_point_v<T>, "matmul: matrices must be f32 or f64");
    return T();
}
// The extents of the product of a and b. Throws invalid_argument if they do not match.
VolumeExtents product_extents(const VolumeView& a, const VolumeView& b);
}  // namespace detail

/// Multiplies matrices or batches of matrices; the types are checked at compile time.
template <MatrixBatch A, MatrixBatch B, OutputMatrixBatch C>
Enqueued matmul(Stream& stream, const A& a, const B& b, const C& c, const MatmulScale& scale = {},
                const Options& options = {}) {
    static_assert(std::is_same_v<decltype(detail::matmul_type<A, B>()), typename C::Element>,
                  "matmul: a, b and c must have the same type");
    return matmul(stream, VolumeView(a.view()), VolumeView(b.view()), VolumeView(c.view()), scale, options);
}

/// Returns alpha * A * B as a new array in C order: m x n elements, or batch x m x n. Ignores beta.
template <MatrixBatch A, MatrixBatch B>
[[nodiscard("the results are in a new array")]] auto matmul(Stream& stream, const A& a, const B& b,
                                                            const MatmulScale& scale = {},
                                                            const Options& options = {}) {
    using T = decltype(detail::matmul_type<A, B>());
    const VolumeExtents extents = detail::product_extents(a.view(), b.view());
    Array<T> product(stream, extents.count());
    matmul(stream, a, b, Volume(product, extents), {.alpha = scale.alpha}, options);
    return product;
}

}  // namespace concord
