#include <concord/statistics.hpp>

#include <concord/internal/builtin_operator.hpp>
#include <concord/internal/input.hpp>

#include <algorithm>

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

ExpressionPointer node_of_input(const Input& in) {
    return in.node ? in.node : range_node(in.view);
}
// The element of a view, n times.
ExpressionPointer repeated(const View& one, u64 n) {
    const i64 stride = 0;
    return strided_node(range_node(one), {&n, 1}, {&stride, 1}, 0);
}
ExpressionPointer indices() {
    const u64 first = 0, step = 1;
    return counting_node(Type::u64, &first, &step);
}
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

void check_one(std::string_view call, const View& out) {
    if (out.count != 1)
        throw Error(ErrorCode::invalid_argument, call,
                    "out must have 1 element, got " + std::to_string(out.count));
}

// Checks the operands and returns the elements as f32 or f64.
ExpressionPointer as_floats(std::string_view call, Stream& stream, const Input& in, const View& out) {
    check_elements(call, "in", in.view);
    check_input(call, "in", stream, in);
    check_output(call, "out", stream, out);
    check_input_overlap(call, {"out", out}, "in", in);
    const Type type = mean_type(in.view.type);
    if (out.type != type)
        throw Error(
            ErrorCode::invalid_argument, call,
            "out must be of " + std::string(name_of(type)) + ", got " + std::string(name_of(out.type)));
    check_one(call, out);
    return convert_node(type, node_of_input(in));
}

// A step that follows the sum, in place. Throws before the sum is enqueued.
class LastStep {
  public:
    LastStep(std::string_view call, Stream& stream, ExpressionPointer node, const Options& options)
        : in_(std::move(node)), options_{.order = options.order} {
        const Device& device = stream.device();
        if (const Support support = supports_input(device, in_); !support)
            throw Error(ErrorCode::unsupported, call, support.text());
        if (options.order && *options.order != OperationOrder::unspecified) check_portable(call, in_, device);
    }
    Enqueued run(Stream& stream, const View& out) const { return evaluate(stream, in_, out, options_); }

  private:
    Input in_;
    Options options_;
};

// out / n.
ExpressionPointer quotient(const View& out, u64 n) {
    return visit_float(out.type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return function_node(Function<divide_function<T>>{}.bind(static_cast<T>(n)), {range_node(out)});
    });
}

}  // namespace

Enqueued norm(Stream& stream, const Input& in, const View& out, const Options& options) {
    const ExpressionPointer x = as_floats("norm", stream, in, out);
    const LastStep root("norm", stream, transform_node(MapFunction::sqrt, range_node(out)), options);
    const Enqueued sum =
        reduce(stream, Input(transform_node(MapFunction::square, x)), out, ReduceOp::sum, options);
    return combined(sum, root.run(stream, out));
}

Enqueued mean(Stream& stream, const Input& in, const View& out, const Options& options) {
    const ExpressionPointer x = as_floats("mean", stream, in, out);
    const LastStep divided("mean", stream, quotient(out, in.view.count), options);
    const Enqueued sum = reduce(stream, Input(x), out, ReduceOp::sum, options);
    return combined(sum, divided.run(stream, out));
}

Enqueued variance(Stream& stream, const Input& in, const View& out, u64 ddof, bool root,
                  const Options& options) {
    const std::string_view call = root ? "standard_deviation" : "variance";
    const ExpressionPointer x = as_floats(call, stream, in, out);
    const u64 n = in.view.count;
    ExpressionPointer last = quotient(out, n > ddof ? n - ddof : 0);
    if (root) last = transform_node(MapFunction::sqrt, std::move(last));
    const LastStep step(call, stream, std::move(last), options);
    const auto room = stream.scratch(size_of(out.type));
    const View middle{room.get(), 0, 1, out.type};
    Enqueued done = mean(stream, in, middle, options);
    const ExpressionPointer squares = visit_float(out.type, [&](auto tag) {
        return function_node(Function<squared_deviation_function<typename decltype(tag)::type>>{},
                             {x, repeated(middle, n)});
    });
    done = combined(reduce(stream, Input(squares), out, ReduceOp::sum, options), done);
    return combined(done, step.run(stream, out));
}

Enqueued arg_extremum(Stream& stream, const Input& in, const View& out, ReduceOp op, const Options& options) {
    const std::string_view call = op == ReduceOp::min ? "argmin" : "argmax";
    check_elements(call, "in", in.view);
    check_input(call, "in", stream, in);
    check_output(call, "out", stream, out);
    check_same_type(call, {{"an index", Type::u64}, {"out", out.type}});
    check_one(call, out);
    check_input_overlap(call, {"out", out}, "in", in);
    const u64 n = in.view.count;
    if (n == 0) throw Error(ErrorCode::invalid_argument, call, "empty input; pass at least one element");
    const ExpressionPointer keys = key_of(node_of_input(in), in.view.type, op == ReduceOp::max ? 1 : 0);
    if (size_of(in.view.type) <= sizeof(u32) && n <= u64{1} << 32) {
        const LastStep index(call, stream,
                             function_node(Function<lower_half_function<u64>>{}, {range_node(out)}), options);
        const Enqueued done =
            reduce(stream, Input(function_node(Function<key_and_index_function<u64>>{}, {keys, indices()})),
                   out, ReduceOp::min, options);
        return combined(done, index.run(stream, out));
    }
    // The smallest key, then the first index that has it.
    const auto room = stream.scratch(sizeof(u64));
    const View best{room.get(), 0, 1, Type::u64};
    const Enqueued done = reduce(stream, Input(keys), best, ReduceOp::min, options);
    const ExpressionPointer at =
        function_node(Function<index_of_equal_function<u64>>{}, {keys, repeated(best, n), indices()});
    return combined(done, reduce(stream, Input(at), out, ReduceOp::min, options));
}

}  // namespace concord::detail
