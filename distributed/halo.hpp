#pragma once
// Boxes of a volume, gathered for messages and put back.

#include <concord/stencil.hpp>

namespace concord::detail {

/// Runs of elements: `count` of them, each `length` long, from the start of one to the next `stride` elements.
struct Runs {
    u64 count = 0, length = 0, stride = 0;

    u64 elements() const { return count * length; }
    bool gapless() const { return count <= 1 || stride == length; }
};

/// What a box is in memory: a run a plane. `first`: the element at which it begins.
struct BoxRuns {
    u64 first = 0;
    Runs runs;
};
BoxRuns runs_of(const StencilShape& shape, const StencilBox& box);

/// Copies runs of `from` to runs of `to`, as many and as long ones, each in a view that begins with the first run. Views are of
/// one type of 4 or 8 bytes, on the stream's device, and do not overlap. Enqueues: one kernel, or a copy where neither has
/// gaps.
void copy_runs(Stream& stream, const View& from, const Runs& from_runs, const View& to, const Runs& to_runs);

}  // namespace concord::detail
