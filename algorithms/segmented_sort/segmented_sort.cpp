#include "segmented_sort_host.hpp"
#include "segmented_sort_sources.hpp"

#include <concord/internal/index_report.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/operands.hpp>
#include <concord/internal/row.hpp>
#include <concord/internal/sort_codes.hpp>
#include <concord/internal/sort_tile.hpp>
#include <concord/segmented_sort.hpp>

#include <algorithm>
#include <bit>

namespace concord {

namespace detail {
namespace {

constexpr u32 group_size = 256;
constexpr u64 max_groups = u64{1} << 22;  // loops over the groups of a grid take the rest
constexpr u32 border_words = 3;           // words of a border, as in the kernels

// A call with its types erased. Keys and values are each sorted in place or not.
struct SegmentedSortProblem {
    View in, values_in, offsets, out, values_out;  // without buffers for keys alone
    SortBy by;
    static constexpr bool moves_bits = true;

    Type type() const { return in.type; }
    u64 count() const { return in.count; }
    u64 segments() const { return offsets.count - 1; }
    bool pairs() const { return values_in.buffer != nullptr; }
    u32 key_size() const { return size_of(in.type); }
    // Bytes of a value; 0 for keys alone.
    u32 value_size() const { return pairs() ? size_of(values_in.type) : 0; }
};

// The view with the type that kernels take: bits of elements. Without values any view, which kernels do not access.
View key_bits(View view) {
    view.type = bits_of_size(size_of(view.type));
    return view;
}
View value_bits(const SegmentedSortProblem& p, const View& view) {
    return p.pairs() ? key_bits(view) : View{p.in.buffer, 0, 1, Type::u8};
}

// What the launches of a call share: the tiles, the borders between them, and the buffer that passes alternate with the
// output.
struct SegmentedSortRoom {
    u64 tile, tiles;  // elements of a tile, and number of tiles
    std::shared_ptr<Buffer> buffer, keys_buffer, values_buffer;
    View borders, facts, keys, values;

    SegmentedSortRoom(Stream& stream, const SegmentedSortProblem& p, u64 tile)
        : tile(tile), tiles(divide_up(p.count(), tile)) {
        if (tiles >= u64{1} << 32)
            throw Error(ErrorCode::unsupported, "segmented_sort",
                        "supports less than 2^32 tiles of " + std::to_string(tile) + " elements, got " +
                            std::to_string(p.count()) + " elements");
        const u64 words = border_words * (tiles + 1), spare = tiles > 1 ? p.count() : 1;
        constexpr u64 facts_bytes = 2 * sizeof(u32), none = 0;
        buffer = stream.scratch(words * sizeof(u64) + facts_bytes);
        borders = {buffer.get(), 0, words, Type::u64};
        facts = {buffer.get(), words * sizeof(u64), 2, Type::u32};
        stream.fill(*buffer, facts.offset, facts_bytes, &none, sizeof none);
        keys_buffer = stream.scratch(checked_bytes("segmented_sort", spare, p.key_size()));
        keys = {keys_buffer.get(), 0, spare, bits_of_size(p.key_size())};
        if (p.pairs()) values_buffer = stream.scratch(checked_bytes("segmented_sort", spare, p.value_size()));
        values = p.pairs() ? View{values_buffer.get(), 0, spare, bits_of_size(p.value_size())}
                           : View{p.in.buffer, 0, 1, Type::u8};
    }
    // Passes that segments may need.
    u32 passes() const { return static_cast<u32>(std::bit_width(tiles - 1)); }
};

// Enqueues the check of the offsets, which finds the segments at the borders. more: arguments of the kernel for CPUs.
template <class... A>
void launch_borders(Stream& stream, const SegmentedSortProblem& p, const SegmentedSortRoom& room,
                    const Kernel& kernel, u64 most_groups, u32 group, const A&... more) {
    const u64 n = p.count(), segments = p.segments(), each = group == 1 ? 4096 : group,
              groups = std::min(divide_up(std::max(segments, room.tiles) + 1, each), most_groups);
    KernelArgument arguments[] = {
        argument(p.offsets), {},          argument(room.borders), argument(room.facts),
        argument(more)...,   argument(n), argument(segments),     argument(room.tiles)};
    const IndexWord word{1, {.call = "segmented_sort", .what = "offset", .bound = n + 1, .ascends = true}};
    launch_reporting(stream, kernel, LaunchShape::linear(groups, group), arguments, {&word, 1});
}

// The kernel `entry`. items: elements per work-item of a tile; 0 if a work-item has a tile.
std::shared_ptr<Kernel> kernel_of(Device& device, const SegmentedSortProblem& p,
                                  const SegmentedSortRoom& room, const KernelSource& source,
                                  const char* entry, u32 group, u32 items, u32 value_size) {
    return device.kernel({.source = &source,
                          .entry = entry,
                          .constants = {{"K", bits_of_size(p.key_size())},
                                        {"SIZE", p.key_size()},
                                        {"V", bits_of_size(value_size)},
                                        {"VALUE_SIZE", value_size},
                                        {"O", p.offsets.type},
                                        {"GROUP", group},
                                        {"ITEMS", items},
                                        {"BLOCK", 16U},
                                        {"TILE_LENGTH", room.tile}},
                          .max_group_size = group});
}

void run_groups(Stream& stream, const SegmentedSortProblem& p) {
    Device& device = stream.device();
    const u32 items = sort_merge_items(device, p.key_size());
    const SegmentedSortRoom room(stream, p, u64{group_size} * items);
    const u64 n = p.count(), tiles = room.tiles, most_groups = u64{device.traits().units} * 40;
    const auto kernel = [&](const KernelSource& source, const char* entry, u32 value_size) {
        return kernel_of(device, p, room, source, entry, group_size, items, value_size);
    };
    launch_borders(stream, p, room, *kernel(kernel_sources::segmented_sort_borders(), "segment_borders", 0),
                   most_groups, group_size);
    if (n == 0) return;
    const SortCode code = sort_code(p.in.type, p.by);
    const View out = key_bits(p.out), out_values = value_bits(p, p.values_out);
    launch(stream, *kernel(kernel_sources::segmented_sort_tiles(), "segment_tiles", p.value_size()),
           LaunchShape::linear(std::min(tiles, max_groups), group_size), key_bits(p.in),
           value_bits(p, p.values_in), p.offsets, room.borders, room.facts, out, out_values, room.keys,
           room.values, n, p.segments(), tiles, code.flip, code.fold);
    if (room.passes() == 0) return;
    const auto splits_buffer = stream.scratch(tiles * sizeof(u64));
    const View splits{splits_buffer.get(), 0, tiles, Type::u64};
    const auto split = kernel(kernel_sources::segmented_sort_merge(), "segment_splits", 0),
               merge = kernel(kernel_sources::segmented_sort_merge(), "segment_merge", p.value_size());
    for (u32 pass = 0; pass < room.passes(); ++pass) {
        launch(stream, *split,
               LaunchShape::linear(std::min(divide_up(tiles, u64{group_size}), most_groups), group_size), out,
               room.keys, room.borders, room.facts, splits, tiles, pass);
        launch(stream, *merge, LaunchShape::linear(std::min(tiles, most_groups), group_size), out, out_values,
               room.keys, room.values, room.borders, room.facts, splits, tiles, pass, code.flip, code.fold);
    }
}

// Groups that share tiles on a CPU.
u64 tile_groups(const Device& device, const SegmentedSortRoom& room) {
    return std::min(room.tiles, u64{device.traits().units} * 4);
}

void run_wide(Stream& stream, const SegmentedSortProblem& p) {
    Device& device = stream.device();
    const SegmentedSortRoom room(stream, p, u64{1} << 14);
    const u64 n = p.count(), groups = tile_groups(device, room);
    const auto kernel = [&](const KernelSource& source, const char* entry, u32 value_size) {
        return kernel_of(device, p, room, source, entry, 1, 1, value_size);
    };
    launch_borders(stream, p, room, *kernel(kernel_sources::segmented_sort_borders(), "segment_borders", 0),
                   u64{device.traits().units} * 4, 1);
    if (n == 0) return;
    const SortCode code = sort_code(p.in.type, p.by);
    const View out = key_bits(p.out), out_values = value_bits(p, p.values_out);
    const u64 held = groups * room.tile, moved = p.pairs() ? held : 1;
    const auto keys = stream.scratch(2 * held * p.key_size()),
               values = stream.scratch(moved * std::max(1U, p.value_size())),
               places = stream.scratch(2 * moved * sizeof(u32));
    launch(stream, *kernel(kernel_sources::segmented_sort_wide(), "segment_tiles", p.value_size()),
           LaunchShape::linear(groups, 1), key_bits(p.in), value_bits(p, p.values_in), p.offsets,
           room.borders, room.facts, out, out_values, room.keys, room.values,
           View{keys.get(), 0, 2 * held, out.type}, View{values.get(), 0, moved, out_values.type},
           View{places.get(), 0, 2 * moved, Type::u32}, n, p.segments(), room.tiles, code.flip, code.fold);
    const auto merge = kernel(kernel_sources::segmented_sort_wide(), "segment_merge", p.value_size());
    for (u32 pass = 0; pass < room.passes(); ++pass)
        launch(stream, *merge, LaunchShape::linear(groups, 1), out, out_values, room.keys, room.values,
               room.borders, room.facts, room.tiles, pass, code.flip, code.fold);
}

void run_host(Stream& stream, const SegmentedSortProblem& p) {
    Device& device = stream.device();
    const u64 n = p.count(), units = device.traits().units;
    // A few tiles per thread, which fit its private cache.
    const u64 tile = std::clamp<u64>(std::bit_ceil(divide_up(n, 8 * units)), 4096, 65536);
    const SegmentedSortRoom room(stream, p, tile);
    const SegmentedSortHost host = segmented_sort_host(p.key_size(), p.value_size());
    const u32 offset_size = size_of(p.offsets.type), is_signed = is_unsigned(p.offsets.type) ? 0 : 1;
    launch_borders(stream, p, room, *host_kernel_of(device, "segment_borders", host.borders), units * 4, 1,
                   offset_size, is_signed, tile);
    if (n == 0) return;
    const SortCode code = sort_code(p.in.type, p.by);
    const detail::host::Ascending order{code.fold, code.flip};
    const ValueBytes order_bytes{std::as_bytes(std::span(&order, 1))};
    const View out = key_bits(p.out), out_values = value_bits(p, p.values_out);
    const u64 groups = tile_groups(device, room),
              each = divide_up(segmented_sort_scratch(p.key_size(), p.value_size(), tile), u64{64}) * 64;
    const auto scratch = stream.scratch(groups * each);
    launch(stream, *host_kernel_of(device, "segment_tiles", host.tiles), LaunchShape::linear(groups, 1),
           key_bits(p.in), value_bits(p, p.values_in), p.offsets, room.borders, room.facts, out, out_values,
           room.keys, room.values, View{scratch.get(), 0, groups * each, Type::u8}, offset_size, is_signed, n,
           p.segments(), room.tiles, tile, each, order_bytes);
    const auto merge = host_kernel_of(device, "segment_merge", host.merge);
    for (u32 pass = 0; pass < room.passes(); ++pass)
        launch(stream, *merge, LaunchShape::linear(groups, 1), out, out_values, room.keys, room.values,
               room.borders, room.facts, room.tiles, tile, pass, order_bytes);
}

Support supports_groups(const Device& device, const SegmentedSortProblem& /*p*/) {
    return supports_group(device, group_size);
}

constexpr auto table = table_of<SegmentedSortProblem>(
    {{.variant = {.name = "merge",
                  .summary = "sorts the parts of segments in each tile, then merges those of a segment along "
                             "merge paths",
                  .order = OperationOrder::canonical,
                  .stable = true,
                  .source = "S. Odeh et al., Merge Path - Parallel Merging Made Simple, 2012"},
      .groups = {run_groups, supports_groups},
      .single_items = {run_wide},
      .host = {run_host}}});
constexpr auto variants = variants_of(table);

void check(Stream& stream, const SegmentedSortProblem& p) {
    constexpr std::string_view call = "segmented_sort";
    const auto refuse = [&](const std::string& what) {
        throw Error(ErrorCode::invalid_argument, call, what);
    };
    const NamedView in{p.pairs() ? "keys_in" : "in", p.in}, out{p.pairs() ? "keys_out" : "out", p.out},
        values_in{"values_in", p.values_in}, values_out{"values_out", p.values_out},
        offsets{"offsets", p.offsets};
    const auto check_elements = [&](const NamedView& from, const NamedView& to) {
        check_operand(call, from.name, stream, from.view);
        check_output(call, to.name, stream, to.view);
        check_same_type(call, {{from.name, from.view.type}, {to.name, to.view.type}});
        for (const NamedView& operand : {from, to}) {
            if (operand.view.count != p.count())
                refuse(std::string(in.name) + " and " + operand.name +
                       " must have the same element count, got " + std::to_string(p.count()) + " and " +
                       std::to_string(operand.view.count));
        }
        check_overlap(call, to, from, InPlace::yes);
        check_overlap(call, to, offsets);
    };
    check_operand(call, "offsets", stream, p.offsets);
    check_offset_type(call, p.offsets.type);
    segment_count(call, p.offsets);
    check_elements(in, out);
    if (p.by.begin_bit != 0 || p.by.end_bit < 8 * p.key_size())
        throw Error(ErrorCode::unsupported, call, "bit ranges are not supported in segments; pass all bits");
    if (!p.pairs()) return;
    check_elements(values_in, values_out);
    check_overlap(call, out, values_in);
    check_overlap(call, values_out, in);
    check_overlap(call, out, values_out);
    const bool in_place = overlap(p.in, p.out);
    if (p.count() > 0 && in_place != overlap(p.values_in, p.values_out))
        refuse(in_place ? "keys are sorted in place, values are not; pass a distinct keys_out"
                        : "values are sorted in place, keys are not; pass a distinct values_out");
}

// Sorts bool, and floats with NaN last. `row` sorts their codes, with values if there are any. The keys of floats then
// follow as values of their codes.
void run_by_codes(Stream& stream, const Row<SegmentedSortProblem>& row, const SegmentedSortProblem& p,
                  const View& keys) {
    const SortCodes codes(keys.type, p.by);
    const auto buffer = stream.scratch(std::max<u64>(1, p.count()) * size_of(codes.type));
    const View view{buffer.get(), 0, p.count(), codes.type};
    const auto run = [&](const View& values_in, const View& sorted, const View& values_out) {
        codes.store(stream, keys, view);
        row.run(stream, {view, values_in, p.offsets, sorted, values_out, codes.by});
    };
    if (is_boolean(keys.type)) return run(p.values_in, p.out, p.values_out);
    if (p.pairs()) run(p.values_in, view, p.values_out);
    run(p.in, view, p.out);
}

Enqueued run(Stream& stream, const View& in, const View& values_in, const View& offsets, const View& out,
             const View& values_out, const SortBy& by, const Options& options) {
    constexpr std::string_view call = "segmented_sort";
    check_no_struct(call, "in", in);
    check_same_type(call, {{"in", in.type}, {"out", out.type}});
    check_same_type(call, {{"values_in", values_in.type}, {"values_out", values_out.type}});
    const SegmentedSortProblem p{as_bytes(in),  as_bytes(values_in),  offsets,
                                 as_bytes(out), as_bytes(values_out), by};
    check(stream, p);
    const Row<SegmentedSortProblem>& row = choose(call, table, stream.device(), p, options);
    if (p.count() > 0 && sorts_by_codes(in.type, by)) {
        run_by_codes(stream, row, p, in);
    } else {
        row.run(stream, p);
    }
    return enqueued(stream, row, p);
}

}  // namespace
}  // namespace detail

constinit const Algorithm segmented_sort_algorithm{
    .name = "segmented_sort",
    .summary = "out = the elements of in, in order within each segment",
    .variants = detail::variants};

Enqueued segmented_sort(Stream& stream, const View& in, const View& offsets, const View& out,
                        const SortBy& by, const Options& options) {
    return detail::run(stream, in, {}, offsets, out, {}, by, options);
}

Enqueued segmented_sort_pairs(Stream& stream, const View& keys_in, const View& values_in, const View& offsets,
                              const View& keys_out, const View& values_out, const SortBy& by,
                              const Options& options) {
    // A range of values without a buffer would count as a sort of keys alone.
    detail::check_operand("segmented_sort", "values_in", stream, detail::as_bytes(values_in));
    detail::check_output("segmented_sort", "values_out", stream, detail::as_bytes(values_out));
    return detail::run(stream, keys_in, values_in, offsets, keys_out, values_out, by, options);
}

}  // namespace concord
