#pragma once
/// Boxes of a volume, between files and devices.

#include "rank_file.hpp"
#include "run.hpp"

#include <concord/distributed_stencil.hpp>

namespace concord::app {

/// Reads the box of a volume into a buffer, which holds it without gaps. Blocks.
void read_box(Stream& stream, Buffer& to, const PipelineSource& from, const StencilShape& shape,
              const StencilBox& box);

/// Writes the box from a buffer to its place in the volume's file, of elements of `size` bytes. Blocks.
void write_box(Stream& stream, const Buffer& from, RankFile& to, const StencilShape& shape,
               const StencilBox& box, u64 size);

/// Collective: combines what the ranks measured: the slowest one's times, and the sums of what they send.
void combine_ranks(Communicator& ranks, BoxesRun& run);

}  // namespace concord::app
