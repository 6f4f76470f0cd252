#include <concord/internal/environment.hpp>

#include <concord/error.hpp>

#include <sys/auxv.h>

#include <cstdlib>

namespace concord::detail {

std::string_view environment_variable(const char* name) noexcept {
    const char* value = ::secure_getenv(name);
    return value == nullptr ? std::string_view{} : value;
}

bool is_privileged() noexcept {
    return ::getauxval(AT_SECURE) != 0;
}

void refuse_privileged(std::string_view call, std::string_view library) {
    if (is_privileged())
        throw Error(ErrorCode::unavailable, call,
                    "not available in privileged programs (setuid, setgid, file capabilities): " +
                        std::string(library) + " may load code that environment variables name");
}

}  // namespace concord::detail
