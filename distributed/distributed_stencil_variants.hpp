#pragma once
// Variants of the distributed stencil and the choice of the domain decomposition.

#include <concord/distributed_stencil.hpp>

namespace concord::detail {

// Whether a step exchanges halos while it computes, or before it computes.
enum class StepSchedule { overlapped, sequential };

struct DistributedStencilVariant {
    Variant variant;
    StepSchedule schedule = StepSchedule::overlapped;
    bool has_server = false;  // the last rank holds the volume and computes nothing
};

// The variant of that name; "auto" is the first. Throws invalid_argument for an unknown name.
const DistributedStencilVariant& distributed_variant(std::string_view name);

// The grid of at most `ranks` parts with the least estimated time of a step. Among equals, the one with the fewest
// parts along y.
StencilCut choose_cut(const VolumeExtents& shape, u32 ranks, u32 radius);

// Time of an exchange that several steps per exchange would save, in points that a device computes meanwhile.
u64 exchange_cost(const Device& device);

// Steps per exchange with the least estimated time, at most what the parts are thick enough for. `cost`: of the ranks'
// exchange_cost(), the largest. A step on P planes costs P planes, and a face that other ranks compute as well R planes
// for each later step until the exchange.
u32 choose_steps_per_exchange(const StencilCut& cut, u32 radius, u64 cost);
// The largest number of steps per exchange that the parts are thick enough for, at least 1.
u32 max_steps_per_exchange(const StencilCut& cut, u32 radius);

}  // namespace concord::detail
