// Tuning tables of the devices of this process: search and lookups.

#include <concord/error.hpp>
#include <concord/internal/calibration.hpp>
#include <concord/internal/embedded_source.hpp>
#include <concord/internal/environment.hpp>
#include <concord/internal/folder_names.hpp>
#include <concord/internal/input_file.hpp>
#include <concord/internal/language.hpp>
#include <concord/kernel.hpp>
#include <concord/log.hpp>
#include <concord/tuning.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <functional>
#include <mutex>

namespace concord {

namespace detail {
// From algorithms/tuning_tables. Ends with a null.
extern const EmbeddedFile* const shipped_tunings[];
}  // namespace detail

namespace {

namespace fs = std::filesystem;

// Devices live as long as the process, and so do their entries here. A search compares with each device that was used
// before. Devices beyond the last entry have no tables.
struct Place {
    std::atomic<const Device*> device;
    std::atomic<const Tuning*> tuning;
    std::atomic<const Tuning*> calibrated;  // null before the calibration
};
constexpr std::size_t max_devices = 64;
Place places[max_devices];
std::mutex places_mutex;

const Tuning none;

struct Source {
    std::string name;
    std::function<std::optional<std::string>()> text;
};

std::optional<std::string> text_of_table(const fs::path& path, detail::InputFileRules rules) {
    try {
        return detail::text_of_file(path, "tuning table", rules);
    } catch (const Error& error) {
        detail::log_warn(error.what());
        return std::nullopt;
    }
}

void add_files(const fs::path& path, detail::InputFileRules rules, std::vector<Source>& sources) {
    std::error_code error;
    std::vector<fs::path> files;
    if (!fs::is_directory(path, error)) {
        files.push_back(path);
    } else {
        for (const std::string& name : detail::folder_names(path)) {
            if (name.ends_with(".txt")) files.push_back(path / name);
        }
    }
    for (const fs::path& file : files)
        sources.push_back({file.string(), [file, rules] { return text_of_table(file, rules); }});
}

// In order of precedence.
std::vector<Source> sources() {
    std::vector<Source> list;
    if (const std::string_view given = detail::environment_variable("CONCORD_TUNING"); !given.empty()) {
        if (given != "off") add_files(given, {}, list);
        return list;
    }
    std::error_code error;
    if (const fs::path folder = tuning_folder(); fs::is_directory(folder, error))
        add_files(folder, {.trusted = true}, list);
    for (const detail::EmbeddedFile* const* file = detail::shipped_tunings; *file != nullptr; ++file)
        list.push_back({"shipped " + std::string((*file)->name),
                        [file] { return std::string((*file)->text, (*file)->size); }});
    return list;
}

// The table that matches the device; null if there is none.
const Tuning* found_for(const Device& device) {
    std::string source;
    const auto table = find_tuning_table(device, &source);
    if (!table) return nullptr;
    detail::log_info(device.info().selector + ": using tuning table " + source + " of " + table->date +
                     (table->driver == device.info().driver ? "" : ", measured with " + table->driver));
    return detail::keep_tuning(std::make_shared<const Tuning>(table->rows, source)).get();
}

// The entry of the device, and whether this call made it, with `tuning` in effect. Null if all entries are in use.
std::pair<Place*, bool> place_of(const Device& device, const Tuning* tuning) {
    const std::lock_guard lock(places_mutex);
    for (Place& place : places) {
        const Device* const there = place.device.load(std::memory_order_acquire);
        if (there == &device) return {&place, false};
        if (there != nullptr) continue;
        place.tuning.store(tuning, std::memory_order_release);
        place.device.store(&device, std::memory_order_release);
        return {&place, true};
    }
    return {nullptr, false};
}

// The rows of a calibration for a device without a table. Measures once per process; another thread does not wait.
const Tuning* calibrated_for(const Device& device, Place& place) {
    if (!detail::environment_variable("CONCORD_TUNING").empty()) return &none;
    static std::mutex one;
    const std::unique_lock lock(one, std::try_to_lock);
    if (!lock.owns_lock()) return &none;
    if (const Tuning* const known = place.calibrated.load(std::memory_order_acquire)) return known;
    std::string source;
    const Tuning* rows = &none;
    if (const auto table = detail::calibrated_table(device, place.tuning, source))
        rows = detail::keep_tuning(std::make_shared<const Tuning>(table->rows, source)).get();
    place.calibrated.store(rows, std::memory_order_release);
    return rows;
}

}  // namespace

std::shared_ptr<const Tuning> detail::keep_tuning(std::shared_ptr<const Tuning> tuning) {
    static std::mutex mutex;
    static auto& all = *new std::vector<std::shared_ptr<const Tuning>>;
    const std::lock_guard lock(mutex);
    if (std::find(all.rbegin(), all.rend(), tuning) == all.rend()) all.push_back(tuning);
    return tuning;
}

bool Tunable::permits(u64 value) const {
    return value != 0 && std::find(values.begin(), values.end(), value) != values.end();
}

bool Tunable::is_for(const Device& device) const {
    return is_for(device.traits().dialect, device.traits().launch);
}

bool Tunable::is_for(Dialect language, LaunchModel launch) const {
    return used_by.has(launch) &&
           (languages == Dialects() || detail::with_same_files(languages).has(language));
}

u32 TuningPoint::size_class() const {
    return size == 0 ? 0 : static_cast<u32>(std::bit_width(size)) - 1;
}

Tuning::Tuning(const std::vector<TuningRow>& rows, std::string source, std::vector<Asked>* asked)
    : source_(std::move(source)), asked_(asked) {
    for (const TuningRow& from : rows) {
        Row row{.what = nullptr,
                .label_first = from.label_first,
                .label_last = from.label_last,
                .value = 0,
                .variant = nullptr,
                .type = from.type,
                .class_first = from.class_first,
                .class_last = from.class_last};
        for (const Algorithm* algorithm : algorithms()) {
            for (const Tunable* tunable : algorithm->tunables) {
                if (tunable->name != from.what) continue;
                row.value = std::strtoull(from.value.c_str(), nullptr, 10);
                if (tunable->permits(row.value)) row.what = tunable;
            }
            if (algorithm->name != from.what) continue;
            for (const Variant* variant : algorithm->variants) {
                if (variant->name != from.value) continue;
                row.what = algorithm->variants.front();
                row.variant = variant;
            }
        }
        if (row.what != nullptr)
            rows_.push_back(row);
        else
            detail::log_warn(source_ + ": invalid value '" + from.value + "' for " + from.what +
                             "; skipping the row");
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return std::less<>()(a.what, b.what); });
}

const Tuning::Row* Tuning::find(const void* what, const TuningPoint& point) const {
    const u32 size_class = point.size_class();
    auto row = std::lower_bound(rows_.begin(), rows_.end(), what,
                                [](const Row& a, const void* b) { return std::less<>()(a.what, b); });
    for (; row != rows_.end() && row->what == what; ++row) {
        if ((!row->type || *row->type == point.type) && row->label_first <= point.label &&
            point.label <= row->label_last && row->class_first <= size_class && size_class <= row->class_last)
            return &*row;
    }
    return nullptr;
}

const Variant* Tuning::variant(const Variant* table, const TuningPoint& point) const {
    if (asked_ != nullptr)
        asked_->push_back({.tunable = nullptr, .table = table, .point = point, .otherwise = 0});
    const Row* row = find(table, point);
    return row == nullptr ? nullptr : row->variant;
}

u64 Tuning::value(const Tunable& tunable, const TuningPoint& point, u64 otherwise) const {
    if (asked_ != nullptr)
        asked_->push_back({.tunable = &tunable, .table = nullptr, .point = point, .otherwise = otherwise});
    const Row* row = find(&tunable, point);
    return row == nullptr ? otherwise : row->value;
}

const Tuning& tuning_of(const Device& device) {
    for (Place& place : places) {
        const Device* const there = place.device.load(std::memory_order_acquire);
        if (there == &device) return *place.tuning.load(std::memory_order_acquire);
        if (there == nullptr) break;
    }
    const Tuning* const found = found_for(device);
    const auto [place, is_new] = place_of(device, found == nullptr ? &none : found);
    if (place == nullptr) return none;
    if (is_new && found == nullptr) {
        const Tuning *expected = &none, *const rows = calibrated_for(device, *place);
        place->tuning.compare_exchange_strong(expected, rows);  // unless set_tuning() has replaced it
    }
    return *place->tuning.load(std::memory_order_acquire);
}

void set_tuning(const Device& device, const std::shared_ptr<const Tuning>& tuning) {
    const Tuning* now = tuning ? detail::keep_tuning(tuning).get() : found_for(device);
    Place* const place = place_of(device, &none).first;
    if (place == nullptr) return;
    if (now == nullptr) {
        place->tuning.store(&none, std::memory_order_release);
        now = calibrated_for(device, *place);
    }
    place->tuning.store(now, std::memory_order_release);
}

std::optional<TuningTable> find_tuning_table(const Device& device, std::string* source) {
    for (const Source& from : sources()) {
        const auto text = from.text();
        if (!text) continue;
        auto table = TuningTable::parse(*text, from.name);
        if (!table || !table->fits(device)) continue;
        if (source != nullptr) *source = from.name;
        return table;
    }
    return std::nullopt;
}

fs::path tuning_folder() {
    for (const auto& [name, below] : {std::pair("XDG_CONFIG_HOME", ""), std::pair("HOME", ".config")}) {
        if (const std::string_view base = detail::environment_variable(name); base.starts_with('/'))
            return fs::path(base) / below / "concord" / "tuning";
    }
    return {};
}

}  // namespace concord
