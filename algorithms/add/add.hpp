#pragma once
/// Vector addition: out[i] = a[i] + b[i] for 0 <= i < n. Integers wrap.
///
/// A map of two inputs: its variants, kernels and contract are map's. Traffic: two reads and a write an
/// element.

#include <concord/map.hpp>

namespace concord {

extern const Algorithm add_algorithm;

/// All three of one type and one count; out may be a or b exactly. Errors as for map.
Enqueued add(Stream& stream, const View& a, const View& b, const View& out, const Options& options = {});

template <Range A, Range B, Range Out>
Enqueued add(Stream& stream, const A& a, const B& b, const Out& out, const Options& options = {}) {
    return add(stream, View(a.view()), View(b.view()), View(out.view()), options);
}

}  // namespace concord
