#pragma once
// Merges of two sorted runs.

#include <concord/sort.hpp>

namespace concord::detail {

// Keys and their values; without values their view has no buffer.
struct SortRun {
    View keys, values;

    bool pairs() const { return values.buffer != nullptr; }
    SortRun part(u64 first, u64 count) const {
        return {keys.part(first, count), pairs() ? values.part(first, count) : View{}};
    }
};

// Whether merge_runs() runs on a device in this order: on devices with groups of many work-items, for all bits of keys.
bool supports_merge_runs(const Device& device, Type type, const SortBy& by);

// Merges two runs into `out`, which overlaps neither and has room for both. Equal keys of `first` come before those of
// `second`. Traffic: one read and one write per element. Asynchronous. Source: S. Odeh et al., Merge Path - Parallel
// Merging Made Simple, 2012.
void merge_runs(Stream& stream, const SortRun& first, const SortRun& second, const SortRun& out,
                const SortBy& by);

}  // namespace concord::detail
