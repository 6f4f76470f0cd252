#include <concord/internal/number_text.hpp>
#include <concord/lab/compare.hpp>

#include <cstdio>

namespace concord::lab {

u64 Work::bytes() const {
    u64 sum = 0;
    for (const Input& input : inputs)
        sum += input.bytes();
    for (const Output& output : outputs)
        sum += output.bytes();
    return sum;
}

std::string value_name(Type type, const void* value) {
    if (is_boolean(type)) return *static_cast<const u8*>(value) != 0 ? "true" : "false";
    return detail::visit_element(type, [&]<class T>(detail::TypeTag<T>) {
        T v;
        std::memcpy(&v, value, sizeof v);
        if constexpr (std::is_floating_point_v<T>) {
            char bits[32];
            std::snprintf(bits, sizeof bits, " (0x%0*llx)", static_cast<int>(2 * sizeof v),
                          static_cast<unsigned long long>(std::bit_cast<BitsOf<T>>(v)));
            return detail::general_text(v, std::numeric_limits<T>::max_digits10) + bits;
        } else if constexpr (std::is_class_v<T>) {
            const auto converted = detail::widened(v);
            return value_name(accumulator_of(type), &converted);
        } else {
            return std::to_string(v);
        }
    });
}

}  // namespace concord::lab
