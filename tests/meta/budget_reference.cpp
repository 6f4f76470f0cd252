// The unit of the budget in .ci/run: the CPU seconds of one compilation of this file measure how fast a machine is.
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

std::string reference(const std::string& text) {
    const std::regex word("([a-z]+)([0-9]*)|\\s+");
    std::map<std::string, std::vector<int>> positions;
    for (std::sregex_iterator match(text.begin(), text.end(), word), end; match != end; ++match)
        positions[(*match)[1]].push_back(static_cast<int>(match->position()));
    std::vector<std::pair<std::string, std::vector<int>>> sorted(positions.begin(), positions.end());
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    std::ostringstream out;
    for (const auto& [key, where] : sorted)
        out << key << ' ' << where.size() << '\n';
    return out.str();
}
