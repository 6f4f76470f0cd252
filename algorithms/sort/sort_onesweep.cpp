// The host side of `onesweep`.

#include "sort_kernels.hpp"

#include <concord/internal/input.hpp>

#include <algorithm>

namespace concord {

namespace detail {
namespace {

constexpr u64 digits = 256;
constexpr u64 memory_head = 32;  // words ahead of the counts; see sort_plan.kernel

struct Tile : SortTile {
    u32 resident;  // groups per multiprocessor that the register limit allows
    u32 ahead;     // tiles that look-back reads at a time
};
struct TileTable {
    SortTile sizes[2][3];  // by the registers of a key, less one, and those of a value
    u32 resident, ahead;
};

// Registers of four bytes per key or value.
constexpr u32 registers_of(u32 size) {
    return size == 8 ? 2 : size == 0 ? 0 : 1;
}

// Long inputs: as many items per work-item as the registers allow.
constexpr TileTable long_tiles{
    .sizes = {{{448, 20}, {448, 16}, {384, 16}}, {{448, 12}, {384, 12}, {384, 11}}},
    .resident = 2,
    .ahead = 4};
// Long inputs where the compiler does not bound registers: groups of 256, because NVIDIA's OpenCL reports that
// limit for these kernels. The tiles fit 48 KiB.
constexpr TileTable unbounded_tiles{
    .sizes = {{{256, 20}, {256, 18}, {256, 15}}, {{256, 16}, {256, 14}, {256, 12}}},
    .resident = 2,
    .ahead = 8};
// Short inputs: small tiles, so that every multiprocessor has work.
constexpr TileTable short_tiles{
    .sizes = {{{256, 8}, {256, 8}, {256, 6}}, {{256, 6}, {256, 6}, {256, 5}}}, .resident = 2, .ahead = 8};
// An input that one group sorts: at most these items per work-item.
constexpr TileTable single_tiles{
    .sizes = {{{512, 18}, {512, 14}, {512, 10}}, {{512, 10}, {512, 9}, {512, 8}}}, .resident = 1, .ahead = 1};
// The same where the compiler does not bound registers.
constexpr TileTable unbounded_single_tiles{
    .sizes = {{{256, 24}, {256, 22}, {256, 18}}, {{256, 20}, {256, 18}, {256, 16}}},
    .resident = 1,
    .ahead = 1};

Tile tile_of(const TileTable& table, const SortProblem& p) {
    const SortTile& size = table.sizes[registers_of(p.key_size()) - 1][registers_of(p.value_size())];
    return {size, table.resident, table.ahead};
}

// The tile of an input that one group sorts, with as few items per work-item as hold the input: its passes take as long
// as their items.
Tile single_tile_for(const TileTable& table, const SortProblem& p) {
    Tile tile = tile_of(table, p);
    for (const u32 items : {2U, 4U, 8U}) {
        if (items < tile.items && p.count() <= u64{tile.group_size} * items) {
            tile.items = items;
            break;
        }
    }
    return tile;
}

u64 staged_bytes(const SortTile& tile, const SortProblem& p) {
    return tile.length() * std::max(p.key_size(), p.value_size());
}

u64 passed_bytes(const Device& device, const SortTile& tile, const SortProblem& p) {
    return sort_in_registers(device) ? staged_bytes(tile, p) : 0;
}

// Approximate bytes of local memory per group: staged elements, and for each warp counters and match words per
// digit. Where kernels declare it, the staged elements take the place of the tables that rank them.
u64 local_bytes(const Device& device, const Tile& tile, const SortProblem& p) {
    constexpr u64 scan = (digits * 2 + 8) * sizeof(u64), others = 2048 + 128;
    const u64 staged = staged_bytes(tile, p), tables = tile.group_size / 32 * digits * 2 * sizeof(u32);
    return others + (sort_in_registers(device) ? staged + tables : std::max(staged, tables + scan));
}

Tile tile_for(const Device& device, const SortProblem& p) {
    const DeviceTraits& traits = device.traits();
    const Tile small = tile_of(short_tiles, p),
               large = tile_of(sort_in_registers(device) ? long_tiles : unbounded_tiles, p);
    const bool fits = local_bytes(device, large, p) <= traits.local_memory;
    const u64 kind =
        tuned(device, sort_onesweep_tile, point_of(p), p.count() <= small.length() * traits.units ? 1 : 2);
    Tile tile = kind == 2 && fits ? large : small;
    tile.ahead = static_cast<u32>(tuned(device, sort_onesweep_ahead, point_of(p), tile.ahead));
    return tile;
}

// Words of look-back use two bits of a count as a flag.
Type count_type(const SortProblem& p) {
    return p.count() >> 30 != 0 ? Type::u64 : Type::u32;
}

// How a pass over all tiles treats elements with equal digits.
enum class EqualDigits : bool { ordered, unordered };

Constants tile_tunables(const SortTile& tile, Type count, EqualDigits equal) {
    return {{"ITEMS", tile.items}, {"UNORDERED", equal == EqualDigits::unordered}, {"COUNT", count}};
}

std::shared_ptr<Kernel> sweep_kernel(Device& device, const SortProblem& p, const char* entry,
                                     const Tile& tile, Type count, EqualDigits equal = EqualDigits::ordered) {
    Constants tunables = tile_tunables(tile, count, equal);
    const bool plain = p.code().flip == 0 && p.code().fold == 0;
    tunables.append(Constants{{"RESIDENT", tile.resident}, {"AHEAD", tile.ahead}, {"PLAIN", plain}});
    return sort_kernel(device, p, kernel_sources::sort_onesweep(), entry, tile.group_size, tunables);
}

// Shape of the histogram. Each counter has several copies. Long inputs use one copy per memory bank, at the cost of
// clearing and adding all copies.
struct Counting {
    u32 group_size, copies;
    static constexpr u32 unroll = 4;  // accesses of 16 bytes in flight per work-item
};

Counting counting_of(const Device& device, const SortProblem& p, u32 passes) {
    constexpr u64 long_input = u64{1} << 22;  // elements
    const bool bounded = sort_in_registers(device);
    if (p.count() < long_input) return {bounded ? 512U : 256U, 2};
    const u64 others = bounded ? 1 << 10 : 5 << 10;  // bytes of other data in local memory, at most
    const u64 row = passes * digits * sizeof(u32);
    u32 copies = 32;
    while (copies > 1 && copies * row + others > std::min<u64>(device.traits().local_memory, 160 << 10))
        copies /= 2;
    return {bounded ? 1024U : 256U, copies};
}

// What the histogram reads.
Input keys_of(const SortProblem& p) {
    return p.unstored ? Input(p.unstored) : Input(p.in);
}

std::shared_ptr<Kernel> counting_kernel(Device& device, const SortProblem& p, const Counting& counting,
                                        Type count) {
    const Type type = p.unstored ? kernel_type(p.in.type) : bits_of_size(p.key_size());
    return sort_kernel(
        device, p, with_input(kernel_sources::sort_histograms(), keys_of(p)), "sort_histograms",
        counting.group_size,
        {{"T", type}, {"COPIES", counting.copies}, {"UNROLL", Counting::unroll}, {"COUNT", count}},
        Values::ignored);
}

}  // namespace

Support supports_sort_onesweep(const Device& device, const SortProblem& p) {
    if (Support waiting = supports_waiting(device); !waiting) return waiting;
    if (Support fence = supports_device_fence(device); !fence) return fence;
    if (Support local = supports_local_memory(device, local_bytes(device, tile_of(short_tiles, p), p));
        !local)
        return local;
    if (const u64 tiles = divide_up(p.count(), tile_for(device, p).length()); tiles > ~u32{0} / 2)
        return Support::no("supports fewer than 2^31 tiles, got {}", tiles);
    return supports_group(device, sort_in_registers(device) ? 1024 : 256);
}

void sort_each_tile(Stream& stream, const SortProblem& p, const SortTile& tile, const SortElements& from,
                    const SortElements& to) {
    Device& device = stream.device();
    const SortCode code = p.code();
    const auto kernel = sort_kernel(device, p, kernel_sources::sort_one_tile(), "sort_one_tile",
                                    tile.group_size, tile_tunables(tile, Type::u32, EqualDigits::ordered));
    const u64 groups = divide_up(p.count(), tile.length());
    launch(stream, *kernel, LaunchShape::linear(groups, tile.group_size, passed_bytes(device, tile, p)),
           from.keys, from.values, to.keys, to.values, static_cast<u32>(p.count()), p.by.begin_bit,
           p.by.end_bit, code.flip, code.fold);
}

void run_sort_onesweep(Stream& stream, const SortProblem& p) {
    Device& device = stream.device();
    const SortCode code = p.code();
    const SortElements in = sort_input(p), out = sort_output(p);
    const u64 n = p.count();
    const u32 first = p.by.begin_bit, last = p.by.end_bit;
    const bool bounded = sort_in_registers(device);
    if (const Tile single = single_tile_for(bounded ? single_tiles : unbounded_single_tiles, p);
        n <= single.length() && local_bytes(device, single, p) <= device.traits().local_memory) {
        if (p.unstored) store_keys(stream, p);
        return sort_each_tile(stream, p, single, in, out);
    }
    const Tile tile = tile_for(device, p);
    const u32 tiles = static_cast<u32>(divide_up(n, tile.length()));
    const u32 passes = static_cast<u32>(divide_up(last - first, 8)), in_place = p.in_place() ? 1 : 0;
    const Type type = count_type(p);
    const Counting counting = counting_of(device, p, passes);
    const auto histograms = counting_kernel(device, p, counting, type),
               sweep = sweep_kernel(device, p, "sort_onesweep", tile, type);

    const SortScratch scratch(stream, p, passes > 1 || p.in_place() ? n : 1);
    const SortElements& other = scratch.elements;
    const SortCounts memory(stream, memory_head + passes * digits, Type::u64),
        status(stream, 2 * tiles * digits, type);
    const u64 zero = 0;
    stream.fill(*memory.buffer, 0, memory.view.bytes(), &zero, sizeof zero);

    const u64 part = u64{counting.group_size} * Counting::unroll * 16;  // bytes that a group counts per step
    const u64 table_bytes = passes * digits * sizeof(u32) * counting.copies;
    const u64 max_resident = 2048 / counting.group_size;
    // OpenCL reports the limit of one group, which does not tell how many groups a multiprocessor holds.
    const u64 resident =
        bounded ? std::clamp<u64>(device.traits().local_memory / table_bytes, 1, max_resident) : max_resident;
    const u64 groups = std::min(divide_up(p.in.bytes() + 16, part), device.traits().units * resident);
    const InputArguments counted(keys_of(p));
    const LaunchShape shape = LaunchShape::linear(groups, counting.group_size, table_bytes);
    const auto count = [&](const auto&... keys) {
        counted.launch(stream, *histograms, shape, keys..., memory.view, status.view, tiles * digits, n,
                       passes, first, last, in_place, code.flip, code.fold);
    };
    if (p.unstored) {
        count(in.keys);
    } else {
        count();
    }
    // Keys without values, compared by all bits: the first pass may change the order of equal digits.
    const bool unordered = !p.pairs() && first == 0 && last == 8 * p.key_size();
    const auto first_sweep =
        unordered ? sweep_kernel(device, p, "sort_onesweep", tile, type, EqualDigits::unordered) : sweep;
    for (u32 pass = 0; pass < passes; ++pass)
        launch(stream, pass == 0 ? *first_sweep : *sweep,
               LaunchShape::linear(tiles, tile.group_size, passed_bytes(device, tile, p)), memory.view,
               status.view, in.keys, in.values, out.keys, out.values, other.keys, other.values, n, tiles,
               pass, first + 8 * pass, last, code.flip, code.fold);
    if (in_place != 0) {
        const auto copy =
            sort_kernel(device, p, kernel_sources::sort_copy_back(), "sort_copy_back", tile.group_size, {});
        launch(
            stream, *copy,
            LaunchShape::linear(std::min<u64>(divide_up(n, tile.group_size), u64{device.traits().units} * 8),
                                tile.group_size),
            memory.view, other.keys, other.values, out.keys, out.values, n);
    }
}

}  // namespace detail
}  // namespace concord
