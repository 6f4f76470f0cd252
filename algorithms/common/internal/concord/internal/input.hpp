#pragma once
// Inputs of algorithms: ranges and expressions, for kernels that compute their input. See input.kernel and
// detail/host_input.hpp.

#include <concord/detail/host_input.hpp>
#include <concord/expression.hpp>
#include <concord/internal/index_report.hpp>

#include <vector>

namespace concord::detail {

// An expression's kernel sources and steps on the CPU. Made once for all expressions of one structure, which differ in
// ranges and values only. Lives as long as the process.
struct CompiledExpression;
const CompiledExpression& compiled(const ExpressionNode& node);

// The kernel source with the expression for the words of input.kernel, which must be among its files. The source itself
// for a range.
const KernelSource& with_input(const KernelSource& source, const Input& in);

// The index of each element in its line, and an element of `values` for each line, for kernels that combine lines
// (reduce_lines.cpp). The extents and strides are those of strided().
ExpressionPointer line_index_node(std::span<const u64> extents, std::span<const i64> strides);
ExpressionPointer line_value_node(const View& values, std::span<const u64> extents,
                                  std::span<const i64> strides);

// The expression, or the range as one.
ExpressionPointer node_of(const Input& in);

// The elements of `in`, each with a flag, for kernels that keep those whose flag is not 0: see concord_selected and
// HostInput::flags(). Throws invalid_argument (sizes, flags that are neither bool nor u8).
ExpressionPointer select_node(std::string_view call, const Input& in, const Input& flags);

// The flags, of bool or u8, of the elements first + i < count[0]; 0 for the others. count: one u64 on the device.
ExpressionPointer below_node(ExpressionPointer flags, u64 first, const View& count);
// Whether kernels may compute elements that the call does not use: an expression of at most that many parts, without
// indices that they would report.
bool may_compute_all(const Input& in, u32 most_parts = ~u32{0});

// Elements of bool as 0 and 1 of type u8, which kernels compute while they read.
Input without_bool(const Input& in);
// An output of bool as u8.
View without_bool(View out);

// Whether the device can compute the input.
Support supports_input(const Device& device, const Input& in);
// Whether all devices compute it alike.
bool is_portable(const Input& in, const Device& device);
// Throws unsupported unless they do.
void check_portable(std::string_view call, const Input& in, const Device& device);

// f of the inputs, which have the types of its parameters.
template <class F, class... B>
ExpressionPointer function_node(const Function<F, B...>& f, std::vector<ExpressionPointer> inputs) {
    using Fn = Function<F, B...>;
    constexpr HostKernel kernel = []<std::size_t... I>(std::index_sequence<I...>) {
        return host_kernel<
            &BlockOf<typename Fn::Host, typename Fn::Result, typename Fn::template Argument<I>...>::run>();
    }
    (std::make_index_sequence<Fn::free_count>{});
    return transform_node(Fn::erased(), f.packed(), {.kernel = kernel}, std::move(inputs));
}

// The arguments of an input in a launch, in the place that its kernel expects.
class InputArguments {
  public:
    explicit InputArguments(const Input& in);

    // Launches a kernel whose input is its first parameter, or on the CPU its last. An IndexCheck among the arguments
    // stands for its word.
    template <class... A>
    void launch(Stream& stream, const Kernel& kernel, const LaunchShape& shape, const A&... arguments) const {
        const bool on_host = stream.device().traits().launch == LaunchModel::host;
        if constexpr ((std::is_same_v<A, IndexCheck> || ...)) {
            KernelArgument others[] = {argument_or_word(arguments)...};
            std::vector<IndexWord> words;
            std::size_t place = 0;
            (add_word(words, place++, arguments), ...);
            return launch_words(stream, kernel, shape, others, words, on_host);
        } else {
            launch_plain(stream, kernel, shape, on_host, arguments...);
        }
    }

  private:
    template <class A>
    static KernelArgument argument_or_word(const A& a) {
        if constexpr (std::is_same_v<A, IndexCheck>) {
            return {};
        } else {
            return argument(a);
        }
    }
    template <class A>
    static void add_word(std::vector<IndexWord>& words, std::size_t place, const A& a) {
        if constexpr (std::is_same_v<A, IndexCheck>) words.push_back({place, a});
    }
    // words: among the others.
    void launch_words(Stream& stream, const Kernel& kernel, const LaunchShape& shape,
                      std::span<const KernelArgument> others, std::span<const IndexWord> words,
                      bool on_host) const;
    template <class... A>
    void launch_plain(Stream& stream, const Kernel& kernel, const LaunchShape& shape, bool on_host,
                      const A&... arguments) const {
        // As a number, so that the estimates of launch times tell expressions apart.
        const KernelArgument expression{
            .value = &expression_, .size = sizeof expression_, .type = ElementType(Type::u64)};
        if (expression_ != nullptr) {
            const KernelArgument others[] = {argument(arguments)..., expression};
            return launch_expression(stream, kernel, shape,
                                     std::span(others, sizeof...(A) + (on_host ? 1 : 0)), on_host);
        }
        if (on_host) {
            const KernelArgument all[] = {argument(arguments)..., expression, range_};
            stream.launch(kernel, shape, all);
        } else {
            const KernelArgument all[] = {range_, argument(arguments)...};
            stream.launch(kernel, shape, all);
        }
    }
    void launch_expression(Stream& stream, const Kernel& kernel, const LaunchShape& shape,
                           std::span<const KernelArgument> others, bool on_host) const;
    // Adds those of the node and its inputs, in the order of the compiled expression.
    void add(const ExpressionNode& node);

    const CompiledExpression* expression_ = nullptr;
    KernelArgument range_;
    std::vector<KernelArgument> list_;  // of an expression
    std::vector<IndexWord> words_;      // in the list
};

}  // namespace concord::detail
