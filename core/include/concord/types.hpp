#pragma once
/// @file
/// The ten element types, which every backend and every algorithm supports.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace concord {

using i8 = std::int8_t;     ///< 8-bit signed integer.
using i16 = std::int16_t;   ///< 16-bit signed integer.
using i32 = std::int32_t;   ///< 32-bit signed integer.
using i64 = std::int64_t;   ///< 64-bit signed integer.
using u8 = std::uint8_t;    ///< 8-bit unsigned integer.
using u16 = std::uint16_t;  ///< 16-bit unsigned integer.
using u32 = std::uint32_t;  ///< 32-bit unsigned integer.
using u64 = std::uint64_t;  ///< 64-bit unsigned integer.
using f32 = float;          ///< IEEE 754 binary32.
using f64 = double;         ///< IEEE 754 binary64.

/// An element type as a run-time value.
enum class Type : u8 {
    i8,   ///< concord::i8
    i16,  ///< concord::i16
    i32,  ///< concord::i32
    i64,  ///< concord::i64
    u8,   ///< concord::u8
    u16,  ///< concord::u16
    u32,  ///< concord::u32
    u64,  ///< concord::u64
    f32,  ///< concord::f32
    f64   ///< concord::f64
};

/// All element types, in the order of the enumeration.
inline constexpr std::array<Type, 10> all_types = {Type::i8,  Type::i16, Type::i32, Type::i64, Type::u8,
                                                   Type::u16, Type::u32, Type::u64, Type::f32, Type::f64};

namespace detail {
struct TypeRow {
    std::string_view name;
    u32 size;
};
inline constexpr std::array<TypeRow, 10> type_rows = {{{"i8", 1},
                                                       {"i16", 2},
                                                       {"i32", 4},
                                                       {"i64", 8},
                                                       {"u8", 1},
                                                       {"u16", 2},
                                                       {"u32", 4},
                                                       {"u64", 8},
                                                       {"f32", 4},
                                                       {"f64", 8}}};
}  // namespace detail

/// The name of a type: "f32" for Type::f32. Kernel sources use the same names in all three languages.
constexpr std::string_view name_of(Type type) {
    return detail::type_rows[static_cast<std::size_t>(type)].name;
}

/// The size of one element in bytes.
constexpr u32 size_of(Type type) {
    return detail::type_rows[static_cast<std::size_t>(type)].size;
}

/// Whether the type is f32 or f64.
constexpr bool is_float(Type type) {
    return type == Type::f32 || type == Type::f64;
}

/// Whether the type is an unsigned integer.
constexpr bool is_unsigned(Type type) {
    return type >= Type::u8 && type <= Type::u64;
}

/// The type with that name: Type::f32 for "f32". Empty for any other name.
constexpr std::optional<Type> type_named(std::string_view name) {
    for (Type type : all_types) {
        if (name_of(type) == name) return type;
    }
    return std::nullopt;
}

/// Whether T is an element type. Every integral type of 1 to 8 bytes qualifies, except bool. T must not be const.
template <class T>
inline constexpr bool is_element = std::is_same_v<T, std::remove_cv_t<T>> &&
                                   ((std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8) ||
                                    std::is_same_v<T, float> || std::is_same_v<T, double>);

/// The run-time value for T, const or not. Integral types map by width and sign: long long is i64, char is i8.
template <class T>
constexpr Type type_of() {
    using U = std::remove_cv_t<T>;
    static_assert(is_element<U>, "Concord's element types are i8 ... i64, u8 ... u64, f32, f64");
    if constexpr (std::is_same_v<U, float>) {
        return Type::f32;
    } else if constexpr (std::is_same_v<U, double>) {
        return Type::f64;
    } else {
        constexpr int log2 = sizeof(U) == 1 ? 0 : sizeof(U) == 2 ? 1 : sizeof(U) == 4 ? 2 : 3;
        return static_cast<Type>((std::is_signed_v<U> ? 0 : 4) + log2);
    }
}

namespace detail {

// Carries a C++ type as a value; see visit_type().
template <class T>
struct TypeTag {
    using type = T;
};

// Calls f(TypeTag<T>{}) with the C++ type for `type` and returns its result.
template <class F>
constexpr decltype(auto) visit_type(Type type, F&& f) {
    switch (type) {
        case Type::i8:
            return std::forward<F>(f)(TypeTag<i8>{});
        case Type::i16:
            return std::forward<F>(f)(TypeTag<i16>{});
        case Type::i32:
            return std::forward<F>(f)(TypeTag<i32>{});
        case Type::i64:
            return std::forward<F>(f)(TypeTag<i64>{});
        case Type::u8:
            return std::forward<F>(f)(TypeTag<u8>{});
        case Type::u16:
            return std::forward<F>(f)(TypeTag<u16>{});
        case Type::u32:
            return std::forward<F>(f)(TypeTag<u32>{});
        case Type::u64:
            return std::forward<F>(f)(TypeTag<u64>{});
        case Type::f32:
            return std::forward<F>(f)(TypeTag<f32>{});
        default:
            return std::forward<F>(f)(TypeTag<f64>{});
    }
}

// The same with the unsigned integer of `size` bytes: 1, 2, 4 or 8.
template <class F>
constexpr decltype(auto) visit_size(u32 size, F&& f) {
    switch (size) {
        case 1:
            return std::forward<F>(f)(TypeTag<u8>{});
        case 2:
            return std::forward<F>(f)(TypeTag<u16>{});
        case 4:
            return std::forward<F>(f)(TypeTag<u32>{});
        default:
            return std::forward<F>(f)(TypeTag<u64>{});
    }
}

}  // namespace detail

}  // namespace concord
