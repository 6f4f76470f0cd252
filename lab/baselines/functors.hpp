#pragma once
// Function objects for the built-in functions and operators, as users of the C++ standard library write them, and
// dispatch by the title of the work.

#include "rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

namespace concord::baselines {

// Wrapping arithmetic uses unsigned types of at least 32 bits, for which it is defined.
template <class T>
using Wide = std::conditional_t<
    std::is_floating_point_v<T>, T,
    std::common_type_t<std::make_unsigned_t<std::conditional_t<std::is_floating_point_v<T>, int, T>>, u32>>;

struct Copy {
    template <class T>
    T operator()(T x) const {
        return x;
    }
};
struct Negate {
    template <class T>
    T operator()(T x) const {
        return static_cast<T>(-static_cast<Wide<T>>(x));
    }
};
struct Abs {
    template <class T>
    T operator()(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            return std::fabs(x);
        } else {
            return x < 0 ? Negate{}(x) : x;
        }
    }
};
struct Square {
    template <class T>
    T operator()(T x) const {
        return static_cast<T>(static_cast<Wide<T>>(x) * static_cast<Wide<T>>(x));
    }
};
struct Sqrt {
    template <class T>
    T operator()(T x) const {
        return std::sqrt(x);
    }
};

// The operators also accept GNU vectors (vector_size).
struct Sum {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a + b);
    }
    template <class T>
    static constexpr T identity = 0;
};
struct Product {
    template <class T>
    T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
        } else {
            return a * b;
        }
    }
    template <class T>
    static constexpr T identity = 1;
};
struct Min {
    template <class T>
    T operator()(T a, T b) const {
        return b < a ? b : a;
    }
    template <class T>
    static constexpr T identity = std::numeric_limits<T>::max();
};
struct Max {
    template <class T>
    T operator()(T a, T b) const {
        return a < b ? b : a;
    }
    template <class T>
    static constexpr T identity = std::numeric_limits<T>::lowest();
};

// Even bins of histogram: bin = (x - lo) * bins / (hi - lo), computed in the sample type for floats.
inline const std::vector<std::string_view> histogram_titles = {
    "even256", "even2048", "even65536", "even256_equal", "even2048_equal", "even65536_equal"};
inline const std::vector<Type> histogram_types = {Type::f32, Type::u32};

template <class T>
struct EvenBin {
    u32 bins;

    // The bin of a sample, or `bins` if it is outside the range.
    u32 operator()(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            if (!(x >= T(-1) && x < T(1))) return bins;
            const u32 bin = static_cast<u32>((x - T(-1)) * (static_cast<T>(bins) / T(2)));
            return bin < bins ? bin : bins - 1;
        } else {
            return static_cast<u32>(static_cast<u64>(x) * bins >> 32);
        }
    }
};

// Predicate of the workloads of compact.
template <class T>
struct Below {
    T limit;
    bool operator()(T x) const { return x < limit; }
};

// The types that a module is compiled for. CONCORD_FEW_TYPES: for libraries whose templates take minutes to compile,
// six types represent all.
#if defined(CONCORD_FEW_TYPES)
inline constexpr std::array module_types = {Type::u8, Type::i32, Type::u32, Type::u64, Type::f32, Type::f64};
#else
inline constexpr std::array module_types = all_types;
#endif
inline const std::vector<Type> compiled_types(module_types.begin(), module_types.end());

template <class T>
inline constexpr bool is_compiled = std::find(module_types.begin(), module_types.end(),
                                              type_of<T>()) != module_types.end();

// Calls f with the type if the module is compiled for it.
template <class F>
Call visit_compiled(Type type, F&& f) {
    return detail::visit_type(type, [&](auto tag) -> Call {
        if constexpr (is_compiled<typename decltype(tag)::type>) return f(tag);
        return {};
    });
}

// Calls f with the unsigned type of the same size: copies move bits.
template <class F>
Call visit_bits(Type type, F&& f) {
    return detail::visit_size(size_of(type), [&](auto tag) -> Call {
        if constexpr (is_compiled<typename decltype(tag)::type>) return f(tag);
        return {};
    });
}

// Calls f with the type. Integers become unsigned, because wrapping arithmetic is the same for both.
template <class F>
decltype(auto) visit_wrapping(Type type, F&& f) {
    if (is_float(type)) return detail::visit_float(type, std::forward<F>(f));
    return visit_bits(type, std::forward<F>(f));
}

inline const std::vector<std::string_view> map_titles = {"copy", "negate", "abs", "square", "sqrt"};
// Workloads of segmented_reduce, with offsets of type u32.
inline const std::vector<std::string_view> segmented_sum_titles = {
    "sum of segments of 16", "sum of segments of 256", "sum of segments of 4096", "sum of segments of 65536",
    "sum of power-law segments around 256"};
// Workloads of segmented_sort, without NaN and with one zero, with offsets of type u32.
inline const std::vector<std::string_view> segmented_sort_titles = {
    "keys of segments of 16", "keys of segments of 256", "keys of segments of 4096",
    "keys of segments of 65536", "keys of power-law segments around 256"};
// Workloads of unique and run_length_encode, without NaN and -0, and of reduce_by_key, with keys of u32.
inline const std::vector<std::string_view> run_titles = {"runs of 1", "runs of 4", "runs of 100",
                                                         "runs of 10000"};
inline const std::vector<std::string_view> run_sum_titles = {"sum of runs of 1", "sum of runs of 4",
                                                             "sum of runs of 100", "sum of runs of 10000"};
// Workloads of segmented_scan and of scan_by_key, with offsets and keys of u32.
inline const std::vector<std::string_view> segmented_scan_titles = {
    "inclusive_sum of segments of 16", "inclusive_sum of segments of 256",
    "inclusive_sum of segments of 4096", "inclusive_sum of segments of 65536",
    "inclusive_sum of power-law segments around 256"};
inline const std::vector<std::string_view> run_scan_titles = {
    "inclusive_sum of runs of 1", "inclusive_sum of runs of 4", "inclusive_sum of runs of 100",
    "inclusive_sum of runs of 10000"};
inline const std::vector<std::string_view> reduce_titles = {"sum", "product", "min", "max"};

// Calls f(TypeTag<T>, function) for work of map.
template <class F>
Call visit_map(const Work& work, F&& f) {
    const Type type = work.type();
    if (work.title == "negate") return visit_wrapping(type, [&](auto tag) { return f(tag, Negate{}); });
    if (work.title == "square") return visit_wrapping(type, [&](auto tag) { return f(tag, Square{}); });
    if (work.title == "sqrt") return detail::visit_float(type, [&](auto tag) { return f(tag, Sqrt{}); });
    if (work.title == "abs") {
        return visit_compiled(type, [&](auto tag) -> Call {
            if constexpr (std::is_signed_v<typename decltype(tag)::type>) return f(tag, Abs{});
            return f(tag, Copy{});
        });
    }
    return visit_bits(type, [&](auto tag) { return f(tag, Copy{}); });
}

// Calls f(TypeTag<T>, operator) for work of reduce.
template <class F>
Call visit_reduce(const Work& work, F&& f) {
    const Type type = work.type();
    if (work.title == "sum") return visit_wrapping(type, [&](auto tag) { return f(tag, Sum{}); });
    if (work.title == "product") return visit_wrapping(type, [&](auto tag) { return f(tag, Product{}); });
    if (work.title == "min") return visit_compiled(type, [&](auto tag) { return f(tag, Min{}); });
    return visit_compiled(type, [&](auto tag) { return f(tag, Max{}); });
}

inline const std::vector<std::string_view> compact_titles = {"half", "few", "most"};
inline const std::vector<std::string_view> scan_titles = {
    "exclusive_sum", "exclusive_product", "exclusive_min", "exclusive_max",
    "inclusive_sum", "inclusive_product", "inclusive_min", "inclusive_max"};

// Calls f(TypeTag<T>, operator, whether it is exclusive) for work of scan.
template <class F>
Call visit_scan(const Work& work, F&& f) {
    const std::size_t kind = work.title.find('_');
    const bool exclusive = work.title.compare(0, kind, "exclusive") == 0;
    Work of_operator = work;
    of_operator.title = work.title.substr(kind + 1);
    return visit_reduce(of_operator, [&](auto tag, auto op) { return f(tag, op, exclusive); });
}

// Workloads of sort on keys, and on pairs with u64 values for 8-byte keys and u32 values for others. Integer keys only,
// because operator< does not order NaNs.
inline const std::vector<Type> sort_types = [] {
    std::vector<Type> types;
    for (const Type type : compiled_types)
        if (!is_float(type)) types.push_back(type);
    return types;
}();
inline const std::vector<std::string_view> sort_titles = {"keys", "keys_sorted", "keys_few", "keys_skewed"};
inline const std::vector<std::string_view> sort_pairs_titles = {"pairs"};

// Calls f(TypeTag<T>) for keys of integers.
template <class F>
Call visit_sort(const Work& work, F&& f) {
    return visit_compiled(work.type(), [&](auto tag) -> Call {
        if constexpr (std::is_integral_v<typename decltype(tag)::type>) return f(tag);
        return {};
    });
}
// Calls f(TypeTag<K>, TypeTag<V>) for pairs of integers and indices.
template <class F>
Call visit_sort_pairs(const Work& work, F&& f) {
    return visit_sort(work, [&]<class K>(detail::TypeTag<K> tag) -> Call {
        return f(tag, detail::TypeTag<std::conditional_t<sizeof(K) == 8, u64, u32>>{});
    });
}

// The fraction of random elements that a workload of compact keeps.
inline double kept_fraction(const Work& work) {
    return work.title == "half" ? 0.5 : work.title == "few" ? 0.01 : 0.99;
}
// Calls f(TypeTag<T>, predicate) for a workload of compact.
template <class F>
Call visit_compact(const Work& work, F&& f) {
    return visit_compiled(work.type(), [&]<class T>(detail::TypeTag<T> tag) {
        return f(tag, Below<T>{lab::random_quantile<T>(kept_fraction(work))});
    });
}

}  // namespace concord::baselines
