#pragma once
/// @file
/// Map with any number of inputs and outputs.
///
///     map(stream, inputs(a, b, c, counting<u64>()), outputs(out), f)
///         out[i] = f(a[i], b[i], c[i], i)
///     map(stream, inputs(x, constant(2.0f)), outputs(sum, difference), g)
///         g(x[i], 2, &sum[i], &difference[i])
///
/// A function of several outputs has the result type void, and pointers after its inputs:
///
///     CONCORD_FUNCTION(void, g, (f32 x, f32 y, f32* sum, f32* difference),
///                      *sum = x + y; *difference = x - y;)
///
/// Inputs are ranges, expressions, counting() and constant(). A function with a result is evaluated as transform() of
/// its inputs is; for a function of several outputs, or of more than eight inputs, expressions are stored first.
///
/// - Shapes: all ranges and expressions have n elements. A map without any among its inputs takes n from its outputs.
/// - In place: an output may be exactly an input if their element sizes agree. Any other overlap is an error.
/// - Memory traffic: reads every range once and writes every output once; what is stored first is written and read.
/// - Order: elements are independent: canonical, unless f calls functions that devices compute differently. A NaN
///   result is the canonical one.
/// - Asynchrony: enqueues on the stream and returns.
/// - Errors: invalid_argument (counts, overlap, a read-only output), wrong_device, unsupported (f64 on a device without
///   it), compile_failed.

#include <concord/detail/canonical.hpp>
#include <concord/expression.hpp>
#include <concord/index_kernel.hpp>

namespace concord {

namespace detail {

// An input of map: what its kernel receives, the element that it computes from that, and the kernel's source of both.
template <class S>
struct MapSource;

template <Range S>
struct MapSource<S> {
    using T = std::remove_const_t<typename S::Element>;
    using Parameters = std::tuple<const T*>;
    [[gnu::always_inline]] static T at(u64 i, const T* p) { return p[i]; }
    static std::string parameters(const std::string& name) {
        return "const " + std::string(name_of(type_of<T>())) + "* " + name;
    }
    static std::string element(const std::string& name) { return name + "[i]"; }
    using Held = View;
    static View held(const S& range) { return View(range.view()); }
};

template <class N>
struct MapSource<Counting<N>> {
    using T = N;
    using Parameters = std::tuple<T, T>;
    using Wide = std::conditional_t<std::is_floating_point_v<T>, T, u64>;  // wraps
    [[gnu::always_inline]] static T at(u64 i, T first, T step) {
        return static_cast<T>(static_cast<Wide>(first) + static_cast<Wide>(i) * static_cast<Wide>(step));
    }
    static std::string parameters(const std::string& name) {
        const std::string t(name_of(type_of<T>()));
        return t + " " + name + "_first, " + t + " " + name + "_step";
    }
    static std::string element(const std::string& name) {
        const std::string t(name_of(type_of<T>())), w(name_of(type_of<Wide>()));
        return "(" + t + ")((" + w + ")" + name + "_first + (" + w + ")i * (" + w + ")" + name + "_step)";
    }
    using Held = Counting<N>;
    static Held held(const Held& c) { return c; }
};

// Stored first.
template <class N>
struct MapSource<Expression<N>> : MapSource<Span<const N>> {
    using Held = Expression<N>;
    static Held held(const Held& e) { return e; }
};

template <class N>
struct MapSource<Repeated<N>> {
    using T = N;
    using Parameters = std::tuple<T>;
    [[gnu::always_inline]] static T at(u64 /*i*/, T value) { return value; }
    static std::string parameters(const std::string& name) {
        return std::string(name_of(type_of<T>())) + " " + name;
    }
    static std::string element(const std::string& name) { return name; }
    using Held = Repeated<N>;
    static Held held(const Held& c) { return c; }
};

}  // namespace detail

/// The inputs of a map: ranges, expressions, counting() and constant(). Holds views of the ranges.
template <class... S>
struct Inputs {
    std::tuple<typename detail::MapSource<S>::Held...> sources;  ///< the inputs
};
/// The outputs of a map. Holds views of the ranges.
template <class... O>
struct Outputs {
    std::array<View, sizeof...(O)> views;  ///< the outputs
};

/// The inputs of a map: ranges, expressions, counting() and constant().
template <class... S>
Inputs<S...> inputs(const S&... sources) {
    static_assert(sizeof...(S) > 0, "a map has at least one input; counting() is one");
    static_assert(
        (!std::is_arithmetic_v<S> && ...),
        "an input is a range, an expression, counting() or constant(): write constant(2.0f) for a value");
    return {{detail::MapSource<S>::held(sources)...}};
}

/// The outputs of a map.
template <OutputRange... O>
Outputs<O...> outputs(const O&... ranges) {
    static_assert(sizeof...(O) > 0, "a map has at least one output");
    return {{View(ranges.view())...}};
}

namespace detail {

// Checks the ranges, their counts and overlaps and returns n. Throws invalid_argument, wrong_device.
u64 check_map_many(const Stream& stream, std::string_view name, std::span<const View> in,
                   std::span<const View> out);
// An expression of n elements, or of any number, in memory.
class StoredExpression {
  public:
    // Enqueues its evaluation. Makes `order` unspecified if devices compute it differently.
    View store(Stream& stream, std::string_view name, const ExpressionPointer& node, u64 n,
               OperationOrder& order);

  private:
    std::shared_ptr<Buffer> room_;
};
// Enqueues out[i] = element i of the node, which may have any number of elements.
Enqueued evaluate_many(Stream& stream, std::string_view name, const ExpressionPointer& node, const View& out);

// The node of an input that inputs() holds.
inline ExpressionPointer held_node(const View& range) {
    return range_node(range);
}
template <class S>
ExpressionPointer held_node(const S& source) {
    return node_of(source);
}
// The range of an input, to check it. Others have none.
inline void add_range(std::span<View> ranges, std::size_t& count, const View& range) {
    ranges[count++] = range;
}
template <class S>
void add_range(std::span<View> /*ranges*/, std::size_t& /*count*/, const S& /*source*/) {}

// The text of the kernel's body: out0[i] = f(in0[i], ...), or the call of a function with outputs.
std::string map_many_body(std::string_view function, std::span<const std::string> elements,
                          std::span<const Type> outputs, bool has_result, u64 bound);

// The kernel of map for inputs S and outputs O. F: the function. B: its bound values. P: the parameters after the
// index: pointers to the outputs, what the inputs need, and the bound values.
template <class F, class Ins, class Outs, class Bound>
struct MapMany;

template <class F, class... S, class... O, class... B>
struct MapMany<F, std::tuple<S...>, std::tuple<O...>, std::tuple<B...>> {
    using Rest = decltype(std::tuple_cat(std::declval<std::tuple<O*...>>(),
                                         std::declval<typename MapSource<S>::Parameters>()...,
                                         std::declval<std::tuple<B...>>()));
    static constexpr std::size_t input_count = sizeof...(S), output_count = sizeof...(O);
    static constexpr bool has_result = !std::is_void_v<typename Signature<decltype(&F::call)>::Result>;

    // The position of the first parameter of input I.
    template <std::size_t I>
    static constexpr std::size_t first_of() {
        constexpr std::size_t sizes[] = {std::tuple_size_v<typename MapSource<S>::Parameters>..., 0};
        std::size_t at = output_count;
        for (std::size_t i = 0; i < I; ++i)
            at += sizes[i];
        return at;
    }
    template <std::size_t I, class All>
    [[gnu::always_inline]] static auto element(u64 i, const All& all) {
        using Source = MapSource<std::tuple_element_t<I, std::tuple<S...>>>;
        constexpr std::size_t at = first_of<I>();
        if constexpr (std::tuple_size_v<typename Source::Parameters> == 1) {
            return Source::at(i, std::get<at>(all));
        } else {
            return Source::at(i, std::get<at>(all), std::get<at + 1>(all));
        }
    }
    template <std::size_t... I, std::size_t... J, std::size_t... K, class All>
    [[gnu::always_inline]] static void apply(u64 i, std::index_sequence<I...>, std::index_sequence<J...>,
                                             std::index_sequence<K...>, const All& all) {
        if constexpr (has_result) {
            std::get<0>(all)[i] =
                canonical(F::call(element<I>(i, all)..., std::get<first_of<input_count>() + K>(all)...));
        } else {
            std::tuple<O...> results{};
            F::call(element<I>(i, all)..., &std::get<J>(results)...,
                    std::get<first_of<input_count>() + K>(all)...);
            ((std::get<J>(all)[i] = canonical(std::get<J>(results))), ...);
        }
    }
    template <class T>
    struct Kernel;
    template <class... P>
    struct Kernel<std::tuple<P...>> {
        [[gnu::always_inline]] static inline void call(u64 i, P... parameters) {
            apply(i, std::index_sequence_for<S...>{}, std::index_sequence_for<O...>{},
                  std::index_sequence_for<B...>{}, std::tuple<P...>(parameters...));
        }
    };
    using K = Kernel<Rest>;
    using Types = IndexTypes<K, decltype(&K::call)>;

    static const KernelDefinition& definition() {
        static const std::string name = "map_" + std::string(F::name);
        static const std::string parameters = [] {
            std::string text = "(u64 i";
            u32 k = 0;
            ((text += ", " + std::string(name_of(type_of<O>())) + "* out" + std::to_string(k++)), ...);
            k = 0;
            ((text += ", " + MapSource<S>::parameters("in" + std::to_string(k++))), ...);
            k = 0;
            ((text += ", " + std::string(name_of(type_of<B>())) + " bound" + std::to_string(k++)), ...);
            return text + ")";
        }();
        static const std::string body = [] {
            u32 k = 0;
            const std::string elements[] = {MapSource<S>::element("in" + std::to_string(k++))...};
            const Type types[] = {type_of<O>()...};
            return map_many_body(F::name, elements, types, has_result, sizeof...(B));
        }();
        static std::atomic<KernelCode*> code = nullptr;
        static const KernelDefinition d{.name = name,
                                        .parameters = parameters,
                                        .body = body,
                                        .file = F::file,
                                        .unit = F::unit,
                                        .line = F::line,
                                        .rank = 1,
                                        .types = Types::Arguments::described,
                                        .host = host_kernel<&IndexHost<K, 1, Rest>::run>(),
                                        .code = &code};
        return d;
    }

    template <std::size_t I>
    using ParameterOf = std::tuple_element_t<I, typename Signature<decltype(&F::call)>::Parameters>;
    template <std::size_t... I, std::size_t... J>
    static constexpr bool takes(std::index_sequence<I...>, std::index_sequence<J...>) {
        constexpr std::size_t count = Signature<decltype(&F::call)>::count;
        if constexpr (has_result) {
            static_assert(output_count == 1,
                          "a function with a result has one output; use void and pointers");
            static_assert(count == input_count + sizeof...(B),
                          "the function must have one unbound parameter for each input; bind the others");
            static_assert(std::is_same_v<typename Signature<decltype(&F::call)>::Result,
                                         std::tuple_element_t<0, std::tuple<O...>>>,
                          "the element type of the output must be the result type of the function");
        } else {
            static_assert(
                count == input_count + output_count + sizeof...(B),
                "a function without result takes its inputs, a pointer for each output, and bound values");
            static_assert((std::is_same_v<ParameterOf<input_count + J>, O*> && ...),
                          "the outputs must have the element types of the function's pointers");
        }
        static_assert((std::is_same_v<ParameterOf<I>, typename MapSource<S>::T> && ...),
                      "the inputs must have the element types of the function's parameters");
        return true;
    }
};

}  // namespace detail

/// Applies a user function (CONCORD_FUNCTION) of any number of inputs and outputs. Compiles one kernel for each
/// function and structure of its inputs.
template <class... S, class... O, class F, class... B>
Enqueued map(Stream& stream, const Inputs<S...>& in, const Outputs<O...>& out, const Function<F, B...>& f) {
    using Map = detail::MapMany<F, std::tuple<S...>, std::tuple<typename O::Element...>, std::tuple<B...>>;
    using Fn = Function<F, B...>;
    static_assert(Map::takes(std::index_sequence_for<S...>{}, std::index_sequence_for<O...>{}));
    std::array<View, sizeof...(S)> read{};
    std::size_t read_count = 0;
    const std::string name = "map_" + std::string(F::name);
    std::apply([&](const auto&... source) { (detail::add_range(read, read_count, source), ...); },
               in.sources);
    const u64 n = detail::check_map_many(stream, name, {read.data(), read_count}, out.views);
    if constexpr (Map::has_result && sizeof...(S) <= 8) {
        const detail::BlockKernel kernel{
            host_kernel<&detail::BlockOf<typename Fn::Host, typename Fn::Result,
                                         typename detail::MapSource<S>::T...>::run>()};
        const auto bound = f.packed();
        const auto node = std::apply(
            [&](const auto&... source) {
                return detail::transform_node(Fn::erased(), bound, kernel, {detail::held_node(source)...});
            },
            in.sources);
        return detail::evaluate_many(stream, name, node, out.views[0]);
    } else {
        std::array<detail::StoredExpression, sizeof...(S)> rooms;
        std::array<View, sizeof...(S)> views;
        std::array<KernelArgument, std::tuple_size_v<typename Map::Rest>> arguments;
        std::size_t at = 0, used = 0;
        OperationOrder order = OperationOrder::canonical;
        for (const View& view : out.views)
            arguments[at++] = detail::unchecked_argument(view);
        const auto add_view = [&](const View& view) {
            views[used] = view;
            arguments[at++] = detail::unchecked_argument(views[used++]);
        };
        const auto add = [&]<class T>(const T& source) {
            if constexpr (std::is_same_v<T, View>) {
                add_view(source);
            } else if constexpr (detail::is_expression<T>) {
                add_view(rooms[used].store(stream, name, source.node(), n, order));
            } else if constexpr (requires { source.value; }) {
                arguments[at++] = detail::argument(source.value);
            } else {
                arguments[at++] = detail::argument(source.first);
                arguments[at++] = detail::argument(source.step);
            }
        };
        std::apply([&](const auto&... source) { (add(source), ...); }, in.sources);
        std::apply([&](const auto&... value) { ((arguments[at++] = detail::argument(value)), ...); },
                   f.values());
        Enqueued done = detail::run_index_kernel(stream, Map::definition(), {n, 1, 1}, arguments, false);
        done.order = detail::max_of(done.order, order);
        return done;
    }
}

/// Writes first, first + step, first + 2 * step ... to out. Element i is first + T(i) * step; integers wrap.
/// Asynchronous. Writes out once.
template <OutputRange Out>
Enqueued iota(Stream& stream, const Out& out, typename Out::Element first = 0,
              typename Out::Element step = 1) {
    using T = typename Out::Element;
    return detail::evaluate_many(stream, "iota", detail::node_of(counting<T>(first, step)), View(out.view()));
}

}  // namespace concord
