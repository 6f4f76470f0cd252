#include "observed.hpp"

#include <algorithm>
#include <set>

namespace concord::lab {
namespace {

KernelUse use_of(const Kernel& kernel, const LaunchShape& shape, const DeviceTraits& traits) {
    KernelUse use{kernel.name(), u64{shape.group_size_x} * shape.group_size_y * shape.group_size_z,
                  kernel.attributes(), -1, kernel.compile_milliseconds()};
    i64& local = use.attributes.local_bytes;
    if (local >= 0) local += static_cast<i64>(shape.local_bytes);
    i64 groups = use.attributes.groups_per_unit;
    if (groups < 0) return use;
    // The backend's number does not include local memory that is given at launch.
    if (local > 0) groups = std::min(groups, static_cast<i64>(traits.local_memory) / local);
    use.occupancy =
        static_cast<double>(groups) * static_cast<double>(use.group_size) / traits.max_resident_items;
    return use;
}

}  // namespace

Observed::Observed(Stream& stream, std::vector<KernelUse>& uses) : stream_(stream) {
    observe_launches(stream, [&uses, &traits = stream.device().traits(), known = std::set<const Kernel*>()](
                                 const Kernel& kernel, const LaunchShape& shape) mutable {
        if (known.insert(&kernel).second) uses.push_back(use_of(kernel, shape, traits));
    });
}

}  // namespace concord::lab
