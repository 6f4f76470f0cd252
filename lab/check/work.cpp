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
    return detail::visit_element(type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        T v;
        std::memcpy(&v, value, sizeof v);
        if constexpr (std::is_floating_point_v<T>) {
            char text[64];
            if constexpr (sizeof(T) == 4) {
                std::snprintf(text, sizeof text, "%.9g (0x%08x)", static_cast<double>(v),
                              std::bit_cast<u32>(v));
            } else {
                std::snprintf(text, sizeof text, "%.17g (0x%016llx)", v,
                              static_cast<unsigned long long>(std::bit_cast<u64>(v)));
            }
            return std::string(text);
        } else if constexpr (std::is_class_v<T>) {
            const auto converted = detail::widened(v);
            return value_name(accumulator_of(type), &converted);
        } else {
            return std::to_string(v);
        }
    });
}

}  // namespace concord::lab
