#include "sort_kernels.hpp"

namespace concord::detail {

std::shared_ptr<Kernel> sort_kernel(Device& device, const SortProblem& p, const KernelSource& source,
                                    const char* entry, u32 group_size, u64 id, std::vector<Constant> tunables,
                                    bool values) {
    const u32 key_size = p.key_size(), value_size = values ? p.value_size() : 0;
    return device.kernel({&source, entry, key_size, value_size, id}, [&] {
        KernelSpec spec;
        spec.source = &source;
        spec.entry = entry;
        spec.constants = {{"K", std::string(name_of(bits_of_size(key_size)))},
                          {"SIZE", std::to_string(key_size)},
                          {"V", std::string(name_of(bits_of_size(value_size)))},
                          {"VALUE_SIZE", std::to_string(value_size)},
                          {"GROUP", std::to_string(group_size)}};
        spec.constants.insert(spec.constants.end(), tunables.begin(), tunables.end());
        spec.max_group_size = group_size;
        return spec;
    });
}

void copy_elements(Stream& stream, const SortProblem& p, const SortElements& from, const SortElements& to) {
    stream.copy(*to.keys.buffer, to.keys.offset, *from.keys.buffer, from.keys.offset, p.in.bytes());
    if (p.pairs())
        stream.copy(*to.values.buffer, to.values.offset, *from.values.buffer, from.values.offset,
                    p.values_in.bytes());
}

}  // namespace concord::detail
