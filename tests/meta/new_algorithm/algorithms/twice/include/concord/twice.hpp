#pragma once
/// Twice every element.

#include <concord/algorithm.hpp>

namespace concord {

extern const Algorithm twice_algorithm;

/// out[i] = 2 in[i], of f32 or f64; out may be in. Reads and writes every element once. Enqueues and returns. Throws
/// invalid_argument if the types or counts differ, or the ranges overlap in part.
Enqueued twice(Stream& stream, const View& in, const View& out, const Options& options = {});

}  // namespace concord
