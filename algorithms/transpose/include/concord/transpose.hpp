#pragma once
/// @file
/// Transpose: turns the rows of a matrix into columns.
///
///     out(c, r) = in(r, c)              for 0 <= r < rows, 0 <= c < columns
///
/// Shapes: in is a matrix of rows x columns, out is one of columns x rows (concord/matrix.hpp). Both have the same
/// layout, and any pitches. Padding is neither read nor written.
///
/// Types: in and out have the same type. Elements move as bits, so results are bitwise identical in every variant.
///
/// Memory traffic: one read and one write per element.
///
/// In place: out may be exactly in if the matrix is square and the pitches are equal. Each group then exchanges
/// pairs of tiles. Every variant except `naive` supports this. Any other element in common is an error;
/// in and out may be different parts of one matrix.
///
/// Asynchronous: the call enqueues its work on the stream and returns. It uses no scratch memory; one form allocates
/// the result.
///
/// Matrix::transposed() is a view of the same elements, for calls that support both layouts, such as matmul().
///
/// Errors: invalid_argument (types, shapes, layouts, a view that exceeds its range, overlap), wrong_device,
/// unsupported, compile_failed, out_of_memory (the form that returns an array).
///
/// Sources: G. Ruetsch, P. Micikevicius, Optimizing Matrix Transpose in CUDA, 2009; for transposes in registers J.
/// O. Eklundh, A Fast Computer Method for Matrix Transposing, 1972.

#include <concord/algorithm.hpp>
#include <concord/matrix.hpp>

namespace concord {

/// Descriptor of transpose: variants, tunables, tuning label.
extern const Algorithm transpose_algorithm;

/// Transposes a matrix. in and out have the same type.
Enqueued transpose(Stream& stream, const MatrixView& in, const MatrixView& out, const Options& options = {});

/// Transposes a matrix; the types are checked at compile time.
template <MatrixRange In, OutputMatrix Out>
Enqueued transpose(Stream& stream, const In& in, const Out& out, const Options& options = {}) {
    static_assert(std::is_same_v<typename In::Element, typename Out::Element>,
                  "transpose: in and out must have the same type");
    return transpose(stream, in.view(), out.view(), options);
}

/// Returns the transpose as a new array in the layout of `in`, without padding.
template <MatrixRange In>
[[nodiscard("the results are in a new array")]] auto transpose(Stream& stream, const In& in,
                                                               const Options& options = {}) {
    const MatrixView& from = in.view();
    Array<typename In::Element> out(stream, VolumeExtents{1, from.rows, from.columns}.count());
    transpose(stream, in, Matrix(out, from.columns, from.rows, 0, from.layout), options);
    return out;
}

}  // namespace concord
