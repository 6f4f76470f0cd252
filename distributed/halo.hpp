#pragma once
// Boxes of a volume as runs of elements, and the copies that pack and unpack them.

#include <concord/stencil.hpp>

namespace concord::detail {

// `count` runs of `length` elements each; `stride` elements from the start of one run to the next.
struct Runs {
    u64 count = 0, length = 0, stride = 0;

    u64 elements() const { return count * length; }
    bool gapless() const { return count <= 1 || stride == length; }
};

// The memory of a box: `repeats` times the same runs, whose starts are `repeat_stride` elements apart. `first`: element
// index of the first run. A box of whole rows has one run per plane, other boxes one per row. Only boxes that span
// neither all rows nor all columns have repeats, one per plane.
struct BoxRuns {
    u64 first = 0;
    Runs runs;
    u64 repeats = 1, repeat_stride = 0;

    u64 elements() const { return repeats * runs.elements(); }
    bool gapless() const { return repeats <= 1 && runs.gapless(); }
    // Elements from the first one to the end of the last run.
    u64 extent() const;
    // The same box in memory of its own.
    BoxRuns dense() const;
};
BoxRuns runs_of(const VolumeExtents& shape, const StencilBox& box);

// Copies runs of `from` to runs of `to`. Both have the same count and length; each view begins with its first run.
// Both views have the same type of 4 or 8 bytes, are on the stream's device and do not overlap.
// Asynchronous: enqueues one kernel, or one buffer copy if both sides are contiguous.
void copy_runs(Stream& stream, const View& from, const Runs& from_runs, const View& to, const Runs& to_runs);

// Copies a box of a volume to a box of the same shape: copy_runs() for every repeat. Both views begin with the volume.
void copy_box(Stream& stream, const View& from, const BoxRuns& from_box, const View& to,
              const BoxRuns& to_box);

// Copies elements into memory of another device that this device's kernels can access (Link::remote). On GPUs a kernel
// stores them, which takes 2 us less than a copy by the driver up to a few MiB. Asynchronous.
void store_across(Stream& stream, const View& from, const View& to);

}  // namespace concord::detail
