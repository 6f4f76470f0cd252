// The table of refusals: variants that refuse all work on some kind of device. A variant that refuses without an entry,
// and an entry that is not needed, are failures of `concord check`.

#include <concord/lab/suite.hpp>

namespace concord::lab {
namespace {

bool one_item(const DeviceTraits& traits) {
    return traits.launch != LaunchModel::groups;
}
bool many_items(const DeviceTraits& traits) {
    return traits.launch == LaunchModel::groups;
}
bool without_shuffles(const DeviceTraits& traits) {
    return !traits.shuffles;
}
// Less than what the variants' tiles and groups are planned for.
bool is_small(const DeviceTraits& traits) {
    return traits.launch == LaunchModel::groups &&
           (traits.max_group_size < 1024 || traits.local_memory < (48 << 10));
}
bool without_waiting(const DeviceTraits& traits) {
    return !traits.forward_progress || !traits.device_fence;
}
bool any(const DeviceTraits&) {
    return true;
}

constexpr std::string_view prefers_many = "requires a device that prefers many work-items per group",
                           prefers_one = "requires a device that prefers one work-item per group";

constexpr Refusal table[] = {
    {.algorithm = "reduce",
     .variant = "shuffle",
     .applies = without_shuffles,
     .reason = "no sub-group shuffles"},
    {.algorithm = "scan", .variant = "lookback", .applies = one_item, .reason = prefers_many},
    {.algorithm = "scan", .variant = "partitioned", .applies = many_items, .reason = prefers_one},
    {.algorithm = "histogram", .variant = "private_bins", .applies = many_items, .reason = prefers_one},
    {.algorithm = "compact", .variant = "lookback", .applies = one_item, .reason = prefers_many},
    {.algorithm = "sort", .variant = "rank_merge", .applies = one_item, .reason = prefers_many},
    {.algorithm = "sort", .variant = "onesweep", .applies = one_item, .reason = prefers_many},
    {.algorithm = "sort",
     .variant = "sample_vqsort",
     .applies = any,
     .reason = "Concord was built without Highway",
     .is_possible_only = true},
    {.algorithm = "transpose", .variant = "vectorized", .applies = one_item, .reason = prefers_many},
    {.algorithm = "transpose", .variant = "blocked", .applies = many_items, .reason = prefers_one},
    {.algorithm = "convolve", .variant = "register_tiled", .applies = one_item, .reason = prefers_many},
    {.algorithm = "stencil", .variant = "columns", .applies = one_item, .reason = prefers_many},
    {.algorithm = "stencil", .variant = "ring", .applies = one_item, .reason = prefers_many},
    {.algorithm = "stencil", .variant = "streaming", .applies = one_item, .reason = prefers_many},
    {.algorithm = "stencil", .variant = "temporal", .applies = one_item, .reason = prefers_many},
    {.algorithm = "stencil", .variant = "blocked", .applies = many_items, .reason = prefers_one},
    {.algorithm = "matmul", .variant = "register_tiled", .applies = one_item, .reason = prefers_many},
    {.algorithm = "matmul", .variant = "packed", .applies = many_items, .reason = prefers_one},
    // Single-pass variants wait for other groups.
    {.applies = without_waiting,
     .reason = "requires groups that can wait for one another",
     .is_possible_only = true},
    {.applies = without_waiting,
     .reason = "requires a memory fence for all groups",
     .is_possible_only = true},
    {.applies = is_small, .reason = "bytes of local memory per group", .is_possible_only = true},
    {.applies = is_small, .reason = "requires groups of", .is_possible_only = true},
};

}  // namespace

std::span<const Refusal> refusals() {
    return table;
}

}  // namespace concord::lab
