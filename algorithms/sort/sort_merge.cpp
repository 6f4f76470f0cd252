// The host side of merge sort for kernels compiled from source.

#include "sort_kernels.hpp"

#include <concord/internal/merge_runs.hpp>

#include <bit>

namespace concord {

namespace detail {
namespace {

constexpr u32 group = sort_group;
constexpr u32 block = 16;  // elements per insertion sort on CPUs

// Kernels for groups of many work-items, or for one work-item per group (CPUs).
enum class MergeShape { group, wide };

const KernelSource& source(MergeShape shape) {
    return shape == MergeShape::wide ? kernel_sources::sort_merge_wide() : kernel_sources::sort_merge();
}

u32 items_of(const Device& device, const SortProblem& p) {
    return sort_merge_items(device, p.key_size());
}

Operator own_order(u32 key_size) {
    const std::string type(name_of(bits_of_size(key_size))), top = std::to_string(8 * key_size - 1);
    auto code = [&](const std::string& x) {
        return "(" + type + ")(" + x + " ^ ((" + type + ")(0 - (" + x + " >> " + top + ")) & (" + type +
               ")fold) ^ (" + type + ")flip)";
    };
    Operator op;
    op.name = "own_order_" + type;
    op.text = "u8 concord_function(" + type + " x, " + type + " y, u64 flip, u64 fold) { return " +
              code("x") + " < " + code("y") + " ? (u8)1 : (u8)0; }";
    op.file = "own_order";
    op.line = 1;
    op.result = Type::u8;
    op.arguments = {bits_of_size(key_size), bits_of_size(key_size)};
    op.bound = {Type::u64, Type::u64};
    return finish(std::move(op));
}

// The comparator of a call with its bound values.
struct Comparator {
    explicit Comparator(const SortProblem& p) : flip_fold{p.code().flip, p.code().fold} {
        if (p.less != nullptr) {
            op = p.less;
            type = p.type();
            values = p.less_values;
        } else {
            type = bits_of_size(p.key_size());
            op = &sort_own_order(p.key_size());
            values = {std::as_bytes(std::span(flip_fold))};
        }
    }
    Comparator(const Comparator&) = delete;
    Comparator& operator=(const Comparator&) = delete;

    std::array<u64, 2> flip_fold;
    const Operator* op;
    Type type;  // type of a key as the comparator takes it
    ValueBytes values;
};

std::shared_ptr<Kernel> merge_kernel(Device& device, const SortProblem& p, const Comparator& less,
                                     MergeShape shape, const char* entry, Values values = Values::moved) {
    const u32 value_size = values == Values::moved ? p.value_size() : 0,
              group_size = shape == MergeShape::wide ? 1 : group, items = items_of(device, p);
    const std::string as_type = "as_" + std::string(opencl_name(less.type)) + "(x)";
    return device.kernel({.source = &source(shape),
                          .entry = entry,
                          .constants = {{"K", bits_of_size(p.key_size())},
                                        {"T", less.type},
                                        {"AS_T(x)", std::string_view(as_type)},
                                        {"V", bits_of_size(value_size)},
                                        {"VALUE_SIZE", value_size},
                                        {"GROUP", group_size},
                                        {"ITEMS", items},
                                        {"BLOCK", block},
                                        {"CHECKED", p.less != nullptr ? 1U : 0U}},
                          .op = less.op,
                          .max_group_size = group_size});
}

}  // namespace

u32 sort_merge_items(const Device& device, u32 key_size) {
    if (sort_in_registers(device)) return key_size <= 4 ? 15 : 11;
    return key_size <= 4 ? 9 : 7;
}

const Operator& sort_own_order(u32 key_size) {
    static const Operator own[] = {own_order(1), own_order(2), own_order(4), own_order(8)};
    return own[std::countr_zero(key_size)];
}

Support supports_sort_less(const Device& device, const SortProblem& p) {
    if (p.less == nullptr) return {};
    if (Support less = supports_operator(device, *p.less, p.host); !less) return less;
    return supports_type(device, p.type());
}

Support supports_sort_merge(const Device& device, const SortProblem& p) {
    if (Support group_size = supports_group(device, group); !group_size) return group_size;
    return supports_sort_less(device, p);
}

void run_sort_merge(Stream& stream, const SortProblem& p) {
    Device& device = stream.device();
    const Comparator less(p);
    const u64 n = p.count(), tiles = divide_up(n, u64{group} * items_of(device, p));
    const LaunchShape shape = LaunchShape::linear(tiles, group);
    const SortScratch scratch(stream, p, tiles > 1 ? n : 1);
    u32 left = static_cast<u32>(std::bit_width(tiles - 1));  // passes that follow
    const SortElements in = sort_input(p);
    const SortSides sides{sort_output(p), scratch.elements};
    const SortElements& sorted = sides.result(left);
    const SortCounts splits(stream, tiles, Type::u64), conflicts(stream, tiles, Type::u32);
    launch(stream, *merge_kernel(device, p, less, MergeShape::group, "sort_tiles"), shape, in.keys, in.values,
           sorted.keys, sorted.values, conflicts.view, n, less.values);
    if (left == 0) return;
    const u64 split_tiles = p.less != nullptr ? group - 1 : group;  // groups overlap; see sort_splits
    const auto split = merge_kernel(device, p, less, MergeShape::group, "sort_splits", Values::ignored),
               merge = merge_kernel(device, p, less, MergeShape::group, "sort_merge");
    for (u64 run = 1; left > 0; run *= 2) {
        const SortElements& from = sides.result(left);
        --left;
        const SortElements& to = sides.result(left);
        launch(stream, *split, LaunchShape::linear(divide_up(tiles, split_tiles), group), from.keys,
               splits.view, conflicts.view, n, tiles, run, less.values);
        launch(stream, *merge, shape, from.keys, from.values, splits.view, conflicts.view, to.keys, to.values,
               n, run, less.values);
    }
}

bool supports_merge_runs(const Device& device, Type type, const SortBy& by) {
    return device.traits().launch == LaunchModel::groups && supports_group(device, group) &&
           by.begin_bit == 0 && by.end_bit >= 8 * size_of(type);
}

void merge_runs(Stream& stream, const SortRun& first, const SortRun& second, const SortRun& out,
                const SortBy& by) {
    Device& device = stream.device();
    SortProblem p{.in = out.keys,
                  .out = out.keys,
                  .values_in = out.values,
                  .values_out = out.values,
                  .by = by,
                  .less = nullptr,
                  .less_values = {},
                  .host = nullptr,
                  .unstored = nullptr};
    p.by.end_bit = 8 * p.key_size();
    const Comparator less(p);
    const u64 n = first.keys.count + second.keys.count;
    if (n == 0) return;
    // Kernels take the bits of elements, and no values from keys alone.
    const auto keys = [&](const SortRun& run) {
        View view = run.keys;
        view.type = bits_of_size(p.key_size());
        return view;
    };
    const auto values = [&](const SortRun& run) {
        View view = p.pairs() ? run.values : View{run.keys.buffer, 0, 1, Type::u8};
        view.type = bits_of_size(p.value_size());
        return view;
    };
    const u64 tiles = divide_up(n, u64{group} * items_of(device, p));
    const SortCounts splits(stream, tiles, Type::u64);
    launch(stream, *merge_kernel(device, p, less, MergeShape::group, "merge_splits", Values::ignored),
           LaunchShape::linear(divide_up(tiles, group), group), keys(first), first.keys.count, keys(second),
           second.keys.count, splits.view, tiles, less.values);
    launch(stream, *merge_kernel(device, p, less, MergeShape::group, "merge_runs"),
           LaunchShape::linear(tiles, group), keys(first), values(first), first.keys.count, keys(second),
           values(second), second.keys.count, splits.view, keys(out), values(out), less.values);
}

void run_sort_merge_wide(Stream& stream, const SortProblem& p) {
    constexpr u32 max_rounds = 10;  // chunks of 2^14 elements fit a private cache
    Device& device = stream.device();
    const Comparator less(p);
    const u64 n = p.count();
    u32 rounds = 0;
    while (rounds < max_rounds && u64{block} << rounds < n)
        ++rounds;
    const u64 chunk = u64{block} << rounds, chunks = divide_up(n, chunk);
    const SortScratch scratch(stream, p, rounds > 0 ? n : 1);
    u32 left = static_cast<u32>(std::bit_width(chunks - 1));  // passes that follow
    const SortElements in = sort_input(p);
    const SortSides sides{sort_output(p), scratch.elements};
    const SortElements &sorted = sides.result(left), &other = sides.other(left);
    const LaunchShape shape = LaunchShape::linear(chunks, 1);
    launch(stream, *merge_kernel(device, p, less, MergeShape::wide, "sort_chunks"), shape, in.keys, in.values,
           sorted.keys, sorted.values, other.keys, other.values, n, rounds, less.values);
    if (left == 0) return;
    const auto merge = merge_kernel(device, p, less, MergeShape::wide, "sort_merge_runs");
    for (u64 width = chunk; left > 0; width *= 2) {
        const SortElements& from = sides.result(left);
        --left;
        const SortElements& to = sides.result(left);
        launch(stream, *merge, shape, from.keys, from.values, to.keys, to.values, n, width, chunk,
               less.values);
    }
}

}  // namespace detail
}  // namespace concord
