#include <concord/error.hpp>

#include <new>

namespace concord {

std::string_view name_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
            return "invalid_argument";
        case ErrorCode::unsupported:
            return "unsupported";
        case ErrorCode::unavailable:
            return "unavailable";
        case ErrorCode::wrong_device:
            return "wrong_device";
        case ErrorCode::out_of_memory:
            return "out_of_memory";
        case ErrorCode::compile_failed:
            return "compile_failed";
        case ErrorCode::device_failed:
            return "device_failed";
        case ErrorCode::io:
            return "io";
    }
    return "unknown";
}

namespace {
std::string sentence(std::string_view call, std::string_view message, std::string_view native) {
    std::string text(call);
    text.append(": ").append(message);
    if (!native.empty()) text.append(" [").append(native).append("]");
    return text;
}
}  // namespace

std::string detail::quoted(std::string_view value) {
    std::string text = "'";
    text.append(value).append("'");
    return text;
}

std::string detail::error_message(std::string_view wrong, std::string_view value, std::string_view remedy) {
    std::string text(wrong);
    if (!value.empty()) text.append(", got ").append(value);
    if (!remedy.empty()) text.append("; ").append(remedy);
    return text;
}

Error::Error(ErrorCode code, std::string_view call, std::string_view message, std::string_view native)
    : std::runtime_error(sentence(call, message, native)), code_(code), call_(call), native_(native) {}

std::string detail::words_of(const std::exception& error) {
    return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ? "out of host memory" : error.what();
}

}  // namespace concord
