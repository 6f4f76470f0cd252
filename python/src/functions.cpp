// The functions of the package that call built-in algorithms.
#include "array.hpp"
#include "signatures.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace nanobind::literals;

namespace concord::python {
namespace {

// NumPy and PyTorch sum integers of fewer bits in 64 bits. A byte of bool is 0 or 1 by convention only.
CONCORD_FUNCTION(i64, widen_bool, (u8 x), return x != 0;)
CONCORD_FUNCTION(i64, index_of_u32, (u32 x), return x;)
CONCORD_FUNCTION(u8, flag_of, (u8 x), return x != 0;)

#define CONCORD_PYTHON_INTEGER(TYPE, WIDE)                    \
    CONCORD_FUNCTION(WIDE, widen_##TYPE, (TYPE x), return x;) \
    constexpr auto widen_of(detail::TypeTag<TYPE>) {          \
        return widen_##TYPE;                                  \
    }
CONCORD_PYTHON_INTEGER(i8, i64)
CONCORD_PYTHON_INTEGER(i16, i64)
CONCORD_PYTHON_INTEGER(i32, i64)
CONCORD_PYTHON_INTEGER(i64, i64)
CONCORD_PYTHON_INTEGER(u8, u64)
CONCORD_PYTHON_INTEGER(u16, u64)
CONCORD_PYTHON_INTEGER(u32, u64)
CONCORD_PYTHON_INTEGER(u64, u64)
#undef CONCORD_PYTHON_INTEGER

constexpr u64 widened_part = u64{1} << 24;  // elements that are widened at a time

Type widened(Type type, bool boolean) {
    if (is_float(type)) return type;
    return is_unsigned(type) && !boolean ? Type::u64 : Type::i64;
}

// Enqueues out = in, integers that are converted to 64 bits.
void widen(Stream& stream, const View& in, const View& out, bool boolean) {
    if (boolean) {
        map(stream, Span<const u8>(in), Span<i64>(out), widen_bool);
        return;
    }
    detail::visit_type(in.type, [&]<class T>(detail::TypeTag<T> tag) {
        if constexpr (std::is_integral_v<T>) {
            const auto function = widen_of(tag);
            map(stream, Span<const T>(in), Span<typename decltype(function)::Result>(out), function);
        }
    });
}

View scratch_view(const std::shared_ptr<Buffer>& buffer, u64 count, Type type) {
    return {buffer.get(), 0, count, type};
}

std::shared_ptr<Buffer> scratch(Stream& stream, u64 count, Type type) {
    return stream.scratch(std::max<u64>(1, count * size_of(type)));
}

// Reduces in the type of `out`, which is that of `in` or the wider one.
void reduce_to(Stream& stream, const View& in, const View& out, bool boolean, ReduceOp op,
               const Options& options) {
    if (in.type == out.type && !boolean) {
        reduce(stream, in, out, op, options);
        return;
    }
    // Integers are exact in any order, so the parts of one call give its result.
    const u64 parts = std::max<u64>(1, (in.count + widened_part - 1) / widened_part);
    const auto buffer = scratch(stream, std::min(in.count, widened_part), out.type);
    const auto totals = scratch(stream, parts, out.type);
    for (u64 i = 0; i < parts; ++i) {
        const u64 first = i * widened_part;
        const View part = in.part(first, std::min(in.count - first, widened_part));
        const View wide = scratch_view(buffer, part.count, out.type);
        widen(stream, part, wide, boolean);
        reduce(stream, wide, parts == 1 ? out : scratch_view(totals, parts, out.type).part(i, 1), op,
               options);
    }
    if (parts > 1) reduce(stream, scratch_view(totals, parts, out.type), out, op, options);
}

nb::object total(const char* name, nb::handle x, ReduceOp op, nb::handle dtype, nb::handle out,
                 const Common& common) {
    Call call(name, common);
    const Argument& in = call.input(x, "x");
    const bool adds = op == ReduceOp::sum || op == ReduceOp::product;
    if (!adds && in.size() == 0)
        refuse(name, "x has no elements, and no element has the " + std::string(name));
    Type type = adds ? widened(in.type(), in.boolean()) : in.type();
    if (is_given(dtype)) {
        const Type asked = type_named_by(name, dtype);
        if (asked != type && (asked != in.type() || in.boolean()))
            refuse(name, std::string("dtype ") + numpy_name(asked) + " for elements of " + in.dtype() +
                             "; expected " + numpy_name(type) +
                             (in.boolean() || in.type() == type ? "" : std::string(" or ") + in.dtype()));
        type = asked;
    }
    call.begin();
    Argument& result = call.output(out, type, {}, in.boolean() && !adds);
    return call.run(result, [&] {
        reduce_to(call.stream(), adds ? in.view() : call.values(in), result.view(), in.boolean() && adds, op,
                  call.options());
    });
}

ReduceOp reduce_op(const char* call, const std::string& name) {
    if (const auto op = reduce_op_named(name)) return *op;
    refuse(call, detail::error_message("unknown operator", detail::quoted(name),
                                       "expected sum, product, min or max"));
}

nb::object prefix(const char* name, nb::handle x, ReduceOp op, bool exclusive, bool widens, nb::handle out,
                  const Common& common) {
    Call call(name, common);
    const Argument& in = call.input(x, "x");
    const i64 count = static_cast<i64>(in.size());
    const Type type = widens ? widened(in.type(), in.boolean()) : in.type();
    const bool bounds = op == ReduceOp::min || op == ReduceOp::max;
    if (in.boolean() && !widens && !bounds)
        refuse(name, "x has dtype bool, which has no sums; use cumsum, min or max");
    call.begin();
    Argument& result = call.output(out, type, std::span(&count, 1), in.boolean() && !widens && bounds);
    return call.run(result, [&] {
        View from = widens ? in.view() : call.values(in);
        const View to = result.view();
        if (from.count == 0) return;
        if (widens && (type != from.type || in.boolean())) {
            widen(call.stream(), from, to, in.boolean());
            from = to;
        }
        scan(call.stream(), from, to, op, exclusive ? ScanKind::exclusive : ScanKind::inclusive,
             call.options());
    });
}

SortBy sort_by(bool descending, bool stable = false) {
    SortBy by;
    by.order = descending ? SortOrder::descending : SortOrder::ascending;
    by.stable = stable;
    return by;
}

nb::object sorted(nb::handle x, bool descending, nb::handle out, CONCORD_HANDLES) {
    Call call("sort", CONCORD_PASSED);
    const Argument& in = call.input(x, "x", 1);
    call.begin();
    Argument& result = call.output(out, in.type(), in.shape(), in.boolean());
    return call.run(result, [&] {
        sort(call.stream(), call.values(in), result.view(), sort_by(descending), call.options());
    });
}

nb::object argsorted(nb::handle x, bool descending, nb::handle out, CONCORD_HANDLES) {
    Call call("argsort", CONCORD_PASSED);
    const Argument& in = call.input(x, "x", 1);
    call.begin();
    Argument& result = call.output(out, Type::i64, in.shape());
    return call.run(result, [&] {
        Stream& stream = call.stream();
        const View keys = call.values(in), to = result.view();
        const u64 n = keys.count;
        if (n == 0) return;
        SortBy by = sort_by(descending, true);
        // 0, 1, 2, ... as the exclusive sums of ones.
        const auto count_up = [&](const View& view) {
            const u64 one = 1;
            stream.fill(*view.buffer, view.offset, view.bytes(), &one, size_of(view.type));
            scan(stream, view, view, ReduceOp::sum, ScanKind::exclusive);
        };
        const auto sorted_keys = scratch(stream, n, keys.type);
        if (n <= ~u32{0}) {
            const auto numbers = scratch(stream, n, Type::u32), moved = scratch(stream, n, Type::u32);
            const View from = scratch_view(numbers, n, Type::u32), there = scratch_view(moved, n, Type::u32);
            count_up(from);
            sort_pairs(stream, keys, from, scratch_view(sorted_keys, n, keys.type), there, by,
                       call.options());
            map(stream, Span<const u32>(there), Span<i64>(to), index_of_u32);
        } else {
            const auto numbers = scratch(stream, n, Type::i64);
            const View from = scratch_view(numbers, n, Type::i64);
            count_up(from);
            sort_pairs(stream, keys, from, scratch_view(sorted_keys, n, keys.type), to, by, call.options());
        }
    });
}

nb::tuple sorted_pairs(nb::handle keys, nb::handle values, bool descending, CONCORD_HANDLES) {
    Call call("sort_pairs", CONCORD_PASSED);
    const Argument& k = call.input(keys, "keys", 1);
    const Argument& v = call.input(values, "values", 1);
    call.begin();
    Argument& sorted_keys = call.output({}, k.type(), k.shape(), k.boolean());
    Argument& sorted_values = call.output({}, v.type(), v.shape(), v.boolean());
    call.run([&] {
        SortBy by = sort_by(descending, true);
        sort_pairs(call.stream(), call.values(k), call.values(v), sorted_keys.view(), sorted_values.view(),
                   by, call.options());
    });
    return nb::make_tuple(call.result(sorted_keys), call.result(sorted_values));
}

View as_u64(View view) {
    view.type = Type::u64;
    return view;
}

// The smallest and the largest element as f64.
std::pair<f64, f64> extremes(Call& call, const View& in) {
    std::array<std::byte, 16> bytes{};
    const u32 size = size_of(in.type);
    const auto buffer = scratch(call.stream(), 2, in.type);
    const View both = scratch_view(buffer, 2, in.type);
    reduce(call.stream(), in, both.part(0, 1), ReduceOp::min);
    reduce(call.stream(), in, both.part(1, 1), ReduceOp::max);
    call.fetch(bytes.data(), both);
    return detail::visit_type(in.type, [&](auto tag) {
        typename decltype(tag)::type values[2];
        std::memcpy(values, bytes.data(), 2 * size);
        return std::pair(static_cast<f64>(values[0]), static_cast<f64>(values[1]));
    });
}

// The edges of a histogram, on the host.
struct HistogramEdges {
    Type type = Type::f64;
    std::vector<std::byte> bytes;

    i64 count() const { return static_cast<i64>(bytes.size() / size_of(type)); }
    template <class T>
    std::vector<T> as() const {
        std::vector<T> values(static_cast<std::size_t>(count()));
        detail::visit_type(type, [&]<class U>(detail::TypeTag<U>) {
            for (std::size_t i = 0; i < values.size(); ++i) {
                U value;
                std::memcpy(&value, bytes.data() + i * sizeof(U), sizeof(U));
                values[i] = static_cast<T>(value);
            }
        });
        return values;
    }
    template <class T>
    void assign(const std::vector<T>& values) {
        type = type_of<T>();
        bytes.resize(values.size() * sizeof(T));
        std::memcpy(bytes.data(), values.data(), bytes.size());
    }
};

// The edges in a list: i64 if all are integers.
HistogramEdges edges_in(const char* call, nb::handle list) {
    HistogramEdges edges;
    if (std::vector<i64> integers; nb::try_cast(list, integers)) {
        edges.assign(integers);
    } else if (std::vector<f64> floats; nb::try_cast(list, floats)) {
        edges.assign(floats);
    } else {
        throw nb::type_error((std::string(call) + ": bins: got " + short_text(list) +
                              "; expected a number of bins, or ascending edges")
                                 .c_str());
    }
    return edges;
}

// The bins between the edges. NumPy compares in the type that holds samples and edges.
HistogramBins bins_between(const HistogramEdges& edges, Type samples) {
    const bool same = edges.type == samples, fits = size_of(samples) == 8 && !is_float(samples) &&
                                                    !is_float(edges.type) && size_of(edges.type) < 8 &&
                                                    (is_unsigned(edges.type) || !is_unsigned(samples));
    if (!same && !fits) return HistogramBins::edges(edges.as<f64>());
    return detail::visit_type(
        samples, [&]<class T>(detail::TypeTag<T>) { return HistogramBins::edges(edges.as<T>()); });
}

// Whether a bound is a NumPy scalar that makes the edges of f32 samples f64.
bool is_wide_scalar(nb::handle bound) {
    if (library_of(bound).name != "numpy") return false;
    const auto name = nb::cast<std::string>(bound.type().attr("__name__"));
    return name == "float64" || name == "int64" || name == "int32" || name == "uint64" || name == "uint32";
}

// The edges of `bins` bins of equal width, as numpy.linspace computes them. E: type of the arithmetic.
template <class T, class E>
std::vector<T> edges_over(const char* call, i64 bins, f64 lo, f64 hi) {
    std::vector<T> edges(static_cast<std::size_t>(bins) + 1);
    const E first = static_cast<E>(lo), step = (static_cast<E>(hi) - first) / static_cast<E>(bins);
    for (std::size_t i = 0; i < edges.size(); ++i) {
        edges[i] =
            i + 1 == edges.size() ? static_cast<T>(hi) : static_cast<T>(static_cast<E>(i) * step + first);
        if (i > 0 && !(edges[i - 1] < edges[i]))
            refuse(call, std::to_string(bins) + " bins for the range (" + std::to_string(lo) + ", " +
                             std::to_string(hi) + "), whose edges are equal in " + numpy_name(type_of<T>()));
    }
    return edges;
}

// Counts divided by their sum and by the widths of the bins.
std::vector<f64> densities(const std::vector<u64>& counts, const HistogramEdges& edges) {
    std::vector<f64> result(counts.size());
    u64 sum = 0;
    for (const u64 count : counts)
        sum += count;
    detail::visit_type(edges.type, [&]<class T>(detail::TypeTag<T>) {
        const std::vector<T> e = edges.as<T>();
        for (std::size_t i = 0; i < result.size(); ++i)
            result[i] = static_cast<f64>(counts[i]) / static_cast<f64>(static_cast<T>(e[i + 1] - e[i])) /
                        static_cast<f64>(sum);
    });
    return result;
}

nb::tuple counted(nb::handle x, nb::handle bins, nb::handle range, bool density, CONCORD_HANDLES) {
    constexpr const char* name = "histogram";
    nb::object estimated;
    if (nb::isinstance<nb::str>(bins)) {
        // The name of an estimator of NumPy, which takes host memory.
        estimated = nb::module_::import_("numpy").attr("histogram_bin_edges")(x, bins, range);
        bins = estimated;
        range = nb::none();
    }
    i64 width = PyNumber_AsSsize_t(bins.ptr(), nullptr);
    const bool given = width == -1 && PyErr_Occurred() != nullptr;
    if (given) PyErr_Clear();
    if (given && PyFloat_Check(bins.ptr()) != 0)
        throw nb::type_error(
            (std::string(name) + ": bins: got " + short_text(bins) + "; expected a whole number, or edges")
                .c_str());
    if (!given && (width < 1 || width > (i64{1} << 30)))
        refuse(name, "bins: got " + std::to_string(width) + "; expected 1 to 2^30");
    HistogramEdges edges;
    Call call(name, CONCORD_PASSED);
    const Argument& in = call.input(x, "x");
    const Argument* array = nullptr;
    if (given && (nb::isinstance<nb::list>(bins) || nb::isinstance<nb::tuple>(bins)))
        edges = edges_in(name, bins);
    else if (given)
        array = &call.input(bins, "bins", 1);
    call.begin();
    View from = in.view();
    if (in.boolean()) call.run([&] { from = call.values(in); });
    const bool is_f32 = in.type() == Type::f32;
    HistogramBins rule = HistogramBins::identity();
    if (given) {
        if (array != nullptr) {
            edges.type = array->type();
            edges.bytes.resize(array->view().bytes());
            if (!edges.bytes.empty()) call.run([&] { call.fetch(edges.bytes.data(), call.values(*array)); });
        }
        rule = bins_between(edges, in.type());
        width = edges.count() - 1;
    } else {
        f64 lo = 0, hi = 1;
        bool wide = false;
        if (is_given(range)) {
            std::tie(lo, hi) = keyword<std::pair<f64, f64>>(name, "range", range, "two numbers");
            for (const nb::handle bound : nb::iter(range))
                wide = wide || is_wide_scalar(bound);
        } else if (from.count > 0) {
            call.run([&] { std::tie(lo, hi) = extremes(call, from); });
        }
        if (!std::isfinite(lo) || !std::isfinite(hi) || lo > hi)
            refuse(name, "range: got (" + std::to_string(lo) + ", " + std::to_string(hi) +
                             "); expected finite numbers, the smaller one first");
        if (lo == hi) {
            lo -= 0.5;
            hi += 0.5;
        }
        if (!is_f32 || wide) {
            edges.assign(edges_over<f64, f64>(name, width, lo, hi));
            rule = is_f32 ? bins_between(edges, Type::f32) : HistogramBins::exact(lo, hi);
        } else if (is_given(range) || from.count == 0) {
            edges.assign(edges_over<f32, f64>(name, width, lo, hi));
            rule = HistogramBins::exact(lo, hi);
        } else {
            edges.assign(edges_over<f32, f32>(name, width, lo, hi));
            rule = HistogramBins::exact(static_cast<f32>(lo), static_cast<f32>(hi));
        }
    }
    const i64 edge_count = width + 1;
    Argument& counts = call.output({}, density ? Type::f64 : Type::i64, std::span(&width, 1));
    Argument& edges_out = call.output({}, edges.type, std::span(&edge_count, 1));
    call.run([&] {
        Stream& stream = call.stream();
        call.store(edges_out.view(), edges.bytes.data());
        if (!density) return void(histogram(stream, from, as_u64(counts.view()), rule, call.options()));
        const auto held = scratch(stream, static_cast<u64>(width), Type::u64);
        const View counters = scratch_view(held, static_cast<u64>(width), Type::u64);
        histogram(stream, from, counters, rule, call.options());
        std::vector<u64> all(counters.count);
        call.fetch(all.data(), counters);
        const std::vector<f64> divided = densities(all, edges);
        call.store(counts.view(), divided.data());
    });
    return nb::make_tuple(call.result(counts), call.result(edges_out));
}

nb::object counted_values(nb::handle x, i64 minlength, nb::handle out, CONCORD_HANDLES) {
    constexpr const char* name = "bincount";
    Call call(name, CONCORD_PASSED);
    const Argument& in = call.input(x, "x", 1);
    if (is_float(in.type())) refuse(name, "x has dtype " + in.dtype() + "; expected integers");
    if (minlength < 0)
        refuse(name,
               "minlength: got " + std::to_string(minlength) + "; expected a number that is not negative");
    call.begin();
    i64 length = minlength;
    const bool has_out = is_given(out);
    if (in.size() > 0 && !has_out) {
        std::pair<f64, f64> ends;
        call.run([&] { ends = extremes(call, call.values(in)); });
        if (ends.first < 0 || ends.second >= 0x1p60)
            refuse(name, "values from " + std::to_string(ends.first) + " to " + std::to_string(ends.second) +
                             "; expected 0 to 2^60");
        length = std::max(length, static_cast<i64>(ends.second) + 1);
    }
    if (has_out) {
        const Argument given(name, "out", out);
        given.check_rank(1);
        length = given.shape()[0];
    }
    Argument& result = call.output(out, Type::i64, std::span(&length, 1));
    return call.run(result, [&] {
        if (length > 0)
            histogram(call.stream(), call.values(in), as_u64(result.view()), HistogramBins::identity(),
                      call.options());
    });
}

// Copies the first `count` elements of scratch memory to a new array.
nb::object shortened(Call& call, const View& from, u64 count, bool boolean) {
    const i64 length = static_cast<i64>(count);
    Argument& result = call.output({}, from.type, std::span(&length, 1), boolean);
    return call.run(result, [&] {
        if (count == 0) return;
        const View to = result.view();
        call.stream().copy(*to.buffer, to.offset, *from.buffer, from.offset, to.bytes());
    });
}

nb::object compressed(nb::handle condition, nb::handle x, CONCORD_HANDLES) {
    constexpr const char* name = "compress";
    Call call(name, CONCORD_PASSED);
    const Argument& in = call.input(x, "x", 1);
    const Argument& flags = call.input(condition, "condition", 1);
    if (!flags.boolean()) refuse(name, "condition has dtype " + flags.dtype() + "; expected bool");
    if (flags.size() != in.size())
        refuse(name, "condition has " + std::to_string(flags.size()) + " elements, x has " +
                         std::to_string(in.size()));
    call.begin();
    const View from = in.view(), keep = flags.view();
    const u64 n = from.count;
    std::shared_ptr<Buffer> keys, kept;
    u64 count = 0;
    call.run([&] {
        if (n == 0) return;
        Stream& stream = call.stream();
        const auto total = scratch(stream, 1, Type::i64);
        reduce_to(stream, keep, scratch_view(total, 1, Type::i64), true, ReduceOp::sum, {});
        const auto flags_only = scratch(stream, n, Type::u8);
        const View by_flag = scratch_view(flags_only, n, Type::u8);
        map(stream, Span<const u8>(keep), Span<u8>(by_flag), flag_of);
        keys = scratch(stream, n, Type::u8);
        kept = scratch(stream, n, from.type);
        // A stable sort by one bit.
        SortBy by = sort_by(true, true);
        by.end_bit = 1;
        sort_pairs(stream, by_flag, call.values(in), scratch_view(keys, n, Type::u8),
                   scratch_view(kept, n, from.type), by, call.options());
        call.fetch(&count, scratch_view(total, 1, Type::i64));
    });
    return shortened(call, scratch_view(kept, n, from.type), count, in.boolean());
}

// The built-in rule with its operand in the type of the elements.
Keep keep_of(const char* call, const std::string& rule, nb::handle operand, Type type) {
    std::string name = rule == "<" ? "less" : rule == ">" ? "greater" : rule == "!=0" ? "nonzero" : rule;
    const auto known = keep_rule_named(name);
    if (!known)
        refuse(call, detail::error_message("unknown rule", detail::quoted(rule),
                                           "expected <, >, even, odd, nonzero or positive"));
    const bool has_operand = is_given(operand);
    if (has_operand != detail::has_operand(*known))
        refuse(call,
               "rule '" + rule + "' " + (has_operand ? "does not accept an operand" : "needs an operand"));
    if (!has_operand) return Keep(*known);
    return detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) {
        T value{};
        if (!nb::try_cast(operand, value))
            refuse(call, "operand " + nb::cast<std::string>(nb::str(operand)) + " is not a value of " +
                             numpy_name(type));
        return Keep(*known, value);
    });
}

nb::object compacted(nb::handle x, const std::string& rule, nb::handle operand, CONCORD_HANDLES) {
    constexpr const char* name = "compact";
    Call call(name, CONCORD_PASSED);
    const Argument& in = call.input(x, "x", 1);
    const Keep keep = keep_of(name, rule, operand, in.type());
    call.begin();
    const View from = in.view();
    std::shared_ptr<Buffer> kept;
    u64 count = 0;
    call.run([&] {
        if (from.count == 0) return;
        const auto total = scratch(call.stream(), 1, Type::u64);
        kept = scratch(call.stream(), from.count, from.type);
        compact(call.stream(), call.values(in), scratch_view(kept, from.count, from.type),
                scratch_view(total, 1, Type::u64), keep, call.options());
        call.fetch(&count, scratch_view(total, 1, Type::u64));
    });
    return shortened(call, scratch_view(kept, from.count, from.type), count, in.boolean());
}

nb::tuple partitioned(nb::handle x, const std::string& rule, nb::handle operand, nb::handle out,
                      CONCORD_HANDLES) {
    constexpr const char* name = "partition";
    Call call(name, CONCORD_PASSED);
    const Argument& in = call.input(x, "x", 1);
    const Keep keep = keep_of(name, rule, operand, in.type());
    call.begin();
    Argument& result = call.output(out, in.type(), in.shape(), in.boolean());
    u64 count = 0;
    call.run([&] {
        const View from = call.values(in);
        if (from.count == 0) return;
        const auto total = scratch(call.stream(), 1, Type::u64);
        partition(call.stream(), from, result.view(), scratch_view(total, 1, Type::u64), keep,
                  call.options());
        call.fetch(&count, scratch_view(total, 1, Type::u64));
    });
    return nb::make_tuple(call.result(result), count);
}

nb::object transposed(nb::handle x, nb::handle out, CONCORD_HANDLES) {
    constexpr const char* name = "transpose";
    Call call(name, CONCORD_PASSED);
    const Argument& in = call.input(x, "x", 2);
    call.begin();
    const i64 shape[] = {in.shape()[1], in.shape()[0]};
    Argument& result = call.output(out, in.type(), shape, in.boolean());
    return call.run(result, [&] {
        if (in.size() == 0) return;
        const MatrixView from = in.tensor().matrix(name), to = result.tensor().matrix(name);
        if (from.layout == to.layout) {
            transpose(call.stream(), from, to, call.options());
            return;
        }
        // Rows of one are rows of the other: a copy.
        if (from.pitch != from.rows || to.pitch != to.columns)
            throw Error(ErrorCode::unsupported, name,
                        "x is column-major with padding; pass x.T, which is the result");
        call.stream().copy(*to.range.buffer, to.range.offset, *from.range.buffer, from.range.offset,
                           in.size() * size_of(in.type()));
    });
}

nb::object product(nb::handle a, nb::handle b, f64 alpha, f64 beta, nb::handle out, CONCORD_HANDLES) {
    constexpr const char* name = "matmul";
    Call call(name, CONCORD_PASSED);
    const Argument& left = call.input(a, "a");
    const Argument& right = call.input(b, "b");
    const auto check = [&](const Argument& argument, const char* which) {
        if (argument.shape().size() < 2 || argument.shape().size() > 3) argument.check_rank(2);
        if (!is_float(argument.type()))
            refuse(name,
                   std::string(which) + " has dtype " + argument.dtype() + "; expected float32 or float64");
    };
    check(left, "a");
    check(right, "b");
    if (left.type() != right.type())
        refuse(name, "a has dtype " + left.dtype() + ", b has " + right.dtype() + "; convert one of them");
    if (beta != 0 && (!is_given(out))) refuse(name, "beta without out; pass the matrix that beta scales");
    call.begin();
    const std::span<const i64> l = left.shape(), r = right.shape();
    std::vector<i64> shape;
    if (l.size() == 3 || r.size() == 3)
        shape.push_back(std::max(l.size() == 3 ? l[0] : 1, r.size() == 3 ? r[0] : 1));
    shape.push_back(l[l.size() - 2]);
    shape.push_back(r[r.size() - 1]);
    if (l[l.size() - 1] != r[r.size() - 2])
        refuse(name, "shapes " + text_of(l) + " and " + text_of(r) +
                         " do not match: " + std::to_string(l[l.size() - 1]) + " columns and " +
                         std::to_string(r[r.size() - 2]) + " rows");
    Argument& result = call.output(out, left.type(), shape, false, beta != 0);
    return call.run(result, [&] {
        if (result.size() == 0) return;
        matmul(call.stream(), left.tensor().volume(name), right.tensor().volume(name),
               result.tensor().volume(name), {.alpha = alpha, .beta = beta}, call.options());
    });
}

// The values of an array or sequence in host memory.
std::vector<f64> host_values(const char* call, const char* name, nb::handle object, std::vector<i64>& shape) {
    const nb::object array = nb::module_::import_("numpy").attr("ascontiguousarray")(object, "float64");
    shape = nb::cast<std::vector<i64>>(array.attr("shape"));
    std::vector<f64> values;
    try {
        values = nb::cast<std::vector<f64>>(array.attr("ravel")().attr("tolist")());
    } catch (const nb::cast_error&) {
        refuse(call, std::string(name) + ": expected numbers");
    }
    return values;
}

nb::object convolved(nb::handle image, nb::handle mask, const std::string& border, nb::handle out,
                     CONCORD_HANDLES) {
    constexpr const char* name = "convolve";
    Call call(name, CONCORD_PASSED);
    const Argument& in = call.input(image, "image", 2);
    std::vector<i64> sides;
    const std::vector<f64> values = host_values(name, "mask", mask, sides);
    if (sides.size() != 2)
        refuse(name, "mask has " + std::to_string(sides.size()) + " dimensions; expected 2");
    const auto edge = convolve_border_named(border);
    if (!edge)
        refuse(name,
               detail::error_message("unknown border", detail::quoted(border), "expected zero or clamp"));
    const Type type = in.type() == Type::u8 ? Type::f32 : in.type();
    call.begin();
    Argument& result = call.output(out, type, in.shape());
    return call.run(result, [&] {
        if (in.size() == 0) return;
        const std::vector<f32> narrow(values.begin(), values.end());
        const auto rows = static_cast<u64>(sides[0]), columns = static_cast<u64>(sides[1]);
        const ConvolveMask taps =
            type == Type::f32 ? ConvolveMask(narrow, rows, columns) : ConvolveMask(values, rows, columns);
        MatrixView from = in.tensor().matrix(name);
        if (in.boolean()) from.range = call.truths(from.range);
        convolve(call.stream(), from, taps, result.tensor().matrix(name), *edge, call.options());
    });
}

nb::object stepped(nb::handle volume, const std::vector<f64>& coefficients, u64 steps, nb::handle out,
                   CONCORD_HANDLES) {
    constexpr const char* name = "stencil";
    Call call(name, CONCORD_PASSED);
    const Argument& in = call.input(volume, "volume", 3);
    const StarCoefficients star(coefficients);
    call.begin();
    Argument& result = call.output(out, in.type(), in.shape());
    return call.run(result, [&] {
        if (in.size() == 0) return;
        stencil(call.stream(), in.tensor().volume(name), star, result.tensor().volume(name), steps,
                call.options());
    });
}

nb::object added(nb::handle a, nb::handle b, nb::handle out, CONCORD_HANDLES) {
    Call call("add", CONCORD_PASSED);
    const Argument& left = call.input(a, "a");
    const Argument& right = call.input(b, "b");
    const bool same =
        std::equal(left.shape().begin(), left.shape().end(), right.shape().begin(), right.shape().end());
    if (!same || left.type() != right.type() || left.boolean())
        refuse("add", "a has dtype " + left.dtype() + " and shape " + text_of(left.shape()) + ", b has " +
                          right.dtype() + " and " + text_of(right.shape()) +
                          "; expected equal ones, and numbers");
    call.begin();
    Argument& result = call.output(out, left.type(), left.shape());
    return call.run(result, [&] {
        if (left.size() > 0) add(call.stream(), left.view(), right.view(), result.view(), call.options());
    });
}

}  // namespace

nb::object reduced_builtin(nb::handle x, const std::string& op, nb::handle out, const Common& common) {
    Call call("reduce", common);
    const Argument& in = call.input(x, "x");
    const ReduceOp known = reduce_op("reduce", op);
    if (in.boolean() && (known == ReduceOp::sum || known == ReduceOp::product))
        refuse("reduce", "x has dtype bool, which has no sums; use sum, min or max");
    call.begin();
    Argument& result = call.output(out, in.type(), {}, in.boolean());
    return call.run(result,
                    [&] { reduce(call.stream(), call.values(in), result.view(), known, call.options()); });
}

nb::object scanned_builtin(nb::handle x, const std::string& op, bool exclusive, nb::handle out,
                           const Common& common) {
    return prefix("scan", x, reduce_op("scan", op), exclusive, false, out, common);
}

void define_functions(nb::module_& m) {
    const auto define_total = [&](const char* name, ReduceOp op, const char* text) {
        if (op == ReduceOp::sum || op == ReduceOp::product) {
            m.def(
                name,
                [name, op](nb::handle x, nb::handle dtype, nb::handle out, CONCORD_HANDLES) {
                    return total(name, x, op, dtype, out, CONCORD_PASSED);
                },
                "x"_a, nb::kw_only(), "dtype"_a = nb::none(), "out"_a = nb::none(), CONCORD_COMMON,
                signature(
                    name + std::string("(x: $x, *, dtype: Any = None, out: _Out = None, $common) -> $r"),
                    CONCORD_WIDENED_ELEMENT),
                text);
        } else {
            m.def(
                name,
                [name, op](nb::handle x, nb::handle out, CONCORD_HANDLES) {
                    return total(name, x, op, {}, out, CONCORD_PASSED);
                },
                "x"_a, nb::kw_only(), "out"_a = nb::none(), CONCORD_COMMON,
                signature(name + std::string("(x: $x, *, out: _Out = None, $common) -> $r"), CONCORD_ELEMENT),
                text);
        }
    };
    define_total("sum", ReduceOp::sum,
                 "Sum of all elements.\n\n"
                 "Floats are added in the canonical order, so that the result has the same bits on every "
                 "device. Integers\n"
                 "of less than 64 bits and bool are summed in 64 bits, as in NumPy; dtype=x.dtype keeps "
                 "their type, which\n"
                 "wraps. The sum of no elements is 0.");
    define_total("prod", ReduceOp::product,
                 "Product of all elements; see sum(). The product of no elements is 1.");
    define_total("min", ReduceOp::min,
                 "Smallest element; NaN if there is one. Raises ValueError without elements.");
    define_total("max", ReduceOp::max,
                 "Largest element; NaN if there is one. Raises ValueError without elements.");
    m.def(
        "cumsum",
        [](nb::handle x, nb::handle out, CONCORD_HANDLES) {
            return prefix("cumsum", x, ReduceOp::sum, false, true, out, CONCORD_PASSED);
        },
        "x"_a, nb::kw_only(), "out"_a = nb::none(), CONCORD_COMMON,
        signature("cumsum(x: $x, *, out: _Out = None, $common) -> $r", CONCORD_WIDENED),
        "Sums of the elements up to each one, in row-major order, with one dimension.\n\n"
        "Integers of less than 64 bits and bool are summed in 64 bits, as in NumPy. Floats are added in the "
        "canonical\n"
        "order of scan(), which gives the same bits on every device.");
    m.def("sort", sorted, "x"_a, nb::kw_only(), "descending"_a = false, "out"_a = nb::none(), CONCORD_COMMON,
          signature("sort(x: $x, *, descending: bool = False, out: _Out = None, $common) -> $r",
                    CONCORD_SAME_TYPE),
          "Elements in ascending order.\n\n"
          "Floats are in IEEE total order: -NaN, -inf, ..., -0, +0, ..., inf, NaN. NumPy puts all NaNs last "
          "and does not\n"
          "distinguish the zeros. out may be x.");
    m.def("argsort", argsorted, "x"_a, nb::kw_only(), "descending"_a = false, "out"_a = nb::none(),
          CONCORD_COMMON,
          signature("argsort(x: $x, *, descending: bool = False, out: _Out = None, $common) -> $r",
                    CONCORD_INT64),
          "Indices (int64) that sort x. Equal elements keep their order. The order of floats is that of "
          "sort().");
    m.def("sort_pairs", sorted_pairs, "keys"_a, "values"_a, nb::kw_only(), "descending"_a = false,
          CONCORD_COMMON,
          signature("sort_pairs(keys: _A, values: $x, *, descending: bool = False, $common) -> tuple[_A, $r]",
                    {{"_B", "_B"}, {"_Host | _Memory", "Any"}}),
          "Sorts keys, and values with them. Returns (keys, values). Equal keys keep their order.");
    m.def("histogram", counted, "x"_a, "bins"_a = 10, "range"_a = nb::none(), "density"_a = false,
          nb::kw_only(), CONCORD_COMMON,
          signature(
              "histogram(x: $x, bins: int | str | _Values = 10, range: tuple[float, float] | None = None, "
              "density: bool = False, *, $common) -> tuple[$r, $r]",
              CONCORD_ANY_TYPE),
          "Counts of elements in bins, and the edges of the bins.\n\n"
          "bins: a number of bins of equal width, their ascending edges, or an estimator of "
          "numpy.histogram_bin_edges such as\n"
          "'auto', which runs on the host. Without range it is (min(x), max(x)).\n"
          "The last bin includes its upper edge. Counts and edges are those of NumPy, on every device. With "
          "density\n"
          "counts are divided by their sum and by the widths of the bins.");
    m.def(
        "bincount", counted_values, "x"_a, "minlength"_a = 0, nb::kw_only(), "out"_a = nb::none(),
        CONCORD_COMMON,
        signature("bincount(x: $x, minlength: int = 0, *, out: _Out = None, $common) -> $r", CONCORD_INT64),
        "How often each value 0, 1, 2, ... occurs, as int64. With out, its length is the number of bins, and "
        "other values\n"
        "are not counted; that form does not wait for the largest value.");
    m.def("compress", compressed, "condition"_a, "x"_a, nb::kw_only(), CONCORD_COMMON,
          signature("compress(condition: _Values, x: $x, *, $common) -> $r", CONCORD_SAME_TYPE),
          "Elements of x where condition (bool, of the same length) is true, in order. Waits for their "
          "number.");
    m.def(
        "compact", compacted, "x"_a, "rule"_a, "operand"_a = nb::none(), nb::kw_only(), CONCORD_COMMON,
        signature("compact(x: $x, rule: _Rule, operand: float | None = None, *, $common) -> $r",
                  CONCORD_SAME_TYPE),
        "Elements of x that satisfy a rule, in order: '<' or '>' with an operand, 'even', 'odd', 'nonzero', "
        "'positive'.\n\n"
        "Waits for their number.");
    m.def(
        "partition", partitioned, "x"_a, "rule"_a, "operand"_a = nb::none(), nb::kw_only(),
        "out"_a = nb::none(), CONCORD_COMMON,
        signature("partition(x: $x, rule: _Rule, operand: float | None = None, *, out: _Out = None, $common) "
                  "-> tuple[$r, int]",
                  CONCORD_SAME_TYPE),
        "Elements of x that satisfy a rule (see compact()), then the others, both in order. Returns (array, "
        "count).\n\n"
        "Another function than numpy.partition.");
    m.def("transpose", transposed, "x"_a, nb::kw_only(), "out"_a = nb::none(), CONCORD_COMMON,
          signature("transpose(x: $x, *, out: _Out = None, $common) -> $r", CONCORD_SAME_TYPE),
          "The transpose of a matrix as a new array, not a view.");
    m.def(
        "matmul", product, "a"_a, "b"_a, nb::kw_only(), "alpha"_a = 1.0, "beta"_a = 0.0, "out"_a = nb::none(),
        CONCORD_COMMON,
        signature("matmul(a: $x, b: _Values, *, alpha: float = 1.0, beta: float = 0.0, out: _Out = None, "
                  "$common) -> $r",
                  CONCORD_SAME_TYPE),
        "alpha * a @ b + beta * out of float32 or float64 matrices, or of batches with three dimensions.\n\n"
        "Each element is one chain of fused multiply-adds over k, or a fixed tree of several for long k and "
        "few "
        "elements:\n"
        "the same bits on every device. A matrix is shared by all products of a batch. Views with a pitch, "
        "and transposed views, are used without a "
        "copy.");
    m.def("convolve", convolved, "image"_a, "mask"_a, nb::kw_only(), "border"_a = "zero",
          "out"_a = nb::none(), CONCORD_COMMON,
          signature("convolve(image: $x, mask: _Values, *, border: Literal['zero', 'clamp'] = 'zero', "
                    "out: _Out = None, $common) -> $r",
                    CONCORD_WIDENED),
          "Image filter: cross-correlation of a matrix with a mask of odd sides up to 31, which is not "
          "flipped.\n\n"
          "The result has the shape of the image. border: zero or clamp. uint8 images give float32. Another "
          "function than\n"
          "numpy.convolve.");
    m.def(
        "stencil", stepped, "volume"_a, "coefficients"_a, "steps"_a = 1, nb::kw_only(), "out"_a = nb::none(),
        CONCORD_COMMON,
        signature("stencil(volume: $x, coefficients: Sequence[float], steps: int = 1, *, out: _Out = None, "
                  "$common) -> $r",
                  CONCORD_SAME_TYPE),
        "Time steps of a star stencil on a volume of float32 or float64: coefficients[0] times the point "
        "plus\n"
        "coefficients[r] times its six neighbours at distance r, for r = 1 ... 8. Outside the volume is 0.");
    m.def("add", added, "a"_a, "b"_a, nb::kw_only(), "out"_a = nb::none(), CONCORD_COMMON,
          signature("add(a: $x, b: _Values, *, out: _Out = None, $common) -> $r", CONCORD_SAME_TYPE),
          "Sums of the elements of two arrays of one type and shape. Integers wrap.");
}

}  // namespace concord::python
