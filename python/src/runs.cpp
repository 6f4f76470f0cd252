// Functions of runs of equal neighbours. Their results have one element per run, and they wait for the number of runs.
#include "array.hpp"
#include "elementwise.hpp"
#include "operators.hpp"
#include "signatures.hpp"

#include <concord/reduce_by_key.hpp>
#include <concord/run_length_encode.hpp>
#include <concord/unique.hpp>

#include <initializer_list>

using namespace nanobind::literals;

namespace concord::python {
namespace {

ElementKind kind_of(const Argument& argument) {
    return {argument.type(), argument.boolean()};
}

View as_u64(View view) {
    view.type = Type::u64;
    return view;
}

// New arrays of one element per run, of these kinds. f(results, count) stores at most n elements to each of the views
// and the number of runs to `count`, one u64. It is not called for n = 0.
template <class F>
std::vector<nb::object> per_run(Call& call, u64 n, std::initializer_list<ElementKind> kinds, const F& f) {
    std::vector<std::shared_ptr<Buffer>> rooms;
    std::vector<View> results;
    u64 count = 0;
    call.run([&] {
        if (n == 0) return;
        for (const ElementKind& kind : kinds) {
            rooms.push_back(call.stream().scratch(n * size_of(kind.type)));
            results.push_back({rooms.back().get(), 0, n, kind.type});
        }
        const auto room = call.stream().scratch(sizeof count);
        const View number{room.get(), 0, 1, Type::u64};
        f(results, number);
        call.fetch(&count, number);
    });
    const i64 length = static_cast<i64>(count);
    std::vector<Argument*> outputs;
    for (const ElementKind& kind : kinds)
        outputs.push_back(&call.output({}, kind.type, std::span(&length, 1), kind.boolean));
    call.run([&] {
        for (std::size_t k = 0; k < outputs.size() && count > 0; ++k) {
            const View to = outputs[k]->view();
            call.stream().copy(*to.buffer, to.offset, *results[k].buffer, 0, to.bytes());
        }
    });
    std::vector<nb::object> arrays;
    for (Argument* output : outputs)
        arrays.push_back(call.result(*output));
    return arrays;
}

// The first element of each run, and its length as int64.
nb::object encoded(Call& call, const Argument& in) {
    const auto arrays = per_run(call, in.size(), {kind_of(in), {Type::i64}},
                                [&](const std::vector<View>& results, const View& count) {
                                    run_length_encode(call.stream(), call.values(in), results[0],
                                                      as_u64(results[1]), count, call.options());
                                });
    return nb::make_tuple(arrays[0], arrays[1]);
}

nb::object consecutive(nb::handle x, bool return_counts, CONCORD_HANDLES) {
    Call call("unique_consecutive", CONCORD_PASSED);
    const Argument& in = call.input(x, "x");
    call.begin();
    if (return_counts) return encoded(call, in);
    return per_run(call, in.size(), {kind_of(in)}, [&](const std::vector<View>& results, const View& count) {
        unique(call.stream(), call.values(in), results[0], count, call.options());
    })[0];
}

nb::object run_lengths(nb::handle x, CONCORD_HANDLES) {
    Call call("run_length_encode", CONCORD_PASSED);
    const Argument& in = call.input(x, "x", 1);
    call.begin();
    return encoded(call, in);
}

nb::object reduced_by_key(nb::handle keys, nb::handle values, nb::handle op, nb::handle identity,
                          CONCORD_HANDLES) {
    constexpr const char* name = "reduce_by_key";
    Call call(name, CONCORD_PASSED);
    const Argument& by = call.input(keys, "keys", 1);
    const Argument& in = call.input(values, "values", 1);
    if (in.boolean()) refuse(name, "values has dtype bool; pass values.astype('uint8')");
    if (by.size() != in.size())
        refuse(name, "keys has " + std::to_string(by.size()) + " elements, values has " +
                         std::to_string(in.size()));
    Combination combined(name, op, identity, in, "values");
    call.begin();
    combined.begin(call, {"segmented_reduce"});
    const auto arrays = per_run(call, by.size(), {kind_of(by), kind_of(in)},
                                [&](const std::vector<View>& results, const View& count) {
                                    const detail::Input elements = in.contiguous()
                                                                       ? detail::Input(call.values(in))
                                                                       : detail::Input(call.elements(in));
                                    detail::reduce_by_key(call.stream(),
                                                          {combined.segments(elements, {}, results[1]),
                                                           detail::Input(call.values(by)), results[0], count},
                                                          call.options());
                                });
    return nb::make_tuple(arrays[0], arrays[1]);
}

}  // namespace

void define_runs(nb::module_& m) {
    m.def("unique_consecutive", consecutive, "x"_a, nb::kw_only(), "return_counts"_a = false, CONCORD_COMMON,
          signature({{"unique_consecutive(x: $x, *, return_counts: Literal[True], $common) -> tuple[$r, $r]",
                      CONCORD_ANY_TYPE},
                     {"unique_consecutive(x: $x, *, return_counts: Literal[False] = False, $common) -> $r",
                      CONCORD_SAME_TYPE},
                     {"unique_consecutive(x: _Values, *, return_counts: bool = False, $common) -> Any",
                      {{"", ""}}}}),
          "The first element of each run of equal neighbours, in row-major order. Sorted arrays give each "
          "value "
          "once.\n\n"
          "Elements are equal if they have the same bits and are not NaN: -0 differs from +0, and every NaN "
          "from "
          "every other.\n"
          "With return_counts returns (values, counts), with the length of each run as int64. Waits for the "
          "number of runs.");
    m.def("run_length_encode", run_lengths, "x"_a, nb::kw_only(), CONCORD_COMMON,
          signature("run_length_encode(x: $x, *, $common) -> tuple[$r, $r]", CONCORD_ANY_TYPE),
          "Returns (values, lengths): the first element of each run of equal neighbours, and its number of "
          "elements as int64.\n\n"
          "Runs are those of unique_consecutive(). Waits for their number.");
    m.def(
        "reduce_by_key", reduced_by_key, "keys"_a, "values"_a, "op"_a = "sum", "identity"_a = nb::none(),
        nb::kw_only(), CONCORD_COMMON,
        signature("reduce_by_key(keys: $x, values: _Values, op: _Operator = 'sum', "
                  "identity: float | None = None, *, $common) -> tuple[$r, $r]",
                  CONCORD_ANY_TYPE),
        "Returns (keys, results): the key of each run of equal keys, and the run's values combined in their "
        "type, bitwise\n"
        "identical to reduce() of these values alone.\n\n"
        "Runs are those of unique_consecutive(). Sorted keys give one result per key. Waits for the number "
        "of "
        "runs. op, identity: as\n"
        "in reduce().");
}

}  // namespace concord::python
