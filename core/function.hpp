#pragma once
/// Operators: one definition of a small function that every backend runs.
///
///     CONCORD_FUNCTION(float, saxpy, (float x, float y, float a), return a * x + y;)
///     concord::map(stream, x, y, out, saxpy.bind(2.0f));
///
/// The body is compiled by the host compiler as it stands, and its text by the CUDA and OpenCL compilers, so
/// it is written in what the three languages share: scalar types (float, double, int, u8 ... u64, f32, f64),
/// arithmetic, control flow, and the functions that all three have under one name (sqrt, fabs, fma, floor,
/// fmin, ...). It calls no other user function and reads no global. Bodies that contract or reassociate are
/// the compiler's fault, not yours: Concord turns both off everywhere.

#include <concord/types.hpp>

#include <math.h>  // NOLINT: the bodies call sqrt, fabs ... unqualified, as the other two languages do

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace concord {

/// 128 bits that tell contents apart: equal contents have equal hashes, and others do not, for all that is
/// known (it does not resist those who search for a collision).
namespace detail {
struct ContentHash {
    u64 low = 0, high = 0;
    bool operator==(const ContentHash&) const = default;
};
}  // namespace detail

/// A function with its types erased: what a kernel specialisation needs to know of it. In a kernel source it
/// appears as `struct Op` (the bound values, passed by value as the kernel's argument) and `apply(op, x...)`.
struct Operator {
    std::string name;  ///< for messages and kernel names
    std::string text;  ///< definition of `concord_function` in the common subset
    std::string file;  ///< where the text is from, for the compilers' messages
    u32 line = 0;
    Type result = Type::f32;
    std::vector<Type> arguments;  ///< without the bound ones
    std::vector<Type> bound;      ///< the values themselves travel with each call
    detail::ContentHash hash;     ///< of the text, its place and the types

    /// "float(float, float)", for messages.
    std::string signature() const;
};

namespace detail {
/// The operator with its hash: the last step of making one.
Operator finish(Operator op);
}  // namespace detail

/// An operator from text alone, "float f(float x) { return x * x; }": one function definition whose types are
/// element types under their C or Concord names. Devices that do not compile at run time cannot run it.
/// Throws invalid_argument if the head cannot be read; errors in the body are the compiler's to find.
Operator operator_from_text(std::string_view definition);

namespace detail {

/// An operator with its hash.
Operator make_operator(std::string_view name, std::string_view text, std::string_view file, u32 line,
                       Type result, std::span<const Type> arguments, std::span<const Type> bound);

template <class F>
struct Signature;
template <class R, class... P>
struct Signature<R (*)(P...)> {
    using Result = R;
    using Parameters = std::tuple<P...>;
    static constexpr std::size_t count = sizeof...(P);
};

/// Offsets and size of a C struct whose members are parameters First ... of F.
template <class F, std::size_t First>
struct BoundLayout {
    using S = Signature<decltype(&F::call)>;
    static constexpr std::size_t count = S::count - First;
    std::array<std::size_t, count + 1> offsets{};
    std::size_t size = 0;

    static constexpr BoundLayout make() { return make(std::make_index_sequence<count>{}); }

  private:
    template <std::size_t... I>
    static constexpr BoundLayout make(std::index_sequence<I...>) {
        BoundLayout layout;
        std::size_t at = 0, align = 4;
        [[maybe_unused]] auto place = [&](std::size_t i, std::size_t size) {
            at = (at + size - 1) / size * size;
            layout.offsets[i] = at;
            at += size;
            align = size > align ? size : align;
        };
        (place(I, sizeof(std::tuple_element_t<First + I, typename S::Parameters>)), ...);
        layout.size = at == 0 ? 4 : (at + align - 1) / align * align;
        return layout;
    }
};

/// What a host kernel receives for an operator made with CONCORD_FUNCTION: the same bytes as the other
/// dialects' `struct Op`, and callable. Free is the number of parameters that are not bound.
template <class F, std::size_t Free>
struct HostFunction {
    static constexpr auto layout = BoundLayout<F, Free>::make();
    using S = Signature<decltype(&F::call)>;

    std::byte values[layout.size];

    template <class... A>
    [[gnu::always_inline]] typename S::Result operator()(A... arguments) const {
        return call(std::make_index_sequence<layout.count>{}, arguments...);
    }

  private:
    template <std::size_t I>
    [[gnu::always_inline]] auto value() const {
        std::tuple_element_t<Free + I, typename S::Parameters> v;
        std::memcpy(&v, values + layout.offsets[I], sizeof v);
        return v;
    }
    template <std::size_t... I, class... A>
    [[gnu::always_inline]] typename S::Result call(std::index_sequence<I...>, A... arguments) const {
        return F::call(arguments..., value<I>()...);
    }
};

}  // namespace detail

/// The object that CONCORD_FUNCTION defines: a function of which the last sizeof...(B) parameters are bound.
template <class F, class... B>
class Function {
    using S = detail::Signature<decltype(&F::call)>;

  public:
    static constexpr std::size_t free_count = S::count - sizeof...(B);
    using Result = typename S::Result;
    template <std::size_t I>
    using Argument = std::tuple_element_t<I, typename S::Parameters>;
    using Host = detail::HostFunction<F, free_count>;

    constexpr Function() = default;
    constexpr explicit Function(std::tuple<B...> values) : values_(values) {}

    /// Binds the last parameters to values. A new value compiles nothing: it travels as a kernel argument.
    template <class... V>
    constexpr auto bind(V... values) const {
        static_assert(sizeof...(B) == 0, "bind all trailing parameters in one call");
        static_assert(sizeof...(V) < S::count, "at least one parameter stays free");
        return bind_as(std::make_index_sequence<sizeof...(V)>{}, values...);
    }

    /// The function itself, on the host.
    template <class... A>
    Result operator()(A... arguments) const {
        static_assert(sizeof...(A) == free_count, "wrong number of arguments");
        return std::apply([&](auto... bound) { return F::call(arguments..., bound...); }, values_);
    }

    /// The function without its types and values.
    static const Operator& erased() {
        static constexpr std::array<Type, sizeof...(B)> bound{type_of<B>()...};
        static constexpr auto arguments = free_types(std::make_index_sequence<free_count>{});
        static const Operator op =
            detail::make_operator(F::name, F::text, F::file, F::line, type_of<Result>(), arguments, bound);
        return op;
    }

    constexpr const std::tuple<B...>& values() const { return values_; }
    /// The bound values as the kernels take them: a C struct of them, four bytes at least.
    std::array<std::byte, Host::layout.size> packed() const {
        std::array<std::byte, Host::layout.size> bytes{};
        pack(bytes.data(), std::make_index_sequence<sizeof...(B)>{});
        return bytes;
    }

  private:
    template <std::size_t... I, class... V>
    constexpr auto bind_as(std::index_sequence<I...>, V... values) const {
        constexpr std::size_t first = S::count - sizeof...(V);
        return Function<F, Argument<first + I>...>(
            std::tuple<Argument<first + I>...>(static_cast<Argument<first + I>>(values)...));
    }
    template <std::size_t... I>
    static constexpr std::array<Type, sizeof...(I)> free_types(std::index_sequence<I...>) {
        return {type_of<Argument<I>>()...};
    }
    template <std::size_t... I>
    void pack([[maybe_unused]] std::byte* bytes, std::index_sequence<I...>) const {
        (std::memcpy(bytes + Host::layout.offsets[I], &std::get<I>(values_), sizeof(B)), ...);
    }

    std::tuple<B...> values_;
};

}  // namespace concord

/// Defines the operator object NAME at namespace scope. PARAMETERS in parentheses; the body follows.
#define CONCORD_FUNCTION(RESULT, NAME, PARAMETERS, ...)                      \
    struct NAME##_concord_function {                                         \
        static inline RESULT call PARAMETERS { __VA_ARGS__ }                 \
        static constexpr std::string_view name = #NAME;                      \
        static constexpr std::string_view text =                             \
            #RESULT " concord_function" #PARAMETERS " { " #__VA_ARGS__ " }"; \
        static constexpr std::string_view file = __FILE__;                   \
        static constexpr ::concord::u32 line = __LINE__;                     \
    };                                                                       \
    inline constexpr ::concord::Function<NAME##_concord_function> NAME{};
