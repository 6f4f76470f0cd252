#pragma once
// Measurement of launch parameters on a CPU that has no tuning table. docs/tuning.md describes when it runs.
//
// An algorithm whose descriptor has a `calibrate` function measures public calls with different rows in effect, and
// adds the rows that are faster. All algorithms share one time limit. What they have not decided by then has no row.

#include <concord/stream.hpp>
#include <concord/tuning.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace concord::detail {

// A row for all types and sizes with that value of a tunable.
TuningRow row_of(const Tunable& tunable, u64 value);
// A row for all types and sizes with that variant of an algorithm.
TuningRow row_of(std::string_view algorithm, std::string_view variant);

// What the algorithms' `calibrate` functions measure with.
class Calibration {
  public:
    using Clock = std::chrono::steady_clock;

    // `in_effect`: the table that calls on the device look up. Restores it at the end, unless set_tuning() has
    // replaced it meanwhile; measurements end then. Throws like Device::create_stream() and Device::allocate().
    Calibration(Device& device, std::atomic<const Tuning*>& in_effect, Clock::time_point deadline);
    ~Calibration();
    Calibration(const Calibration&) = delete;
    Calibration& operator=(const Calibration&) = delete;

    Stream& stream() { return *stream_; }
    const DeviceTraits& traits() const { return stream_->device().traits(); }
    void measure_until(Clock::time_point deadline) { deadline_ = deadline; }
    // Whether the time is up.
    bool is_late() const { return is_replaced_ || Clock::now() >= deadline_; }

    // Number of operands, and the largest size of one in bytes.
    static constexpr u32 operands = 3;
    u64 room() const { return room_; }
    // The next `count` elements of an operand, all of them zero unless a call wrote them. Calls take turns through
    // the memory, so that large operands are not in a cache. Requires that they fit the room.
    View operand(u32 which, Type type, u64 count);

    // A call with rows in effect.
    struct Candidate {
        std::vector<TuningRow> rows;
        std::function<void()> call;  // enqueues on the stream
    };
    // Time of `a` divided by the time of `b`, the shortest of alternating measurements each, because other load only
    // makes them longer; nothing if the time is up.
    std::optional<double> time_ratio(const Candidate& a, const Candidate& b);

    // For a tunable that is the KiB of data from which on a technique is used: adds a row with the smallest permitted
    // value from which on the technique is faster, unless the time is up or no measured size is faster. `call` enqueues
    // a call with about that many bytes of data, for which the threshold counts `bytes_of_kib` bytes as one KiB.
    void add_threshold(const Tunable& tunable, const std::function<void(u64 bytes)>& call,
                       std::optional<u64> label = {}, u64 bytes_of_kib = 1024);

    void add(TuningRow row) { rows_.push_back(std::move(row)); }
    const std::vector<TuningRow>& rows() const { return rows_; }

  private:
    void use(const std::shared_ptr<const Tuning>& tuning);

    Clock::time_point deadline_;
    std::atomic<const Tuning*>& in_effect_;
    const Tuning *before_, *mine_;
    bool is_replaced_ = false;
    std::shared_ptr<Stream> stream_;
    std::vector<std::shared_ptr<Buffer>> memory_;
    std::vector<u64> next_;
    u64 room_ = 0;
    std::vector<TuningRow> rows_;
};

// The rows for a CPU without a tuning table: from the kernel cache, or measured and stored there. Nothing on other
// devices, with CONCORD_CALIBRATION=off, and after a failure. Blocks for calibration_ms at most. `source` receives
// where the rows come from. Other threads may call algorithms on the device meanwhile.
std::optional<TuningTable> calibrated_table(const Device& device, std::atomic<const Tuning*>& in_effect,
                                            std::string& source);
inline constexpr std::chrono::milliseconds calibration_ms{200};

// --- Non-temporal stores ---------------------------------------------------------------------------------------------

// The tunable NAME.stream_kib of an algorithm. Its launches use non-temporal stores for that much data and more.
constexpr Tunable stream_tunable(std::string_view name) {
    return {.name = name,
            .summary = "KiB of data from which on results bypass the caches",
            .used_by = {LaunchModel::host},
            .values = {256, 512, 1024, 2048, 4096, 8192, 32768, u64{1} << 40}};
}

// 1 if the launch uses non-temporal stores for that much data: by default if it fills the caches.
inline u32 stores_non_temporal(const Device& device, const Tunable& tunable, const TuningPoint& point,
                               u64 bytes) {
    const DeviceTraits& traits = device.traits();
    const u64 kib = traits.cache >> 10;
    return bytes >> 10 >= tuned(device, tunable, point, kib) ? 1 : 0;
}

}  // namespace concord::detail
