// Options that several commands share, and their values.

#include "program.hpp"

#include <concord/algorithm.hpp>
#include <concord/device.hpp>
#include <concord/internal/environment.hpp>
#include <concord/variant.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>

namespace concord::app {

CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& list,
                      const std::string& value, const std::string& description) {
    return command.add_option(name, list, description)
        ->delimiter(',')
        ->allow_extra_args(false)
        ->take_all()
        ->type_name(value);
}

CLI::Option* add_device_option(CLI::App& command, std::vector<std::string>& devices,
                               const std::string& description) {
    return add_list(command, "--device,--devices", devices, "SELECTORS", description);
}

namespace {

std::string named_device_option = "--device";

}  // namespace

void note_device_option(int argc, const char* const* argv) {
    bool is_given = false;
    for (int i = 1; i < argc; ++i) {
        std::string_view word = argv[i];
        word = word.substr(0, word.find('='));
        if (word != "--device" && word != "--devices") continue;
        named_device_option = word;
        is_given = true;
    }
    if (!is_given && !detail::environment_variable("CONCORD_DEVICE").empty())
        named_device_option = "CONCORD_DEVICE";
}

const std::string& device_option() {
    return named_device_option;
}

CLI::Option* add_order_option(CLI::App& command, std::string& order) {
    return command
        .add_option("--order", order,
                    "Order of floating-point operations that auto keeps, for the same bits on all devices "
                    "(default: canonical where it is defined)")
        ->check(CLI::IsMember(names_of(all_operation_orders)));
}

std::optional<OperationOrder> order_of(const std::string& order) {
    if (order.empty()) return std::nullopt;
    return operation_order_named(order);
}

std::string message_of(const Error& error) {
    const std::string what = error.what();
    return what.substr(std::min(what.size(), error.call().size() + 2));
}

namespace {

std::vector<std::string> expanded(const std::vector<std::string>& patterns) {
    std::vector<std::string> devices;
    try {
        for (const std::string& pattern : patterns) {
            for (std::string& selector : device_selectors(pattern))
                devices.push_back(std::move(selector));
        }
    } catch (const Error& error) {
        throw Error(error.code(), device_option(), message_of(error));
    }
    return devices;
}

// The value of CONCORD_DEVICE if it is a pattern such as "cuda:*", else empty.
std::string pattern_of_environment() {
    const std::string_view value = detail::environment_variable("CONCORD_DEVICE");
    return value.size() > 2 && value.ends_with(":*") ? std::string(value) : "";
}

}  // namespace

std::vector<std::string> devices_of(const std::vector<std::string>& list) {
    return expanded(list);
}

std::vector<std::string> devices_or_default(const std::vector<std::string>& list) {
    const std::string pattern = pattern_of_environment();
    return list.empty() && !pattern.empty() ? expanded({pattern}) : devices_of(list);
}

std::string one_device_of(const std::vector<std::string>& list, const std::string& command) {
    const std::vector<std::string> devices = devices_or_default(list);
    if (devices.empty()) return {};
    if (devices.size() > 1)
        throw Error(ErrorCode::invalid_argument, device_option(),
                    command + " uses one device, got '" +
                        (list.empty() ? pattern_of_environment() : joined(list, ",")) + "'; name one of " +
                        joined(devices));
    return devices.front();
}

void check_runs(const Device& device) {
    if (!device.traits().runs) detail::refuse_compile_only(device_option(), device.info().selector);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

std::string wrapped(const std::string& text, std::size_t width) {
    std::string result;
    bool is_first = true;
    for (const std::string& line : lines_of(text)) {
        if (!is_first) result += '\n';
        is_first = false;
        std::size_t column = 0;
        for (std::size_t at = 0; at < line.size();) {
            const std::size_t end = std::min(line.find(' ', at), line.size());
            const std::string word = line.substr(at, end - at);
            if (column > 0 && column + 1 + width_of(word) > width) {
                result += '\n';
                column = 0;
            } else if (column > 0) {
                result += ' ';
                ++column;
            }
            result += word;
            column += width_of(word);
            at = end + 1;
        }
    }
    return result;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
    std::string text;
    for (const std::string& word : words)
        text.append(text.empty() ? "" : separator).append(word);
    return text;
}

void check_names(const char* call, const char* what, const std::vector<std::string>& names,
                 const std::vector<std::string>& known) {
    for (const std::string& name : names) {
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw Error(ErrorCode::invalid_argument, call,
                        std::string("unknown ") + what + " '" + name + "'; available: " + joined(known));
    }
}

std::string type_names() {
    std::vector<std::string> names;
    for (const Type type : all_types)
        names.emplace_back(name_of(type));
    return "Element types: " + joined(names);
}

std::vector<Type> types_of(const std::vector<std::string>& names, const std::vector<Type>& otherwise) {
    if (names.empty()) return otherwise;
    std::vector<std::string> known = {"all"};
    for (const Type type : all_types)
        known.emplace_back(name_of(type));
    check_names("--types", "element type", names, known);
    if (std::find(names.begin(), names.end(), "all") != names.end())
        return {all_types.begin(), all_types.end()};
    std::vector<Type> types;
    types.reserve(names.size());
    for (const std::string& name : names)
        types.push_back(*type_named(name));
    return types;
}

std::vector<Pattern> patterns_of_names(const std::vector<std::string>& names) {
    std::vector<Pattern> patterns;
    std::vector<std::string> known = {"all"};
    for (const Pattern pattern : all_patterns)
        known.emplace_back(name_of(pattern));
    check_names("--patterns", "pattern", names, known);
    if (std::find(names.begin(), names.end(), "all") != names.end()) return patterns;
    for (const std::string& name : names)
        patterns.push_back(*pattern_named(name));
    return patterns;
}

void check_algorithm_names(const std::vector<std::string>& names) {
    std::vector<std::string> known;
    for (const Algorithm* algorithm : algorithms())
        known.emplace_back(algorithm->name);
    check_names("ALGORITHM", "algorithm", names, known);
}

void check_variant_names(const std::vector<std::string>& algorithm_names,
                         const std::vector<std::string>& variants, std::vector<std::string> known) {
    for (const Algorithm* algorithm : algorithms()) {
        if (!asked_for(algorithm_names, algorithm->name)) continue;
        for (const Variant* variant : algorithm->variants) {
            if (std::find(known.begin(), known.end(), variant->name) == known.end())
                known.emplace_back(variant->name);
        }
    }
    check_names("--variants", "variant", variants, known);
}

namespace {

// The variants of the algorithms that are implemented for the device.
std::vector<std::string> variants_on(const Device& device, const std::vector<std::string>& algorithm_names) {
    std::vector<std::string> names;
    for (const Algorithm* algorithm : algorithms()) {
        if (!asked_for(algorithm_names, algorithm->name)) continue;
        for (const Variant* variant : algorithm->variants) {
            if (detail::supports_dialect(device, *variant) &&
                std::find(names.begin(), names.end(), variant->name) == names.end())
                names.emplace_back(variant->name);
        }
    }
    return names;
}

}  // namespace

void check_variants_exist(const std::vector<std::string>& algorithms,
                          const std::vector<std::string>& variants, std::vector<std::string> devices) {
    if (asked_for(variants, "all") && asked_for(variants, "auto")) return;  // no name
    if (devices.empty()) devices = {"all"};
    for (const std::string& pattern : devices) {
        std::vector<std::string> there;
        std::string selectors;
        for (const std::string& selector : device_selectors(pattern)) {
            const auto device = open_device(selector);
            for (std::string& name : variants_on(*device, algorithms)) {
                if (std::find(there.begin(), there.end(), name) == there.end())
                    there.push_back(std::move(name));
            }
            selectors.append(selectors.empty() ? "" : ", ").append(device->info().selector);
        }
        for (const std::string& variant : variants) {
            if (variant != "all" && variant != "auto" &&
                std::find(there.begin(), there.end(), variant) == there.end())
                throw Error(ErrorCode::unsupported, "--variants",
                            "variant '" + variant + "' is not implemented for " + selectors +
                                "; available: " + joined(there));
        }
    }
}

namespace {

[[noreturn]] void fail_size(const std::string& text) {
    throw Error(ErrorCode::invalid_argument, "--sizes",
                "invalid element count '" + text + "'; expected e.g. 1000, 2^20, 2^26+12345 or 2^10..2^28");
}

u64 number(std::string_view digits, const std::string& whole) {
    u64 value = 0;
    if (!is_whole(digits, value)) fail_size(whole);
    return value;
}

u64 power(std::string_view text, const std::string& whole) {
    if (text.rfind("2^", 0) != 0) return number(text, whole);
    const u64 exponent = number(text.substr(2), whole);
    if (exponent > 62) fail_size(whole);
    return u64{1} << exponent;
}

}  // namespace

u64 seed_of(const std::string& text) {
    u64 seed = 0;
    if (!is_whole(text, seed))
        throw Error(ErrorCode::invalid_argument, "--seed",
                    "invalid seed '" + text + "'; expected an integer from 0 to 2^64 - 1");
    return seed;
}

AskedSizes sizes_of(const std::vector<std::string>& texts) {
    AskedSizes sizes;
    for (const std::string& text : texts) {
        const std::string_view view = text;
        if (const std::size_t dots = view.find(".."); dots != std::string_view::npos) {
            const u64 first = power(view.substr(0, dots), text), last = power(view.substr(dots + 2), text);
            if (!std::has_single_bit(first) || !std::has_single_bit(last) || first > last) fail_size(text);
            for (u64 n = first; n != last; n *= 2)  // `last` may be 2^63
                sizes.values.push_back(n);
            sizes.values.push_back(last);
            continue;
        }
        u64 n = 0;
        if (const std::size_t sign = view.find_first_of("+-"); sign != std::string_view::npos) {
            const u64 base = power(view.substr(0, sign), text), more = number(view.substr(sign + 1), text);
            if (more > (view[sign] == '-' ? base : ~u64{0} - base)) fail_size(text);
            n = view[sign] == '-' ? base - more : base + more;
        } else {
            n = power(view, text);
        }
        sizes.values.push_back(n);
        sizes.names[n] = text;
    }
    check_sizes("--sizes", sizes.values, sizes.names);
    return sizes;
}

}  // namespace concord::app
