#pragma once
// The table of variants of the distributed stencil.

#include <concord/variant.hpp>

namespace concord::detail {

struct DistributedStencilVariant {
    Variant variant;
    bool overlaps = false;  ///< computes while it exchanges
    bool serves = false;    ///< the last rank holds the data
};

/// The row of that name, "auto" for the first. Throws invalid_argument, with the names there are.
const DistributedStencilVariant& distributed_variant(std::string_view name);

}  // namespace concord::detail
