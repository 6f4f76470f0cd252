#pragma once
/// Transpose: rows become columns.
///
///     out(c, r) = in(r, c)              for 0 <= r < rows, 0 <= c < columns
///
/// Shapes: in is a matrix of rows x columns in C order, element (r, c) being element r * in_pitch + c of its range; out
/// one of columns x rows, element (c, r) being element c * out_pitch + r. Pitches (leading dimensions) count elements
/// and are as long as a row at least; elements between rows are neither read nor written. Ranges may begin at any
/// element, and be longer than the matrix. Elements are moved as bits, whatever they mean. Traffic: every element is
/// read once and written once.
///
/// In place: out may be exactly in where the matrix is square and the pitches are equal; a group then exchanges a pair
/// of tiles. Every variant does it but `naive`. Any other overlap of the ranges, from the first element to the last,
/// is refused.
///
/// Enqueues on the stream and returns; takes no scratch. Errors: invalid_argument (types that differ, a pitch shorter
/// than a row, a range shorter than its matrix, overlap), wrong_device, unsupported, compile_failed.
///
/// Sources: G. Ruetsch, P. Micikevicius, Optimizing Matrix Transpose in CUDA, 2009; for blocks in registers J. O.
/// Eklundh, A Fast Computer Method for Matrix Transposing, 1972.

#include <concord/algorithm.hpp>

namespace concord {

/// The matrix in, and where it and its transpose lie.
struct TransposeShape {
    u64 rows = 0;
    u64 columns = 0;
    u64 in_pitch = 0;   ///< from one row of in to the next; 0: columns
    u64 out_pitch = 0;  ///< from one row of out to the next; 0: rows
};

extern const Algorithm transpose_algorithm;

/// in and out of one type.
Enqueued transpose(Stream& stream, const View& in, const View& out, const TransposeShape& shape,
                   const Options& options = {});

/// The same for spans or arrays.
template <Range In, Range Out>
Enqueued transpose(Stream& stream, const In& in, const Out& out, const TransposeShape& shape,
                   const Options& options = {}) {
    static_assert(std::is_same_v<std::remove_const_t<typename In::Element>, typename Out::Element>,
                  "in and out have different types");
    return transpose(stream, View(in.view()), View(out.view()), shape, options);
}

}  // namespace concord
