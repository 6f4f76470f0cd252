// Variants with one host side for kernels that are functions and one for kernels that are compiled from source.

#include "sort_table.hpp"

namespace concord::detail {
namespace {

bool has_functions(const Device& device) {
    return !device.traits().compiles_source;
}

}  // namespace

Support supports_sort_radix8(const Device& device, const SortProblem& p) {
    return has_functions(device) ? Support{} : supports_sort_radix8_text(device, p);
}

void run_sort_radix8(Stream& stream, const SortProblem& p) {
    has_functions(stream.device()) ? run_sort_radix8_host(stream, p) : run_sort_radix8_text(stream, p);
}

Support supports_sort_merge(const Device& device, const SortProblem& p) {
    return has_functions(device) ? supports_sort_host_less(device, p) : supports_sort_merge_text(device, p);
}

void run_sort_merge(Stream& stream, const SortProblem& p) {
    has_functions(stream.device()) ? run_sort_merge_host(stream, p) : run_sort_merge_text(stream, p);
}

}  // namespace concord::detail
