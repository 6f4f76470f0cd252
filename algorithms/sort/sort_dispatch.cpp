// Variants with two host sides: one for host kernels and one for kernels compiled from source.

#include "sort_table.hpp"

namespace concord::detail {
namespace {

bool runs_host_kernels(const Device& device) {
    return !device.traits().compiles_source;
}

}  // namespace

Support supports_sort_radix8(const Device& device, const SortProblem& p) {
    return runs_host_kernels(device) ? Support{} : supports_sort_radix8_compiled(device, p);
}

void run_sort_radix8(Stream& stream, const SortProblem& p) {
    runs_host_kernels(stream.device()) ? run_sort_radix8_host(stream, p)
                                       : run_sort_radix8_compiled(stream, p);
}

Support supports_sort_merge(const Device& device, const SortProblem& p) {
    return runs_host_kernels(device) ? supports_sort_host_less(device, p)
                                     : supports_sort_merge_compiled(device, p);
}

void run_sort_merge(Stream& stream, const SortProblem& p) {
    runs_host_kernels(stream.device()) ? run_sort_merge_host(stream, p) : run_sort_merge_compiled(stream, p);
}

}  // namespace concord::detail
