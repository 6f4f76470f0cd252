#pragma once
/// @file
/// The element types, which every backend supports.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#ifdef _GLIBCXX_DEBUG
#error \
    "concord: -D_GLIBCXX_DEBUG changes the layout of std::vector, which Concord's library uses without it; use -D_GLIBCXX_ASSERTIONS"
#endif
#if defined(__FAST_MATH__) || __FINITE_MATH_ONLY__ || defined(__ASSOCIATIVE_MATH__) || \
    defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error \
    "concord: -ffast-math and its parts change results and the handling of NaN and denormals; compile this file without them"
#endif

namespace concord {

/// What the values of an element type are.
enum class TypeKind : std::uint8_t {
    signed_integer,    ///< two's complement
    unsigned_integer,  ///< unsigned
    floating_point,    ///< IEEE 754
    storage,           ///< stored, moved and sorted; converted to another type to compute
    boolean            ///< true or false; computed by comparisons and logic
};

// The table of element types, from which everything that depends on a type's name, size or kind derives: a name and a
// C++ type, the kind, the type of its bits, the type that it accumulates in, and its spelling in C and C++, CUDA
// C++, OpenCL C and NumPy. New rows come last, because the inputs of tests depend on the order.
//
// The C++ type of a storage type is a class that converts explicitly to and from the type that it accumulates in. Its
// static members `cuda` and `opencl` are the source of the functions that convert it in kernels: NAME_to_f32 and
// f32_to_NAME. A type without a spelling is a struct with the member `bits` in kernels.
// clang-format off
#define CONCORD_ELEMENT_TYPES(ROW)                                                                                   \
    ROW(i8,  std::int8_t,   signed_integer,   u8,  i8,  "signed char",    "signed char",        "char",   "int8")    \
    ROW(i16, std::int16_t,  signed_integer,   u16, i16, "short",          "short",              "short",  "int16")   \
    ROW(i32, std::int32_t,  signed_integer,   u32, i32, "int",            "int",                "int",    "int32")   \
    ROW(i64, std::int64_t,  signed_integer,   u64, i64, "long",           "long long",          "long",   "int64")   \
    ROW(u8,  std::uint8_t,  unsigned_integer, u8,  u8,  "unsigned char",  "unsigned char",      "uchar",  "uint8")   \
    ROW(u16, std::uint16_t, unsigned_integer, u16, u16, "unsigned short", "unsigned short",     "ushort", "uint16")  \
    ROW(u32, std::uint32_t, unsigned_integer, u32, u32, "unsigned int",   "unsigned int",       "uint",   "uint32")  \
    ROW(u64, std::uint64_t, unsigned_integer, u64, u64, "unsigned long",  "unsigned long long", "ulong",  "uint64")  \
    ROW(f32, float,         floating_point,   u32, f32, "float",          "float",              "float",  "float32") \
    ROW(f64, double,        floating_point,   u64, f64, "double",         "double",             "double", "float64")
// clang-format on
#define CONCORD_TYPE_ALIAS(NAME, T, KIND, BITS, ACCUMULATOR, C, CUDA, OPENCL, NUMPY) \
    using NAME = T; /**< An element type. */
#define CONCORD_TYPE_ENUMERATOR(NAME, T, KIND, BITS, ACCUMULATOR, C, CUDA, OPENCL, NUMPY) \
    NAME, /**< The element type of that name. */
#define CONCORD_TYPE_VALUE(NAME, ...) Type::NAME,
#define CONCORD_TYPE_ROW(NAME, T, KIND, BITS, ACCUMULATOR, C, CUDA, OPENCL, NUMPY) \
    TypeRow{.name = #NAME,                                                         \
            .size = sizeof(T),                                                     \
            .kind = TypeKind::KIND,                                                \
            .bits = Type::BITS,                                                    \
            .accumulator = Type::ACCUMULATOR,                                      \
            .c = C,                                                                \
            .cuda = CUDA,                                                          \
            .opencl = OPENCL,                                                      \
            .numpy = NUMPY,                                                        \
            .conversions = conversion_source<T>()},
#define CONCORD_TYPE_NAME(NAME, ...) using NAME = concord::NAME;
#define CONCORD_TYPE_FOUND(NAME, ...) \
    if constexpr (std::is_same_v<T, NAME>) return Type::NAME;
#define CONCORD_TYPE_ELEMENT(NAME, T, ...) \
    template <>                            \
    struct Element<Type::NAME> {           \
        using type = T;                    \
    };
#define CONCORD_TYPE_CASE(NAME, T, KIND, ...)                                              \
    case Type::NAME:                                                                       \
        if constexpr (accepts(TypeKind::KIND)) return std::forward<F>(f)(TypeTag<NAME>{}); \
        break;

CONCORD_ELEMENT_TYPES(CONCORD_TYPE_ALIAS)

/// An element type as a run-time value.
enum class Type : u8 {
    CONCORD_ELEMENT_TYPES(CONCORD_TYPE_ENUMERATOR) boolean  ///< bool: one byte, any but 0 is true
};

/// All element types except bool, in the order of the enumeration. Algorithms support these.
inline constexpr std::array all_types = {CONCORD_ELEMENT_TYPES(CONCORD_TYPE_VALUE)};

namespace detail {

// The source of a storage type's conversions in kernels.
struct ConversionSource {
    std::string_view cuda, opencl;
};
template <class T>
constexpr ConversionSource conversion_source() {
    if constexpr (std::is_class_v<T>) return {T::cuda, T::opencl};
    return {};
}

struct TypeRow {
    std::string_view name;
    u32 size;
    TypeKind kind;
    Type bits, accumulator;
    std::string_view c, cuda, opencl, numpy;
    ConversionSource conversions;
};
// The last row is that of bool. Kernels compute it as u8: 0 or 1.
inline constexpr std::array type_rows = {CONCORD_ELEMENT_TYPES(CONCORD_TYPE_ROW)
                                             TypeRow{.name = "bool",
                                                     .size = 1,
                                                     .kind = TypeKind::boolean,
                                                     .bits = Type::u8,
                                                     .accumulator = Type::u8,
                                                     .c = "bool",
                                                     .cuda = "unsigned char",
                                                     .opencl = "uchar",
                                                     .numpy = "bool",
                                                     .conversions = {}}};
// The types of arrays and files.
inline constexpr std::array stored_types = {CONCORD_ELEMENT_TYPES(CONCORD_TYPE_VALUE) Type::boolean};

constexpr const TypeRow& row_of(Type type) {
    return type_rows[static_cast<std::size_t>(type)];
}

// The unsigned integer with the size of the type.
constexpr Type bits_of(Type type) {
    return row_of(type).bits;
}

// The unqualified names of the element types in CONCORD_FUNCTION.
struct TypeNames {
    CONCORD_ELEMENT_TYPES(CONCORD_TYPE_NAME)
};

}  // namespace detail

/// The name of a type: "f32" for Type::f32. Kernel sources use the same names in all three languages, except for bool,
/// which is u8 there.
constexpr std::string_view name_of(Type type) {
    return detail::row_of(type).name;
}

/// The size of one element in bytes.
constexpr u32 size_of(Type type) {
    return detail::row_of(type).size;
}

/// What the type's values are.
constexpr TypeKind kind_of(Type type) {
    return detail::row_of(type).kind;
}

/// The type in which sums of the type's values are computed. For types with arithmetic the type itself.
constexpr Type accumulator_of(Type type) {
    return detail::row_of(type).accumulator;
}

/// Whether the type is f32 or f64.
constexpr bool is_float(Type type) {
    return kind_of(type) == TypeKind::floating_point;
}

/// Whether the type is an unsigned integer.
constexpr bool is_unsigned(Type type) {
    return kind_of(type) == TypeKind::unsigned_integer;
}

/// Whether the type is stored, moved and sorted only. Algorithms that compute in it refuse it.
constexpr bool is_storage(Type type) {
    return kind_of(type) == TypeKind::storage;
}

/// Whether the type is bool. Only comparisons, logic, any, all, where, copies and expressions support it.
constexpr bool is_boolean(Type type) {
    return kind_of(type) == TypeKind::boolean;
}

/// The type with that name: Type::f32 for "f32". Empty for any other name.
constexpr std::optional<Type> type_named(std::string_view name) {
    for (Type type : detail::stored_types) {
        if (name_of(type) == name) return type;
    }
    return std::nullopt;
}

namespace detail {

// The type of the element in kernels.
constexpr Type kernel_type(Type type) {
    return is_boolean(type) ? row_of(type).bits : type;
}

// The type with that name in Concord, C or OpenCL C: "u32", "unsigned int" or "uint". Empty for any other name and for
// bool.
constexpr std::optional<Type> type_spelled(std::string_view name) {
    for (const TypeRow& row : type_rows) {
        if (row.kind == TypeKind::boolean) continue;
        if (row.name == name || (!name.empty() && (row.c == name || row.opencl == name)))
            return type_named(row.name);
    }
    return std::nullopt;
}

// The element type for T. Empty for other types.
template <class T>
constexpr std::optional<Type> find_type() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        constexpr TypeKind kind = std::is_signed_v<T> ? TypeKind::signed_integer : TypeKind::unsigned_integer;
        for (const Type type : all_types) {
            if (kind_of(type) == kind && size_of(type) == sizeof(T)) return type;
        }
    }
    if constexpr (std::is_same_v<T, bool>) return Type::boolean;
    CONCORD_ELEMENT_TYPES(CONCORD_TYPE_FOUND)
    return std::nullopt;
}

}  // namespace detail

/// A struct of the user (CONCORD_STRUCT) as the elements of a range.
struct StructType {
    std::string_view name;        ///< "Star"
    std::string_view definition;  ///< in C: "typedef struct { float c[5]; int radius; } Star;"
    u32 size = 0;                 ///< bytes
    u32 alignment = 1;            ///< bytes
};

/// What the elements of a range are: an element type or a struct. Algorithms that compute take element types: as a
/// Type, a struct throws unsupported.
class ElementType {
  public:
    /// An element type.
    constexpr ElementType(Type type) : type_(type) {}
    /// A struct. The description must outlive the object.
    constexpr explicit ElementType(const StructType& type) : struct_(&type) {}

    /// The struct; null for an element type.
    constexpr const StructType* structure() const { return struct_; }
    /// The name: "f32", "Star".
    constexpr std::string_view name() const { return struct_ == nullptr ? name_of(type_) : struct_->name; }
    /// The size in bytes.
    constexpr u32 size() const { return struct_ == nullptr ? size_of(type_) : struct_->size; }
    /// The alignment in bytes, a power of two.
    constexpr u32 alignment() const { return struct_ == nullptr ? size_of(type_) : struct_->alignment; }
    /// The element type. Throws unsupported for a struct.
    constexpr operator Type() const {
        if (struct_ != nullptr) refuse();
        return type_;
    }
    /// Equal element types, or structs of one name and definition.
    friend constexpr bool operator==(const ElementType& a, const ElementType& b) {
        if (a.struct_ == nullptr || b.struct_ == nullptr) return a.struct_ == b.struct_ && a.type_ == b.type_;
        return a.struct_ == b.struct_ ||
               (a.struct_->name == b.struct_->name && a.struct_->definition == b.struct_->definition);
    }
    /// Whether it is that element type.
    friend constexpr bool operator==(const ElementType& a, Type b) { return a == ElementType(b); }

  private:
    [[noreturn]] void refuse() const;

    Type type_ = Type::u8;
    const StructType* struct_ = nullptr;
};

/// The name of an element type or a struct.
constexpr std::string_view name_of(const ElementType& type) {
    return type.name();
}
/// The size of an element in bytes.
constexpr u32 size_of(const ElementType& type) {
    return type.size();
}

/// Whether T is an element type. Every integral type of 1 to 8 bytes qualifies, bool as Type::boolean. T must not be
/// const.
template <class T>
inline constexpr bool is_element = detail::find_type<T>().has_value();

/// The run-time value for T, const or not. Integral types map by width and sign: long long is i64, char is i8.
template <class T>
constexpr Type type_of() {
    using U = std::remove_cv_t<T>;
    static_assert(is_element<U>, "not an element type; concord::Type lists them");
    return *detail::find_type<U>();
}

/// Whether T is a struct that CONCORD_STRUCT defines.
template <class T>
concept IsStruct = requires {
    std::remove_cv_t<T>::concord_definition;
};

namespace detail {
template <class T>
inline constexpr StructType struct_type{T::concord_name, T::concord_definition, sizeof(T), alignof(T)};
}  // namespace detail

/// The description of the elements T, const or not: an element type or a struct of CONCORD_STRUCT.
template <class T>
constexpr ElementType element_type_of() {
    if constexpr (IsStruct<T>) {
        using U = std::remove_cv_t<T>;
        static_assert(std::is_trivially_copyable_v<U>, "structs of kernels are copied as bytes");
        return ElementType(detail::struct_type<U>);
    } else {
        return type_of<T>();
    }
}

namespace detail {

// The C++ type of an element type, and those of its bits and its accumulator.
template <Type type>
struct Element;
CONCORD_ELEMENT_TYPES(CONCORD_TYPE_ELEMENT)
template <>
struct Element<Type::boolean> {
    using type = bool;
};
template <class T>
using BitsOf = typename Element<bits_of(type_of<T>())>::type;
template <class T>
using AccumulatorOf = typename Element<accumulator_of(type_of<T>())>::type;

// The value in the type that it accumulates in.
template <class T>
constexpr AccumulatorOf<T> widened(T x) {
    return static_cast<AccumulatorOf<T>>(x);
}
// Whether the values of T are floats, perhaps stored in another type.
template <class T>
inline constexpr bool has_float_values = std::is_floating_point_v<AccumulatorOf<T>>;

// Carries a C++ type as a value; see visit_type().
template <class T>
struct TypeTag {
    using type = T;
};

// Throws unsupported: the call requires a type with arithmetic, or a floating-point type.
[[noreturn]] void refuse_type(Type type);

// Calls f(TypeTag<T>{}) with the C++ type for `type` and returns its result. Refuses kinds that are not accepted.
template <bool (*accepts)(TypeKind), class F>
constexpr decltype(auto) visit_kinds(Type type, F&& f) {
    // NOLINTBEGIN(bugprone-branch-clone): kinds that are refused
    switch (type) {
        CONCORD_ELEMENT_TYPES(CONCORD_TYPE_CASE)
        case Type::boolean:
            break;
    }
    // NOLINTEND(bugprone-branch-clone)
    refuse_type(type);
}

constexpr bool is_any(TypeKind /*kind*/) {
    return true;
}
constexpr bool has_arithmetic(TypeKind kind) {
    return kind != TypeKind::storage && kind != TypeKind::boolean;
}
constexpr bool has_floats(TypeKind kind) {
    return kind == TypeKind::floating_point;
}

// For code that moves or prints values of any type except bool. Code that depends on the size alone uses visit_size().
template <class F>
constexpr decltype(auto) visit_element(Type type, F&& f) {
    return visit_kinds<is_any>(type, std::forward<F>(f));
}

// For code that computes in the type: integers and floats.
template <class F>
constexpr decltype(auto) visit_type(Type type, F&& f) {
    return visit_kinds<has_arithmetic>(type, std::forward<F>(f));
}

// For code that computes in floats.
template <class F>
constexpr decltype(auto) visit_float(Type type, F&& f) {
    return visit_kinds<has_floats>(type, std::forward<F>(f));
}

static_assert(
    [] {
        for (const TypeRow& row : type_rows) {
            if (row.size != 1 && row.size != 2 && row.size != 4 && row.size != 8) return false;
        }
        return true;
    }(),
    "elements have 1, 2, 4 or 8 bytes");

// std::min and std::max for public headers: <algorithm> takes a third of a second to compile.
template <class T>
constexpr T min_of(T a, std::type_identity_t<T> b) {
    return b < a ? b : a;
}
template <class T>
constexpr T max_of(T a, std::type_identity_t<T> b) {
    return a < b ? b : a;
}

// Calls f(TypeTag<U>{}) with the unsigned integer of `size` bytes: 1, 2, 4 or 8.
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

#undef CONCORD_ELEMENT_TYPES
#undef CONCORD_TYPE_ALIAS
#undef CONCORD_TYPE_ENUMERATOR
#undef CONCORD_TYPE_VALUE
#undef CONCORD_TYPE_ROW
#undef CONCORD_TYPE_NAME
#undef CONCORD_TYPE_FOUND
#undef CONCORD_TYPE_ELEMENT
#undef CONCORD_TYPE_CASE
