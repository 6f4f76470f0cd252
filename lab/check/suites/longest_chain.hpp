#pragma once
// The h of error bounds of sums, for variants and for libraries.

#include <concord/variant.hpp>

#include <algorithm>

namespace concord::lab {

// The longest chain of additions that round, for n elements. A library other than Concord may use one chain for all
// elements. An addition to an initial zero is exact.
inline u64 longest_chain_of(const Variant& variant, u64 n) {
    return variant.longest_chain != nullptr ? variant.longest_chain(n) : std::max<u64>(1, n) - 1;
}

}  // namespace concord::lab
