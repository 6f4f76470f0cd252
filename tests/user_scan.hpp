#pragma once
// A scan by an operator of the user's, as most programs have it: compiled without the textbook's host kernels.

#include <concord/span.hpp>
#include <concord/variant.hpp>

CONCORD_FUNCTION(int, larger_user_scan, (int x, int y), return x < y ? y : x;)

namespace test {

concord::Enqueued user_scan(concord::Stream& stream, const concord::Array<concord::i32>& in,
                            const concord::Array<concord::i32>& out, const concord::Options& options);

}  // namespace test
