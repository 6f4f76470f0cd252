#pragma once
/// Algorithms over ranks: each has a part of the data on its device, and all of them call.
///
/// The parts, in the order of the ranks, are the data; their lengths may differ and be 0, and ranks may sit on devices of
/// different backends. Results are those of one call on all of the data: to the bit, but where the variant asked for keeps no
/// fixed order. All calls are collective.
///
/// Errors: what the algorithm throws, on the rank concerned, and then on all (concord/communicator.hpp); invalid_argument, on
/// all ranks alike, where their types, operators or options differ.

#include <concord/communicator.hpp>
#include <concord/histogram.hpp>
#include <concord/reduce.hpp>
#include <concord/scan.hpp>
#include <concord/sort.hpp>
#include <concord/stencil.hpp>

namespace concord {
}  // namespace concord
