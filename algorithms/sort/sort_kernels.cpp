#include "sort_kernels.hpp"

namespace concord::detail {

Support supports_sort_group(const Device& device, const SortProblem& /*problem*/) {
    return supports_group(device, sort_group);
}

std::shared_ptr<Kernel> sort_kernel(Device& device, const SortProblem& p, const KernelSource& source,
                                    const char* entry, u32 group_size, const Constants& tunables,
                                    Values values) {
    const u32 key_size = p.key_size(), value_size = values == Values::moved ? p.value_size() : 0;
    KernelSpec spec{.source = &source,
                    .entry = entry,
                    .constants = {{"K", bits_of_size(key_size)},
                                  {"SIZE", key_size},
                                  {"V", bits_of_size(value_size)},
                                  {"VALUE_SIZE", value_size},
                                  {"GROUP", group_size}},
                    .max_group_size = group_size};
    spec.constants.append(tunables);
    return device.kernel(spec);
}

void copy_elements(Stream& stream, const SortProblem& p, const SortElements& from, const SortElements& to) {
    stream.copy(*to.keys.buffer, to.keys.offset, *from.keys.buffer, from.keys.offset, p.in.bytes());
    if (p.pairs())
        stream.copy(*to.values.buffer, to.values.offset, *from.values.buffer, from.values.offset,
                    p.values_in.bytes());
}

}  // namespace concord::detail
