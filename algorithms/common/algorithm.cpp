#include <concord/algorithm.hpp>

namespace concord {

const Algorithm* find_algorithm(std::string_view name) {
    for (const Algorithm* algorithm : algorithms()) {
        if (algorithm->name == name) return algorithm;
    }
    return nullptr;
}

}  // namespace concord
