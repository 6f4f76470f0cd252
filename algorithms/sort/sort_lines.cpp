// Sort over one axis of an array.

#include <concord/internal/sort_codes.hpp>
#include "sort_host_kernels.hpp"
#include "sort_kernels.hpp"

#include <concord/expression.hpp>
#include <concord/internal/nd_lines.hpp>
#include <concord/internal/operands.hpp>
#include <concord/sort_axes.hpp>

#include <algorithm>

namespace concord {

namespace detail {
namespace {

constexpr u64 max_groups = u64{1} << 22;  // loops over the groups of a grid take the rest

// A call with its types erased.
struct SortLinesProblem {
    const NdView &in, &out;                // keys; argsort has no output of keys
    const NdView *values_in, *values_out;  // null: keys alone; argsort has only the output
    u32 axis;
    SortBy by;
    bool indexed;  // argsort
    static constexpr bool moves_bits = true;

    Type type() const { return in.type(); }
    u32 key_size() const { return size_of(in.type()); }
    // Bytes of a value or an index; 0 for keys alone.
    u32 value_size() const { return values_out == nullptr ? 0 : size_of(values_out->type()); }
    detail::host::Ascending code() const {
        const SortCode code = sort_code(in.type(), by);
        return {code.fold, code.flip};
    }
};

// Keys and values in buffers, and how lines lie in them.
struct Side {
    View keys, values;
    std::array<u32, 2> operands;  // of the user's lines; not used if `dense`
    bool dense;                   // lines one after another
};

// The operands of a launch as NdLines numbers them: 0 and 1 are the input, 2 and 3 the output.
class LinesCall {
  public:
    LinesCall(const SortLinesProblem& p)
        : p_(p),
          lines_(lines_along<4>(p.axis, {&p.in, p.values_in, p.indexed ? nullptr : &p.out, p.values_out})) {}
    const NdLines<4>& user() const { return lines_; }
    u64 size() const { return lines_.lines * lines_.n; }
    // Whether neighbouring lines of the operand are adjacent, but elements of a line are not.
    bool across(u32 operand) const {
        return lines_.n > 1 && lines_.step[operand] != 1 && lines_.extent[lines_.kept - 1] > 1 &&
               lines_.stride[operand][lines_.kept - 1] == 1;
    }
    // Views that kernels do not access are any of their type.
    Side input() const {
        const View& values = p_.values_in != nullptr    ? p_.values_in->range()
                             : p_.values_out != nullptr ? p_.values_out->range()
                                                        : p_.in.range();
        return {p_.in.range(), values, {0, 1}, false};
    }
    Side output() const {
        const View& keys = p_.indexed ? p_.in.range() : p_.out.range();
        return {keys, p_.values_out != nullptr ? p_.values_out->range() : keys, {2, 3}, false};
    }
    // The lines of a launch from one side to another.
    NdLines<4> between(const Side& from, const Side& to) const {
        NdLines<4> s = lines_;
        put(s, 0, from);
        put(s, 2, to);
        return s;
    }

  private:
    void put(NdLines<4>& s, u32 first, const Side& side) const {
        for (u32 k = 0; k < 2; ++k) {
            const u32 o = first + k, source = side.operands[k];
            if (!side.dense) {
                std::copy_n(lines_.stride[source], max_rank, s.stride[o]);
                s.step[o] = lines_.step[source];
                s.at[o] = lines_.at[source];
                continue;
            }
            u64 stride = lines_.n;
            for (u64 axis = lines_.kept; axis-- > 0; stride *= lines_.extent[axis])
                s.stride[o][axis] = static_cast<i64>(stride);
            s.step[o] = 1;
            s.at[o] = 0;
        }
    }

    const SortLinesProblem& p_;
    NdLines<4> lines_;
};

// Scratch memory for keys and values or indices of all lines.
struct LinesScratch {
    LinesScratch(Stream& stream, const SortLinesProblem& p, u64 count)
        : keys(stream.scratch(checked_bytes("sort", count, p.key_size()))),
          values(p.value_size() > 0 ? stream.scratch(checked_bytes("sort", count, p.value_size())) : keys),
          side{{keys.get(), 0, count, p.in.type()},
               {values.get(), 0, count, p.value_size() > 0 ? p.values_out->type() : p.in.type()},
               {0, 0},
               true} {}
    std::shared_ptr<Buffer> keys, values;
    Side side;
};

// --- Few long lines -------------------------------------------------------------------------------------------------

// Few long lines of adjacent elements are sorted one after another by the kernels for ranges.
bool suits_flat(const Device& device, const SortLinesProblem& p, const NdLines<4>& s) {
    const u64 length = device.traits().launch == LaunchModel::groups ? u64{1} << 20 : u64{1} << 16;
    const bool used[] = {true, p.values_in != nullptr, !p.indexed, p.values_out != nullptr};
    for (u32 o = 0; o < 4; ++o) {
        if (used[o] && s.step[o] != 1) return false;
    }
    return s.n >= length && s.lines <= device.traits().units;
}
void run_flat(Stream& stream, const SortLinesProblem& p, const NdLines<4>& s) {
    SortBy by = p.by;
    by.stable = true;
    const auto line_of = [&](const View& range, u32 operand, u64 line) {
        View view = range;
        view.offset += static_cast<u64>(s.line_at(operand, line)) * size_of(range.type);
        view.count = s.n;
        return view;
    };
    Array<u64> places;
    std::shared_ptr<Buffer> sorted;
    View keys_out, index;
    if (p.indexed) {
        // Signed indices have the bits of unsigned ones.
        places = Array<u64>(stream, p.value_size() == 8 ? s.n : divide_up(s.n, 2));
        index = View{places.view().buffer, places.view().offset, s.n, bits_of_size(p.value_size())};
        if (p.value_size() == 8) {
            evaluate(stream, strided(counting<u64>(), {s.n}, {1}), Span<u64>(index));
        } else {
            evaluate(stream, strided(counting<u32>(), {s.n}, {1}), Span<u32>(index));
        }
        sorted = stream.scratch(s.n * p.key_size());
        keys_out = {sorted.get(), 0, s.n, p.in.type()};
    }
    for (u64 line = 0; line < s.lines; ++line) {
        const View keys = line_of(p.in.range(), 0, line);
        if (p.indexed) {
            View to = line_of(p.values_out->range(), 3, line);
            to.type = index.type;
            sort_pairs(stream, keys, index, keys_out, to, by);
            continue;
        }
        keys_out = line_of(p.out.range(), 2, line);
        if (p.values_in == nullptr) {
            sort(stream, keys, keys_out, by);
        } else {
            sort_pairs(stream, keys, line_of(p.values_in->range(), 1, line), keys_out,
                       line_of(p.values_out->range(), 3, line), by);
        }
    }
}

// --- Kernels compiled from source ------------------------------------------------------------------------------------

// Of a launch, as in the kernels.
constexpr u32 flag_indexed = 1, flag_keys = 2, flag_across = 4;

std::shared_ptr<Kernel> lines_kernel(Device& device, const SortLinesProblem& p, const KernelSource& source,
                                     const char* entry, u32 group, Values values = Values::moved) {
    const u32 value_size = values == Values::moved ? p.value_size() : 0;
    const Type type = bits_of_size(p.key_size());
    const std::string as_type = "as_" + std::string(opencl_name(type)) + "(x)";
    return device.kernel({.source = &source,
                          .entry = entry,
                          .constants = {{"K", type},
                                        {"T", type},
                                        {"AS_T(x)", std::string_view(as_type)},
                                        {"V", bits_of_size(value_size)},
                                        {"VALUE_SIZE", value_size},
                                        {"GROUP", group},
                                        {"ITEMS", sort_merge_items(device, p.key_size())},
                                        {"BLOCK", 16U},
                                        {"CHECKED", 0U},
                                        {"OPERANDS", 4U}},
                          .op = &sort_own_order(p.key_size()),
                          .max_group_size = group});
}

// The view with the type that kernels take: bits of elements. size: 0 without values, which kernels do not access.
View bits(const View& view, u32 size) {
    if (size == 0) return {view.buffer, 0, 1, Type::u8};
    View as = view;
    as.type = bits_of_size(size);
    return as;
}

void run_groups(Stream& stream, const SortLinesProblem& p, const LinesCall& call) {
    Device& device = stream.device();
    const NdLines<4>& user = call.user();
    const SortCode code = sort_code(p.in.type(), p.by);
    const std::array<u64, 2> flip_fold{code.flip, code.fold};
    const ValueBytes values{std::as_bytes(std::span(flip_fold))};
    const u32 items = sort_merge_items(device, p.key_size());
    const u64 tile = u64{sort_group} * items, tiles = divide_up(user.n, tile);
    const auto left_of = [](u64 count) { return static_cast<u32>(std::bit_width(count - 1)); };
    u32 left = left_of(tiles);  // passes that follow
    // Sides between which the passes alternate. Merges read lines of adjacent elements.
    const bool out_is_side = !p.indexed && user.step[2] == 1 && (p.value_size() == 0 || user.step[3] == 1);
    const LinesScratch first(stream, p, left > 0 ? call.size() : 1),
        second(stream, p, left > 1 && !out_is_side ? call.size() : 1);
    const Side out = call.output(), other = out_is_side ? out : second.side;
    const auto side_of = [&](u32 passes) -> const Side& {
        return passes == 0 ? out : passes % 2 != 0 ? first.side : other;
    };
    const auto side_bits = [&](const Side& side, bool keys) {
        return keys ? bits(side.keys, p.key_size()) : bits(side.values, p.value_size());
    };
    {
        const Side in = call.input();
        const Side& to = side_of(left);
        const NdLines<4> s = call.between(in, to);
        const auto sharers = static_cast<u32>(std::min<u64>(divide_up(user.n, items), sort_group));
        const u32 side = sort_group / sharers;
        const auto kernel =
            lines_kernel(device, p, kernel_sources::sort_lines(), "sort_line_tiles", sort_group);
        const u32 flags = (p.indexed ? flag_indexed : 0) | (left > 0 || !p.indexed ? flag_keys : 0) |
                          (call.across(0) ? flag_across : 0);
        const u64 units = divide_up(user.lines, side) * tiles;
        launch(stream, *kernel, LaunchShape::linear(std::min(units, max_groups), sort_group),
               side_bits(in, true), side_bits(in, false), side_bits(to, true), side_bits(to, false),
               bytes_of(s), tiles, side, sharers, flags, values);
    }
    if (left == 0) return;
    const u64 count = user.lines * tiles;
    const SortCounts splits(stream, count, Type::u64);
    const auto split = lines_kernel(device, p, kernel_sources::sort_lines_merge(), "sort_line_splits",
                                    sort_group, Values::ignored),
               merge =
                   lines_kernel(device, p, kernel_sources::sort_lines_merge(), "sort_line_merge", sort_group);
    for (u64 run = 1; left > 0; run *= 2) {
        const Side& from = side_of(left);
        --left;
        const Side& to = side_of(left);
        const NdLines<4> s = call.between(from, to);
        const u32 flags = (left > 0 || !p.indexed ? flag_keys : 0) |
                          (left == 0 && call.across(p.indexed ? 3 : 2) ? flag_across : 0);
        launch(stream, *split,
               LaunchShape::linear(std::min(divide_up(count, u64{sort_group}), max_groups), sort_group),
               side_bits(from, true), splits.view, bytes_of(s), tiles, run, values);
        launch(stream, *merge, LaunchShape::linear(std::min(count, max_groups), sort_group),
               side_bits(from, true), side_bits(from, false), splits.view, side_bits(to, true),
               side_bits(to, false), bytes_of(s), tiles, run, flags, values);
    }
}

void run_wide(Stream& stream, const SortLinesProblem& p, const LinesCall& call) {
    Device& device = stream.device();
    const NdLines<4>& s = call.user();
    const SortCode code = sort_code(p.in.type(), p.by);
    const std::array<u64, 2> flip_fold{code.flip, code.fold};
    const u64 groups = std::min<u64>({s.lines, u64{4} * device.traits().units,
                                      std::max<u64>(1, call.size() * p.key_size() >> 14)}),
              count = groups * s.n, moved = p.value_size() > 0 ? count : 1;
    const auto keys = stream.scratch(checked_bytes("sort", 2 * count, p.key_size())),
               values = stream.scratch(moved * std::max(1U, p.value_size())),
               places = stream.scratch(2 * moved * sizeof(u64));
    const auto kernel = lines_kernel(device, p, kernel_sources::sort_lines_wide(), "sort_lines", 1);
    const u32 flags = p.indexed ? flag_indexed : flag_keys;
    const Side in = call.input(), out = call.output();
    launch(stream, *kernel, LaunchShape::linear(groups, 1), bits(in.keys, p.key_size()),
           bits(in.values, p.value_size()), bits(out.keys, p.key_size()), bits(out.values, p.value_size()),
           View{keys.get(), 0, 2 * count, bits_of_size(p.key_size())},
           View{values.get(), 0, moved, bits_of_size(p.value_size())},
           View{places.get(), 0, 2 * moved, Type::u64}, bytes_of(s), flags,
           ValueBytes{std::as_bytes(std::span(flip_fold))});
}

void run_host(Stream& stream, const SortLinesProblem& p, const LinesCall& call) {
    const Device& device = stream.device();
    const NdLines<4>& s = call.user();
    const detail::host::Ascending order = p.code();
    const Side in = call.input(), out = call.output();
    const bool is_short =
        s.n <= detail::host::short_line && p.values_in == nullptr && (!p.indexed || p.key_size() <= 4);
    if (is_short) {
        const u64 units = divide_up(s.lines, 64 / (p.indexed ? 8 : p.key_size())),
                  groups =
                      std::min({units, std::max<u64>(1, call.size() >> 14), u64{8} * device.traits().units}),
                  run = divide_up(units, groups);
        launch(stream,
               *host_kernel_of(stream.device(), "sort_short", sort_short_host(p.key_size(), p.indexed)),
               LaunchShape::linear(divide_up(units, run), 1), in.keys, out.keys, out.values, bytes_of(s), run,
               p.value_size(), bytes_of(order));
        return;
    }
    // Adjacent lines by whole cache lines, as far as they fit a private cache.
    constexpr u64 cache = u64{1} << 20;
    u64 width = call.across(0) ? std::min<u64>(64, 128 / p.key_size()) : 1;
    while (width > 1 && sort_lines_scratch(p.key_size(), p.value_size(), width, s.n) > cache)
        width /= 2;
    const u64 room = divide_up(sort_lines_scratch(p.key_size(), p.value_size(), width, s.n), u64{64}) * 64,
              units = divide_up(s.lines, width), each = room > cache ? 1 : 8,
              groups =
                  std::min<u64>({units, std::max<u64>(1, call.size() >> 13), device.traits().units * each}),
              run = divide_up(units, groups), used = divide_up(units, run);
    const auto scratch = stream.scratch(checked_bytes("sort", used, room));
    const auto kernel = host_kernel_of(stream.device(), "sort_lines", sort_lines_host(p.key_size()));
    launch(stream, *kernel, LaunchShape::linear(used, 1), in.keys, in.values, out.keys, out.values,
           View{scratch.get(), 0, used * room, Type::u8}, bytes_of(s), width, run, room, p.value_size(),
           u32{p.indexed}, bytes_of(order));
}

void run_lines(Stream& stream, const SortLinesProblem& p) {
    const LinesCall call(p);
    if (suits_flat(stream.device(), p, call.user())) return run_flat(stream, p, call.user());
    switch (stream.device().traits().launch) {
        case LaunchModel::groups:
            return run_groups(stream, p, call);
        case LaunchModel::single_items:
            return run_wide(stream, p, call);
        case LaunchModel::host:
            return run_host(stream, p, call);
    }
}

Support supports_groups(const Device& device, const SortLinesProblem& /*p*/) {
    return supports_group(device, sort_group);
}
// Host kernels hold places in 32 bits with keys of up to 4 bytes.
Support supports_host(const Device& /*device*/, const SortLinesProblem& p) {
    const u64 n = p.in.extent(p.axis);
    if (p.value_size() == 0 || p.key_size() == 8 || n < u64{1} << 32) return {};
    return Support::no("supports lines of at most 2^32 - 1 keys of up to 4 bytes with values, got {}", n);
}
Support accepts(const Variant& /*variant*/, const SortLinesProblem& p) {
    const bool whole = p.by.begin_bit == 0 && p.by.end_bit >= 8 * p.key_size();
    return whole ? Support{} : Support::no("does not support bit ranges");
}

constexpr auto table = table_of<SortLinesProblem>(
    {{.variant = {.name = "lines",
                  .summary = "groups sort several lines, or merge the tiles of a longer one",
                  .order = OperationOrder::canonical,
                  .stable = true,
                  .source = "S. Odeh et al., Merge Path - Parallel Merging Made Simple, 2012"},
      .groups = {run_lines, supports_groups},
      .single_items = {run_lines},
      .host = {run_lines, supports_host},
      .accepts = accepts}});

Enqueued run(Stream& stream, const SortLinesProblem& p, const Options& options) {
    check_variant_of_axes(sort_algorithm, stream.device(), options, table[0].variant.name);
    const Row<SortLinesProblem>& row = choose("sort", table, stream.device(), p, options);
    if (p.in.size() > 0) row.run(stream, p);
    return enqueued(stream, row, p);
}

// The codes of keys in an array of the same extents.
class LineCodes {
  public:
    LineCodes(Stream& stream, const NdView& keys, const SortBy& by)
        : codes_(keys.type(), by),
          buffer_(memory(stream, keys.size(), codes_.type)),
          view_(on(buffer_, keys)) {
        store(stream, keys);
    }
    const SortBy& by() const { return codes_.by; }
    const NdView& view() const { return view_; }
    void store(Stream& stream, const NdView& keys) const {
        View range = keys.range();
        range.type = codes_.bits;
        const NdView bits(range, keys.extents(), keys.strides(), keys.origin());
        evaluate(stream, Input(codes_.node(broadcast_node({nullptr, bits, bits.extents()}, bits.extents()))),
                 view_.range(), {});
    }
    // Sorts them with values. They are undefined then.
    Enqueued move(Stream& stream, const NdView& from, const NdView& to, u32 axis,
                  const Options& options) const {
        if (same_elements_of(from, to))
            return run(stream, {view_, view_, &from, &to, axis, by(), false}, options);
        const auto buffer = memory(stream, view_.size(), codes_.type);
        const NdView sorted = on(buffer, view_);
        return run(stream, {view_, sorted, &from, &to, axis, by(), false}, options);
    }

  private:
    static std::shared_ptr<Buffer> memory(Stream& stream, u64 count, Type type) {
        return stream.scratch(max_of(u64{1}, count) * size_of(type));
    }
    NdView on(const std::shared_ptr<Buffer>& buffer, const NdView& like) const {
        return {View{buffer.get(), 0, like.size(), codes_.type}, like.extents()};
    }

    SortCodes codes_;
    std::shared_ptr<Buffer> buffer_;
    NdView view_;
};

void check_whole(const SortBy& by, const NdView& keys) {
    if (by.begin_bit == 0 && by.end_bit >= 8 * size_of(keys.type())) return;
    throw Error(ErrorCode::unsupported, "sort", "bit ranges are not supported over an axis; pass all bits");
}

Enqueued sort_lines_by_codes(Stream& stream, const NdView& in, const NdView* values_in, const NdView& out,
                             const NdView* values_out, u32 axis, const SortBy& by, const Options& options) {
    check_whole(by, in);
    const LineCodes codes(stream, in, by);
    if (is_boolean(in.type())) {
        const NdView to = as_bytes(out);
        if (values_in == nullptr)
            return run(stream, {codes.view(), to, nullptr, nullptr, axis, codes.by(), false}, options);
        if (!same_elements_of(*values_in, *values_out))
            return run(stream, {codes.view(), to, values_in, values_out, axis, codes.by(), false}, options);
        const Enqueued done = codes.move(stream, *values_in, *values_out, axis, options);
        evaluate(stream, Input(range_node(codes.view().range())), to.extents(), to, {});
        return done;
    }
    if (values_in != nullptr) {
        codes.move(stream, *values_in, *values_out, axis, options);
        codes.store(stream, in);
    }
    return codes.move(stream, in, out, axis, options);
}

}  // namespace

}  // namespace detail

Enqueued sort(Stream& stream, const NdView& in, const NdView& out, i64 axis, const SortBy& by,
              const Options& options) {
    detail::check_stored("sort", "in", stream, in.range());
    detail::check_stored("sort", "out", stream, out.range());
    detail::check_writable("sort", "out", out.range());
    const u32 along = detail::axis_of("sort", axis, in.rank());
    detail::check_same_type("sort", {{"in", in.type()}, {"out", out.type()}});
    detail::check_lines("sort", {"in", in}, {"out", out});
    if (detail::sorts_by_codes(in.type(), by))
        return detail::sort_lines_by_codes(stream, in, nullptr, out, nullptr, along, by, options);
    return detail::run(stream, {in, out, nullptr, nullptr, along, by, false}, options);
}

Enqueued sort_pairs(Stream& stream, const NdView& keys_in, const NdView& values_in, const NdView& keys_out,
                    const NdView& values_out, i64 axis, const SortBy& by, const Options& options) {
    constexpr std::string_view call = "sort_pairs";
    detail::check_stored(call, "keys_in", stream, keys_in.range());
    detail::check_stored(call, "values_in", stream, values_in.range());
    detail::check_stored(call, "keys_out", stream, keys_out.range());
    detail::check_writable(call, "keys_out", keys_out.range());
    detail::check_stored(call, "values_out", stream, values_out.range());
    detail::check_writable(call, "values_out", values_out.range());
    const u32 along = detail::axis_of(call, axis, keys_in.rank());
    detail::check_same_type(call, {{"keys_in", keys_in.type()}, {"keys_out", keys_out.type()}});
    detail::check_same_type(call, {{"values_in", values_in.type()}, {"values_out", values_out.type()}});
    detail::check_lines(call, {"keys_in", keys_in}, {"keys_out", keys_out});
    detail::check_lines(call, {"values_in", values_in}, {"values_out", values_out});
    if (!(keys_in.extents() == values_in.extents()))
        throw Error(ErrorCode::invalid_argument, call,
                    "values_in must have the extents of keys_in, " + detail::shape_name(keys_in.extents()) +
                        ", got " + detail::shape_name(values_in.extents()));
    detail::check_overlap(call, {"keys_out", keys_out.range()}, {"values_in", values_in.range()});
    detail::check_overlap(call, {"values_out", values_out.range()}, {"keys_in", keys_in.range()});
    detail::check_overlap(call, {"keys_out", keys_out.range()}, {"values_out", values_out.range()});
    const bool keys_in_place = detail::same_elements_of(keys_in, keys_out),
               values_in_place = detail::same_elements_of(values_in, values_out);
    if (keys_in.size() > 0 && keys_in_place != values_in_place)
        throw Error(ErrorCode::invalid_argument, call,
                    keys_in_place ? "keys are sorted in place, values are not; pass a distinct keys_out"
                                  : "values are sorted in place, keys are not; pass a distinct values_out");
    const NdView values_from = detail::as_bytes(values_in), values_to = detail::as_bytes(values_out);
    if (detail::sorts_by_codes(keys_in.type(), by))
        return detail::sort_lines_by_codes(stream, keys_in, &values_from, keys_out, &values_to, along, by,
                                           options);
    return detail::run(stream, {keys_in, keys_out, &values_from, &values_to, along, by, false}, options);
}

Enqueued argsort(Stream& stream, const NdView& in, const NdView& out, i64 axis, const SortBy& by,
                 const Options& options) {
    constexpr std::string_view call = "argsort";
    detail::check_stored(call, "in", stream, in.range());
    detail::check_output(call, "out", stream, out.range());
    const u32 along = detail::axis_of(call, axis, in.rank());
    detail::check_places(call, in.extent(along), out.type());
    detail::check_lines(call, {"in", in}, {"out", out});
    if (detail::same_elements_of(in, out))
        detail::check_overlap(call, {"out", out.range()}, {"in", in.range()});
    if (detail::sorts_by_codes(in.type(), by)) {
        detail::check_whole(by, in);
        const detail::LineCodes codes(stream, in, by);
        return detail::run(stream, {codes.view(), codes.view(), nullptr, &out, along, codes.by(), true},
                           options);
    }
    return detail::run(stream, {in, in, nullptr, &out, along, by, true}, options);
}

}  // namespace concord
