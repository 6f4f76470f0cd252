#include <concord/statistics.hpp>

#include <concord/detail/checked_size.hpp>
#include <concord/internal/builtin_operator.hpp>
#include <concord/internal/input.hpp>
#include <concord/stream_memory.hpp>

#include <algorithm>
#include <optional>

namespace concord::detail {
namespace {

template <class T>
CONCORD_BUILTIN_OF((T), T, divide, (T x, T n), return x / n;)
template <class T>
CONCORD_BUILTIN_OF((T), T, squared_deviation, (T x, T mean), const T d = x - mean; return d * d;)

// Keys in the order of the elements, from the smallest on, or from the largest on. Those of up to four bytes have 32
// bits. NaN has the key 0, which no number has.
template <class T>
CONCORD_BUILTIN_OF((T), u64, key_of_unsigned, (T x, u32 largest),
                   return u64(largest != 0 ? 0xffffffffu - u32(x) : u32(x));)
template <class T>
CONCORD_BUILTIN_OF((T), u64, key_of_signed, (T x, u32 largest), const u32 key = u32(i32(x)) ^ 0x80000000u;
                   return u64(largest != 0 ? ~key : key);)
template <class T>
CONCORD_BUILTIN_OF((T), u64, key_of_wide_unsigned, (T x, u32 largest), return largest != 0 ? ~x : x;)
template <class T>
CONCORD_BUILTIN_OF((T), u64, key_of_wide_signed, (T x, u32 largest),
                   const u64 key = u64(x) ^ 0x8000000000000000UL;
                   return largest != 0 ? ~key : key;)
template <class T>
CONCORD_BUILTIN_OF((T), u64, key_of_f32, (T x, u32 largest), const u32 bits = x == 0 ? 0u : as_u32(x);
                   const u32 key = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
                   return x != x ? u64(0) : u64(largest != 0 ? ~key : key);)
template <class T>
CONCORD_BUILTIN_OF((T), u64, key_of_f64, (T x, u32 largest), const u64 bits = x == 0 ? u64(0) : as_u64(x);
                   const u64 key = (bits & 0x8000000000000000UL) != 0 ? ~bits : bits | 0x8000000000000000UL;
                   return x != x ? u64(0) : (largest != 0 ? ~key : key);)
template <class T>
CONCORD_BUILTIN_OF((T), T, key_and_index, (T key, T i), return key << 32 | i;)
template <class T>
CONCORD_BUILTIN_OF((T), T, index_of_equal, (T key, T best, T i), return key == best ? i : ~T(0);)
template <class T>
CONCORD_BUILTIN_OF((T), T, lower_half, (T x), return x & 0xffffffffu;)

ExpressionPointer key_of(const ExpressionPointer& in, Type type, u32 largest) {
    return visit_type(type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_same_v<T, f32>) {
            return function_node(Function<key_of_f32_function<T>>{}.bind(largest), {in});
        } else if constexpr (std::is_same_v<T, f64>) {
            return function_node(Function<key_of_f64_function<T>>{}.bind(largest), {in});
        } else if constexpr (std::is_same_v<T, u64>) {
            return function_node(Function<key_of_wide_unsigned_function<T>>{}.bind(largest), {in});
        } else if constexpr (std::is_same_v<T, i64>) {
            return function_node(Function<key_of_wide_signed_function<T>>{}.bind(largest), {in});
        } else if constexpr (std::is_signed_v<T>) {
            return function_node(Function<key_of_signed_function<T>>{}.bind(largest), {in});
        } else {
            return function_node(Function<key_of_unsigned_function<T>>{}.bind(largest), {in});
        }
    });
}

// The result of a call with several steps: the weakest order of all.
Enqueued combined(Enqueued main, const Enqueued& other) {
    main.order = std::max(main.order, other.order);
    return main;
}

Type mean_type(Type type) {
    return type == Type::f32 ? Type::f32 : Type::f64;
}

// The elements, lines and results of a call: one line of all elements, or the lines of an array view over axes. Checks
// the operands.
class Lines {
  public:
    Lines(std::string_view call, Stream& stream, const StatisticOperands& p, Type result)
        : call_(call),
          stream_(stream),
          type_(p.in.view.type),
          has_axes_(p.axes && p.shape.rank() > 0),
          shape_(p.shape),
          out_(p.out) {
        const Input& in = p.in;
        check_elements(call, "in", in.view);
        check_input(call, "in", stream, in);
        check_output(call, "out", stream, out_.range());
        check_input_overlap(call, {"out", out_.range()}, "in", in);
        if (out_.type() != result)
            throw Error(ErrorCode::invalid_argument, call,
                        "out must be of " + std::string(name_of(result)) + ", got " +
                            std::string(name_of(out_.type())));
        if (p.axes) axes_ = sorted_axes(call, *p.axes, p.shape.rank());
        source_ = node_of(in);
        if (has_axes_) {
            set_axes();
        } else {
            elements_ = source_;
            length_ = in.view.count;
        }
        check_shape("out", out_);
        results_ = is_in_place() ? out_.range() : room(result);
    }

    // Checks another output, which gets an element of each line.
    void check_elements_out(const char* name, const NdView& values, const Input& in) const {
        check_output(call_, name, stream_, values.range());
        check_same_type(call_, {{"in", type_}, {name, values.type()}});
        check_input_overlap(call_, {name, values.range()}, "in", in);
        check_overlap(call_, {name, values.range()}, {"out", out_.range()});
        check_shape(name, values);
    }

    Stream& stream() const { return stream_; }
    std::string_view call() const { return call_; }
    const ExpressionPointer& elements() const { return elements_; }
    Type type() const { return type_; }     // of the elements
    u64 length() const { return length_; }  // of a line
    // A value of each line, in the order of their indices: the results before the last step.
    const View& results() const { return results_; }
    // Room for another value of each line, in the order in which lines are in memory: that of kernels.
    View room(Type type) {
        rooms_.push_back(stream_.scratch(checked_bytes(call_, std::max<u64>(out_.size(), 1), size_of(type))));
        return {rooms_.back().get(), 0, out_.size(), type};
    }
    // The value of an element's line, one of those in such room.
    ExpressionPointer of_line(const View& values) const {
        if (!has_axes_) {
            // The one value, for each element.
            const i64 stride = 0;
            return strided_node(range_node(values), {&length_, 1}, {&stride, 1}, 0);
        }
        return line_value_node(values, list(extents_), list(strides_of(false)));
    }
    // The index of an element in its line.
    ExpressionPointer index() const {
        if (has_axes_) return line_index_node(list(extents_), list(strides_of(true)));
        const u64 first = 0, step = 1;
        return counting_node(Type::u64, &first, &step);
    }
    // The elements at these indices in their lines, in the order of the results.
    ExpressionPointer elements_at(ExpressionPointer index) const {
        if (!has_axes_) return gather_node(source_, std::move(index));
        // An element's number in the source: that of the first one of its line, and the distance from there.
        NdExtents line;
        NdStrides kept_strides, strides;
        u64 before = 0;  // elements of a line before its first one
        for (u32 k = 0; k < shape_.rank(); ++k) {
            const i64 stride = shape_.stride(k);
            (is_reduced(k) ? strides : kept_strides).add(stride);
            if (!is_reduced(k)) continue;
            line.add(shape_.extent(k));
            if (stride < 0) before += (shape_.extent(k) - 1) * (u64{0} - static_cast<u64>(stride));
        }
        ExpressionPointer place = gather_node(numbers(line, strides, before), std::move(index));
        return gather_node(
            source_, transform_node(ReduceOp::sum, numbers(kept_, kept_strides, shape_.origin() - before),
                                    std::move(place)));
    }
    // Reduces the lines of an expression of the elements to the results, or to other values of each line.
    Enqueued reduce(const ExpressionPointer& x, ReduceOp op, const Options& options) const {
        return reduce(x, results_, NdView(results_, kept_), op, options);
    }
    Enqueued reduce_to(const View& values, const ExpressionPointer& x, ReduceOp op,
                       const Options& options) const {
        const NdStrides strides = strides_of(false);
        NdStrides kept;
        for (u32 axis = 0; axis < order_.size(); ++axis) {
            if (!is_reduced(axis)) kept.add(strides[static_cast<u32>(places_[axis])]);
        }
        return reduce(x, values, NdView(values, kept_, kept), op, options);
    }
    // Whether the results are in out.
    bool is_in_place() const { return out_.is_contiguous(); }
    // Writes the results, an expression of values of the lines.
    Enqueued write(const Input& x, const Options& options) const {
        if (is_in_place()) return evaluate(stream_, x, out_.range(), options);
        return write_computed(x, out_, options);
    }
    // Writes an expression of a value of each line. NaNs become canonical.
    Enqueued write_computed(const Input& x, const NdView& out, const Options& options) const {
        // The largest element of one.
        return reduce_lines(stream_, {NdView(x.view, kept_), x.node}, out, ReduceOp::max, {}, options);
    }

  private:
    template <class E>
    static std::span<const E> list(const AxisValues<E>& values) {
        return {values.begin(), values.size()};
    }

    void check_shape(std::string_view name, const NdView& out) const {
        if (!(out.extents() == kept_))
            throw Error(
                ErrorCode::invalid_argument, call_,
                std::string(name) + (has_axes_ ? " must have the extents of the kept axes, " +
                                                     shape_name(kept_) + ", got " + shape_name(out.extents())
                                               : " must have 1 element, got " + std::to_string(out.size())));
        if (!out.is_unique())
            throw Error(ErrorCode::invalid_argument, call_,
                        "indices of " + std::string(name) +
                            " may share elements; pass an array view whose strides keep them apart");
    }
    // The numbers of the elements of a strided array whose first one has the number `origin`.
    static ExpressionPointer numbers(const NdExtents& extents, const NdStrides& strides, u64 origin) {
        const u64 first = 0, one = 1;
        const i64 none = 0;
        const ExpressionPointer all = counting_node(Type::u64, &first, &one);
        return extents.size() == 0 ? strided_node(all, {&one, 1}, {&none, 1}, origin)
                                   : strided_node(all, list(extents), list(strides), origin);
    }
    void set_axes() {
        const NdView& in = shape_;
        for (u32 k = 0; k < in.rank(); ++k) {
            if (!is_reduced(k)) kept_.add(in.extent(k));
        }
        length_ = 1;
        for (const i64 axis : axes_)
            length_ *= in.extent(static_cast<u32>(axis));
        // In the order of memory as far as that keeps the order in a line.
        const auto distance = [&](u32 k) {
            const i64 stride = in.stride(k);
            return stride < 0 ? u64{0} - static_cast<u64>(stride) : static_cast<u64>(stride);
        };
        for (u32 k = 0; k < in.rank(); ++k) {
            order_.add(k);
            for (u32 j = k; j > 0; --j) {
                const auto before = static_cast<u32>(order_[j - 1]), after = static_cast<u32>(order_[j]);
                if (distance(before) >= distance(after) || (is_reduced(before) && is_reduced(after))) break;
                std::swap(order_[j - 1], order_[j]);
            }
        }
        const NdView ordered = in.permuted(order_);
        extents_ = ordered.extents();
        places_ = order_;
        for (u32 k = 0; k < order_.size(); ++k)
            places_[static_cast<u32>(order_[k])] = k;
        elements_ = strided_node(source_, list(extents_), list(ordered.strides()), ordered.origin());
    }
    bool is_reduced(u32 axis) const { return std::find(axes_.begin(), axes_.end(), axis) != axes_.end(); }
    Enqueued reduce(const ExpressionPointer& x, const View& out, const NdView& lines, ReduceOp op,
                    const Options& options) const {
        if (!has_axes_) return detail::reduce(stream_, Input(x), out, op, options);
        const Input in(x);
        return reduce_lines(stream_, {NdView(in.view, extents_).permuted(places_), in.node}, lines, op, axes_,
                            options);
    }
    // The strides, in the order of the elements, of an array of the reduced axes alone or of the others.
    NdStrides strides_of(bool reduced) const {
        NdStrides strides;
        for (u32 k = 0; k < extents_.size(); ++k)
            strides.add(0);
        u64 stride = 1;
        for (u32 k = extents_.size(); k-- > 0;) {
            if (is_reduced(static_cast<u32>(order_[k])) != reduced) continue;
            strides[k] = static_cast<i64>(stride);
            stride *= extents_[k];
        }
        return strides;
    }

    const std::string_view call_;
    Stream& stream_;
    const Type type_;
    const bool has_axes_;
    const NdView shape_, out_;
    View results_;
    u64 length_ = 0;
    NdExtents kept_, extents_;    // of the results, and of the elements in their order
    Axes axes_, order_, places_;  // reduced ones; axes in the order of the elements, and their places there
    ExpressionPointer source_, elements_;  // as passed, and in the order of extents_
    std::vector<std::shared_ptr<Buffer>> rooms_;
};

// The elements as f32 or f64.
ExpressionPointer as_floats(const Lines& lines) {
    return convert_node(mean_type(lines.type()), lines.elements());
}

// Throws before a step is enqueued that precedes this input.
void check_step(const Lines& lines, const Input& in, const Options& options) {
    const Device& device = lines.stream().device();
    if (const Support support = supports_input(device, in); !support)
        throw Error(ErrorCode::unsupported, lines.call(), support.text());
    if (options.order && *options.order != OperationOrder::unspecified)
        check_portable(lines.call(), in, device);
}

// A step that follows the sums of lines. Throws before they are enqueued.
class LastStep {
  public:
    LastStep(const Lines& lines, ExpressionPointer node, const Options& options)
        : lines_(lines), in_(std::move(node)), options_{.order = options.order} {
        check_step(lines, in_, options);
    }
    Enqueued run() const { return lines_.write(in_, options_); }

  private:
    const Lines& lines_;
    Input in_;
    Options options_;
};

// The values / n.
ExpressionPointer quotient(const View& values, u64 n) {
    return visit_float(values.type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return function_node(Function<divide_function<T>>{}.bind(static_cast<T>(n)), {range_node(values)});
    });
}

Lines float_lines(std::string_view call, Stream& stream, const StatisticOperands& p) {
    return {call, stream, p, mean_type(p.in.view.type)};
}

}  // namespace

Enqueued norm(Stream& stream, const StatisticOperands& p, const Options& options) {
    const Lines lines = float_lines("norm", stream, p);
    const LastStep root(lines, transform_node(MapFunction::sqrt, range_node(lines.results())), options);
    const Enqueued sum =
        lines.reduce(transform_node(MapFunction::square, as_floats(lines)), ReduceOp::sum, options);
    return combined(sum, root.run());
}

Enqueued mean(Stream& stream, const StatisticOperands& p, const Options& options) {
    const Lines lines = float_lines("mean", stream, p);
    const LastStep divided(lines, quotient(lines.results(), lines.length()), options);
    const Enqueued sum = lines.reduce(as_floats(lines), ReduceOp::sum, options);
    return combined(sum, divided.run());
}

Enqueued variance(Stream& stream, const StatisticOperands& p, u64 ddof, bool root, const Options& options) {
    Lines lines = float_lines(root ? "standard_deviation" : "variance", stream, p);
    const ExpressionPointer x = as_floats(lines);
    const u64 n = lines.length();
    ExpressionPointer last = quotient(lines.results(), n > ddof ? n - ddof : 0);
    if (root) last = transform_node(MapFunction::sqrt, std::move(last));
    const LastStep step(lines, std::move(last), options);
    const View means = lines.room(lines.results().type);
    const Input divided(quotient(means, n));
    const ExpressionPointer squares = visit_float(means.type, [&](auto tag) {
        return function_node(Function<squared_deviation_function<typename decltype(tag)::type>>{},
                             {x, lines.of_line(means)});
    });
    check_step(lines, Input(squares), options);
    Enqueued done = lines.reduce_to(means, x, ReduceOp::sum, options);
    done = combined(done, evaluate(stream, divided, means, {.order = options.order}));
    done = combined(lines.reduce(squares, ReduceOp::sum, options), done);
    return combined(done, step.run());
}

Enqueued arg_extremum(Stream& stream, const StatisticOperands& p, const NdView* values, ReduceOp op,
                      const Options& options) {
    Lines lines(op == ReduceOp::min ? "argmin" : "argmax", stream, p, Type::u64);
    if (values != nullptr) lines.check_elements_out("values", *values, p.in);
    const u64 n = lines.length();
    if (n == 0)
        throw Error(ErrorCode::invalid_argument, lines.call(),
                    p.axes ? "an empty axis, got " + shape_name(p.shape.extents()) +
                                 "; pass at least one element along it"
                           : "empty input; pass at least one element");
    const Type type = lines.type();
    const ExpressionPointer keys = key_of(lines.elements(), type, op == ReduceOp::max ? 1 : 0);
    // The results are indices, below their keys in words that have both.
    const bool has_both = size_of(type) <= sizeof(u32) && n <= u64{1} << 32;
    ExpressionPointer index = range_node(lines.results());
    if (has_both) index = function_node(Function<lower_half_function<u64>>{}, {std::move(index)});
    const LastStep last(lines, index, options);
    std::optional<Input> found;
    if (values != nullptr) {
        found.emplace(lines.elements_at(std::move(index)));
        check_step(lines, *found, options);
    }
    Enqueued done;
    if (has_both) {
        done = lines.reduce(function_node(Function<key_and_index_function<u64>>{}, {keys, lines.index()}),
                            ReduceOp::min, options);
    } else {
        // The smallest keys, then the first indices that have them.
        const View best = lines.room(Type::u64);
        const ExpressionPointer at = function_node(Function<index_of_equal_function<u64>>{},
                                                   {keys, lines.of_line(best), lines.index()});
        check_step(lines, Input(at), options);
        done = lines.reduce_to(best, keys, ReduceOp::min, options);
        done = combined(done, lines.reduce(at, ReduceOp::min, options));
    }
    if (found) done = combined(done, lines.write_computed(*found, *values, {.order = options.order}));
    // In place, results that are indices alone are final.
    return has_both || !lines.is_in_place() ? combined(done, last.run()) : done;
}

}  // namespace concord::detail
