#include <concord/backend/program_cache.hpp>
#include <concord/error.hpp>
#include <concord/internal/calibration.hpp>
#include <concord/internal/environment.hpp>
#include <concord/internal/number_text.hpp>
#include <concord/log.hpp>

#include <algorithm>
#include <array>

namespace concord::detail {
namespace {

using Clock = Calibration::Clock;

// What the content of a stored calibration depends on besides Concord's version. Counts up when it changes.
constexpr int revision = 2;

constexpr u64 max_room =
    u64{16} << 20;  // per operand; together more than most last-level caches of one socket
constexpr u64 piece = u64{1} << 20;

// The first line of a stored calibration that ran out of time, as a comment. The next process tries once more.
constexpr std::string_view incomplete = "# incomplete\n";

double microseconds(Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
}

std::string key_of(const Device& device) {
    const TuningTable table = TuningTable::of(device);
    return table.backend + ", " + table.hardware + ", calibration\nunits " + std::to_string(table.units) +
           "\n" + table.driver + "\nConcord " + table.version + ", revision " + std::to_string(revision);
}

// A stored calibration. Nothing if it is not for this device and version.
std::optional<TuningTable> table_of(const Device& device, const std::string& text) {
    auto table = TuningTable::parse(text, "calibration");
    if (!table || !table->fits(device) || table->version != CONCORD_VERSION) return std::nullopt;
    return table;
}

struct Measured {
    TuningTable table;
    bool is_complete = true;
};

Measured measure(const Device& device, std::atomic<const Tuning*>& in_effect) {
    const Clock::time_point start = Clock::now();
    // The last measurement ends after the deadline, and memory has to be returned.
    const Clock::time_point deadline = start + calibration_ms * 7 / 10;
    Measured measured{.table = TuningTable::of(device)};
    {
        // Devices are never constant objects.
        Calibration calibration(const_cast<Device&>(device), in_effect, deadline);
        std::vector<const Algorithm*> list;
        for (const Algorithm* algorithm : algorithms()) {
            if (algorithm->calibrate != nullptr) list.push_back(algorithm);
        }
        // Each gets an equal share of the time that is left.
        for (std::size_t i = 0; i < list.size(); ++i) {
            const auto share = (deadline - Clock::now()) / static_cast<i64>(list.size() - i);
            calibration.measure_until(Clock::now() + share);
            if (!calibration.is_late()) list[i]->calibrate(calibration);
            if (calibration.is_late()) measured.is_complete = false;
        }
        measured.table.rows = calibration.rows();
    }
    log_info(device.info().selector + ": calibrated in " +
             std::to_string(static_cast<u64>(microseconds(Clock::now() - start) / 1000)) + " ms, " +
             std::to_string(measured.table.rows.size()) + " entries" +
             (measured.is_complete ? "" : ", incomplete"));
    return measured;
}

}  // namespace

TuningRow row_of(const Tunable& tunable, u64 value) {
    TuningRow row;
    row.what = tunable.name;
    row.value = std::to_string(value);
    return row;
}

TuningRow row_of(std::string_view algorithm, std::string_view variant) {
    TuningRow row;
    row.what = algorithm;
    row.value = variant;
    return row;
}

Calibration::Calibration(Device& device, std::atomic<const Tuning*>& in_effect, Clock::time_point deadline)
    : deadline_(deadline),
      in_effect_(in_effect),
      before_(in_effect.load()),
      mine_(before_),
      stream_(device.create_stream()),
      next_(operands, 0) {
    for (u32 i = 0; i < operands; ++i)
        memory_.push_back(device.allocate(max_room, stream_.get()));
    // The first touch of memory may be slow, so that it gets a quarter of the time at most.
    const Clock::time_point enough = Clock::now() + (deadline - Clock::now()) / 4;
    const u32 zero = 0;
    for (; room_ < max_room && Clock::now() < enough; room_ += piece) {
        for (const auto& buffer : memory_)
            stream_->fill(*buffer, room_, piece, &zero, sizeof zero);
        stream_->synchronize();
    }
}

Calibration::~Calibration() {
    in_effect_.compare_exchange_strong(mine_, before_);
    try {
        stream_->synchronize();
    } catch (const std::exception&) {  // of a measured call; its rows are not used
    }
    Device& device = stream_->device();
    memory_.clear();
    try {
        device.trim();
    } catch (const std::exception&) {
    }
}

View Calibration::operand(u32 which, Type type, u64 count) {
    const u64 bytes = count * size_of(type);
    if (next_[which] + bytes > room_) next_[which] = 0;
    const u64 offset = next_[which];
    next_[which] += (bytes + 511) / 512 * 512;
    return {memory_[which].get(), offset, count, type};
}

// Calls of other threads may use a table until the process ends.
void Calibration::use(const std::shared_ptr<const Tuning>& tuning) {
    if (is_replaced_) return;
    if (!in_effect_.compare_exchange_strong(mine_, tuning.get())) {
        is_replaced_ = true;
        return;
    }
    mine_ = tuning.get();
}

std::optional<double> Calibration::time_ratio(const Candidate& a, const Candidate& b) {
    constexpr double min_us = 100, much_us = 500;
    std::array<std::shared_ptr<const Tuning>, 2> tables;
    for (u32 i = 0; i < 2; ++i) {
        std::vector<TuningRow> rows = (i == 0 ? a : b).rows;
        rows.insert(rows.end(), rows_.begin(), rows_.end());
        tables[i] = keep_tuning(std::make_shared<const Tuning>(rows, "calibration"));
    }
    auto time_of = [&](u32 i, u64 calls) {
        use(tables[i]);
        const Clock::time_point start = Clock::now();
        for (u64 call = 0; call < calls; ++call)
            (i == 0 ? a : b).call();
        stream_->synchronize();
        return microseconds(Clock::now() - start);
    };
    (void)time_of(0, 1);  // loads kernels and fills pools
    if (is_late()) return std::nullopt;
    const double once = std::max(0.1, time_of(1, 1));
    const auto calls = static_cast<u64>(std::clamp(min_us / once, 1.0, 64.0));
    const u32 rounds = once > much_us ? 4 : 7;
    double least[2] = {1e12, 1e12};
    for (u32 round = 0; round < rounds; ++round) {
        for (u32 i = 0; i < 2; ++i) {
            if (is_late()) return std::nullopt;
            least[i] = std::min(least[i], std::max(0.1, time_of(i, calls)));
        }
    }
    return least[0] / least[1];
}

void Calibration::add_threshold(const Tunable& tunable, const std::function<void(u64)>& call,
                                std::optional<u64> label, u64 bytes_of_kib) {
    // Permitted values in ascending order. With the first one every measured call uses the technique, with the last
    // one none does.
    std::vector<u64> values;
    for (const u64 value : tunable.values) {
        if (value != 0) values.push_back(value);
    }
    const TuningRow with = row_of(tunable, values.front()), without = row_of(tunable, values.back());
    // From the largest measured size downwards, while the technique is faster. If it is not faster even there, nothing
    // is known about larger data, and the default stays.
    constexpr double gain = 1.03;
    const u64 most = room_ / 4;
    u64 chosen = 0;
    for (std::size_t i = values.size() - 1; i-- > 0;) {
        const u64 bytes = values[i] * bytes_of_kib;
        if (bytes > most) continue;
        const auto ratio = time_ratio({.rows = {without}, .call = [&] { call(bytes); }},
                                      {.rows = {with}, .call = [&] { call(bytes); }});
        if (!ratio) return;
        log_debug("calibration: " + std::string(tunable.name) +
                  (label ? ", label " + std::to_string(*label) : "") + ": at " + std::to_string(bytes >> 10) +
                  " KiB the time without is " + fixed_text(*ratio, 6) + " of that with");
        if (*ratio < gain) break;
        chosen = values[i];
    }
    if (chosen == 0) return;
    TuningRow row = row_of(tunable, chosen);
    if (label) row.label_first = row.label_last = *label;
    add(std::move(row));
}

std::optional<TuningTable> calibrated_table(const Device& device, std::atomic<const Tuning*>& in_effect,
                                            std::string& source) try {
    const DeviceTraits& traits = device.traits();
    if (!traits.runs || traits.launch != LaunchModel::host ||
        environment_variable("CONCORD_CALIBRATION") == "off")
        return std::nullopt;
    const std::string key = key_of(device);
    const std::optional<std::string> text = backend::load_program(key);
    const bool again = text && text->starts_with(incomplete);
    if (text && !again) {
        if (auto stored = table_of(device, *text)) {
            source = "calibration of " + stored->date + " in the kernel cache";
            return stored;
        }
    }
    Measured measured = measure(device, in_effect);
    if (again && !measured.is_complete) {
        // A busy machine may leave no time for a single measurement. Then the first attempt is the better one.
        auto first = table_of(device, text->substr(incomplete.size()));
        if (first && first->rows.size() > measured.table.rows.size()) measured.table = *std::move(first);
    }
    const std::string_view head = measured.is_complete || again ? std::string_view() : incomplete;
    backend::store_program(key, std::string(head) + measured.table.text());
    source = "calibration in this process";
    return measured.table;
} catch (const std::exception& failed) {
    // Defaults are always correct. A persistent failure of the device surfaces in the next call.
    try {
        log_info("calibration failed: " + std::string(failed.what()));
    } catch (...) {
    }
    return std::nullopt;
} catch (...) {
    return std::nullopt;
}

}  // namespace concord::detail
