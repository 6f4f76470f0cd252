#include <concord/detail/float_environment.hpp>

namespace concord::detail {

void call_in_default_float_environment(void (*f)(void* context), void* context) {
    const DefaultFloatEnvironment environment;
    f(context);
}

}  // namespace concord::detail
