// Functions that combine elements or arrange them, of all elements or along axes.
#include "elementwise.hpp"
#include "operators.hpp"
#include "signatures.hpp"
#include "small.hpp"

#include <concord/any_all.hpp>
#include <concord/scan_axes.hpp>
#include <concord/scan_by_key.hpp>
#include <concord/segmented_reduce.hpp>
#include <concord/segmented_scan.hpp>
#include <concord/segmented_sort.hpp>
#include <concord/sort_axes.hpp>
#include <concord/statistics.hpp>

#include <algorithm>
#include <list>

using namespace nanobind::literals;

namespace concord::python {
namespace {

using detail::ExpressionPointer;

// Sums of parts of integers of few bits, whose order does not matter.
CONCORD_KERNEL_OF(T, (i8, i16, i32, u8, u16, u32), sum_of_part,
                  (u64 i, i64* sums, const T* x, u64 n, u64 part), const u64 begin = i * part;
                  const u64 end = begin + part < n ? begin + part : n; i64 sum = 0;
                  for (u64 k = begin; k < end; ++k) sum += x[k]; sums[i] = sum;)

// NumPy sums integers of fewer bits in 64 bits.
ElementKind widened(ElementKind kind) {
    if (is_float(kind.type) && !kind.boolean) return kind;
    return {is_unsigned(kind.type) && !kind.boolean ? Type::u64 : Type::i64};
}

ElementKind kind_of(const Argument& argument) {
    return {argument.type(), argument.boolean()};
}

ElementKind kind_named(const char* call, nb::handle dtype) {
    ElementKind kind;
    kind.type = type_named_by(call, dtype, &kind.boolean);
    return kind;
}

// --- Axes ----------------------------------------------------------------------------------------------------------

// The argument axis: nothing for all elements in row-major order.
std::optional<Axes> axes_of(const char* call, nb::handle axis, std::size_t rank) {
    if (!is_given(axis)) return {};
    std::vector<i64> list;
    if (PyIndex_Check(axis.ptr()) != 0) {
        list = {keyword<i64>(call, "axis", nb::steal(PyNumber_Index(axis.ptr())),
                             "an integer, or a tuple of integers")};
    } else {
        list = keyword<std::vector<i64>>(call, "axis", axis, "an integer, or a tuple of integers");
    }
    return detail::sorted_axes(call, Axes(std::span<const i64>(list)), static_cast<u32>(rank));
}

i64 axis_of(const char* call, nb::handle axis, std::size_t rank) {
    if (PyIndex_Check(axis.ptr()) == 0)
        throw nb::type_error(
            (std::string(call) + ": axis: got " + short_text(axis) + "; expected an integer").c_str());
    const i64 number = keyword<i64>(call, "axis", nb::steal(PyNumber_Index(axis.ptr())), "an integer");
    return detail::axis_of(call, number, static_cast<u32>(rank));
}

bool reduces(const std::optional<Axes>& axes, std::size_t axis) {
    return !axes || std::find(axes->begin(), axes->end(), static_cast<i64>(axis)) != axes->end();
}

// A reduction: its operands, and the shape of the result.
class Reduction {
  public:
    Reduction(const char* name, nb::handle x, nb::handle axis, bool keepdims, const Common& common)
        : call(name, common), in(call.input(x, "x")), axes_(axes_of(name, axis, in.shape().size())) {
        lines_ = 1;
        for (std::size_t k = 0; k < in.shape().size(); ++k) {
            if (!reduces(axes_, k)) {
                shape_.push_back(in.shape()[k]);
                lines_ *= static_cast<u64>(in.shape()[k]);
            } else {
                length_ *= static_cast<u64>(in.shape()[k]);
                if (keepdims) shape_.push_back(1);
            }
        }
    }

    // Elements of a line, and the number of lines.
    u64 length() const { return length_; }
    u64 lines() const { return lines_; }
    // Of the result.
    const std::vector<i64>& shape() const { return shape_; }

    // Calls f(Input, View), or f(NdInput, NdView, Axes) over axes, with the elements as `type` and the output.
    template <class F>
    nb::object run(ElementKind type, ElementKind result, nb::handle out, const F& f) {
        call.begin();
        Argument& to = call.output(out, result.type, shape_, result.boolean);
        return call.run(to, [&] {
            // All elements of an array without gaps are a range.
            if (!axes_ && in.contiguous() && to.contiguous()) {
                View view = in.view(), one = to.view();
                if (in.boolean()) view.type = Type::boolean;
                if (result.boolean) one.type = Type::boolean;
                if (type == kind_of(in)) return f(detail::Input(view), one);
                return f(detail::Input(converted(type, detail::range_node(view))), one);
            }
            f(lines_input(type), kept(to), all_axes());
        });
    }

    Call call;
    const Argument& in;

  private:
    Axes all_axes() const {
        Axes all;
        for (std::size_t k = 0; k < in.shape().size(); ++k) {
            if (reduces(axes_, k)) all.add(static_cast<i64>(k));
        }
        return all;
    }
    detail::NdInput lines_input(ElementKind type) const {
        const NdView array = in.array();
        if (type == kind_of(in)) return {array};
        const detail::Input elements(converted(type, call.elements(in)));
        return {NdView(elements.view, array.extents()), elements.node};
    }
    // The output without the axes of extent 1 that keepdims adds.
    NdView kept(const Argument& to) const {
        const NdView whole = to.array();
        NdExtents extents;
        NdStrides strides;
        const bool keeps = to.shape().size() == in.shape().size();
        for (std::size_t k = 0, at = 0; k < in.shape().size(); ++k) {
            const bool is_reduced = reduces(axes_, k);
            if (!is_reduced) {
                extents.add(whole.extent(static_cast<u32>(at)));
                strides.add(whole.stride(static_cast<u32>(at)));
            }
            if (!is_reduced || keeps) ++at;
        }
        if (whole.size() == 0) return {detail::no_elements(whole.type()), extents};
        return {whole.range(), extents, strides, whole.origin()};
    }

    std::optional<Axes> axes_;
    std::vector<i64> shape_;
    u64 length_ = 1, lines_ = 1;
};

// Overloads for f of Reduction::run().
template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

detail::StatisticOperands operands_of(const detail::Input& in, const View& out) {
    return {in, out};
}
detail::StatisticOperands operands_of(const detail::NdInput& in, const NdView& out, const Axes& axes) {
    return {in, out, axes};
}

// --- Reductions ----------------------------------------------------------------------------------------------------

nb::object combined(Reduction& call, ElementKind type, ReduceOp op, nb::handle out) {
    // The largest of bool is any, the smallest is all.
    const auto quantifier = op == ReduceOp::max ? detail::Quantifier::any : detail::Quantifier::all;
    return call.run(type, type, out,
                    Overloaded{[&](const detail::Input& in, const View& to) {
                                   Stream& stream = call.call.stream();
                                   if (type.boolean) {
                                       detail::quantify(stream, quantifier, in, to, call.call.options());
                                   } else {
                                       detail::reduce(stream, in, to, op, call.call.options());
                                   }
                               },
                               [&](const detail::NdInput& in, const NdView& to, const Axes& axes) {
                                   Stream& stream = call.call.stream();
                                   if (type.boolean) {
                                       detail::quantify(stream, quantifier, in, to, axes,
                                                        call.call.options());
                                   } else {
                                       detail::reduce_lines(stream, in, to, op, axes, call.call.options());
                                   }
                               }});
}

// Throws InvalidArgument unless an array may be offsets.
void check_offsets(const char* name, const Argument& at) {
    if (at.boolean() || is_float(at.type()) || size_of(at.type()) < 4)
        refuse(name, "offsets has dtype " + at.dtype() + "; expected int32, int64, uint32 or uint64");
    if (at.size() == 0) refuse(name, "offsets is empty; pass one offset more than there are segments");
}
// The offsets on the device, whose values are checked, those of n elements. For use in run().
View checked_offsets(Call& call, const char* name, const Argument& offsets, u64 n, bool covers) {
    const View where = call.values(offsets);
    std::vector<std::byte> bytes(where.bytes());
    call.fetch(bytes.data(), where);
    detail::OffsetsCheck check(name, n);
    check.add(bytes, offsets.type());
    if (covers) check.check_covers();
    return where;
}
// The elements of an array, which kernels read or compute.
detail::Input elements_of(Call& call, const Argument& in) {
    return in.contiguous() ? detail::Input(call.values(in)) : detail::Input(call.elements(in));
}
// Calls f with a view for the results, one after another in memory, and moves them to `result` if that is not.
template <class F>
void store_results(Call& call, Argument& result, const F& f) {
    if (result.contiguous()) return f(result.view());
    const auto room = call.stream().scratch(result.size() * size_of(result.type()));
    const View to{room.get(), 0, result.size(), result.type()};
    f(to);
    call.prepare(result, detail::range_node(to));
}

nb::object segmented(nb::handle x, nb::handle offsets, nb::handle op, nb::handle identity, nb::handle out,
                     CONCORD_HANDLES) {
    constexpr const char* name = "segmented_reduce";
    Call call(name, CONCORD_PASSED);
    const Argument& in = call.input(x, "x", 1);
    const Argument& at = call.input(offsets, "offsets", 1);
    if (in.boolean()) refuse(name, "x has dtype bool; pass x.astype('uint8')");
    check_offsets(name, at);
    Combination combined(name, op, identity, in, "x");
    call.begin();
    combined.begin(call, {"segmented_reduce"});
    const i64 segments = static_cast<i64>(at.size()) - 1;
    Argument& result = call.output(out, in.type(), std::span(&segments, 1));
    return call.run(result, [&] {
        const View where = checked_offsets(call, name, at, in.size(), false);
        if (segments == 0) return;
        const detail::Input elements = elements_of(call, in);
        store_results(call, result, [&](const View& to) {
            detail::segmented_reduce(call.stream(), combined.segments(elements, where, to), call.options());
        });
    });
}

// The scan of segments, or without offsets of runs.
detail::SegmentedScanProblem segmented_scan_of(const Combination& combined, const detail::Input& in,
                                               const View& offsets, const View& out, bool exclusive) {
    const ScanKind kind = exclusive ? ScanKind::exclusive : ScanKind::inclusive;
    if (!combined.is_own()) return detail::segmented_scan_problem(in, offsets, out, combined.known(), kind);
    return {{.in = in.view,
             .out = out,
             .op = combined.op(),
             .values = combined.values(),
             .identity = combined.identity(),
             .kind = kind,
             .host = combined.host<detail::ScanHost>(0),
             .expression = in.node},
            offsets,
            combined.host<HostKernel>(1)};
}

nb::object segmented_prefix(nb::handle x, nb::handle offsets, nb::handle op, nb::handle identity,
                            bool exclusive, nb::handle out, CONCORD_HANDLES) {
    constexpr const char* name = "segmented_scan";
    Call call(name, CONCORD_PASSED);
    const Argument& in = call.input(x, "x", 1);
    const Argument& at = call.input(offsets, "offsets", 1);
    if (in.boolean()) refuse(name, "x has dtype bool; pass x.astype('uint8')");
    check_offsets(name, at);
    Combination combined(name, op, identity, in, "x");
    call.begin();
    combined.begin(call, {"scan", "segmented_scan"});
    const i64 n = static_cast<i64>(in.size());
    Argument& result = call.output(out, in.type(), std::span(&n, 1));
    return call.run(result, [&] {
        const View where = checked_offsets(call, name, at, in.size(), true);
        if (n == 0) return;
        store_results(call, result, [&](const View& to) {
            detail::segmented_scan(call.stream(),
                                   segmented_scan_of(combined, elements_of(call, in), where, to, exclusive),
                                   call.options());
        });
    });
}

nb::object prefix_by_key(nb::handle keys, nb::handle values, nb::handle op, nb::handle identity,
                         bool exclusive, nb::handle out, CONCORD_HANDLES) {
    constexpr const char* name = "scan_by_key";
    Call call(name, CONCORD_PASSED);
    const Argument& by = call.input(keys, "keys", 1);
    const Argument& in = call.input(values, "values", 1);
    if (in.boolean()) refuse(name, "values has dtype bool; pass values.astype('uint8')");
    if (by.size() != in.size())
        refuse(name, "keys has " + std::to_string(by.size()) + " elements, values has " +
                         std::to_string(in.size()));
    Combination combined(name, op, identity, in, "values");
    call.begin();
    combined.begin(call, {"scan", "segmented_scan"});
    const i64 n = static_cast<i64>(in.size());
    Argument& result = call.output(out, in.type(), std::span(&n, 1));
    return call.run(result, [&] {
        if (n == 0) return;
        store_results(call, result, [&](const View& to) {
            detail::scan_by_key(call.stream(),
                                {segmented_scan_of(combined, elements_of(call, in), {}, to, exclusive),
                                 detail::Input(call.values(by))},
                                call.options());
        });
    });
}

// On CPUs: the sum of all integers of less than 64 bits, without blocks of converted elements.
nb::object sum_of_integers(Reduction& call, nb::handle out) {
    call.call.begin();
    Argument& result = call.call.output(out, is_unsigned(call.in.type()) ? Type::u64 : Type::i64, {});
    return call.call.run(result, [&] {
        Stream& stream = call.call.stream();
        const View in = call.in.view();
        constexpr u64 part = u64{1} << 16;
        const u64 parts = (in.count + part - 1) / part;
        View to = result.view();
        to.type = Type::i64;
        const auto held = parts > 1 ? stream.scratch(parts * sizeof(i64)) : nullptr;
        const View sums = parts > 1 ? View{held.get(), 0, parts, Type::i64} : to;
        detail::visit_type(in.type, [&]<class T>(detail::TypeTag<T>) {
            if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) < 8)
                sum_of_part(stream, parts, Span<i64>(sums), Span<const T>(in), in.count, part);
        });
        if (parts > 1) detail::reduce(stream, sums, to, ReduceOp::sum, {});
    });
}

nb::object total(const char* name, nb::handle x, ReduceOp op, nb::handle axis, nb::handle dtype,
                 bool keepdims, nb::handle out, const Common& common) {
    Reduction call(name, x, axis, keepdims, common);
    const ElementKind own = kind_of(call.in);
    const bool adds = op == ReduceOp::sum || op == ReduceOp::product;
    if (!adds && call.length() == 0 && call.lines() > 0)
        refuse(name, (is_given(axis) ? "the axes of x have" : std::string("x has")) +
                         " no elements, and no element has the " + std::string(name));
    ElementKind type = adds ? widened(own) : own;
    if (is_given(dtype)) type = kind_named(name, dtype);
    const bool is_plain = !is_given(common.order) && !is_given(common.variant) && !is_given(common.device);
    if (op == ReduceOp::sum && is_plain && !is_given(axis) && !is_given(dtype) && !own.boolean &&
        !is_float(own.type) && size_of(own.type) < 8 && call.in.contiguous() && call.length() > 0 &&
        call.in.on_host() && call.shape().empty() && !is_given(out))
        return sum_of_integers(call, out);
    if (type.boolean && adds) refuse(name, "dtype bool, which has no sums; use any or all");
    return combined(call, type, op, out);
}

nb::object quantified(const char* name, detail::Quantifier quantifier, nb::handle x, nb::handle axis,
                      bool keepdims, nb::handle out, const Common& common) {
    Reduction call(name, x, axis, keepdims, common);
    return call.run(
        kind_of(call.in), {Type::u8, true}, out,
        Overloaded{[&](const detail::Input& in, const View& to) {
                       detail::quantify(call.call.stream(), quantifier, in, to, call.call.options());
                   },
                   [&](const detail::NdInput& in, const NdView& to, const Axes& axes) {
                       detail::quantify(call.call.stream(), quantifier, in, to, axes, call.call.options());
                   }});
}

enum class Statistic : u8 { mean, variance, deviation, norm };

nb::object statistic(const char* name, Statistic which, nb::handle x, nb::handle axis, nb::handle dtype,
                     f64 ddof, bool keepdims, nb::handle out, const Common& common) {
    Reduction call(name, x, axis, keepdims, common);
    const ElementKind own = kind_of(call.in);
    ElementKind type = is_float(own.type) && !own.boolean ? own : ElementKind{Type::f64};
    if (is_given(dtype)) type = kind_named(name, dtype);
    if (type.boolean || !is_float(type.type))
        refuse(name, "dtype: got " + type.name() + "; expected float32 or float64");
    if (!(ddof >= 0) || ddof != static_cast<f64>(static_cast<u64>(ddof)))
        refuse(name, "ddof: got " + std::to_string(ddof) + "; expected a whole number, 0 or greater");
    // Integers are converted in the kernel that reads them.
    const ElementKind read = is_given(dtype) || own.boolean ? type : own;
    const auto compute = [&](const detail::StatisticOperands& operands) {
        Stream& stream = call.call.stream();
        const Options& options = call.call.options();
        switch (which) {
            case Statistic::mean:
                detail::mean(stream, operands, options);
                break;
            case Statistic::norm:
                detail::norm(stream, operands, options);
                break;
            default:
                detail::variance(stream, operands, static_cast<u64>(ddof), which == Statistic::deviation,
                                 options);
        }
    };
    return call.run(read, type, out, [&](const auto&... operands) { compute(operands_of(operands...)); });
}

nb::object extremum_index(const char* name, ReduceOp op, nb::handle x, nb::handle axis, bool keepdims,
                          nb::handle out, const Common& common) {
    Reduction call(name, x, axis, keepdims, common);
    if (call.length() == 0 && call.lines() > 0)
        refuse(name, "x has no elements, and no element has an index");
    const ElementKind own = kind_of(call.in);
    return call.run(own.boolean ? ElementKind{Type::u8} : own, {Type::i64}, out,
                    Overloaded{[&](const detail::Input& in, View to) {
                                   to.type = Type::u64;
                                   detail::arg_extremum(call.call.stream(), operands_of(in, to), nullptr, op,
                                                        call.call.options());
                               },
                               [&](const detail::NdInput& in, const NdView& to, const Axes& axes) {
                                   View range = to.range();
                                   range.type = Type::u64;
                                   const NdView indices(range, to.extents(), to.strides(), to.origin());
                                   detail::arg_extremum(call.call.stream(), operands_of(in, indices, axes),
                                                        nullptr, op, call.call.options());
                               }});
}

nb::object inner_product(nb::handle x, nb::handle y, nb::handle out, CONCORD_HANDLES) {
    constexpr const char* name = "dot";
    Call call(name, CONCORD_PASSED);
    const Argument& a = call.input(x, "x", 1);
    const Argument& b = call.input(y, "y", 1);
    if (a.size() != b.size())
        refuse(name, "x has " + std::to_string(a.size()) + " elements, y has " + std::to_string(b.size()));
    const ElementKind type = promoted(kind_of(a), kind_of(b));
    if (type.boolean) refuse(name, "x and y have dtype bool; use any(logical_and(x, y))");
    call.begin();
    Argument& result = call.output(out, type.type, {});
    return call.run(result, [&] {
        const auto as_type = [&](const Argument& argument) {
            return converted(type, call.elements(argument));
        };
        detail::reduce(call.stream(),
                       detail::Input(detail::transform_node(ReduceOp::product, as_type(a), as_type(b))),
                       result.view(), ReduceOp::sum, call.options());
    });
}

// --- Scans ---------------------------------------------------------------------------------------------------------

// widens: sums of integers have 64 bits.
nb::object prefix(const char* name, nb::handle x, ReduceOp op, nb::handle axis, nb::handle dtype,
                  bool exclusive, bool widens, nb::handle out, const Common& common) {
    Call call(name, common);
    const Argument& in = call.input(x, "x");
    const ElementKind own = kind_of(in);
    const bool bounds = op == ReduceOp::min || op == ReduceOp::max;
    ElementKind type = widens ? widened(own) : own;
    if (is_given(dtype)) type = kind_named(name, dtype);
    if (type.boolean && !bounds) refuse(name, "x has dtype bool, which has no sums; use cumsum, min or max");
    const bool flat = !is_given(axis);
    const i64 along = flat ? 0 : axis_of(name, axis, in.shape().size());
    const std::vector<i64> shape = flat ? std::vector<i64>{static_cast<i64>(in.size())}
                                        : std::vector<i64>(in.shape().begin(), in.shape().end());
    call.begin();
    Argument& result = call.output(out, type.type, shape, type.boolean);
    return call.run(result, [&] {
        if (in.size() == 0) return;
        const ScanKind kind = exclusive ? ScanKind::exclusive : ScanKind::inclusive;
        Stream& stream = call.stream();
        const bool converts = type != own || own.boolean;
        if (flat && in.contiguous() && result.contiguous() && !converts) {
            scan(stream, in.view(), result.view(), op, kind, call.options());
            return;
        }
        NdView to = result.array();
        if (type.boolean)
            to = NdView(View{to.range().buffer, to.range().offset, to.range().count, Type::u8}, to.extents(),
                        to.strides(), to.origin());
        if (!flat && !converts) {
            scan(stream, in.array(), to, op, along, kind, call.options());
            return;
        }
        // Converts to the output, and scans there.
        call.prepare(result, converted(type, call.elements(in)));
        if (flat && result.contiguous()) {
            const View there = result.view();
            scan(stream, there, there, op, kind, call.options());
        } else {
            scan(stream, to, to, op, flat ? 0 : along, kind, call.options());
        }
    });
}

// --- Sorts ---------------------------------------------------------------------------------------------------------

SortBy sort_by(bool descending, NanOrder nan) {
    SortBy by;
    by.nan = nan;
    by.order = descending ? SortOrder::descending : SortOrder::ascending;
    by.stable = true;
    return by;
}

NanOrder nan_order(const char* call, nb::handle nan) {
    if (!is_given(nan)) return NanOrder::total;
    const auto word = keyword<std::string>(call, "nan", nan, "'last'");
    if (word != "last") refuse(call, "nan: got '" + word + "'; expected 'last'");
    return NanOrder::last;
}

NdView as_bytes(const NdView& array) {
    View range = array.range();
    if (is_boolean(range.type)) range.type = Type::u8;
    return {range, array.extents(), array.strides(), array.origin()};
}

// What sort() and argsort() have in common. axis: none for all elements.
struct Sorting {
    Sorting(const char* name, nb::handle x, nb::handle axis, const Common& common)
        : call(name, common), in(call.input(x, "x")), flat(!is_given(axis)) {
        if (in.shape().empty() && !flat)
            refuse(name, "x has no dimensions, and no axis; pass axis=None for its element");
        if (!flat) along = axis_of(name, axis, in.shape().size());
        shape.assign(in.shape().begin(), in.shape().end());
        if (flat) shape = {static_cast<i64>(in.size())};
    }
    // Whether the call is one of a range.
    bool of_range() const { return shape.size() == 1; }
    // The elements as an array of the result's shape. Those of bool are 0 and 1.
    NdView source() {
        if (flat || in.boolean()) {
            NdExtents extents;
            for (const i64 extent : shape)
                extents.add(static_cast<u64>(extent));
            return {call.values(in), extents};
        }
        return in.array();
    }

    Call call;
    const Argument& in;
    bool flat;
    i64 along = 0;
    std::vector<i64> shape;
};

// NumPy's choices of algorithms, which give the same result: all sorts are stable.
void check_kind(const char* call, nb::handle kind, nb::handle stable) {
    if (is_given(stable)) static_cast<void>(keyword<bool>(call, "stable", stable, "True or False"));
    if (!is_given(kind)) return;
    const auto name = keyword<std::string>(call, "kind", kind, "a string");
    for (const char* known : {"stable", "quicksort", "mergesort", "heapsort"})
        if (name == known) return;
    refuse(call, "kind: got '" + name + "'; expected 'stable', 'quicksort', 'mergesort' or 'heapsort'");
}

nb::object sorted(nb::handle x, nb::handle axis, bool descending, nb::handle nan, nb::handle stable,
                  nb::handle kind, nb::handle out, CONCORD_HANDLES) {
    constexpr const char* name = "sort";
    check_kind(name, kind, stable);
    if (nb::object few = few_sorted_elements(x, axis, descending, nan, out, CONCORD_PASSED); few.is_valid())
        return few;
    Sorting sorting(name, x, axis, CONCORD_PASSED);
    Call& call = sorting.call;
    const Argument& in = sorting.in;
    const SortBy by = sort_by(descending, nan_order(name, nan));
    call.begin();
    Argument& result = call.output(out, in.type(), sorting.shape, in.boolean());
    return call.run(result, [&] {
        if (in.size() == 0) return;
        Stream& stream = call.stream();
        const NdView from = sorting.source(), to = as_bytes(result.array());
        if (sorting.of_range() && from.is_contiguous() && result.contiguous()) {
            SortBy unordered = by;
            unordered.stable = false;
            sort(stream, from.range(), result.view(), unordered, call.options());
        } else {
            sort(stream, from, to, sorting.along, by, call.options());
        }
    });
}

nb::object argsorted(nb::handle x, nb::handle axis, bool descending, nb::handle nan, nb::handle stable,
                     nb::handle kind, nb::handle out, CONCORD_HANDLES) {
    constexpr const char* name = "argsort";
    check_kind(name, kind, stable);
    Sorting sorting(name, x, axis, CONCORD_PASSED);
    Call& call = sorting.call;
    const Argument& in = sorting.in;
    const SortBy by = sort_by(descending, nan_order(name, nan));
    call.begin();
    Argument& result = call.output(out, Type::i64, sorting.shape);
    return call.run(result, [&] {
        if (in.size() == 0) return;
        Stream& stream = call.stream();
        const NdView from = sorting.source();
        if (sorting.of_range() && from.is_contiguous() && result.contiguous()) {
            argsort(stream, from.range(), result.view(), by, call.options());
        } else {
            argsort(stream, from, result.array(), sorting.along, by, call.options());
        }
    });
}

nb::object segmented_sorted(nb::handle x, nb::handle offsets, nb::handle values, bool descending,
                            nb::handle nan, nb::handle out, CONCORD_HANDLES) {
    constexpr const char* name = "segmented_sort";
    Call call(name, CONCORD_PASSED);
    const Argument& in = call.input(x, "x", 1);
    const Argument& at = call.input(offsets, "offsets", 1);
    check_offsets(name, at);
    const Argument* const moved = is_given(values) ? &call.input(values, "values", 1) : nullptr;
    if (moved != nullptr && moved->size() != in.size())
        refuse(name, "x has " + std::to_string(in.size()) + " elements, values has " +
                         std::to_string(moved->size()) + "; pass one value per element");
    if (moved != nullptr && is_given(out)) refuse(name, "out is not supported with values; omit it");
    const SortBy by = sort_by(descending, nan_order(name, nan));
    call.begin();
    Argument& result = call.output(out, in.type(), in.shape(), in.boolean());
    if (moved != nullptr) {
        Argument& sorted_values = call.output({}, moved->type(), moved->shape(), moved->boolean());
        call.run([&] {
            const View where = checked_offsets(call, name, at, in.size(), true);
            segmented_sort_pairs(call.stream(), call.values(in), call.values(*moved), where, result.view(),
                                 sorted_values.view(), by, call.options());
        });
        return nb::make_tuple(call.result(result), call.result(sorted_values));
    }
    return call.run(result, [&] {
        const View where = checked_offsets(call, name, at, in.size(), true);
        const View from = call.values(in);
        const auto room = result.contiguous() || from.count == 0
                              ? nullptr
                              : call.stream().scratch(from.count * size_of(in.type()));
        const View to = room ? View{room.get(), 0, from.count, from.type} : result.view();
        segmented_sort(call.stream(), from, where, to, by, call.options());
        if (room) call.prepare(result, detail::range_node(to));
    });
}

}  // namespace

ReduceOp reduce_op(const char* call, const std::string& name) {
    if (const auto op = reduce_op_named(name)) return *op;
    refuse(call, detail::error_message("unknown operator", detail::quoted(name),
                                       "expected sum, product, min or max"));
}

nb::object reduced_builtin(nb::handle x, const std::string& op, nb::handle axis, bool keepdims,
                           nb::handle out, const Common& common) {
    const ReduceOp known = reduce_op("reduce", op);
    Reduction call("reduce", x, axis, keepdims, common);
    const ElementKind own = kind_of(call.in);
    const bool adds = known == ReduceOp::sum || known == ReduceOp::product;
    if (own.boolean && adds) refuse("reduce", "x has dtype bool, which has no sums; use sum, min or max");
    return combined(call, own, known, out);
}

nb::object scanned_builtin(nb::handle x, const std::string& op, nb::handle axis, bool exclusive,
                           nb::handle out, const Common& common) {
    return prefix("scan", x, reduce_op("scan", op), axis, {}, exclusive, false, out, common);
}

void define_reductions(nb::module_& m) {
    static std::list<std::string> strings;  // for the life of the process
    const auto kept = [](std::string text) { return strings.emplace_back(std::move(text)).c_str(); };
    static constexpr const char* axes_text =
        "\n\naxis: one axis or a tuple of axes, from the front or, negative, from the back; all elements "
        "without it. "
        "keepdims\n"
        "leaves the axes in the result, with one element.";
    const auto define_total = [&](const char* name, ReduceOp op, const char* text) {
        const std::string head = name + std::string("(x: $x, axis: _Axes = None, ");
        if (op == ReduceOp::sum || op == ReduceOp::product) {
            m.def(
                name,
                [name, op](nb::handle x, nb::handle axis, nb::handle dtype, bool keepdims, nb::handle out,
                           CONCORD_HANDLES) {
                    return total(name, x, op, axis, dtype, keepdims, out, CONCORD_PASSED);
                },
                "x"_a, "axis"_a = nb::none(), nb::kw_only(), "dtype"_a = nb::none(), "keepdims"_a = false,
                "out"_a = nb::none(), CONCORD_COMMON,
                signature(
                    head + "*, dtype: Any = None, keepdims: bool = False, out: _Out = None, $common) -> $r",
                    CONCORD_WIDENED_ELEMENT),
                kept(std::string(text) + axes_text));
        } else {
            m.def(
                name,
                [name, op](nb::handle x, nb::handle axis, bool keepdims, nb::handle out, CONCORD_HANDLES) {
                    return total(name, x, op, axis, {}, keepdims, out, CONCORD_PASSED);
                },
                "x"_a, "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false, "out"_a = nb::none(),
                CONCORD_COMMON,
                signature(head + "*, keepdims: bool = False, out: _Out = None, $common) -> $r",
                          CONCORD_ONE_ELEMENT),
                kept(std::string(text) + axes_text));
        }
    };
    define_total(
        "sum", ReduceOp::sum,
        "Sum of all elements.\n\n"
        "Floats are added in the canonical order, so that the result has the same bits on every device. "
        "Integers\n"
        "of less than 64 bits and bool are summed in 64 bits, as in NumPy; dtype=x.dtype keeps their type, "
        "which\n"
        "wraps. The sum of no elements is 0.");
    define_total("prod", ReduceOp::product,
                 "Product of all elements; see sum(). The product of no elements is 1.");
    define_total("min", ReduceOp::min,
                 "Smallest element; NaN if there is one. Raises ValueError without elements.");
    define_total("max", ReduceOp::max,
                 "Largest element; NaN if there is one. Raises ValueError without elements.");
    const auto define_quantifier = [&](const char* name, detail::Quantifier quantifier, const char* text) {
        m.def(
            name,
            [name, quantifier](nb::handle x, nb::handle axis, bool keepdims, nb::handle out,
                               CONCORD_HANDLES) {
                return quantified(name, quantifier, x, axis, keepdims, out, CONCORD_PASSED);
            },
            "x"_a, "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false, "out"_a = nb::none(),
            CONCORD_COMMON,
            signature(
                name + std::string("(x: $x, axis: _Axes = None, *, keepdims: bool = False, out: _Out = None, "
                                   "$common) -> $r"),
                CONCORD_ANY_ELEMENT),
            kept(std::string(text) + axes_text));
    };
    define_quantifier("any", detail::Quantifier::any, "Whether an element is not 0. NaN is not 0.");
    define_quantifier("all", detail::Quantifier::all, "Whether all elements are not 0.");
    const auto define_statistic = [&](const char* name, Statistic which, const char* text) {
        const std::string head = name + std::string("(x: $x, axis: _Axes = None, *, dtype: Any = None, ");
        if (which == Statistic::mean || which == Statistic::norm) {
            m.def(
                name,
                [name, which](nb::handle x, nb::handle axis, nb::handle dtype, bool keepdims, nb::handle out,
                              CONCORD_HANDLES) {
                    return statistic(name, which, x, axis, dtype, 0, keepdims, out, CONCORD_PASSED);
                },
                "x"_a, "axis"_a = nb::none(), nb::kw_only(), "dtype"_a = nb::none(), "keepdims"_a = false,
                "out"_a = nb::none(), CONCORD_COMMON,
                signature(head + "keepdims: bool = False, out: _Out = None, $common) -> $r",
                          CONCORD_WIDENED_ELEMENT),
                kept(std::string(text) + axes_text));
        } else {
            m.def(
                name,
                [name, which](nb::handle x, nb::handle axis, nb::handle dtype, f64 ddof,
                              nb::handle correction, bool keepdims, nb::handle out, CONCORD_HANDLES) {
                    const f64 less = is_given(correction)
                                         ? keyword<f64>(name, "correction", correction, "a number")
                                         : ddof;
                    return statistic(name, which, x, axis, dtype, less, keepdims, out, CONCORD_PASSED);
                },
                "x"_a, "axis"_a = nb::none(), nb::kw_only(), "dtype"_a = nb::none(), "ddof"_a = 0.0,
                "correction"_a = nb::none(), "keepdims"_a = false, "out"_a = nb::none(), CONCORD_COMMON,
                signature(head +
                              "ddof: float = 0.0, correction: float | None = None, keepdims: bool = False, "
                              "out: _Out = None, $common) -> $r",
                          CONCORD_WIDENED_ELEMENT),
                kept(std::string(text) + axes_text));
        }
    };
    define_statistic(
        "mean", Statistic::mean,
        "Sum of the elements divided by their number; NaN without elements. Integers give float64.");
    define_statistic(
        "var", Statistic::variance,
        "Sum of the squares of x - mean(x), divided by max(n - ddof, 0). ddof, or correction, is 1 for a "
        "sample of a\n"
        "population.");
    define_statistic("std", Statistic::deviation, "Square root of var().");
    define_statistic("norm", Statistic::norm, "Square root of the sum of the squares of the elements.");
    const auto define_index = [&](const char* name, ReduceOp op, const char* text) {
        m.def(
            name,
            [name, op](nb::handle x, nb::handle axis, bool keepdims, nb::handle out, CONCORD_HANDLES) {
                return extremum_index(name, op, x, axis, keepdims, out, CONCORD_PASSED);
            },
            "x"_a, "axis"_a = nb::none(), nb::kw_only(), "keepdims"_a = false, "out"_a = nb::none(),
            CONCORD_COMMON,
            signature(
                name + std::string("(x: $x, axis: _Axes = None, *, keepdims: bool = False, out: _Out = None, "
                                   "$common) -> $r"),
                CONCORD_ANY_ELEMENT),
            kept(std::string(text) + axes_text));
    };
    define_index("argmin", ReduceOp::min,
                 "Index of the smallest element, as int64: the first of several, and that of the first NaN.");
    define_index("argmax", ReduceOp::max,
                 "Index of the largest element, as int64: the first of several, and that of the first NaN.");
    m.def("segmented_reduce", segmented, "x"_a, "offsets"_a, "op"_a = "sum", "identity"_a = nb::none(),
          nb::kw_only(), "out"_a = nb::none(), CONCORD_COMMON,
          signature("segmented_reduce(x: $x, offsets: _Values, op: _Operator = "
                    "'sum', identity: float | None = None, *, out: _Out = None, $common) -> $r",
                    CONCORD_SAME_TYPE),
          "Combines the elements x[offsets[s]:offsets[s + 1]] of each segment s in the type of x, bitwise "
          "identical to reduce()\n"
          "of these elements alone. A segment without elements gives the identity. offsets: integers that "
          "ascend, one more than\n"
          "there are segments. op, identity: as in reduce().");
    m.def(
        "segmented_scan", segmented_prefix, "x"_a, "offsets"_a, "op"_a = "sum", "identity"_a = nb::none(),
        nb::kw_only(), "exclusive"_a = false, "out"_a = nb::none(), CONCORD_COMMON,
        signature("segmented_scan(x: $x, offsets: _Values, op: _Operator = "
                  "'sum', identity: float | None = None, *, exclusive: bool = False, out: _Out = None, "
                  "$common) -> $r",
                  CONCORD_SAME_TYPE),
        "Scans the elements x[offsets[s]:offsets[s + 1]] of each segment s in the type of x, bitwise "
        "identical to scan() of these\n"
        "elements alone. offsets: integers that ascend from 0 to len(x), one more than there are segments.\n"
        "op, identity: as in scan().");
    m.def("scan_by_key", prefix_by_key, "keys"_a, "values"_a, "op"_a = "sum", "identity"_a = nb::none(),
          nb::kw_only(), "exclusive"_a = false, "out"_a = nb::none(), CONCORD_COMMON,
          signature("scan_by_key(keys: $x, values: _Values, op: _Operator = "
                    "'sum', identity: float | None = None, *, exclusive: bool = False, out: _Out = None, "
                    "$common) -> $r",
                    CONCORD_ANY_TYPE),
          "Scans the values of each run of equal keys in their type, bitwise identical to scan() of these "
          "values alone.\n\n"
          "Runs are those of unique_consecutive(). op, identity: as in scan().");
    m.def("dot", inner_product, "x"_a, "y"_a, nb::kw_only(), "out"_a = nb::none(), CONCORD_COMMON,
          signature("dot(x: $x, y: _Values, *, out: _Out = None, $common) -> $r", CONCORD_ANY_ELEMENT),
          "Sum of the products of the elements of two vectors, in the order of sum(). Types are promoted as "
          "in NumPy.");
    const auto define_cumulative = [&](const char* name, ReduceOp op, const char* text) {
        m.def(
            name,
            [name, op](nb::handle x, nb::handle axis, nb::handle dtype, nb::handle out, CONCORD_HANDLES) {
                return prefix(name, x, op, axis, dtype, false, true, out, CONCORD_PASSED);
            },
            "x"_a, "axis"_a = nb::none(), nb::kw_only(), "dtype"_a = nb::none(), "out"_a = nb::none(),
            CONCORD_COMMON,
            signature(
                name + std::string("(x: $x, axis: int | None = None, *, dtype: Any = None, out: _Out = None, "
                                   "$common) -> $r"),
                CONCORD_WIDENED),
            text);
    };
    define_cumulative(
        "cumsum", ReduceOp::sum,
        "Sums of the elements up to each one along an axis; without an axis in row-major order, with one "
        "dimension.\n\n"
        "Integers of less than 64 bits and bool are summed in 64 bits, as in NumPy. Floats are added in "
        "the canonical\n"
        "order of scan(), which gives the same bits on every device.");
    define_cumulative("cumprod", ReduceOp::product, "Products of the elements up to each one; see cumsum().");
    m.def("sort", sorted, "x"_a, "axis"_a.none() = -1, nb::kw_only(), "descending"_a = false,
          "nan"_a = nb::none(), "stable"_a = nb::none(), "kind"_a = nb::none(), "out"_a = nb::none(),
          CONCORD_COMMON,
          signature(
              "sort(x: $x, axis: int | None = -1, *, descending: bool = False, nan: Literal['last'] | None = "
              "None, stable: bool | None = None, kind: str | None = None, out: _Out = None, $common) -> $r",
              CONCORD_SAME_TYPE),
          "Elements in ascending order along an axis; with axis=None all of them, with one dimension.\n\n"
          "Floats are in IEEE total order: -NaN, -inf, ..., -0, +0, ..., inf, NaN. With nan='last' in "
          "NumPy's: all NaNs "
          "are\n"
          "last, and -0 equals +0. Equal elements keep their order, for every kind. out may be x.");
    m.def("argsort", argsorted, "x"_a, "axis"_a.none() = -1, nb::kw_only(), "descending"_a = false,
          "nan"_a = nb::none(), "stable"_a = nb::none(), "kind"_a = nb::none(), "out"_a = nb::none(),
          CONCORD_COMMON,
          signature(
              "argsort(x: $x, axis: int | None = -1, *, descending: bool = False, nan: Literal['last'] "
              "| None = "
              "None, stable: bool | None = None, kind: str | None = None, out: _Out = None, $common) -> $r",
              CONCORD_INT64),
          "Indices (int64) that sort x along an axis. Equal elements keep their order. The order of floats "
          "is that of "
          "sort().");
    m.def("segmented_sort", segmented_sorted, "x"_a, "offsets"_a, nb::kw_only(), "values"_a = nb::none(),
          "descending"_a = false, "nan"_a = nb::none(), "out"_a = nb::none(), CONCORD_COMMON,
          signature(
              {{"segmented_sort(x: _A, offsets: _Values, *, values: $x, descending: bool = False, nan: "
                "Literal['last'] | None = None, out: None = None, $common) -> tuple[_A, $r]",
                {{"_B", "_B"}, {"_Host | _Memory", "Any"}}},
               {"segmented_sort(x: $x, offsets: _Values, *, values: None = None, descending: bool = False, "
                "nan: Literal['last'] | None = None, out: _Out = None, $common) -> $r",
                CONCORD_SAME_TYPE}}),
          "The elements x[offsets[s]:offsets[s + 1]] of each segment s in order, as sort() gives them.\n\n"
          "offsets: integers that ascend from 0 to the length of x. With values returns (x, values): each "
          "value "
          "moves with\n"
          "its element. Equal elements keep their order. out may be x.");
}

}  // namespace concord::python
