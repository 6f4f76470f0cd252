#pragma once
// Shared by transpose.cpp and transpose_host.cpp.

#include <concord/transpose.hpp>

#include "transpose_host.hpp"

namespace concord::detail {

// The host kernels for one element size.
struct TransposeHost {
    HostKernel serial, naive, tiled, blocked, exchange, direct;
    u64 wide_bytes;  // length of the vectors of `direct` with AVX-512
};

const TransposeHost& transpose_host(u32 size);

}  // namespace concord::detail
