#include <concord/internal/number_text.hpp>

#include <array>
#include <charconv>

namespace concord::detail {
namespace {

std::string text_of(double value, std::chars_format format, int digits) {
    std::array<char, 512> text;  // the largest double has 309 digits before the point
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value, format, digits);
    return error == std::errc() ? std::string(text.data(), end) : "?";
}

}  // namespace

std::string fixed_text(double value, int digits) {
    return text_of(value, std::chars_format::fixed, digits);
}

std::string scientific_text(double value, int digits) {
    return text_of(value, std::chars_format::scientific, digits);
}

std::string general_text(double value, int digits) {
    return text_of(value, std::chars_format::general, digits);
}

std::string gpu_uuid_text(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text = "GPU";
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        const auto byte = static_cast<unsigned char>(bytes[i]);
        text += digits[byte / 16];
        text += digits[byte % 16];
    }
    return text;
}

std::optional<double> number_of_text(std::string_view text) {
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-')) return std::nullopt;
    }
    double value = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    if (text.empty() || error != std::errc() || end != last) return std::nullopt;
    return value;
}

}  // namespace concord::detail
