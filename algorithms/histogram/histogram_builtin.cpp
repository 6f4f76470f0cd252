// The built-in bins in the host dialect. Even bins of integers are compiled by element size: the sign is in the values.

#include "histogram_variants.hpp"

namespace concord::detail {
namespace {

// More than 2^30 bins are counted by textbook variants only.
template <class T, class Op>
const HistogramHost* host_of() {
    using Bin = decltype(Op()(T()));
    if constexpr (sizeof(Bin) == 4) {
        static constexpr HistogramHost bins{.narrow = host_kernel<&host::histogram_bin<T, Bin, Op>>()};
        return &bins;
    } else {
        static constexpr HistogramHost bins{.wide = plain_host_kernel<&host::histogram_bin<T, Bin, Op>>()};
        return &bins;
    }
}

template <class T, class Bin>
const HistogramHost* host_of(HistogramForm form) {
    constexpr bool is_narrow = sizeof(Bin) == 4;
    if constexpr (std::is_floating_point_v<T>) {
        if (form == HistogramForm::even_float) return host_of<T, ops::EvenFloat<T, Bin>>();
        if constexpr (is_narrow) {
            if (form == HistogramForm::exact) return host_of<T, ops::ExactBins<T, T, f64, f64>>();
            if constexpr (sizeof(T) == 4) {
                if (form == HistogramForm::exact_mixed) return host_of<T, ops::ExactBins<T, T, f64, f32>>();
                if (form == HistogramForm::exact_single) return host_of<T, ops::ExactBins<T, T, f32, f32>>();
            }
        }
    } else {
        using U = ops::UnsignedOf<T>;
        if (form == HistogramForm::identity) return host_of<T, ops::Identity<T, Bin>>();
        if (form == HistogramForm::even_wide) return host_of<U, ops::EvenWide<U, Bin>>();
        if constexpr (is_narrow) {
            if (form == HistogramForm::exact) return host_of<T, ops::ExactBins<T, f64, f64, f64>>();
            if constexpr (sizeof(T) < 8)
                if (form == HistogramForm::exact_mixed) return host_of<T, ops::ExactBins<T, f64, f64, f32>>();
            if (form == HistogramForm::even_shift) return host_of<U, ops::EvenShift<U>>();
            if (form == HistogramForm::even_ratio) return host_of<U, ops::EvenRatio<U>>();
        }
        if constexpr (is_narrow && sizeof(T) < 8) {
            if (form == HistogramForm::modulo) return host_of<U, ops::Modulo<U>>();
        } else {
            if (form == HistogramForm::modulo_wide) return host_of<U, ops::ModuloWide<U, Bin>>();
        }
    }
    return nullptr;
}

}  // namespace

const HistogramHost* histogram_builtin_host(HistogramForm form, Type type, Type bin) {
    return visit_type(type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return bin == Type::u32 ? host_of<T, u32>(form) : host_of<T, u64>(form);
    });
}

}  // namespace concord::detail
