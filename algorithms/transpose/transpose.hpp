#pragma once
/// @file
/// Transpose: turns the rows of a matrix into columns.
///
///     out(c, r) = in(r, c)              for 0 <= r < rows, 0 <= c < columns
///
/// Shapes: in is a matrix of rows x columns in C order; element (r, c) is element r * in_pitch + c of its range.
/// out is a matrix of columns x rows; element (c, r) is element c * out_pitch + r of its range. A pitch (leading
/// dimension) counts elements and is at least the length of a row. Elements between rows are neither read nor
/// written. Ranges may begin at any element and may be longer than the matrix.
///
/// Types: in and out have the same type. Elements move as bits, so results are bitwise identical in every variant.
///
/// Memory traffic: one read and one write per element.
///
/// In place: out may be exactly in if the matrix is square and the pitches are equal. Each group then exchanges
/// pairs of tiles. Every variant except `naive` supports this. Any other overlap of the ranges, from the first to
/// the last element of each matrix, is an error.
///
/// Asynchronous: the call enqueues its work on the stream and returns. It uses no scratch memory.
///
/// Errors: invalid_argument (types, a pitch shorter than a row, a range shorter than its matrix, overlap),
/// wrong_device, unsupported, compile_failed.
///
/// Sources: G. Ruetsch, P. Micikevicius, Optimizing Matrix Transpose in CUDA, 2009; for transposes in registers J.
/// O. Eklundh, A Fast Computer Method for Matrix Transposing, 1972.

#include <concord/algorithm.hpp>

namespace concord {

/// Sizes and pitches of a matrix and its transpose.
struct TransposeShape {
    u64 rows = 0;       ///< rows of in, columns of out
    u64 columns = 0;    ///< columns of in, rows of out
    u64 in_pitch = 0;   ///< elements from one row of in to the next; 0: columns
    u64 out_pitch = 0;  ///< elements from one row of out to the next; 0: rows
};

/// Descriptor of transpose: variants, tunables, tuning label.
extern const Algorithm transpose_algorithm;

/// Transposes a matrix. in and out have the same type.
Enqueued transpose(Stream& stream, const View& in, const View& out, const TransposeShape& shape,
                   const Options& options = {});

/// Transposes a matrix in spans or arrays.
template <Range In, OutputRange Out>
Enqueued transpose(Stream& stream, const In& in, const Out& out, const TransposeShape& shape,
                   const Options& options = {}) {
    static_assert(std::is_same_v<std::remove_const_t<typename In::Element>, typename Out::Element>,
                  "in and out must have the same type");
    return transpose(stream, View(in.view()), View(out.view()), shape, options);
}

}  // namespace concord
