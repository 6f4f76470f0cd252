#pragma once
// Built-in functions: CONCORD_FUNCTION_OF for algorithms, which choose the type at run time.
//
//     template <class T, class W = Wide<T>>
//     CONCORD_BUILTIN_OF((T, W), T, sum, (T a, T b), return T(W(a) + W(b));)
//
// defines sum_function<T>, so that Function<sum_function<f32>> is the function of f32 like one that CONCORD_FUNCTION
// defines. In its source for the JIT compilers the names of the types stand in place of T and W.

#include <concord/function.hpp>
#include <concord/internal/operator_text.hpp>

#include <string>
#include <string_view>

namespace concord::detail {

inline constexpr std::string_view builtin_file = "builtin";

// A built-in function as host kernels call it, for elements of any type. It has no bound values.
template <template <class...> class F>
struct Builtin {
    template <class T>
    using Of = Function<F<T>>;

    template <class T, class... More>
    [[gnu::always_inline]] T operator()(T x, More... more) const {
        return F<T>::call(x, more...);
    }
};

}  // namespace concord::detail

// TYPES: the names of the parameters of the template, in parentheses.
#define CONCORD_BUILTIN_OF(TYPES, RESULT, NAME, PARAMETERS, ...)                                \
    struct NAME##_function : ::concord::Vocabulary {                                            \
        [[gnu::always_inline]] static inline RESULT call PARAMETERS { __VA_ARGS__ }             \
        static std::string text() {                                                             \
            constexpr std::string_view names = #TYPES;                                          \
            return ::concord::detail::with_types(                                               \
                #RESULT " concord_function" #PARAMETERS " { " #__VA_ARGS__ " }",                \
                names.substr(1, names.size() - 2),                                              \
                ::concord::detail::TypeList<CONCORD_IN_PARENTHESES TYPES>::types);              \
        }                                                                                       \
        static constexpr std::string_view name = #NAME, file = ::concord::detail::builtin_file; \
        static constexpr const void* unit = nullptr;                                            \
        static constexpr ::concord::u32 line = 1;                                               \
    };
