// The standard libraries' sorts, on one thread.

#include "sort_table.hpp"

namespace concord::detail {
namespace {

// A host kernel of this file's: they are specialised by the sizes of key and value, or by a comparator.
std::shared_ptr<Kernel> host_kernel_of(Device& device, const SortProblem& p, const char* entry,
                                       HostKernel SortHost::*host) {
    static const KernelSource source{"sort", {}, {}};
    const KernelId id{&source, entry, p.less != nullptr ? p.less->hash : 0,
                      p.less != nullptr ? static_cast<u64>(p.type()) : p.key_size(), p.value_size()};
    return device.kernel(id, [&] {
        KernelSpec spec;
        spec.source = &source;
        spec.entry = entry;
        spec.host = p.host->*host;
        spec.max_lanes = 1;
        return spec;
    });
}

}  // namespace

Support supports_sort_std(const Device& /*device*/, const SortProblem& p) {
    if (p.host == nullptr) return Support::no("comparator " + p.less->name + " is text");
    return {};
}

void run_sort_std(Stream& stream, const SortProblem& p) {
    const auto kernel = host_kernel_of(stream.device(), p, "sort_std", &SortHost::std_sort);
    const u64 pair = p.pairs() ? 2 * std::max(p.key_size(), p.value_size()) : 0;
    const auto scratch = stream.scratch(std::max<u64>(p.count() * pair, 1));
    launch(stream, *kernel, LaunchShape::linear(1, 1), p.in, values_or(p, p.values_in, p.in), p.out,
           values_or(p, p.values_out, p.out), View{scratch.get(), 0, p.count() * pair, Type::u8}, p.count(),
           p.less_values);
}

}  // namespace concord::detail
