// Test cases of segmented scan.

#include "scanned_segments.hpp"
#include "segments.hpp"

#include <concord/segmented_scan.hpp>

namespace concord::lab {
namespace {

using Depth = Plan::Depth;

SegmentList list_of(const Segments& segments) {
    return {[segments] { return segments.count(); }, [segments](u64 s) { return segments.offset(s); }};
}

std::string title_of(std::string_view what, ScanKind kind, const Segments& segments) {
    return std::string(name_of(kind)) + "_" + std::string(what) + " of " + segments.name();
}

template <class T>
Work builtin_work(ReduceOp op, ScanKind kind, const Input& input, const Segments& segments) {
    Work work =
        segmented_scan_work<T>("segmented_scan", title_of(name_of(op), kind, segments),
                               builtin_scan<T>(op, kind, input, list_of(segments)), segments.offsets());
    work.call = [op, kind](Stream& stream, std::span<const View> in, std::span<const View> out,
                           const Options& options) {
        return segmented_scan(stream, in[0], in[1], out[0], op, kind, options);
    };
    return work;
}

// Sums of squares, which the kernel computes.
template <class T>
Work squares_work(ScanKind kind, const Input& input, const Segments& segments) {
    const auto scan = builtin_scan<T>(ReduceOp::sum, kind, input, list_of(segments));
    scan->squares = true;
    Work work = segmented_scan_work<T>("segmented_scan", title_of("squares", kind, segments), scan,
                                       segments.offsets());
    work.call = [kind](Stream& stream, std::span<const View> in, std::span<const View> out,
                       const Options& options) {
        const auto squares = transform(MapFunction::square, Span<const T>(in[0]));
        return detail::segmented_scan(
            stream,
            detail::segmented_scan_problem(detail::input_of(squares), in[1], out[0], ReduceOp::sum, kind),
            options);
    };
    work.minor = true;
    return work;
}

template <class T, class F>
Work user_work(const char* title, const F& f, ScanKind kind, const Input& input, const Segments& segments) {
    Work work =
        segmented_scan_work<T>("segmented_scan", title_of(title, kind, segments),
                               user_scan<T>(f, T(0), kind, input, list_of(segments)), segments.offsets());
    work.call = [f, kind](Stream& stream, std::span<const View> in, std::span<const View> out,
                          const Options& options) {
        return segmented_scan(stream, Span<T>(in[0]), Span<const u64>(in[1]), Span<T>(out[0]), f, T(0), kind,
                              options);
    };
    return work;
}

void segmented_scan_cases(const Plan& plan, Type type, const CaseSink& emit) {
    const std::vector<Pattern> patterns = patterns_of(type);
    const auto input = [&](u64 n, Pattern pattern) { return Input{type, n, pattern, plan.seed()}; };
    const auto builtin = [&](ReduceOp op, ScanKind kind, const Segments::Shape& shape, Depth depth) {
        for_plan(plan, type, depth, {patterns.front(), patterns.back()}, emit, [&](u64 n, Pattern p) {
            return detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) {
                return builtin_work<T>(op, kind, input(n, p), Segments(shape, n));
            });
        });
    };
    ScanKind kind = ScanKind::exclusive;
    for (const Segments::Shape& shape : segment_shapes()) {
        if (shape.kind == Segments::Kind::inner) continue;  // elements outside stay as they are: a unit test
        kind = kind == ScanKind::inclusive ? ScanKind::exclusive : ScanKind::inclusive;
        builtin(ReduceOp::sum, kind, shape, shape.is_first ? Depth::all : Depth::some);
    }
    // Complete nodes of every level, and one element more.
    for (const u64 length : {u64{256}, u64{4097}}) {
        kind = kind == ScanKind::inclusive ? ScanKind::exclusive : ScanKind::inclusive;
        builtin(ReduceOp::sum, kind,
                {.kind = Segments::Kind::equal, .length = length, .offset_type = Type::u32}, Depth::some);
    }
    for (const ReduceOp op : {ReduceOp::product, ReduceOp::min, ReduceOp::max})
        builtin(op, kind, segment_shapes()[1], Depth::few);
    for_plan(plan, type, Depth::few, {patterns.front()}, emit, [&](u64 n, Pattern p) {
        return detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) {
            return squares_work<T>(ScanKind::inclusive, input(n, p), Segments(segment_shapes()[0], n));
        });
    });
    const Segments::Shape of_users{.kind = Segments::Kind::around, .length = 370, .offset_type = Type::u64};
    for (const ScanKind own : {ScanKind::inclusive, ScanKind::exclusive}) {
        if (type == Type::i32)
            for_plan(plan, type, Depth::some, {Pattern::skewed, Pattern::mixed}, emit, [&](u64 n, Pattern p) {
                return user_work<i32>("last_set", last_set_in_segment, own, input(n, p),
                                      Segments(of_users, n));
            });
        if (type == Type::f64)
            for_plan(plan, type, Depth::some, {Pattern::random}, emit, [&](u64 n, Pattern p) {
                return user_work<f64>("weighted", weighted_in_segment.bind(0x1.8p-30), own, input(n, p),
                                      Segments(of_users, n));
            });
    }
}

Work workload(u64 length, Type type, u64 n, u64 seed) {
    const Pattern pattern = is_float(type) ? Pattern::near_one : Pattern::random;
    const Segments segments({.kind = length == 0 ? Segments::Kind::power : Segments::Kind::equal,
                             .length = length == 0 ? 256 : length,
                             .offset_type = Type::u32},
                            n);
    return detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) {
        return builtin_work<T>(ReduceOp::sum, ScanKind::inclusive, {type, n, pattern, seed}, segments);
    });
}

}  // namespace

Suite segmented_scan_suite() {
    Suite suite;
    suite.cases = segmented_scan_cases;
    suite.headlines = {{.workloads = {"16", "256", "4096", "65536"}, .types = {Type::f32}}};
    suite.tuning = {.workloads = {"256"}, .guards = {"16", "65536"}};
    for (const u64 length : {u64{16}, u64{256}, u64{4096}, u64{65536}, u64{0}})
        suite.workloads.push_back(
            {length == 0 ? "power_law" : std::to_string(length),
             [length](Type type, u64 n, u64 seed) { return workload(length, type, n, seed); }});
    return suite;
}

}  // namespace concord::lab
