#pragma once
// Transfers of boxes of a volume between files and devices.

#include "rank_file.hpp"
#include "run.hpp"

#include <concord/distributed_stencil.hpp>

namespace concord::app {

// Reads a box of a volume into a dense buffer. Blocks.
void read_box(Stream& stream, Buffer& to, const PipelineSource& from, const VolumeExtents& shape,
              const StencilBox& box);

// Writes a box from a dense buffer to the volume's file. `size`: bytes per element. Blocks.
void write_box(Stream& stream, const Buffer& from, RankFile& to, const VolumeExtents& shape,
               const StencilBox& box, u64 size);

// Collective. Combines the ranks' measurements: the maximum of the times, and the sum of messages and bytes.
void combine_ranks(Communicator& ranks, BoxesRun& run);

}  // namespace concord::app
