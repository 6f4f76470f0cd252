// The functions of the package that call built-in algorithms.
#include "array.hpp"
#include "signatures.hpp"
#include "small.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace nanobind::literals;

namespace concord::python {
namespace {

View scratch_view(const std::shared_ptr<Buffer>& buffer, u64 count, Type type) {
    return {buffer.get(), 0, count, type};
}

std::shared_ptr<Buffer> scratch(Stream& stream, u64 count, Type type) {
    return stream.scratch(std::max<u64>(1, count * size_of(type)));
}

SortBy sort_by(bool descending, bool stable = false) {
    SortBy by;
    by.order = descending ? SortOrder::descending : SortOrder::ascending;
    by.stable = stable;
    return by;
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
    View from = in.contiguous() ? in.view() : View{};
    if (in.boolean() || !in.contiguous()) call.run([&] { from = call.values(in); });
    const bool is_f32 = in.type() == Type::f32;
    HistogramBins rule = HistogramBins::identity();
    if (given) {
        if (array != nullptr) {
            edges.type = array->type();
            edges.bytes.resize(array->size() * size_of(array->type()));
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
    const u64 n = in.size();
    std::shared_ptr<Buffer> keys, kept;
    u64 count = 0;
    call.run([&] {
        if (n == 0) return;
        Stream& stream = call.stream();
        const auto total = scratch(stream, 1, Type::i64);
        detail::reduce(stream, detail::Input(detail::convert_node(Type::i64, call.elements(flags))),
                       scratch_view(total, 1, Type::i64), ReduceOp::sum, {});
        const View by_flag = call.values(flags);
        keys = scratch(stream, n, Type::u8);
        kept = scratch(stream, n, in.type());
        // A stable sort by one bit.
        SortBy by = sort_by(true, true);
        by.end_bit = 1;
        sort_pairs(stream, by_flag, call.values(in), scratch_view(keys, n, Type::u8),
                   scratch_view(kept, n, in.type()), by, call.options());
        call.fetch(&count, scratch_view(total, 1, Type::i64));
    });
    return shortened(call, scratch_view(kept, n, in.type()), count, in.boolean());
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
    const u64 n = in.size();
    std::shared_ptr<Buffer> kept;
    u64 count = 0;
    call.run([&] {
        if (n == 0) return;
        const auto total = scratch(call.stream(), 1, Type::u64);
        kept = scratch(call.stream(), n, in.type());
        compact(call.stream(), call.values(in), scratch_view(kept, n, in.type()),
                scratch_view(total, 1, Type::u64), keep, call.options());
        call.fetch(&count, scratch_view(total, 1, Type::u64));
    });
    return shortened(call, scratch_view(kept, n, in.type()), count, in.boolean());
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

// Whether the elements are a matrix, or planes of one, that products and stencils read in place.
bool has_planes(const Argument& in) {
    const std::span<const i64> shape = in.shape(), strides = in.tensor().strides();
    const std::size_t rank = shape.size();
    if (in.reversed() || rank < 2 || rank > 3) return false;
    const auto pitched = [&](std::size_t fast, std::size_t slow) {
        const bool in_lines =
            (strides[fast] == 1 || shape[fast] == 1) && (strides[slow] >= shape[fast] || shape[slow] == 1);
        return in_lines &&
               (rank == 2 || shape[0] == 1 || strides[0] >= strides[slow] * (shape[slow] - 1) + shape[fast]);
    };
    return pitched(rank - 1, rank - 2) || pitched(rank - 2, rank - 1);
}

// The elements as a tensor of planes, rows and columns, or unchanged: a copy, kept in `rooms`, if they do not lie in
// lines or have another type. For use in run().
Tensor planes_of(Call& call, const Argument& in, Type type, std::span<const i64> planes,
                 std::vector<std::shared_ptr<Buffer>>& rooms) {
    const bool same_planes = std::ranges::equal(planes, in.shape().first(in.shape().size() - 2));
    if (in.type() == type && !in.boolean() && same_planes && has_planes(in)) return in.tensor();
    const std::span<const i64> matrix = in.shape().last(2);
    NdExtents extents;
    i64 count = 1;
    for (const i64 extent : planes) {
        extents.add(static_cast<u64>(extent));
        count *= extent;
    }
    for (const i64 extent : matrix)
        extents.add(static_cast<u64>(extent));
    const NdView array = in.array();
    const auto elements =
        detail::convert_node(type, detail::broadcast_node({nullptr, array, array.extents()}, extents));
    rooms.push_back(call.stream().scratch(std::max<u64>(1, detail::element_count(extents) * size_of(type))));
    detail::evaluate(call.stream(), detail::Input(elements),
                     scratch_view(rooms.back(), detail::element_count(extents), type), {});
    const i64 shape[] = {count, matrix[0], matrix[1]};
    return {rooms.back(), 0, type, std::span(shape).last(planes.empty() ? 2 : 3)};
}

// Elements of a vector at indices, which are checked first.
nb::object taken(nb::handle x, nb::handle indices, nb::handle out, CONCORD_HANDLES) {
    constexpr const char* name = "_take";
    Call call(name, CONCORD_PASSED);
    const Argument& in = call.input(x, "x", 1);
    const Argument& at = call.input(indices, "indices");
    if (is_float(at.type()) || at.boolean())
        refuse("take", "indices have dtype " + at.dtype() + "; expected integers");
    call.begin();
    const i64 n = static_cast<i64>(in.size());
    if (at.size() > 0) {
        std::pair<f64, f64> ends;
        call.run([&] { ends = extremes(call, call.values(at)); });
        const f64 bad = ends.first < -static_cast<f64>(n) ? ends.first : ends.second;
        if (bad < -static_cast<f64>(n) || bad >= static_cast<f64>(n))
            throw nb::index_error(("take: index " + std::to_string(static_cast<i64>(bad)) +
                                   " is out of range for " + std::to_string(n) + " elements")
                                      .c_str());
    }
    Argument& result = call.output(out, in.type(), at.shape(), in.boolean());
    return call.run(result, [&] {
        if (at.size() == 0) return;
        const i64 zero = 0;
        const auto index = detail::convert_node(Type::i64, call.elements(at)),
                   first = detail::constant_node(Type::i64, &zero),
                   count = detail::constant_node(Type::i64, &n);
        const auto from_front =
            detail::where_node(detail::transform_node(BinaryPredicate::less, index, first),
                               detail::transform_node(BinaryFunction::add, index, count), index);
        call.write(result, detail::gather_node(call.elements(in), from_front));
    });
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
        if (has_planes(in) && has_planes(result) && !in.boolean()) {
            const MatrixView from = in.tensor().matrix(name), to = result.tensor().matrix(name);
            if (from.layout == to.layout) return void(transpose(call.stream(), from, to, call.options()));
        }
        // Rows of one are rows of the other: a copy.
        const NdView turned = in.array().transposed();
        call.write(result, detail::broadcast_node({nullptr, turned, turned.extents()}, turned.extents()));
    });
}

// An argument of matmul: a vector is a matrix of one row or column.
struct Factor {
    const Argument& argument;
    std::vector<i64> shape;

    Factor(const char* call, const Argument& in, const char* which, bool is_first) : argument(in) {
        if (in.shape().empty())
            refuse(call, std::string(which) + " has no dimensions; expected a vector or matrices");
        if (!is_float(in.type()))
            refuse(call, std::string(which) + " has dtype " + in.dtype() + "; expected float32 or float64");
        shape.assign(in.shape().begin(), in.shape().end());
        if (shape.size() == 1) shape.insert(is_first ? shape.begin() : shape.end(), 1);
    }
    bool is_vector() const { return argument.shape().size() == 1; }
    std::span<const i64> planes() const { return std::span(shape).first(shape.size() - 2); }
    i64 rows() const { return shape[shape.size() - 2]; }
    i64 columns() const { return shape.back(); }
};

// The planes of both factors by NumPy's rules.
std::vector<i64> common_planes(const char* call, const Factor& a, const Factor& b) {
    std::vector<i64> common(std::max(a.planes().size(), b.planes().size()), 1);
    for (const Factor* factor : {&a, &b}) {
        const std::span<const i64> planes = factor->planes();
        for (std::size_t k = 0; k < planes.size(); ++k) {
            i64& extent = common[common.size() - planes.size() + k];
            if (extent != 1 && planes[k] != 1 && extent != planes[k])
                refuse(call, "shapes " + text_of(a.argument.shape()) + " and " + text_of(b.argument.shape()) +
                                 " do not match: batches of " + text_of(a.planes()) + " and " +
                                 text_of(b.planes()));
            if (planes[k] != 1) extent = planes[k];
        }
    }
    return common;
}

nb::object product(nb::handle a, nb::handle b, f64 alpha, f64 beta, nb::handle out, CONCORD_HANDLES) {
    constexpr const char* name = "matmul";
    if (alpha == 1 && beta == 0) {
        if (nb::object few = few_multiplied(a, b, out, CONCORD_PASSED); few.is_valid()) return few;
    }
    Call call(name, CONCORD_PASSED);
    const Factor left(name, call.input(a, "a"), "a", true), right(name, call.input(b, "b"), "b", false);
    const Type type = left.argument.type() == Type::f64 ? Type::f64 : right.argument.type();
    if (beta != 0 && (!is_given(out))) refuse(name, "beta without out; pass the matrix that beta scales");
    call.begin();
    if (left.columns() != right.rows())
        refuse(name, "shapes " + text_of(left.argument.shape()) + " and " + text_of(right.argument.shape()) +
                         " do not match: " + std::to_string(left.columns()) + " columns and " +
                         std::to_string(right.rows()) + " rows");
    const std::vector<i64> planes = common_planes(name, left, right);
    std::vector<i64> shape = planes;
    if (!left.is_vector()) shape.push_back(left.rows());
    if (!right.is_vector()) shape.push_back(right.columns());
    Argument& result = call.output(out, type, shape, false, beta != 0);
    return call.run(result, [&] {
        if (result.size() == 0) return;
        std::vector<std::shared_ptr<Buffer>> rooms;
        const auto volume = [&](const Factor& factor) {
            const Argument& in = factor.argument;
            if (factor.is_vector()) {
                const View values = call.converted_values(in, type);
                const i64 sides[] = {factor.rows(), factor.columns()};
                return VolumeView(MatrixView(values, static_cast<u64>(sides[0]), static_cast<u64>(sides[1])));
            }
            // One matrix serves all products, and so does a batch of one.
            const std::span<const i64> own = factor.planes();
            const bool is_one = std::ranges::all_of(own, [](i64 extent) { return extent == 1; });
            return planes_of(call, in, type, is_one ? own : std::span<const i64>(planes), rooms).volume(name);
        };
        const VolumeView x = volume(left), y = volume(right);
        VolumeView to;
        if (result.contiguous()) {
            i64 count = 1;
            for (const i64 extent : planes)
                count *= extent;
            const i64 sides[] = {count, left.rows(), right.columns()};
            to = Tensor(result.tensor().buffer(), result.tensor().offset(), type, sides).volume(name);
        } else {
            to = result.tensor().volume(name);
        }
        matmul(call.stream(), x, y, to, {.alpha = alpha, .beta = beta}, call.options());
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
        std::vector<std::shared_ptr<Buffer>> rooms;
        MatrixView from = planes_of(call, in, in.type(), {}, rooms).matrix(name);
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
        std::vector<std::shared_ptr<Buffer>> rooms;
        stencil(call.stream(), planes_of(call, in, in.type(), in.shape().first(1), rooms).volume(name), star,
                result.tensor().volume(name), steps, call.options());
    });
}

}  // namespace

void define_functions(nb::module_& m) {
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
    m.def("_take", taken, "x"_a, "indices"_a, nb::kw_only(), "out"_a = nb::none(), CONCORD_COMMON);
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
}

}  // namespace concord::python
