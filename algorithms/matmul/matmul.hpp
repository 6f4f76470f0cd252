#pragma once
/// Matmul: the product of two matrices, scaled and added to a third.
///
///     C = alpha * op(A) * op(B) + beta * C           op(A): m x k, op(B): k x n, C: m x n; op: as it is, or transposed
///
/// Exactly, for every element: t = 0, then t = fma(a(i, l), b(l, j), t) for l = 0, 1, ... k-1, each rounded to the
/// elements' type; then c = alpha * t where beta is 0, else c = fma(alpha, t, beta * c). So all variants that promise
/// canonical order give equal bits on every device, for every shape. Where beta is 0 C is not read, whatever it
/// holds. Where k is 0 t is 0. alpha 0 is no exception: NaN and infinities of A and B count. Which NaN comes out is not
/// defined.
///
/// Shapes: matrices are in C order, element (r, c) being element r * pitch + c of its range. Pitches (leading
/// dimensions) count elements and are as long as a row at least; what lies between rows of C is neither read nor
/// written. Ranges may begin at any element, and be longer than the matrix. A batch is `batch` products of one
/// shape in one launch; strides are from one matrix to the next, and those of A and B may be 0, for a matrix that all
/// products share. C overlaps neither A nor B, and its matrices do not overlap one another.
///
/// Enqueues on the stream and returns. Scratch: `packed` takes room for a copy of B, on the CPU of A as well, and
/// where k is long and beta not 0 of C; the other variants take none. Errors: invalid_argument (types that differ or
/// are no floats, a pitch shorter than a row, a range shorter than its matrix, overlap), wrong_device, unsupported,
/// compile_failed.
///
/// `tf32x3` (CUDA, f32) keeps another promise: an element is within gamma of 6 k + 18 roundings of the exact one, times
/// what the products' magnitudes add up to, if nothing under- or overflows; infinities give NaN. `auto` never takes it.
///
/// Work: 2 m n k floating-point operations a product.
///
/// Sources: V. Volkov, J. Demmel, Benchmarking GPUs to Tune Dense Linear Algebra, 2008; K. Goto, R. van de Geijn,
/// Anatomy of High-Performance Matrix Multiplication, 2008.

#include <concord/algorithm.hpp>

namespace concord {

/// The shape of a product, and where its matrices lie.
struct MatmulShape {
    /// A stride that is what one matrix takes, rows times pitch.
    static constexpr u64 dense = ~u64{0};

    u64 m = 0, n = 0, k = 0;                        ///< op(A) is m x k, op(B) k x n
    bool transpose_a = false, transpose_b = false;  ///< A is k x m; B is n x k
    u64 a_pitch = 0, b_pitch = 0, c_pitch = 0;      ///< from one row to the next; 0: a row's length
    u64 batch = 1;                                  ///< products
    u64 a_stride = dense, b_stride = dense, c_stride = dense;  ///< from one matrix to the next
};

/// What the product and what was in C are multiplied by, each rounded to the elements' type first.
struct MatmulScale {
    f64 alpha = 1, beta = 0;
};

extern const Algorithm matmul_algorithm;

/// a, b and c of one type, f32 or f64.
Enqueued matmul(Stream& stream, const View& a, const View& b, const View& c, const MatmulShape& shape,
                const MatmulScale& scale = {}, const Options& options = {});

/// The same for spans or arrays.
template <Range A, Range B, Range C>
Enqueued matmul(Stream& stream, const A& a, const B& b, const C& c, const MatmulShape& shape,
                const MatmulScale& scale = {}, const Options& options = {}) {
    using T = typename C::Element;
    static_assert(std::is_same_v<std::remove_const_t<typename A::Element>, T> &&
                      std::is_same_v<std::remove_const_t<typename B::Element>, T>,
                  "a, b and c have different types");
    static_assert(std::is_floating_point_v<T>, "matmul takes f32 or f64");
    return matmul(stream, View(a.view()), View(b.view()), View(c.view()), shape, scale, options);
}

}  // namespace concord
