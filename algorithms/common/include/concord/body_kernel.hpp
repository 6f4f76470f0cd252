#pragma once
/// @file
/// What kernels that are written once for all backends share: CONCORD_STRUCT, their parameters and arguments. See
/// index_kernel.hpp and group_kernel.hpp.

#include <concord/function.hpp>
#include <concord/host_kernel.hpp>
#include <concord/span.hpp>
#include <concord/variant.hpp>

#include <array>
#include <atomic>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace concord::detail {

// A parameter of a kernel, after its index.
struct BodyParameter {
    bool is_buffer = false;
    bool is_const = false;
    ElementType type = Type::u8;  // of the value or of the buffer's elements
};

// A debug build compiles a kernel for all backends at its first call.
#ifdef NDEBUG
inline constexpr bool is_debug = false;
#else
inline constexpr bool is_debug = true;
#endif

class KernelCode;

// The size of a kernel's groups. x = 0: the device chooses it. rank 0: an index kernel.
inline constexpr u32 host_group_size = 256;  // on CPUs, if the device chooses it
struct GroupShape {
    u32 rank = 0, x = 1, y = 1, z = 1;
};

// A kernel with its types erased.
struct KernelDefinition {
    std::string_view name, parameters, body, file;
    const void* unit = nullptr;  // the translation unit, see NamedFunction
    u32 line = 0;
    u32 rank = 1;  // the number of its index parameters
    GroupShape group = {};
    std::span<const BodyParameter> types;  // after the index
    HostKernel host;
    std::atomic<KernelCode*>* code = nullptr;  // null before the first call
};

// Frees the code that a destroyed definition owned.
void free_code(std::atomic<KernelCode*>& code);

// Compiles for a device of each backend and returns their selectors. Throws compile_failed.
std::vector<std::string> check_kernel(const KernelDefinition& definition);

// Enqueues the kernel over the extents or the groups. `arguments`: those after the index, checked here. A range without
// elements may have no buffer.
Enqueued run_kernel(Stream& stream, const KernelDefinition& definition, const std::array<u64, 3>& counts,
                    std::span<const KernelArgument> arguments);

// Throws invalid_argument: the view has another element type than parameter `index` after the index.
[[noreturn]] void refuse_view(const KernelDefinition& definition, std::size_t index, const ElementType& type);

template <class P>
constexpr BodyParameter body_parameter() {
    using E = std::remove_cv_t<std::remove_pointer_t<P>>;
    if constexpr (std::is_same_v<P, bool>) {
        return {};  // passed as a u8
    } else {
        static_assert(!std::is_same_v<E, bool>, "buffers do not hold bool: use u8");
        static_assert(
            is_element<E> || IsStruct<E>,
            "a kernel's parameters are element types, bool, structs of CONCORD_STRUCT, and pointers to "
            "element types and structs");
        return {.is_buffer = std::is_pointer_v<P>,
                .is_const = std::is_const_v<std::remove_pointer_t<P>>,
                .type = element_type_of<E>()};
    }
}

// Throws invalid_argument: no type of a kernel's list fits the views.
[[noreturn]] void refuse_views(std::string_view kernel, std::span<const Type> types);

template <class T, class... More>
constexpr T first_of(T first, More... /*more*/) {
    return first;
}

// The arguments of a kernel with these parameters after its index.
template <class Parameters>
struct KernelArguments;
template <class... Parameters>
struct KernelArguments<std::tuple<Parameters...>> {
    static constexpr std::array<BodyParameter, sizeof...(Parameters)> described = {
        body_parameter<Parameters>()...};

    // Calls enqueue(std::span<const KernelArgument>).
    template <class F, class... A>
    static Enqueued with(const KernelDefinition& definition, F enqueue, const A&... arguments) {
        static_assert(sizeof...(A) == sizeof...(Parameters),
                      "wrong number of arguments: a kernel takes those after its index");
        return with(std::index_sequence_for<A...>{}, definition, enqueue, arguments...);
    }

    // Whether with() may take arguments of these types. A view's type is not known.
    template <class... A>
    static constexpr bool accepts() {
        if constexpr (sizeof...(A) == sizeof...(Parameters)) {
            return (accepts_one<Parameters, A>() && ...);
        } else {
            return false;
        }
    }
    // Whether the views have the types of the buffers.
    template <class... A>
    static bool fits(const A&... arguments) {
        std::size_t i = 0;
        const auto is_right = [&](const auto& argument) {
            const std::size_t at = i++;
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(argument)>, View>)
                return argument.type == described[at].type;
            return true;
        };
        return (is_right(arguments) && ...);
    }

  private:
    template <class P, class A>
    static constexpr bool accepts_one() {
        if constexpr (std::is_same_v<A, View>) {
            return std::is_pointer_v<P>;
        } else if constexpr (Range<A>) {
            using E = std::remove_const_t<typename A::Element>;
            return std::is_same_v<P, E*> || std::is_same_v<P, const E*>;
        } else {
            return std::is_same_v<P, A> ||
                   (is_element<P> && !std::is_same_v<P, bool> && std::is_arithmetic_v<A> &&
                    (std::is_floating_point_v<P> || !std::is_floating_point_v<A>));
        }
    }
    template <std::size_t... I, class F, class... A>
    static Enqueued with(std::index_sequence<I...>, const KernelDefinition& definition, F enqueue,
                         const A&... arguments) {
        const std::tuple values{converted<I>(definition, arguments)...};
        const std::array<KernelArgument, sizeof...(A) + 1> list{erased(std::get<I>(values))...};
        return enqueue(std::span(list.data(), sizeof...(A)));
    }
    // The value as the parameter's type, or the view of the range.
    template <std::size_t I, class A>
    static auto converted(const KernelDefinition& definition, const A& argument) {
        using P = std::tuple_element_t<I, std::tuple<Parameters...>>;
        if constexpr (!std::is_pointer_v<P>) {
            if constexpr (std::is_same_v<P, bool>) {
                static_assert(std::is_same_v<A, bool>, "this parameter is a bool");
                return static_cast<u8>(argument ? 1 : 0);
            } else if constexpr (is_element<P>) {
                static_assert(std::is_arithmetic_v<A>, "this parameter is a value");
                return bound_value<P>(definition.name, argument);
            } else {
                static_assert(std::is_same_v<A, P>, "this parameter is a struct of the type in the kernel");
                return argument;
            }
        } else {
            using E = std::remove_const_t<std::remove_pointer_t<P>>;
            if constexpr (std::is_same_v<A, View>) {
                if (argument.type != element_type_of<E>()) refuse_view(definition, I, argument.type);
                return argument;
            } else {
                static_assert(Range<A>, "this parameter is a buffer: pass an Array, Span or View");
                static_assert(std::is_same_v<std::remove_const_t<typename A::Element>, E>,
                              "the element type of the range must be that of the parameter");
                static_assert(is_writable_range<A> || std::is_const_v<std::remove_pointer_t<P>>,
                              "the kernel may write to this parameter, and the range is constant");
                return View(argument.view());
            }
        }
    }
    template <class V>
    static KernelArgument erased(const V& value) {
        if constexpr (std::is_same_v<V, View>) {
            return unchecked_argument(value);
        } else {
            return detail::argument(value);
        }
    }
};

}  // namespace concord::detail

/// Defines a struct for bodies at namespace scope: `CONCORD_STRUCT(Star, float c[5]; int radius;)`. Kernels take it as
/// a value or as the elements of a buffer, an Array<Star> for `const Star*`. Bodies declare variables of it, and
/// functions of CONCORD_FUNCTION take and return it. Members are vectors, other structs, element types under names that
/// all three languages have (float, double, int ...) or as f32 or concord::f32, and arrays of these.
///
/// The type is local to the translation unit, as with CONCORD_FUNCTION.
#define CONCORD_STRUCT(NAME, ...)                                                                        \
    namespace {                                                                                          \
    struct NAME {                                                                                        \
        __VA_ARGS__                                                                                      \
        [[maybe_unused]] static constexpr std::string_view concord_name = #NAME;                         \
        [[maybe_unused]] static constexpr std::string_view concord_definition =                          \
            "typedef struct { " #__VA_ARGS__ " } " #NAME ";";                                            \
    };                                                                                                   \
    [[maybe_unused]] const ::concord::detail::NamedFunction NAME##_concord_named{                        \
        ::concord::detail::struct_type<NAME>, __FILE__, __LINE__, &::concord::detail::translation_unit}; \
    }
