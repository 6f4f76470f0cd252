#include "input_array.hpp"

#include <concord/internal/npy.hpp>

namespace concord::app {

std::string shape_name(const Shape& shape) {
    return detail::shape_name(shape);
}

std::string InputArray::description() const {
    const auto generated = generation();
    return (generated ? generated->kind + " " : "") + std::string(name_of(type())) + " " +
           shape_name(shape());
}

std::vector<std::byte> InputArray::elements() const {
    std::vector<std::byte> all(bytes());
    source().read(all.data(), 0, all.size());
    return all;
}

}  // namespace concord::app
