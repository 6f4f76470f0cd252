#include "common_sources.hpp"

#include <concord/first.hpp>
#include <concord/internal/input.hpp>
#include <concord/internal/operands.hpp>

namespace concord::detail {
namespace {

void first_count_host(const Group& /*group*/, const u64* count, u64* bounds, u32* word, u64 n) {
    if (*count > n) report_index(word, 0);
    bounds[0] = 0;
    bounds[1] = min_of(*count, n);
}

// The checks that the calls of segments would make by their own names.
void check_sizes(const char* call, u64 n, const char* name, u64 count) {
    if (count != n)
        throw Error(ErrorCode::invalid_argument, call,
                    std::string(name) + " must have the size of the input, " + std::to_string(n) + ", got " +
                        std::to_string(count));
}
void check_reduction(Stream& stream, const Input& in, const View& out) {
    check_input("reduce", "in", stream, in);
    check_output("reduce", "out", stream, out);
    check_sizes("reduce", 1, "out", out.count);
    check_input_overlap("reduce", {"out", out}, "in", in);
}

const char* name_of_call(Others others) {
    return others == Others::behind ? "partition" : "compact";
}

}  // namespace

FirstCount::FirstCount(Stream& stream, const char* call, const View& of, u64 n, const Options& options) {
    const auto refuse = [call](const std::string& why) {
        throw Error(ErrorCode::invalid_argument, call, why);
    };
    if (options.variant != "auto")
        refuse("unknown variant '" + options.variant + "'; available for a count on the device: auto");
    check_operand(call, "the count of first", stream, of);
    if (of.type != Type::u64 || of.count != 1)
        refuse("the count of first must be one u64, got " + std::to_string(of.count) + " elements of " +
               std::string(name_of(of.type)));
    room = stream.scratch(2 * sizeof(u64));
    offsets = {room.get(), 0, 2, Type::u64};
    count = offsets.part(1, 1);
    const auto kernel = stream.device().kernel({.source = &kernel_sources::first_count(),
                                                .entry = "first_count",
                                                .constants = {{"GROUP", 1U}},
                                                .host = plain_host_kernel<&first_count_host>(),
                                                .max_group_size = 1});
    KernelArgument arguments[] = {argument(of), argument(offsets), {}, argument(n)};
    const IndexWord word{2, {.call = call, .what = "the count", .bound = n + 1, .single = true}};
    launch_reporting(stream, *kernel, LaunchShape::linear(1, 1), arguments, {&word, 1});
}

Enqueued evaluate_first(Stream& stream, const FirstInput& in, const View& out, const Options& options) {
    const FirstCount n(stream, "evaluate", in.count, in.in.view.count, options);
    return evaluate_counted(stream, in.in, out, n.count, options);
}

Enqueued reduce_first(Stream& stream, const FirstInput& in, const View& out, ReduceOp op,
                      const Options& options) {
    check_elements("reduce", "in", in.in.view);
    return reduce_first(stream, segmented_reduce_problem(in.in, {}, out, op), in.count, options);
}

Enqueued reduce_first(Stream& stream, const SegmentedReduceProblem& problem, const View& count,
                      const Options& options) {
    check_reduction(stream, problem.input(), problem.out);
    const FirstCount n(stream, "reduce", count, problem.in.count, options);
    SegmentedReduceProblem one = problem;
    one.offsets = n.offsets;
    return segmented_reduce(stream, one, options);
}

Enqueued scan_first(Stream& stream, const SegmentedScanProblem& problem, const View& count,
                    const Options& options) {
    const char* const call = "scan";
    const Input in = problem.input();
    check_input(call, "in", stream, in);
    check_output(call, "out", stream, problem.out);
    check_sizes(call, in.view.count, "out", problem.out.count);
    check_input_overlap(call, {"out", problem.out}, "in", in, InPlace::yes);
    const FirstCount n(stream, call, count, in.view.count, options);
    SegmentedScanProblem one = problem;
    one.offsets = n.offsets;
    // Kernels compute elements behind the segment.
    if (may_compute_all(in)) return segmented_scan(stream, one, options);
    const InputInMemory stored(stream, call, in, problem.out, options, InPlace::yes, Store::now, n.count);
    one.in = stored.view();
    one.expression = nullptr;
    return stored.with_order(segmented_scan(stream, one, options));
}

Enqueued sort_first(Stream& stream, const FirstInput& keys, const Input* values, const View& keys_out,
                    const View& values_out, const SortBy& by, const Options& options) {
    const char* const call = values != nullptr ? "sort_pairs" : "sort";
    const u64 all = keys.in.view.count;
    if (by.begin_bit != 0 || by.end_bit < 8 * size_of(keys.in.view.type))
        throw Error(ErrorCode::unsupported, call,
                    "bit ranges are not supported for a count on the device; pass all bits");
    const auto check = [&](const char* in_name, const Input& in, const char* out_name, const View& out) {
        check_stored_input(call, in_name, stream, in);
        check_stored(call, out_name, stream, out);
        check_writable(call, out_name, out);
        check_sizes(call, all, in_name, in.view.count);
        check_sizes(call, all, out_name, out.count);
        check_input_overlap(call, {out_name, out}, in_name, in, InPlace::yes);
    };
    if (values == nullptr) {
        check("in", keys.in, "out", keys_out);
    } else {
        check("keys_in", keys.in, "keys_out", keys_out);
        check("values_in", *values, "values_out", values_out);
    }
    const FirstCount n(stream, call, keys.count, all, options);
    const InputInMemory from(stream, call, keys.in, keys_out, options, InPlace::yes, Store::now, n.count);
    if (values == nullptr)
        return from.with_order(segmented_sort(stream, from.view(), n.offsets, keys_out, by, options));
    const InputInMemory moved(stream, call, *values, values_out, options, InPlace::yes, Store::now, n.count);
    return from.with_order(moved.with_order(segmented_sort_pairs(stream, from.view(), moved.view(), n.offsets,
                                                                 keys_out, values_out, by, options)));
}

Enqueued compact_first(Stream& stream, const FirstInput& in, const View& out, const View& count,
                       const Keep& keep, Others others, const Options& options) {
    const FirstCount n(stream, name_of_call(others), in.count, in.in.view.count, options);
    return compact(stream, in.in, out, count, keep, others, options, n.count);
}

Enqueued compact_first(Stream& stream, const FirstInput& in, const Input& flags, const View& out,
                       const View& count, Others others, const Options& options) {
    const FirstCount n(stream, name_of_call(others), in.count, in.in.view.count, options);
    return compact(stream, in.in, flags, out, count, others, options, n.count);
}

Enqueued unique_first(Stream& stream, const FirstInput& in, const View& out, const View& count,
                      const Options& options) {
    const FirstCount n(stream, "unique", in.count, in.in.view.count, options);
    return unique(stream, in.in, out, count, options, n.count);
}

Enqueued run_length_encode_first(Stream& stream, const FirstInput& in, const View& out, const View& lengths,
                                 const View& count, const Options& options) {
    const FirstCount n(stream, "run_length_encode", in.count, in.in.view.count, options);
    return run_length_encode(stream, in.in, out, lengths, count, options, n.count);
}

Enqueued reduce_by_key_first(Stream& stream, const FirstInput& keys, const Input& values,
                             const View& out_keys, const View& out, const View& count, ReduceOp op,
                             const Options& options) {
    const FirstCount n(stream, "reduce_by_key", keys.count, keys.in.view.count, options);
    return reduce_by_key(stream, keys.in, values, out_keys, out, count, op, options, n.count);
}

Enqueued scan_by_key_first(Stream& stream, const FirstInput& keys, const Input& values, const View& out,
                           ReduceOp op, ScanKind kind, const Options& options) {
    const FirstCount n(stream, "scan_by_key", keys.count, keys.in.view.count, options);
    return scan_by_key(stream, keys.in, values, out, op, kind, options, n.offsets);
}

Enqueued scan_by_key_first(Stream& stream, ScanByKeyProblem problem, const View& used,
                           const Options& options) {
    const FirstCount n(stream, "scan_by_key", used, problem.keys.view.count, options);
    problem.bounds = n.offsets;
    return scan_by_key(stream, problem, options);
}

Enqueued reduce_by_key_first(Stream& stream, ReduceByKeyProblem problem, const View& used,
                             const Options& options) {
    const FirstCount n(stream, "reduce_by_key", used, problem.keys.view.count, options);
    problem.used = n.count;
    return reduce_by_key(stream, problem, options);
}

}  // namespace concord::detail
