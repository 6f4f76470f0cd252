// Variants whose host side goes by the device's dialect.

#include "sort_table.hpp"

namespace concord::detail {

Support supports_sort_radix8(const Device& /*device*/, const SortProblem& /*p*/) {
    return {};
}

void run_sort_radix8(Stream& stream, const SortProblem& p) {
    run_sort_radix8_host(stream, p);
}

Support supports_sort_merge(const Device& device, const SortProblem& p) {
    return supports_sort_host_less(device, p);
}

void run_sort_merge(Stream& stream, const SortProblem& p) {
    run_sort_merge_host(stream, p);
}

}  // namespace concord::detail
