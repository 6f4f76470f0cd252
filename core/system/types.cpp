#include <concord/error.hpp>
#include <concord/types.hpp>

#include <string>

namespace concord {

void detail::refuse_type(Type type) {
    if (!is_storage(type))
        throw Error(ErrorCode::unsupported, name_of(type), "not a floating-point type; convert to one");
    throw Error(ErrorCode::unsupported, name_of(type),
                "storage type without arithmetic; convert to " + std::string(name_of(accumulator_of(type))));
}

}  // namespace concord
