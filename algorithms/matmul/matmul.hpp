#pragma once
/// @file
/// Matrix product, scaled and added to a third matrix (GEMM).
///
///     C = alpha * op(A) * op(B) + beta * C
///
/// op(A) is m x k, op(B) is k x n, C is m x n; op is the identity or the transpose.
///
/// Order: canonical. For every element t = 0, then t = fma(a(i, l), b(l, j), t) for l = 0, 1, ... k - 1. The result
/// is alpha * t if beta is 0, else fma(alpha, t, beta * c). Every operation rounds to the element type. Results are
/// bitwise identical on every device and in every variant of canonical order, except for NaN payloads. If beta is 0,
/// C is not read. If k is 0, t is 0. NaN and infinities of A and B propagate even if alpha is 0.
///
/// Shapes: matrices are in C order; element (r, c) is element r * pitch + c of its range. A pitch (leading dimension)
/// counts elements and is at least the row length. Padding between rows of C is not accessed. A range may begin at
/// any element and may be longer than its matrix. A batch runs `batch` products of one shape in one launch. A stride
/// counts elements from one matrix to the next. The stride of A or B may be 0, for a matrix that all products share.
///
/// Types: f32 and f64, the same for A, B and C.
///
/// Work: 2 m n k floating-point operations per product. Traffic: with tiles of M x N elements of C, k (1 / M + 1 / N)
/// elements of A and B are read per element of C. Every element of C is written once, and read once if beta is not 0.
///
/// Asynchronous: enqueues on the stream and returns. Scratch: `packed` takes padded copies of B and, on the CPU, of A,
/// for as many products of a batch as fit 64 MiB, at least one. For one product these have at most twice the size of
/// the originals, or at most 64 MiB; other shapes are unsupported. For long k with beta != 0 it also copies C. The
/// other variants take none. In-place operation is not supported: C must not overlap A or B, and the matrices of a
/// batch of C must not overlap one another.
///
/// Errors: invalid_argument (types, a pitch shorter than a row, a range shorter than its matrix, overlap),
/// wrong_device, unsupported, compile_failed.
///
/// The variant `tf32x3` (CUDA, f32) has its own error bound: the error of an element is at most gamma(6 k + 18) times
/// |alpha| |A| |B| + |beta| |C|, if nothing under- or overflows. Infinities give NaN. `auto` never chooses it.
///
/// Sources: V. Volkov, J. Demmel, Benchmarking GPUs to Tune Dense Linear Algebra, 2008; K. Goto, R. van de Geijn,
/// Anatomy of High-Performance Matrix Multiplication, 2008; H. Ootomo, R. Yokota, Recovering Single Precision
/// Accuracy from Tensor Cores, 2022.

#include <concord/algorithm.hpp>

namespace concord {

/// Shape of a product and memory layout of its matrices.
struct MatmulShape {
    /// Default stride: rows * pitch.
    static constexpr u64 dense = ~u64{0};

    u64 m = 0;                 ///< rows of op(A) and C
    u64 n = 0;                 ///< columns of op(B) and C
    u64 k = 0;                 ///< columns of op(A), rows of op(B)
    bool transpose_a = false;  ///< A is k x m
    bool transpose_b = false;  ///< B is n x k
    u64 a_pitch = 0;           ///< elements between row starts of A; 0: the row length
    u64 b_pitch = 0;           ///< elements between row starts of B; 0: the row length
    u64 c_pitch = 0;           ///< elements between row starts of C; 0: the row length
    u64 batch = 1;             ///< number of products
    u64 a_stride = dense;      ///< elements between matrices A of a batch
    u64 b_stride = dense;      ///< elements between matrices B of a batch
    u64 c_stride = dense;      ///< elements between matrices C of a batch
};

/// Factors of the product and of the previous C. Both are first rounded to the element type.
struct MatmulScale {
    f64 alpha = 1;  ///< factor of the product
    f64 beta = 0;   ///< factor of the previous C; 0: C is not read
};

/// Descriptor of matmul.
extern const Algorithm matmul_algorithm;

/// Computes C = alpha * op(A) * op(B) + beta * C. See the file comment for the contract.
Enqueued matmul(Stream& stream, const View& a, const View& b, const View& c, const MatmulShape& shape,
                const MatmulScale& scale = {}, const Options& options = {});

/// Multiplies matrices in spans or arrays; the types are checked at compile time.
template <Range A, Range B, OutputRange C>
Enqueued matmul(Stream& stream, const A& a, const B& b, const C& c, const MatmulShape& shape,
                const MatmulScale& scale = {}, const Options& options = {}) {
    using T = typename C::Element;
    static_assert(std::is_same_v<std::remove_const_t<typename A::Element>, T> &&
                      std::is_same_v<std::remove_const_t<typename B::Element>, T>,
                  "matmul: a, b and c must have one type");
    static_assert(std::is_floating_point_v<T>, "matmul: matrices must be f32 or f64");
    return matmul(stream, View(a.view()), View(b.view()), View(c.view()), shape, scale, options);
}

}  // namespace concord
