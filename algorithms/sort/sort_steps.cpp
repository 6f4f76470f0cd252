// Comparison sorts on the CPU: merge sort, std::sort and qsort.
//
// merge: each group sorts a tile that fits a thread's second-level cache. Then passes merge pairs of runs. A group
// makes one part of a merged run and finds the beginning of its inputs by merge path, so every pass has equally
// many groups. Stable. Traffic: every element is read and written once for the tiles and once per doubling of the
// runs. Sources: D. Knuth, The Art of Computer Programming, vol. 3, 5.2.4; S. Odeh et al., Merge Path - Parallel
// Merging Made Simple, 2012.

#include "sort_host_kernels.hpp"
#include "sort_variants.hpp"

#include <algorithm>
#include <bit>

namespace concord::detail {

detail::host::Ascending sort_ascending(const SortProblem& p) {
    const SortCode code = p.code();
    return {code.fold, code.flip};
}

void run_sort_merge_host(Stream& stream, const SortProblem& p) {
    Device& device = stream.device();
    const auto sort_tiles = host_kernel_of(device, "merge_tiles", p.host->merge_tiles),
               merge = host_kernel_of(device, "merge_runs", p.host->merge_runs);
    const u64 n = p.count();
    // A tile and its copy fit the second-level cache. Every thread gets some tiles of at least 1024 elements.
    constexpr u64 tile_bytes = u64{256} << 10, least = 1024;
    const u64 fits = tile_bytes / (p.key_size() + p.value_size()),
              share = n / (u64{device.traits().units} * 2);
    const u64 tile = std::max(least, std::min(std::bit_floor(fits), std::bit_floor(std::max<u64>(share, 1))));
    u64 merges = 0;
    for (u64 length = tile; length < n; length *= 2)
        ++merges;
    const SortSpare spare(stream, p);
    const View &values_in = values_or(p, p.values_in, p.in), &values_out = values_or(p, p.values_out, p.out);
    const LaunchShape groups = LaunchShape::linear(divide_up(n, tile), 1);
    // The last merge writes to out.
    const bool tiles_to_out = merges % 2 == 0;
    launch(stream, *sort_tiles, groups, p.in, values_in, tiles_to_out ? p.out : spare.keys,
           tiles_to_out ? values_out : spare.values, tiles_to_out ? spare.keys : p.out,
           tiles_to_out ? spare.values : values_out, n, tile, u32{merges == 0}, p.less_values);
    for (u64 pass = 0, length = tile; pass < merges; ++pass, length *= 2) {
        const bool to_out = (merges - pass) % 2 == 1;
        launch(stream, *merge, groups, to_out ? spare.keys : p.out, to_out ? spare.values : values_out,
               to_out ? p.out : spare.keys, to_out ? values_out : spare.values, n, length, tile,
               u32{pass + 1 == merges}, p.less_values);
    }
}

void run_sort_std(Stream& stream, const SortProblem& p) {
    const auto kernel =
        host_kernel_of(stream.device(), "sort_std", sort_std_host(p.key_size(), p.value_size()));
    // A pair takes at most twice the size of its larger member.
    const u64 bytes = p.pairs() ? p.count() * 2 * std::max(p.key_size(), p.value_size()) : 1;
    const Array<u8> scratch(stream, bytes);
    const detail::host::Ascending code = sort_ascending(p);
    launch(stream, *kernel, LaunchShape::linear(1, 1), p.in, values_or(p, p.values_in, p.in), p.out,
           values_or(p, p.values_out, p.out), scratch, p.count(), bytes_of(code));
}

void run_sort_qsort(Stream& stream, const SortProblem& p) {
    const auto kernel = host_kernel_of(stream.device(), "sort_qsort", sort_qsort_host(p.key_size()));
    const u32 stride = p.key_size() + p.value_size();
    const Array<u8> scratch(stream, p.pairs() ? p.count() * stride : 1);
    const detail::host::Ascending code = sort_ascending(p);
    launch(stream, *kernel, LaunchShape::linear(1, 1), p.in, values_or(p, p.values_in, p.in), p.out,
           values_or(p, p.values_out, p.out), scratch, p.count(), p.value_size(), stride, bytes_of(code));
}

}  // namespace concord::detail
