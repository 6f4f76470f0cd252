// Names of the borders, and factors of masks of rank one.

#include "convolve_variants.hpp"

#include <concord/detail/float_environment.hpp>
#include <concord/internal/shape.hpp>

#include <cmath>
#include <string>

namespace concord {

std::string_view name_of(ConvolveBorder border) {
    return border == ConvolveBorder::zero ? "zero" : "clamp";
}

std::optional<ConvolveBorder> convolve_border_named(std::string_view name) {
    for (const ConvolveBorder border : all_convolve_borders) {
        if (name_of(border) == name) return border;
    }
    return std::nullopt;
}

void ConvolveMask::check_count(u64 count) const {
    const detail::CheckedSize wanted = detail::CheckedSize(rows) * columns;
    if (wanted.fits() && wanted.value() == count) return;
    throw Error(ErrorCode::invalid_argument, "ConvolveMask",
                "a mask of " + detail::size_name({rows, columns}) + " needs " + std::to_string(rows) + " * " +
                    std::to_string(columns) + " values, got " + std::to_string(count));
}

namespace detail {
namespace {

// The row factors are the row of the largest value. The column factors are that value's column divided by it, so none
// exceeds 1 in magnitude.
template <class T>
std::optional<ConvolveFactors<T>> factors_of(const ConvolveMask& mask) {
    // Products of two T are exact in Wide, or nearly so.
    using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;
    const std::span<const T> m(static_cast<const T*>(mask.values), mask.taps());
    u64 pivot = 0;
    for (u64 k = 0; k < m.size(); ++k) {
        if (!std::isfinite(m[k])) return std::nullopt;
        if (std::abs(m[k]) > std::abs(m[pivot])) pivot = k;
    }
    ConvolveFactors<T> factors;
    const u64 across = pivot % mask.columns;
    for (u64 i = 0; i < mask.columns; ++i)
        factors.row.push_back(m[pivot - across + i]);
    for (u64 j = 0; j < mask.rows; ++j)
        factors.column.push_back(m[pivot] == 0 ? T(0) : m[j * mask.columns + across] / m[pivot]);
    constexpr Wide most = Wide(separable_slack) * std::numeric_limits<T>::epsilon() / 2;
    for (u64 k = 0; k < m.size(); ++k) {
        const Wide product = Wide(factors.column[k / mask.columns]) * Wide(factors.row[k % mask.columns]);
        if (!(std::abs(product - Wide(m[k])) <= most * std::abs(Wide(m[k])))) return std::nullopt;
    }
    return factors;
}

}  // namespace

template <class T>
std::optional<ConvolveFactors<T>> convolve_factors(const ConvolveMask& mask) {
    return in_default_float_environment([&] { return factors_of<T>(mask); });
}
template std::optional<ConvolveFactors<f32>> convolve_factors(const ConvolveMask& mask);
template std::optional<ConvolveFactors<f64>> convolve_factors(const ConvolveMask& mask);

}  // namespace detail

bool convolve_separates(const ConvolveMask& mask) {
    return detail::visit_float(mask.type, [&]<class T>(detail::TypeTag<T>) {
        return detail::convolve_factors<T>(mask).has_value();
    });
}

}  // namespace concord
