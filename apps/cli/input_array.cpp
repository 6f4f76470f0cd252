#include "input_array.hpp"

namespace concord::app {

std::string shape_name(const Shape& shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    return text + (shape.size() == 1 ? ",)" : ")");
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
