// Variants whose host side goes by the device's dialect.

#include "sort_table.hpp"

namespace concord::detail {
namespace {

bool is_host(const Device& device) {
    return device.traits().dialect == Dialect::host;
}

}  // namespace

Support supports_sort_radix8(const Device& device, const SortProblem& p) {
    return is_host(device) ? Support{} : supports_sort_radix8_text(device, p);
}

void run_sort_radix8(Stream& stream, const SortProblem& p) {
    is_host(stream.device()) ? run_sort_radix8_host(stream, p) : run_sort_radix8_text(stream, p);
}

Support supports_sort_merge(const Device& device, const SortProblem& p) {
    return is_host(device) ? supports_sort_host_less(device, p) : supports_sort_merge_text(device, p);
}

void run_sort_merge(Stream& stream, const SortProblem& p) {
    is_host(stream.device()) ? run_sort_merge_host(stream, p) : run_sort_merge_text(stream, p);
}

}  // namespace concord::detail
