// Test cases of segmented reduce: each segment is bitwise identical to the reference of reduce on its elements.

#include "reduced_elements.hpp"
#include "segments.hpp"

#include <concord/lab/compare.hpp>
#include <concord/lab/suite.hpp>

#include <concord/internal/once.hpp>
#include <concord/segmented_reduce.hpp>

namespace concord::lab {

CONCORD_FUNCTION(i64, combine_shifted, (i64 a, i64 b, i64 by), return a + b + by;)

namespace {

using Depth = Plan::Depth;

template <class T>
class Reference {
  public:
    Reference(Input input, const Segments& segments, T identity,
              std::function<T(const std::vector<T>&)> reduce, Tolerance tolerance = Tolerance::exact)
        : input_(std::move(input)),
          segments_(segments),
          identity_(identity),
          reduce_(std::move(reduce)),
          tolerance_(tolerance) {}

    const Input& input() const { return input_; }
    const Segments& segments() const { return segments_; }
    void verify(const Variant& variant, u64 first, std::span<const std::byte> got, Verdict& verdict) const {
        std::vector<std::byte> scratch;
        std::vector<T> elements;
        for (u64 i = 0; i < got.size() / sizeof(T); ++i) {
            const u64 begin = segments_.offset(first + i), length = segments_.offset(first + i + 1) - begin;
            elements.resize(length);
            if (length > 0)
                std::memcpy(elements.data(), input_.piece(begin, length, scratch).data(), length * sizeof(T));
            const T expected = as_computed(length == 0 ? identity_ : reduce_(elements)),
                    value = element<T>(got, i);
            verify_reduction(variant, tolerance_, elements, first + i, expected, value, verdict);
        }
    }

  private:
    Input input_;
    Segments segments_;
    T identity_;
    std::function<T(const std::vector<T>&)> reduce_;
    Tolerance tolerance_;
};

template <class T, class C>
Work work_of(std::string title, const std::shared_ptr<Reference<T>>& reference, C call) {
    const Segments& segments = reference->segments();
    Work work;
    work.algorithm = "segmented_reduce";
    work.title = std::move(title) + " of " + segments.name();
    work.inputs = {reference->input(), segments.offsets()};
    work.n = reference->input().count;
    work.outputs = {{type_of<T>(), segments.count()}};
    work.traffic = reference->input().bytes() + segments.offsets().bytes() + segments.count() * sizeof(T);
    work.in_place = false;
    work.call = std::move(call);
    work.verify = [reference](const Variant& variant, std::size_t, u64 first, std::span<const std::byte> got,
                              Verdict& verdict) { reference->verify(variant, first, got, verdict); };
    return work;
}

template <class T>
Work builtin_work(ReduceOp op, const Input& input, const Segments& segments) {
    const T identity = identity_of<T>(op);
    const auto reference = std::make_shared<Reference<T>>(
        input, segments, identity,
        [op, identity](const std::vector<T>& x) {
            return with_reference<T>(op, [&](auto f) { return reference_reduce<T>(x, identity, f); });
        },
        tolerance_of<T>(op));
    return work_of(
        std::string(name_of(op)), reference,
        [op](Stream& stream, std::span<const View> in, std::span<const View> out, const Options& options) {
            return segmented_reduce(stream, in[0], in[1], out[0], op, options);
        });
}

// Sums of squares, which the kernel computes.
template <class T>
Work squares_work(const Input& input, const Segments& segments) {
    const auto reference = std::make_shared<Reference<T>>(input, segments, T(0), [](const std::vector<T>& x) {
        std::vector<T> squares;
        squares.reserve(x.size());
        for (const T value : x)
            squares.push_back(as_computed(lab::reference(ReduceOp::product, value, value)));
        return reference_reduce<T>(squares, T(0),
                                   [](T a, T b) { return lab::reference(ReduceOp::sum, a, b); });
    });
    Work work = work_of(
        "sum of squares", reference,
        [](Stream& stream, std::span<const View> in, std::span<const View> out, const Options& options) {
            return detail::segmented_reduce(
                stream, detail::input_of(transform(MapFunction::square, Span<const T>(in[0]))), in[1], out[0],
                ReduceOp::sum, options);
        });
    work.minor = true;
    return work;
}

// A user's operator whose identity is not 0: the host compiler's version of it is the reference.
Work user_work(const Input& input, const Segments& segments) {
    constexpr i64 by = 3;
    const auto f = combine_shifted.bind(by);
    const auto reference =
        std::make_shared<Reference<i64>>(input, segments, -by, [f](const std::vector<i64>& x) {
            return reference_reduce<i64>(x, -by, [f](i64 a, i64 b) { return f(a, b); });
        });
    return work_of(
        "combine_shifted", reference,
        [f](Stream& stream, std::span<const View> in, std::span<const View> out, const Options& options) {
            return segmented_reduce(stream, Span<const i64>(in[0]), Span<const u64>(in[1]), Span<i64>(out[0]),
                                    f, -by, options);
        });
}

void segmented_reduce_cases(const Plan& plan, Type type, const CaseSink& emit) {
    const std::vector<Pattern> patterns = patterns_of(type);
    const auto input = [&](u64 n, Pattern pattern) { return Input{type, n, pattern, plan.seed()}; };
    const auto builtin = [&](ReduceOp op, const Segments::Shape& shape, Depth depth) {
        for_plan(plan, type, depth, {patterns.front(), patterns.back()}, emit, [&](u64 n, Pattern p) {
            return detail::visit_type(type, [&](auto tag) {
                return builtin_work<typename decltype(tag)::type>(op, input(n, p), Segments(shape, n));
            });
        });
    };
    for (const Segments::Shape& shape : segment_shapes())
        builtin(ReduceOp::sum, shape, shape.is_first ? Depth::all : Depth::some);
    for (const ReduceOp op : {ReduceOp::product, ReduceOp::min, ReduceOp::max})
        builtin(op, segment_shapes()[1], Depth::few);
    for_plan(plan, type, Depth::few, {patterns.front()}, emit, [&](u64 n, Pattern p) {
        return detail::visit_type(type, [&](auto tag) {
            return squares_work<typename decltype(tag)::type>(input(n, p), Segments(segment_shapes()[1], n));
        });
    });
    if (type == Type::i64)
        for_plan(plan, type, Depth::some, {patterns.front()}, emit, [&](u64 n, Pattern p) {
            return user_work(
                input(n, p),
                Segments({.kind = Segments::Kind::around, .length = 37, .offset_type = Type::u64}, n));
        });
}

Work workload(u64 length, Type type, u64 n, u64 seed) {
    const Pattern pattern = is_float(type) ? Pattern::near_one : Pattern::random;
    const Segments segments({.kind = length == 0 ? Segments::Kind::power : Segments::Kind::equal,
                             .length = length == 0 ? 256 : length,
                             .offset_type = Type::u32},
                            n);
    return detail::visit_type(type, [&](auto tag) {
        return builtin_work<typename decltype(tag)::type>(ReduceOp::sum, {type, n, pattern, seed}, segments);
    });
}

}  // namespace

Suite segmented_reduce_suite() {
    Suite suite;
    suite.cases = segmented_reduce_cases;
    suite.headlines = {{.workloads = {"16", "256", "4096", "65536"}, .types = {Type::f32}}};
    suite.tuning = {.workloads = {"4096"}, .guards = {"16"}};
    for (const u64 length : {u64{16}, u64{256}, u64{4096}, u64{65536}, u64{0}})
        suite.workloads.push_back(
            {length == 0 ? "power_law" : std::to_string(length),
             [length](Type type, u64 n, u64 seed) { return workload(length, type, n, seed); }});
    return suite;
}

}  // namespace concord::lab
