#pragma once
// Variants of the distributed stencil and the choice of the domain decomposition.

#include <concord/distributed_stencil.hpp>

namespace concord::detail {

// Whether the kernel of a step exchanges halos, a step exchanges them while it computes, or before it computes.
enum class StepSchedule { fused, overlapped, sequential };

struct DistributedStencilVariant {
    Variant variant;
    StepSchedule schedule = StepSchedule::overlapped;
    bool has_server = false;  // the last rank holds the volume and computes nothing
};

// The variant of that name; "auto" is `overlapped`, which DistributedStencil replaces by `fused` if it can. Throws
// invalid_argument for an unknown name.
const DistributedStencilVariant& distributed_variant(std::string_view name);

// `count` columns rounded up to what bounds of parts along x are multiples of. If rows are whole packs of 4 columns, so
// are those of the parts with their halos.
u64 whole_granules(u64 count, u64 columns);

// The grid of at most `ranks` parts with the least estimated time of a step. Among equals, the one with the fewest
// parts along y. x is cut only if neither z nor y can be.
StencilCut choose_cut(const VolumeExtents& shape, u32 ranks, u32 radius);

// Size of the halo of a face up to which several steps per exchange are faster than one. On two and four H200, halos of
// up to 4 MiB cost less than 2 us per step to compute twice and to send, and an exchange costs 5 to 10 us. Larger ones
// cost as much as they save. CPUs exchange halos faster than they compute them.
u64 cheap_halo_bytes(const Device& device);

// Steps per exchange: as many as keep a halo within `cheap_bytes`, the smallest of the ranks' cheap_halo_bytes().
u32 choose_steps_per_exchange(const StencilCut& cut, u32 radius, u32 element_size, u64 cheap_bytes);
// The largest number of steps per exchange that the parts are thick enough for, at least 1.
u32 max_steps_per_exchange(const StencilCut& cut, u32 radius);

}  // namespace concord::detail
