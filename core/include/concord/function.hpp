#pragma once
/// @file
/// Operators: one definition of a small function that runs on every backend.
///
///     CONCORD_FUNCTION(float, saxpy, (float x, float y, float a), return a * x + y;)
///     concord::map(stream, x, y, out, saxpy.bind(2.0f));
///
/// The host compiler compiles the body, and the CUDA and OpenCL compilers compile its source. It can use what the three
/// languages share: scalar types (float, double, int, bool, u8 ... u64, f32, f64, uint32_t ...), casts `T(x)`,
/// arithmetic, control flow, the constants INFINITY, NAN, FLT_MAX, FLT_MIN, FLT_EPSILON, DBL_MAX, DBL_MIN, DBL_EPSILON,
/// INT_MAX, INT_MIN, UINT_MAX, M_PI and the other M_ constants of C, the functions of vocabulary.hpp, and other
/// functions, constants and structs of Concord's macros. It must not read globals. Concord disables contraction and
/// reassociation in all compilers.
///
/// The functions of vocabulary.hpp and sqrt, fma, fabs, copysign, floor, ceil, trunc, rint, round, isnan, isinf and
/// isfinite give bitwise identical results on all devices. Calls that ask for an order of operations (Options::order)
/// refuse operators that call other ones, such as remainder or native::exp.

#include <concord/types.hpp>
#include <concord/vocabulary.hpp>

#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace concord {

// A 128-bit hash of some content. Not cryptographic: it does not resist a search for collisions.
namespace detail {
struct ContentHash {
    u64 low = 0, high = 0;
    bool operator==(const ContentHash&) const = default;
};
}  // namespace detail

/// A function with its types erased, for kernel specifications. A kernel source sees it as `struct Op`, which holds the
/// bound values and is passed by value as a kernel argument, and as `apply(op, x...)`.
struct Operator {
    std::string name;             ///< name, for messages
    std::string text;             ///< definition of `concord_function` in the common subset
    std::string file;             ///< file of the definition, for messages of the compilers
    u32 line = 0;                 ///< line of the definition
    const void* unit = nullptr;   ///< the translation unit; null if it is a text of the program
    Type result = Type::f32;      ///< result type
    std::vector<Type> arguments;  ///< types of the arguments, without the bound ones
    std::vector<Type> bound;      ///< types of the bound values, which are passed with each call
    std::string unportable =
        {};  ///< first function that it calls and that devices may compute differently; often empty
    bool needs_f64 = false;       ///< whether it computes in f64, as exp and the other math functions do
    bool may_divide_f32 = false;  ///< whether it may divide f32 values or take their square root
    /// A function of CONCORD_FUNCTION that it calls, or a struct of CONCORD_STRUCT that it names.
    struct Helper {
        std::string name;        ///< its name
        std::string text;        ///< its definition
        std::string file;        ///< file of the definition
        u32 line;                ///< line of the definition
        bool is_struct = false;  ///< whether it is a struct
    };
    std::vector<Helper> helpers = {};  ///< what it uses, each after what that uses itself
    detail::ContentHash hash;          ///< hash of the text, its place and the types

    /// Result and argument types, "f32(f32, f32)", for messages.
    std::string signature() const;
};

namespace detail {
// Finds what the text calls and computes the hash, the last step of constructing an operator.
Operator finish(Operator op);
}  // namespace detail

/// Creates an operator from source at run time: "float f(float x) { return x * x; }".
///
/// The source is one function definition whose types are element types under their C or Concord names. Devices without
/// a run-time compiler (LaunchModel::host) cannot run it. Throws invalid_argument if the function head is malformed.
/// Compilers report errors in the body later.
Operator operator_from_text(std::string_view definition);

namespace detail {

// Constructs an operator and its hash.
Operator make_operator(std::string_view name, std::string_view text, std::string_view file, u32 line,
                       const void* unit, Type result, std::span<const Type> arguments,
                       std::span<const Type> bound);

template <class F>
struct Signature;
template <class R, class... P>
struct Signature<R (*)(P...)> {
    using Result = R;
    using Parameters = std::tuple<P...>;
    static constexpr std::size_t count = sizeof...(P);
};

// Offsets and size of a C struct whose members are parameters First ... of F.
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

// The operator that a host kernel receives for a CONCORD_FUNCTION: callable, with the same bytes as `struct Op` of the
// other languages. Free is the number of parameters that are not bound.
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

namespace {
// Its address identifies the translation unit.
[[maybe_unused]] char translation_unit;
}  // namespace

// What bodies may name.
enum class NamedKind : u8 { function, constant, structure };

// A CONCORD_FUNCTION, CONCORD_FUNCTION_OF, CONCORD_CONSTANT or CONCORD_STRUCT under its name, for bodies that use it.
// Registered while it exists.
struct NamedFunction {
    NamedFunction(std::string_view name, std::string_view text, std::string_view file, u32 line,
                  const void* unit, NamedKind kind = NamedKind::function);
    // One function for each of the types, in place of the word type_name.
    NamedFunction(std::string_view name, std::string_view text, std::string_view file, u32 line,
                  const void* unit, std::string_view type_name, std::span<const Type> types);
    NamedFunction(const StructType& structure, std::string_view file, u32 line, const void* unit);
    ~NamedFunction();
    NamedFunction(const NamedFunction&) = delete;
    NamedFunction& operator=(const NamedFunction&) = delete;

    std::string_view name, text, file;
    u32 line;
    const void* unit;  // address of its translation_unit
    NamedKind kind = NamedKind::function;
    std::string_view type_name = {};
    std::span<const Type> types = {};
    const StructType* structure = nullptr;
};

// The text with the name of types[i] in place of the word names[i]. `names`: such as "T, Bin".
std::string with_types(std::string_view text, std::string_view names, std::span<const Type> types);

template <class... T>
struct TypeList {
    static constexpr std::array<Type, sizeof...(T)> types{type_of<T>()...};
    template <template <class...> class Of>
    using Apply = Of<T...>;
};

// The value as an expression of all languages: "((f32)0x1.8p+1f)".
std::string constant_text(Type type, i64 value);
std::string constant_text(Type type, u64 value);
std::string constant_text(Type type, f64 value);
template <class T>
std::string constant_text(T value) {
    static_assert(is_element<T>, "a constant has an element type");
    if constexpr (std::is_same_v<T, bool>) {
        return value ? "((bool)1)" : "((bool)0)";
    } else if constexpr (std::is_floating_point_v<T>) {
        return constant_text(type_of<T>(), static_cast<f64>(value));
    } else if constexpr (std::is_signed_v<T>) {
        return constant_text(type_of<T>(), static_cast<i64>(value));
    } else {
        return constant_text(type_of<T>(), static_cast<u64>(value));
    }
}

struct NamedConstant {
    template <class T>
    NamedConstant(std::string_view name, T value, std::string_view file, u32 line, const void* unit)
        : text(constant_text(value)), named(name, text, file, line, unit, NamedKind::constant) {}

    std::string text;
    NamedFunction named;
};

// Throws invalid_argument: the parameter has no such value.
[[noreturn]] void refuse_bound(std::string_view function, const std::string& value, Type parameter);
[[noreturn]] void refuse_bound(std::string_view function, double value, Type parameter);

// The value as the parameter's type.
template <class To, class From>
constexpr To bound_value([[maybe_unused]] std::string_view function, From value) {
    static_assert(std::is_arithmetic_v<From>, "bind takes numbers");
    static_assert(!std::is_same_v<To, bool> || std::is_same_v<From, bool>, "the parameter is a bool");
    static_assert(!std::is_floating_point_v<From> || std::is_floating_point_v<To>,
                  "the parameter is an integer: a floating-point value would lose its fraction; convert it");
    const To bound = static_cast<To>(value);
    bool has_value = true;
    if constexpr (std::is_same_v<From, bool>) {
        return bound;
    } else if constexpr (std::is_floating_point_v<From>) {
        has_value = bound - bound == 0 || value - value != 0;  // finite values stay finite
    } else if constexpr (std::is_floating_point_v<To>) {
        u64 odd = value < 0 ? 0 - static_cast<u64>(value) : static_cast<u64>(value);
        while (odd != 0 && odd % 2 == 0)
            odd /= 2;
        has_value = odd >> std::numeric_limits<To>::digits == 0;
    } else {
        has_value = std::in_range<To>(+value);
    }
    if (!has_value) {
        if constexpr (std::is_floating_point_v<From>) {
            refuse_bound(function, static_cast<double>(value), type_of<To>());
        } else {
            refuse_bound(function, std::to_string(value), type_of<To>());
        }
    }
    return bound;
}

}  // namespace detail

/// The type of objects that CONCORD_FUNCTION defines: a function whose last sizeof...(B) parameters are bound to
/// values.
template <class F, class... B>
class Function {
    using S = detail::Signature<decltype(&F::call)>;

  public:
    /// The number of parameters that are not bound.
    static constexpr std::size_t free_count = S::count - sizeof...(B);
    /// The result type.
    using Result = typename S::Result;
    /// The type of parameter I.
    template <std::size_t I>
    using Argument = std::tuple_element_t<I, typename S::Parameters>;
    /// The form that host kernels receive.
    using Host = detail::HostFunction<F, free_count>;

    /// The function without bound values.
    constexpr Function() = default;
    /// The function with bound values.
    constexpr explicit Function(std::tuple<B...> values) : values_(values) {}

    /// Binds the last parameters to values. Values are kernel arguments, so that new values need no compilation. A
    /// floating-point value for an integer parameter does not compile. Throws invalid_argument for a value that the
    /// parameter's type does not have; a double is rounded to float.
    template <class... V>
    constexpr auto bind(V... values) const {
        static_assert(sizeof...(B) == 0, "bind all trailing parameters in one call");
        static_assert(sizeof...(V) < S::count, "at least one parameter stays free");
        return bind_as(std::make_index_sequence<sizeof...(V)>{}, values...);
    }

    /// Calls the function on the host.
    template <class... A>
    [[gnu::always_inline]] Result operator()(A&&... arguments) const {
        static_assert(sizeof...(A) == free_count,
                      "wrong number of arguments: a CONCORD_FUNCTION takes its unbound parameters");
        return call(std::index_sequence_for<B...>{}, static_cast<A&&>(arguments)...);
    }

    /// The function with its types erased and without the bound values.
    static const Operator& erased() {
        static constexpr std::array<Type, sizeof...(B)> bound{type_of<B>()...};
        static constexpr auto arguments = free_types(std::make_index_sequence<free_count>{});
        static const Operator op = detail::make_operator(F::name, F::text(), F::file, F::line, F::unit,
                                                         type_of<Result>(), arguments, bound);
        return op;
    }

    /// The bound values.
    constexpr const std::tuple<B...>& values() const { return values_; }
    /// The bound values as a C struct of at least four bytes, as kernels receive them.
    std::array<std::byte, Host::layout.size> packed() const {
        std::array<std::byte, Host::layout.size> bytes{};
        pack(bytes.data(), std::make_index_sequence<sizeof...(B)>{});
        return bytes;
    }

  private:
    // Kernels inline it for their instruction set, so that it calls nothing that compilers may not inline.
    template <std::size_t... I, class... A>
    [[gnu::always_inline]] Result call([[maybe_unused]] std::index_sequence<I...> bound,
                                       A&&... arguments) const {
        return F::call(static_cast<A&&>(arguments)..., std::get<I>(values_)...);
    }
    template <std::size_t... I, class... V>
    constexpr auto bind_as(std::index_sequence<I...>, V... values) const {
        constexpr std::size_t first = S::count - sizeof...(V);
        return Function<F, Argument<first + I>...>(
            std::tuple<Argument<first + I>...>(detail::bound_value<Argument<first + I>>(F::name, values)...));
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

/// The type of objects that CONCORD_FUNCTION_OF defines: functions F<T> for the element types T of a list. Overloads
/// has all of them as overloads of call().
template <template <class> class F, class Overloads>
class FunctionOf {
  public:
    /// The function of T, which is one of the types, as CONCORD_FUNCTION defines it.
    template <class T>
    static constexpr Function<F<T>> of{};

    /// Calls the function that overload resolution selects. Bodies call it in the same way.
    template <class... A>
    [[gnu::always_inline]] auto operator()(A&&... arguments) const {
        return Overloads::call(static_cast<A&&>(arguments)...);
    }
};

}  // namespace concord

/// Defines the operator object NAME at namespace scope. PARAMETERS are in parentheses, and the body follows:
/// `CONCORD_FUNCTION(float, twice, (float x), return 2 * x;)`. RESULT, PARAMETERS and the body may use the unqualified
/// names i8 to f64, as in OpenCL C.
///
/// NAME and its type are local to the translation unit, so that two files or plug-ins may use one name for different
/// functions. In a header, each file that includes it has a copy; the copies share what CUDA and OpenCL compile.
#define CONCORD_FUNCTION(RESULT, NAME, PARAMETERS, ...)                                             \
    namespace {                                                                                     \
    struct NAME##_concord_body : ::concord::Vocabulary {                                            \
        [[gnu::always_inline]] static inline RESULT call PARAMETERS { __VA_ARGS__ }                 \
    };                                                                                              \
    struct NAME##_concord_function : NAME##_concord_body {                                          \
        [[maybe_unused]] static constexpr std::string_view name = #NAME;                            \
        static constexpr std::string_view text() {                                                  \
            return #RESULT " concord_function" #PARAMETERS " { " #__VA_ARGS__ " }";                 \
        }                                                                                           \
        [[maybe_unused]] static constexpr std::string_view file = __FILE__;                         \
        [[maybe_unused]] static constexpr const void* unit = &::concord::detail::translation_unit;  \
        [[maybe_unused]] static constexpr ::concord::u32 line = __LINE__;                           \
        static inline const ::concord::detail::NamedFunction named{name, text(), file, line, unit}; \
    };                                                                                              \
    }                                                                                               \
    [[maybe_unused]] constexpr ::concord::Function<NAME##_concord_function> NAME{};

/// Defines a constant for bodies and for C++: `CONCORD_CONSTANT(u32, tile, 16)`. At namespace scope. TYPE is an element
/// type or bool. The value is a constant expression of C++, which may use macros and other constants; CUDA and OpenCL
/// compilers get its value. Bodies in the same translation unit use it as a value and in the bounds of arrays. NAME is
/// local to the translation unit. The value must be one of TYPE: 0.5 does not compile as i32.
#define CONCORD_CONSTANT(TYPE, NAME, ...)                                          \
    namespace {                                                                    \
    struct NAME##_concord_constant : ::concord::Vocabulary {                       \
        static constexpr TYPE concord_value{__VA_ARGS__};                          \
    };                                                                             \
    [[maybe_unused]] constexpr auto NAME = NAME##_concord_constant::concord_value; \
    [[maybe_unused]] const ::concord::detail::NamedConstant NAME##_concord_named{  \
        #NAME, NAME##_concord_constant::concord_value, __FILE__, __LINE__,         \
        &::concord::detail::translation_unit};                                     \
    }

/// Defines a function for several element types at namespace scope: `CONCORD_FUNCTION_OF(T, (f32, f64), T, twice,
/// (T x), return x + x;)`. RESULT, PARAMETERS and the body may use T. Other bodies call it by its name; the types of
/// the arguments select the function. As an operator it is `twice.of<f32>`.
#define CONCORD_FUNCTION_OF(T, TYPES, RESULT, NAME, PARAMETERS, ...)                                 \
    namespace {                                                                                      \
    struct NAME##_concord_types : ::concord::Vocabulary {                                            \
        using List = ::concord::detail::TypeList<CONCORD_IN_PARENTHESES TYPES>;                      \
        static constexpr std::string_view text =                                                     \
            #RESULT " concord_function" #PARAMETERS " { " #__VA_ARGS__ " }";                         \
        static inline const ::concord::detail::NamedFunction named{                                  \
            #NAME, text, __FILE__, __LINE__, &::concord::detail::translation_unit, #T, List::types}; \
    };                                                                                               \
    template <class T>                                                                               \
    struct NAME##_concord_body : ::concord::Vocabulary {                                             \
        [[gnu::always_inline]] static inline RESULT call PARAMETERS { __VA_ARGS__ }                  \
    };                                                                                               \
    template <class T>                                                                               \
    struct NAME##_concord_function : NAME##_concord_body<T> {                                        \
        [[maybe_unused]] static constexpr std::string_view name = #NAME;                             \
        static std::string text() {                                                                  \
            return ::concord::detail::with_types(NAME##_concord_types::text, #T,                     \
                                                 ::concord::detail::TypeList<T>::types);             \
        }                                                                                            \
        [[maybe_unused]] static constexpr std::string_view file = __FILE__;                          \
        [[maybe_unused]] static constexpr const void* unit = &::concord::detail::translation_unit;   \
        [[maybe_unused]] static constexpr ::concord::u32 line = __LINE__;                            \
    };                                                                                               \
    template <class... U>                                                                            \
    struct NAME##_concord_overloads : NAME##_concord_function<U>... {                                \
        using NAME##_concord_function<U>::call...;                                                   \
    };                                                                                               \
    }                                                                                                \
    [[maybe_unused]] constexpr ::concord::FunctionOf<                                                \
        NAME##_concord_function, NAME##_concord_types::List::Apply<NAME##_concord_overloads>>        \
        NAME{};
/// @cond
#define CONCORD_IN_PARENTHESES(...) __VA_ARGS__
/// @endcond
