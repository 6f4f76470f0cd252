#include <concord/internal/builtin_operator.hpp>
#include <concord/internal/input.hpp>
#include <concord/internal/operands.hpp>
#include <concord/internal/row.hpp>
#include <concord/internal/runs.hpp>
#include <concord/scan_by_key.hpp>

namespace concord {

namespace detail {

namespace {

// The number of elements that are used, without a buffer if these are all.
View used_in(const ScanByKeyProblem& p) {
    return p.bounds.buffer != nullptr ? p.bounds.part(1, 1) : View{};
}

void run(Stream& stream, const ScanByKeyProblem& p) {
    const bool is_live = p.bounds.buffer != nullptr;
    if (p.in.count == 1 && !is_live) {
        scan(stream, static_cast<const ScanProblem&>(p), {});
        return;
    }
    SegmentedScanProblem segments = p;
    if (p.in.count == 1) {
        segments.offsets = p.bounds;
    } else {
        segments.begins = begins_run_node(p.keys.view, used_in(p));
    }
    segmented_scan(stream, segments, {});
}

constexpr auto table = table_of<ScanByKeyProblem>(
    {{.variant = {.name = "segmented",
                  .summary = "segmented_scan, whose segments begin where a key differs from the one before",
                  .order = OperationOrder::canonical,
                  .source = "Concord; tree after J. Sklansky, 1960"},
      .groups = {run, supports_problem_in<256>},
      .single_items = {run, supports_problem},
      .host = {run, supports_problem},
      .computes_input = true}});
constexpr auto variants = variants_of(table);

}  // namespace

Enqueued scan_by_key(Stream& stream, const ScanByKeyProblem& asked, const Options& options) {
    constexpr std::string_view call = "scan_by_key";
    ScanByKeyProblem p = asked;
    const Input values = p.input();
    check_no_struct(call, "keys", p.keys.view);
    p.keys = without_bool(p.keys);
    const u64 n = p.keys.view.count;
    check_input(call, "keys", stream, p.keys);
    check_input(call, "values", stream, values);
    check_output(call, "out", stream, p.out);
    check_same_type(call, {{"values", values.view.type}, {"out", p.out.type}});
    if (values.view.count != n || p.out.count != n)
        throw Error(ErrorCode::invalid_argument, call,
                    "keys, values and out differ in size, got " + std::to_string(n) + ", " +
                        std::to_string(values.view.count) + " and " + std::to_string(p.out.count));
    check_input_overlap(call, {"out", p.out}, "values", values, InPlace::yes);
    check_input_overlap(call, {"out", p.out}, "keys", p.keys);
    const auto& row = choose(call, table, stream.device(), p, options);
    const InputInMemory keys(stream, call, p.keys, p.out, options, InPlace::no, Store::now, used_in(p));
    p.keys = keys.view();
    std::optional<InputInMemory> stored;
    if (p.bounds.buffer != nullptr && !may_compute_all(values)) {
        p.in =
            stored.emplace(stream, call, values, p.out, options, InPlace::yes, Store::now, used_in(p)).view();
        p.expression = nullptr;
    }
    if (n > 0) row.run(stream, p);
    const Enqueued done = keys.with_order(enqueued(stream, row, p));
    return stored ? stored->with_order(done) : done;
}

Enqueued scan_by_key(Stream& stream, const Input& keys, const Input& values, const View& out, ReduceOp op,
                     ScanKind kind, const Options& options, const View& bounds) {
    check_elements("scan_by_key", "values", values.view);
    ScanByKeyProblem p{segmented_scan_problem(values, {}, out, op, kind), keys};
    p.bounds = bounds;
    return scan_by_key(stream, p, options);
}

}  // namespace detail

constinit const Algorithm scan_by_key_algorithm{
    .name = "scan_by_key",
    .summary = "out[i] = values[b] op ... op values[i], where b begins the run of keys of i",
    .variants = detail::variants};

Enqueued scan_by_key(Stream& stream, const View& keys, const View& values, const View& out, ReduceOp op,
                     ScanKind kind, const Options& options) {
    return detail::scan_by_key(stream, detail::Input(keys), detail::Input(values), out, op, kind, options);
}

}  // namespace concord
