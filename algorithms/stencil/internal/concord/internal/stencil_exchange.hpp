#pragma once
// Steps of a star on a part of a volume whose kernels exchange halos with the devices of the neighbouring parts.

#include <concord/stencil.hpp>

namespace concord::detail {

// A neighbouring part along z on another device.
struct StencilNeighbour {
    View volume;    // the neighbour's output volume, as memory that this device's kernels can write
    i64 shift = 0;  // points from a plane in this volume to the same plane in the neighbour's
    // u32, zero at first. Here: a flag that the neighbour raises, and two counters of the kernel. There: its flag.
    View flags, raised;
};

// The neighbours of a part. Those without a buffer do not exist.
struct StencilExchange {
    StencilNeighbour below, above;
    u32 turn = 0;  // the step waits for this turn of the neighbours
    // Whether the step writes the neighbours' halos and raises their flags to turn + 1.
    bool sends = false;

    u32 sides() const {
        return (below.volume.buffer != nullptr ? 1 : 0) + (above.volume.buffer != nullptr ? 1 : 0);
    }
};

// Whether the variant that `options` choose for the box has kernels that exchange halos, on this device.
bool supports_stencil_exchange(Stream& stream, const VolumeView& in, const StarCoefficients& star,
                               const VolumeView& out, const StencilBox& box, const Options& options);

// stencil_box() for a part of whole rows, at least as thick as the radius; exchanges halos. Its first and last planes
// are computed first. Groups that compute nothing send them meanwhile. A group waits for a neighbour only if it reads
// the neighbour's planes or the neighbour reads its. Such groups keep a part of the device while they wait, so ranks
// that wait for each other must have different devices. Traffic: that of the box, and one read and write of the planes
// that neighbours need.
Enqueued stencil_exchange(Stream& stream, const VolumeView& in, const StarCoefficients& star,
                          const VolumeView& out, const StencilBox& box, const StencilExchange& exchange,
                          const Options& options);

}  // namespace concord::detail
