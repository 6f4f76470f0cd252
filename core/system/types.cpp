#include <concord/error.hpp>
#include <concord/types.hpp>

#include <string>

namespace concord {

void ElementType::refuse() const {
    throw Error(ErrorCode::unsupported, "ElementType",
                "elements are the struct " + std::string(name()) + "; expected one of the element types");
}

void detail::refuse_type(Type type) {
    if (is_boolean(type))
        throw Error(ErrorCode::unsupported, name_of(type),
                    "no arithmetic on bool; convert to u8 or another type");
    if (!is_storage(type))
        throw Error(ErrorCode::unsupported, name_of(type), "not a floating-point type; convert to one");
    throw Error(ErrorCode::unsupported, name_of(type),
                "storage type without arithmetic; convert to " + std::string(name_of(accumulator_of(type))));
}

}  // namespace concord
