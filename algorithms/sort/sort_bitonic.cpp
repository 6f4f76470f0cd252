// The host side of the sorting networks: bitonic sort and odd-even transposition sort.

#include "sort_kernels.hpp"

#include <algorithm>
#include <bit>

namespace concord {

namespace detail {
namespace {

constexpr u32 group = sort_group;
constexpr u32 max_inputs_log2 = 4;  // log2 of the elements that a work-item takes through several columns

// Elements per tile in local memory, at most 16 KiB.
u64 tile_of(const SortProblem& p) {
    return p.key_size() + p.value_size() <= 8 ? 2048 : 1024;
}

template <class... A>
void launch_network(Stream& stream, const Kernel& kernel, u64 groups, const SortProblem& p,
                    const A&... arguments) {
    const SortElements out = sort_output(p);
    const SortCode code = p.code();
    launch(stream, kernel, LaunchShape::linear(groups, group), out.keys, out.values, p.count(), arguments...,
           code.flip, code.fold);
}

// How the comparators of a column pair elements: i with i + distance, or mirrored within blocks of 2 * distance.
enum class Pairing : u32 { shifted = 0, mirrored = 1 };

// Enqueues one column.
void launch_column(Stream& stream, const SortProblem& p, u64 distance, Pairing pairing) {
    const auto kernel =
        sort_kernel(stream.device(), p, kernel_sources::sort_bitonic(), "sort_column", group, {});
    const u64 comparators = divide_up(p.count(), 2 * distance) * distance;
    launch_network(stream, *kernel, divide_up(comparators, group), p, distance, static_cast<u32>(pairing));
}

// Enqueues `columns` columns in one launch, from `distance` downwards.
void launch_columns(Stream& stream, const SortProblem& p, u64 distance, Pairing pairing, u32 columns) {
    const u64 inputs = u64{1} << columns, stride = 2 * distance / inputs;
    const auto kernel = sort_kernel(stream.device(), p, kernel_sources::sort_bitonic_fused(), "sort_columns",
                                    group, {{"INPUTS", inputs}});
    const u64 items = divide_up(p.count(), 2 * distance) * stride;
    launch_network(stream, *kernel, divide_up(items, group), p, stride, static_cast<u32>(pairing));
}

// Enqueues the columns of a merge of blocks of `length`, down to distance `least`, several per launch.
void launch_merge(Stream& stream, const SortProblem& p, u64 length, u64 least) {
    Pairing pairing = Pairing::mirrored;
    for (u64 distance = length / 2; distance >= least && distance > 0;) {
        const u32 left = static_cast<u32>(std::bit_width(distance / least));
        const u32 columns = std::min(left, max_inputs_log2);
        launch_columns(stream, p, distance, pairing, columns);
        distance >>= columns;
        pairing = Pairing::shifted;
    }
}

// Copies the elements to out, where the network sorts them.
void place_elements(Stream& stream, const SortProblem& p) {
    if (!p.in_place()) copy_elements(stream, p, sort_input(p), sort_output(p));
}

// Length of the last merge.
u64 whole_length(const SortProblem& p) {
    return std::bit_ceil(p.count());
}

}  // namespace

void run_sort_bitonic(Stream& stream, const SortProblem& p) {
    place_elements(stream, p);
    for (u64 length = 2; length <= whole_length(p); length *= 2) {
        for (u64 distance = length / 2; distance > 0; distance /= 2)
            launch_column(stream, p, distance, distance == length / 2 ? Pairing::mirrored : Pairing::shifted);
    }
}

void run_sort_bitonic_fused(Stream& stream, const SortProblem& p) {
    place_elements(stream, p);
    for (u64 length = 2; length <= whole_length(p); length *= 2)
        launch_merge(stream, p, length, 1);
}

void run_sort_bitonic_local(Stream& stream, const SortProblem& p) {
    place_elements(stream, p);
    const u64 tile = tile_of(p);
    const auto kernel = sort_kernel(stream.device(), p, kernel_sources::sort_bitonic_tile(),
                                    "sort_tile_columns", group, {{"TILE", tile}});
    // Whether a launch sorts its tiles, or only does the last columns of a merge.
    enum class TileColumns : u32 { merge = 0, sort = 1 };
    auto within_tiles = [&](TileColumns columns) {
        launch_network(stream, *kernel, divide_up(p.count(), tile), p, static_cast<u32>(columns));
    };
    within_tiles(TileColumns::sort);
    for (u64 length = 2 * tile; length <= whole_length(p); length *= 2) {
        launch_merge(stream, p, length, tile);
        within_tiles(TileColumns::merge);
    }
}

void run_sort_odd_even(Stream& stream, const SortProblem& p) {
    place_elements(stream, p);
    const auto kernel =
        sort_kernel(stream.device(), p, kernel_sources::sort_bitonic(), "sort_column", group, {});
    const SortElements out = sort_output(p);
    const SortCode code = p.code();
    const u64 n = p.count();
    for (u64 column = 0; column < n; ++column) {
        const u64 first = column % 2;
        if (n - first < 2) continue;
        launch(stream, *kernel, LaunchShape::linear(divide_up((n - first) / 2, group), group),
               out.keys.part(first, n - first), p.pairs() ? out.values.part(first, n - first) : out.values,
               n - first, u64{1}, static_cast<u32>(Pairing::shifted), code.flip, code.fold);
    }
}

}  // namespace detail
}  // namespace concord
