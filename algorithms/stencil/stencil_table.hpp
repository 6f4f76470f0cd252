#pragma once
// What stencil.cpp and stencil_host.cpp share.

#include <concord/stencil.hpp>

#include "stencil_host.hpp"

namespace concord::detail {

/// The host kernels for one type.
struct StencilHost {
    HostKernel serial, naive, tiled, blocked;
    HostKernel none;  ///< of kernels that are not in the host dialect
};

const StencilHost& stencil_host(Type type);

}  // namespace concord::detail
