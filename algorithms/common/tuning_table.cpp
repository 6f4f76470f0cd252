// The file format of tuning tables.

#include <concord/internal/number_text.hpp>
#include <concord/log.hpp>
#include <concord/tuning.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <ctime>

namespace concord {
namespace {

constexpr std::string_view first_line = "concord tuning 2";
constexpr u32 max_class = 63;

std::vector<std::string> words_of(std::string_view line) {
    constexpr std::string_view blanks = " \t\r\v\f";
    std::vector<std::string> words;
    for (std::size_t end = 0, begin; (begin = line.find_first_not_of(blanks, end)) != line.npos;) {
        end = std::min(line.find_first_of(blanks, begin), line.size());
        words.emplace_back(line.substr(begin, end - begin));
    }
    return words;
}

std::optional<u64> number_of(std::string_view digits) {
    u64 value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
}

// Parses "2^20".
std::optional<u64> class_of(std::string_view text) {
    if (text.substr(0, 2) != "2^") return std::nullopt;
    const auto power = number_of(text.substr(2));
    return power && *power <= max_class ? power : std::nullopt;
}

// Parses "a..b" or "a" with `read` for each number.
template <class Read>
std::optional<std::pair<u64, u64>> range_of(std::string_view text, Read read) {
    const std::size_t dots = text.find("..");
    const auto first = read(text.substr(0, dots)),
               last = dots == std::string_view::npos ? first : read(text.substr(dots + 2));
    if (!first || !last || *first > *last) return std::nullopt;
    return std::pair{*first, *last};
}

// The name of the row's label; empty if its algorithm has none.
std::string_view label_of(const TuningRow& row) {
    const Algorithm* algorithm = find_algorithm(std::string_view(row.what).substr(0, row.what.find('.')));
    return algorithm == nullptr ? std::string_view() : algorithm->tuning_label;
}

// What is wrong with the value of a tunable's row; empty if nothing is.
std::string wrong_value(const TuningRow& row, const Tunable& tunable) {
    const auto value = number_of(row.value);
    if (value && tunable.permits(*value)) return {};
    std::string permitted;
    for (const u64 v : tunable.values) {
        if (v != 0) permitted += (permitted.empty() ? "" : ", ") + std::to_string(v);
    }
    return "invalid value '" + row.value + "' of " + row.what + "; permitted: " + permitted;
}

// What is wrong with the row; empty if nothing is.
std::string wrong_value(const TuningRow& row) {
    for (const Algorithm* algorithm : algorithms()) {
        for (const Tunable* tunable : algorithm->tunables) {
            if (tunable->name == row.what) return wrong_value(row, *tunable);
        }
        if (algorithm->name != row.what) continue;
        for (const Variant* variant : algorithm->variants) {
            if (variant->name == row.value) return {};
        }
        return "unknown variant '" + row.value + "' of " + row.what;
    }
    return "unknown algorithm or tunable '" + row.what + "'";
}

// Parses a line of a table. Throws a std::string that says what is wrong.
TuningRow row_of(std::string_view line) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() < 5 || words.size() > 6)
        throw "expected what, type, label, sizes, value and an optional gain, got " +
            std::to_string(words.size()) + " words";
    TuningRow row;
    row.what = words[0];
    row.value = words[4];
    if (words[1] != "*") {
        row.type = type_named(words[1]);
        if (!row.type) throw "unknown element type '" + words[1] + "'";
    }
    if (words[2] != "-") {
        const std::string_view label = label_of(row);
        const std::size_t equals = words[2].find('=');
        const auto range = equals == std::string::npos
                               ? std::nullopt
                               : range_of(std::string_view(words[2]).substr(equals + 1), number_of);
        if (!range || label.empty() || words[2].substr(0, equals) != label)
            throw "invalid label '" + words[2] + "'; expected " +
                (label.empty() ? "'-'" : "e.g. '" + std::string(label) + "=1..4'");
        std::tie(row.label_first, row.label_last) = *range;
    }
    if (words[3] != "*") {
        const auto range = range_of(words[3], class_of);
        if (!range) throw "invalid sizes '" + words[3] + "'; expected e.g. 2^10..2^20";
        row.class_first = static_cast<u32>(range->first);
        row.class_last = static_cast<u32>(range->second);
    }
    if (words.size() == 6) {
        row.gain = detail::number_of_text(words[5]).value_or(0);
        if (!(row.gain > 0)) throw "invalid gain '" + words[5] + "'; expected a positive number";
    }
    if (std::string problem = wrong_value(row); !problem.empty()) throw problem;
    return row;
}

std::string sizes_text(const TuningRow& row) {
    if (row.class_first == 0 && row.class_last == max_class) return "*";
    const std::string first = "2^" + std::to_string(row.class_first);
    return row.class_first == row.class_last ? first : first + "..2^" + std::to_string(row.class_last);
}

std::string label_text(const TuningRow& row) {
    const std::string_view label = label_of(row);
    if (label.empty() || (row.label_first == 0 && row.label_last == ~u64{0})) return "-";
    std::string text = std::string(label) + "=" + std::to_string(row.label_first);
    if (row.label_last != row.label_first) text += ".." + std::to_string(row.label_last);
    return text;
}

bool same_but_sizes(const TuningRow& a, const TuningRow& b) {
    return a.what == b.what && a.type == b.type && a.label_first == b.label_first &&
           a.label_last == b.label_last && a.value == b.value;
}

}  // namespace

TuningTable TuningTable::of(const Device& device) {
    TuningTable table;
    table.version = CONCORD_VERSION;
    table.backend = device.info().backend;
    table.hardware = device.info().hardware;
    table.device = device.info().name;
    table.driver = device.info().driver;
    table.units = device.traits().units;
    const std::time_t now = std::time(nullptr);
    char date[16];
    std::tm utc{};
    std::strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &utc));
    table.date = date;
    return table;
}

std::optional<TuningTable> TuningTable::parse(std::string_view text, const std::string& name) {
    TuningTable table;
    bool begun = false;
    for (u64 number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        std::string line(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        auto complain = [&](const std::string& what) {
            std::string words = name;
            words += ':';
            words += std::to_string(number);
            words += ": ";
            words += what;
            detail::log_warn(words);
        };
        // A '#' in a header does not start a comment: a driver's name may contain one.
        const std::size_t colon = line.find(": ");
        const bool header = colon < line.find_first_of(" #");
        if (!header) line.erase(std::min(line.find('#'), line.size()));
        while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0)
            line.pop_back();
        if (line.empty()) continue;
        if (!begun) {
            begun = line == first_line;
            if (begun) continue;
            complain("not a tuning table; the first line must be '" + std::string(first_line) + "', got '" +
                     line.substr(0, 80) + "'");
            return std::nullopt;
        }
        if (header) {
            const std::string key = line.substr(0, colon),
                              value = line.substr(std::min(colon + 2, line.size()));
            if (key == "version")
                table.version = value;
            else if (key == "backend")
                table.backend = value;
            else if (key == "hardware")
                table.hardware = value;
            else if (key == "device")
                table.device = value;
            else if (key == "driver")
                table.driver = value;
            else if (key == "date")
                table.date = value;
            else if (key == "units" && number_of(value))
                table.units = static_cast<u32>(*number_of(value));
            else
                complain("unknown header line '" + line + "'");
            continue;
        }
        try {
            table.rows.push_back(row_of(line));
        } catch (const std::string& problem) {
            complain("skipping the line: " + problem);
        }
    }
    if (begun) return table;
    detail::log_warn(name + ": not a tuning table: the file is empty");
    return std::nullopt;
}

std::string TuningTable::text() const {
    std::string text = std::string(first_line) + "\nversion: " + version + "\nbackend: " + backend +
                       "\nhardware: " + hardware + "\ndevice: " + device +
                       "\nunits: " + std::to_string(units) + "\ndriver: " + driver + "\ndate: " + date + "\n";
    std::vector<std::array<std::string, 6>> cells{{"# what", "type", "label", "sizes", "value", "gain"}};
    for (const TuningRow& row : rows) {
        const std::string gain = detail::fixed_text(std::max(row.gain, 0.01), 2);  // a gain of 0 is invalid
        cells.push_back({row.what, row.type ? std::string(name_of(*row.type)) : "*", label_text(row),
                         sizes_text(row), row.value, gain});
    }
    std::array<std::size_t, 6> widths{};
    for (const auto& row : cells) {
        for (std::size_t c = 0; c + 1 < row.size(); ++c)
            widths[c] = std::max(widths[c], row[c].size() + 2);
    }
    for (const auto& row : cells) {
        for (std::size_t c = 0; c < row.size(); ++c)
            text += row[c] + std::string(c + 1 < row.size() ? widths[c] - row[c].size() : 0, ' ');
        text += '\n';
    }
    return text;
}

bool TuningTable::fits(const Device& given) const {
    return backend == given.info().backend && !hardware.empty() && hardware == given.info().hardware &&
           units == given.traits().units;
}

void TuningTable::add(std::vector<TuningRow> more) {
    rows.insert(rows.end(), more.begin(), more.end());
    std::vector<TuningRow> merged;
    for (TuningRow& row : rows) {
        const auto adjacent = std::find_if(merged.begin(), merged.end(), [&](const TuningRow& other) {
            return same_but_sizes(row, other) && row.class_first <= other.class_last + 1 &&
                   other.class_first <= row.class_last + 1;
        });
        if (adjacent == merged.end()) {
            merged.push_back(std::move(row));
            continue;
        }
        adjacent->class_first = std::min(adjacent->class_first, row.class_first);
        adjacent->class_last = std::max(adjacent->class_last, row.class_last);
        adjacent->gain = std::min(adjacent->gain, row.gain);
    }
    rows = std::move(merged);
}

std::string TuningTable::file_name() const {
    std::string name;
    for (const char c : backend + "_" + hardware + "_" + std::to_string(units)) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
        if (plain) name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        if (!plain && !name.empty() && name.back() != '_') name += '_';
    }
    return name + ".txt";
}

}  // namespace concord
