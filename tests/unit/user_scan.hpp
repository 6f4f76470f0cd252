#pragma once
// A scan by an operator of the user's, as most programs have it: compiled without the textbook's host kernels.

#include <concord/span.hpp>
#include <concord/variant.hpp>

CONCORD_FUNCTION(int, larger_user_scan, (int x, int y), return x < y ? y : x;)

namespace concord::test {

Enqueued user_scan(Stream& stream, const Array<i32>& in, const Array<i32>& out, const Options& options);

}  // namespace concord::test
