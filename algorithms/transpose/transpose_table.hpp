#pragma once
// What transpose.cpp and transpose_host.cpp share.

#include <concord/transpose.hpp>

#include "transpose_host.hpp"

namespace concord::detail {

/// The host kernels for one size of element.
struct TransposeHost {
    HostKernel serial, naive, tiled, blocked, exchange;
    HostKernel none;  ///< of kernels that are not in the host dialect
};

const TransposeHost& transpose_host(u32 size);

}  // namespace concord::detail
