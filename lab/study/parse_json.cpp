#include "parse_json.hpp"

namespace concord::study {
namespace {

using nlohmann::ordered_json;

struct TooDeep {};

}  // namespace

ordered_json parse_json(std::string_view text, int max_levels) {
    const auto check_depth = [max_levels](int depth, ordered_json::parse_event_t, ordered_json&) {
        if (depth > max_levels) throw TooDeep{};
        return true;
    };
    try {
        return ordered_json::parse(text, check_depth, false);
    } catch (const TooDeep&) {
        return ordered_json(ordered_json::value_t::discarded);
    }
}

u64 whole_number(const ordered_json& value) {
    if (value.is_number_integer() && value >= 0) return value.get<u64>();
    return value.get_ref<const ordered_json::number_unsigned_t&>();  // throws
}

}  // namespace concord::study
