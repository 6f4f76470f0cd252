#include "stream/operation.hpp"

#include <concord/device.hpp>
#include <concord/internal/number_text.hpp>
#include <concord/log.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <utility>

namespace concord {
namespace {

using Clock = std::chrono::steady_clock;

constexpr u64 max_events = 1000000;
constexpr u32 look_every = 64;  // resolves finished operations every so many operations of a stream
constexpr int min_ties = 5, max_ties = 50;
constexpr std::chrono::microseconds close_tie(50);

double microseconds(Clock::duration duration) {
    return std::chrono::duration<double, std::micro>(duration).count();
}

// A point in time on a device's clock and on the host's clock.
struct Tie {
    std::shared_ptr<Event> device;
    Clock::time_point host;
};

// The device's time lies between two times of the host. Takes the closest pair of several attempts, and of more while
// other processes delay each of them.
Tie tie_now(Device& device, Stream& stream) {
    Tie best;
    Clock::duration closest = Clock::duration::max();
    for (int i = 0; i < min_ties || (i < max_ties && closest > close_tie); ++i) {
        std::shared_ptr<Event> event = device.create_event();
        const Clock::time_point before = Clock::now();
        stream.record(*event);
        event->synchronize();
        const Clock::time_point after = Clock::now();
        if (after - before >= closest) continue;
        closest = after - before;
        best = {std::move(event), before + (after - before) / 2};
    }
    return best;
}

void append_text(std::string& json, std::string_view text) {
    json += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            json += '\\';
            json += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
            json += code;
        } else {
            json += c;
        }
    }
    json += '"';
}

void append_number(std::string& json, double value) {
    json += detail::fixed_text(value, 3);
}

std::string extent(u64 x, u64 y, u64 z) {
    return std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z);
}

}  // namespace

std::string_view name_of(Engine engine) {
    switch (engine) {
        case Engine::kernel:
            return "kernel";
        case Engine::upload:
            return "upload";
        case Engine::download:
            return "download";
        case Engine::copy:
            return "copy";
        case Engine::fill:
            return "fill";
        case Engine::callback:
            return "callback";
    }
    return "unknown";
}

namespace detail {

std::atomic<u32> listeners = 0;

// A device's clock, synchronised with the host's clock.
struct TracedDevice {
    std::shared_ptr<Device> device;
    std::shared_ptr<Stream> stream;  // for synchronisation only
    u32 index = 0;
    u32 streams = 0;
    Tie first;
    double first_at = 0;  // microseconds since the start of the trace
    double rate = 1;      // host microseconds per device microsecond
};

// The operations of one stream.
class StreamTrace {
  public:
    StreamTrace(u64 trace, TracedDevice& device, u32 number)
        : trace_(trace), device_(device), number_(number), behind_(device.first.device) {}

    bool is_of(u64 trace) const { return trace_ == trace; }

    void enqueue(const Operation& operation, const Timed& timed, Clock::time_point start) {
        // An entry of the list, so that nothing can fail after the operation is in the queue.
        std::list<Pending> entry(1);
        Pending& pending = entry.front();
        pending.event.name = operation.name();
        pending.event.engine = operation.engine;
        pending.event.device = device_.index;
        pending.event.stream = number_;
        pending.event.bytes = operation.bytes;
        if (operation.shape != nullptr) pending.event.shape = *operation.shape;
        {
            const std::lock_guard lock(mutex_);
            pending.begin = take_event();
            pending.end = take_event();
        }
        pending.event.enqueued = microseconds(Clock::now() - start);
        timed(*pending.begin, *pending.end);  // throws before anything runs
        const std::lock_guard lock(mutex_);
        pending_.splice(pending_.end(), entry);
        if (++enqueued_ % look_every == 0) resolve(Resolve::finished);
    }

    // Waits for all operations.
    void finish() {
        const std::lock_guard lock(mutex_);
        resolve(Resolve::all);
        free_.clear();
        behind_.reset();
    }
    std::vector<TraceEvent> take() { return std::move(done_); }
    u64 failed() const { return failed_; }

  private:
    struct Pending {
        TraceEvent event;
        std::shared_ptr<Event> begin, end;
    };

    std::shared_ptr<Event> take_event() {
        if (free_.empty()) return device_.device->create_event();
        std::shared_ptr<Event> event = std::move(free_.back());
        free_.pop_back();
        return event;
    }

    enum class Resolve { finished, all };
    // Takes the times of finished operations, or waits for all. Adds times from event to event, because a device may
    // report the time between two events as a float.
    void resolve(Resolve which) noexcept {
        while (!pending_.empty()) {
            Pending& next = pending_.front();
            try {
                if (which == Resolve::finished && !next.end->done()) return;
                next.event.begin = at_ + 1e3 * next.begin->milliseconds_since(*behind_);
                next.event.end = next.event.begin + 1e3 * next.end->milliseconds_since(*next.begin);
                at_ = next.event.end;
                if (behind_ != device_.first.device) free_.push_back(std::move(behind_));
                behind_ = std::move(next.end);
                free_.push_back(std::move(next.begin));
                done_.push_back(std::move(next.event));
            } catch (const std::exception&) {
                ++failed_;
            }
            pending_.pop_front();
        }
    }

    u64 trace_;
    TracedDevice& device_;
    u32 number_;
    std::mutex mutex_;
    std::list<Pending> pending_;
    std::vector<TraceEvent> done_;  // in device microseconds since its first tie
    std::vector<std::shared_ptr<Event>> free_;
    std::shared_ptr<Event> behind_;  // the event at time at_
    double at_ = 0;
    u64 enqueued_ = 0;
    u64 failed_ = 0;
};

// The contents of a trace, shared with calls that add operations.
struct TraceState {
    explicit TraceState(u64 id) : id(id) {}

    const u64 id;
    const Clock::time_point start = Clock::now();
    std::atomic<u64> count = 0;    // operations enqueued
    std::atomic<u64> dropped = 0;  // operations above the limit
    std::mutex mutex;
    bool finished = false;
    std::deque<TracedDevice> devices;  // a deque keeps addresses valid
    std::vector<std::shared_ptr<StreamTrace>> streams;

    // Set by finish().
    std::vector<TraceEvent> events;
    std::vector<DeviceInfo> infos;

    // The record of a new stream, null if the trace is finished.
    std::shared_ptr<StreamTrace> add(Stream& stream) {
        const std::lock_guard lock(mutex);
        if (finished) return nullptr;
        TracedDevice& device = device_of(stream.device());
        return streams.emplace_back(std::make_shared<StreamTrace>(id, device, ++device.streams));
    }
    void finish();

  private:
    TracedDevice& device_of(Device& device) {
        for (TracedDevice& known : devices) {
            if (known.device.get() == &device) return known;
        }
        TracedDevice made;
        made.device = device.shared_from_this();
        made.stream = device.create_stream();
        made.index = static_cast<u32>(devices.size());
        made.first = tie_now(device, *made.stream);
        made.first_at = microseconds(made.first.host - start);
        return devices.emplace_back(std::move(made));
    }
    void tie_again(TracedDevice& device) const;
};

namespace {

// The active trace, if any.
struct Current {
    std::mutex mutex;
    std::shared_ptr<TraceState> state;
    u64 traces = 0;

    std::shared_ptr<TraceState> get() {
        const std::lock_guard lock(mutex);
        return state;
    }
    std::shared_ptr<TraceState> begin() {
        const std::lock_guard lock(mutex);
        if (state)
            throw Error(ErrorCode::invalid_argument, "Trace",
                        "a trace is already active; finish or destroy it first");
        state = std::make_shared<TraceState>(++traces);
        listeners |= listener_trace;
        return state;
    }
    void end(const TraceState* which) {
        const std::lock_guard lock(mutex);
        if (state.get() != which) return;
        listeners &= ~listener_trace;
        state.reset();
    }
};
Current current;

}  // namespace

void trace_operation(Stream& stream, std::shared_ptr<StreamTrace>& own, const Operation& operation,
                     const Timed& timed, const std::function<void()>& plain) {
    const std::shared_ptr<TraceState> state = current.get();
    if (!state) return plain();
    if (state->count++ >= max_events) {
        ++state->dropped;
        return plain();
    }
    if (!own || !own->is_of(state->id)) own = state->add(stream);
    if (!own) return plain();
    own->enqueue(operation, timed, state->start);
}

// Measures the rate of the device's clock.
void TraceState::tie_again(TracedDevice& device) const {
    try {
        const Tie last = tie_now(*device.device, *device.stream);
        const double by_device = 1e3 * last.device->milliseconds_since(*device.first.device);
        // A short time does not determine the rate.
        if (by_device > 1e5) device.rate = microseconds(last.host - device.first.host) / by_device;
    } catch (const Error& error) {
        log_warn("trace: cannot synchronise with the clock of " + device.device->info().selector + ": " +
                 error.what());
    }
}

void TraceState::finish() {
    {
        const std::lock_guard lock(mutex);
        if (std::exchange(finished, true)) return;
    }
    // Without the lock, because operations to wait for may need it.
    for (const auto& stream : streams)
        stream->finish();
    for (TracedDevice& device : devices) {
        tie_again(device);
        infos.push_back(device.device->info());
    }
    for (const auto& stream : streams) {
        dropped += stream->failed();
        for (TraceEvent& event : stream->take()) {
            const TracedDevice& device = devices[event.device];
            event.begin = device.first_at + device.rate * event.begin;
            event.end = device.first_at + device.rate * event.end;
            events.push_back(std::move(event));
        }
    }
    std::stable_sort(events.begin(), events.end(), [](const TraceEvent& a, const TraceEvent& b) {
        return a.device != b.device ? a.device < b.device : a.stream < b.stream;
    });
    streams.clear();
    for (TracedDevice& device : devices) {
        device.stream.reset();
        device.first.device.reset();
    }
}

}  // namespace detail

Trace::Trace() : state_(detail::current.begin()) {}

Trace::~Trace() {
    detail::current.end(state_.get());
}

void Trace::finish() {
    detail::current.end(state_.get());
    state_->finish();
}

const std::vector<TraceEvent>& Trace::events() const noexcept {
    return state_->events;
}

const std::vector<DeviceInfo>& Trace::devices() const noexcept {
    return state_->infos;
}

u64 Trace::dropped() const noexcept {
    return state_->dropped;
}

std::string Trace::json() const {
    std::string json = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"concord\":\"" CONCORD_VERSION
                       "\",\"dropped\":" +
                       std::to_string(dropped()) + "},\"traceEvents\":[";
    bool first = true;
    auto begin_event = [&](std::string_view name, const char* phase, u32 device, u32 stream) {
        json += first ? "\n{\"name\":" : ",\n{\"name\":";
        first = false;
        append_text(json, name);
        json.append(",\"ph\":\"").append(phase);
        json += "\",\"pid\":" + std::to_string(device + 1) + ",\"tid\":" + std::to_string(stream);
    };
    auto name = [&](const char* what, u32 device, u32 stream, const std::string& text) {
        begin_event(what, "M", device, stream);
        json += ",\"ts\":0,\"dur\":0,\"args\":{\"name\":";
        append_text(json, text);
        json += "}}";
    };
    for (u32 i = 0; i < devices().size(); ++i)
        name("process_name", i, 0, devices()[i].selector + " (" + devices()[i].name + ")");
    const TraceEvent* before = nullptr;
    for (const TraceEvent& event : events()) {
        if (before == nullptr || before->device != event.device || before->stream != event.stream)
            name("thread_name", event.device, event.stream, "stream " + std::to_string(event.stream));
        before = &event;
    }
    for (const TraceEvent& event : events()) {
        begin_event(event.name, "X", event.device, event.stream);
        json.append(",\"cat\":\"").append(name_of(event.engine)).append("\",\"ts\":");
        append_number(json, event.begin);
        json += ",\"dur\":";
        append_number(json, event.end - event.begin);
        json.append(",\"args\":{\"engine\":\"").append(name_of(event.engine)).append("\",\"enqueued\":");
        append_number(json, event.enqueued);
        if (event.engine == Engine::kernel) {
            const LaunchShape& s = event.shape;
            json += ",\"groups\":\"" + extent(s.groups_x, s.groups_y, s.groups_z) + "\",\"group_size\":\"" +
                    extent(s.group_size_x, s.group_size_y, s.group_size_z) + "\"";
        } else if (event.engine != Engine::callback) {
            json += ",\"bytes\":" + std::to_string(event.bytes) + ",\"GB/s\":";
            const double us = event.end - event.begin;
            append_number(json, us > 0 ? static_cast<double>(event.bytes) / us * 1e-3 : 0);
        }
        json += "}}";
    }
    json += "\n]}\n";
    return json;
}

}  // namespace concord
