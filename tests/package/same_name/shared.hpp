#pragma once
// A header that both parts include. What in_header() computes depends on the version of another header.
#include <concord/concord.hpp>

#include <version.hpp>

CONCORD_FUNCTION(f32, in_header, (f32 x), return version(x) * 4;)
CONCORD_KERNEL(kernel_in_header, (u64 i, f32* x), x[i] = version(x[i]) * 8;)
CONCORD_FUNCTION(f32, unused_in_header, (f32 x), return x;)
