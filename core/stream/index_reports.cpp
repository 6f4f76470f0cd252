#include "stream/index_reports.hpp"

#include "stream/recorded.hpp"
#include "stream/stream_state.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace concord::detail {
namespace {

constexpr IndexCheck several_calls{"Stream::synchronize", "index", 0};

bool same_checks(const IndexCheck& a, const IndexCheck& b) {
    return std::string_view(a.call) == b.call && std::string_view(a.what) == b.what && a.bound == b.bound &&
           a.ascends == b.ascends && a.single == b.single;
}

}  // namespace

KernelArgument IndexReports::next(const IndexCheck& check) {
    if (checks.size() + 1 < max_words) {
        checks.push_back(check);
    } else if (!same_checks(checks.back(), check)) {
        checks.back() = several_calls;
    }
    return word(checks.size());
}

void IndexReading::check() const {
    const auto reported = std::find_if(positions.begin(), positions.end(),
                                       [](u32 position) { return position != no_position; });
    if (reported == positions.end()) return;
    const IndexCheck& check = checks[static_cast<std::size_t>(reported - positions.begin())];
    if (check.single)
        throw Error(ErrorCode::invalid_argument, check.call,
                    std::string(check.what) + " exceeds the " + std::to_string(check.bound - 1) +
                        " elements of the input");
    std::string text = std::string(check.what) + (check.ascends ? " that does not ascend or is" : "") +
                       " out of range at position " + std::to_string(*reported);
    if (*reported == far_position) text += " or a later one";
    if (same_checks(check, several_calls)) {
        text += " of one of several calls; synchronize more often to learn which one";
    } else if (check.bound == 0) {
        text += "; there are no elements";
    } else {
        text += "; expected 0 to " + std::to_string(check.bound - 1);
    }
    throw Error(ErrorCode::invalid_argument, check.call, text);
}

std::shared_ptr<IndexReports>& StreamState::index_reports() {
    RecordingContents* const recording_now = recorded();
    return recording_now != nullptr ? recording_now->reports : reports;
}

std::shared_ptr<IndexReports> StreamState::made_index_reports() {
    std::unique_lock lock(mutex);
    if (index_reports()) return index_reports();
    lock.unlock();
    // Two threads may both get here. The memory of the second one returns to the pool.
    auto made =
        std::make_shared<IndexReports>(stream.scratch(IndexReports::max_words * IndexReports::word_bytes));
    lock.lock();
    if (!index_reports()) index_reports() = std::move(made);
    return index_reports();
}

KernelArgument StreamState::index_word(const std::shared_ptr<IndexReports>& from, const IndexCheck& check) {
    if (is_captured) return from->unread();
    if (recorded() == nullptr) add_unread(from);
    return from->next(check);
}

void StreamState::add_unread(const std::shared_ptr<IndexReports>& words) {
    if (std::find(unread.begin(), unread.end(), words) != unread.end()) return;
    if (!words->is_clear) clear(*words);
    unread.push_back(words);
    has_reports = true;
}

void StreamState::clear(IndexReports& words) {
    words.is_clear = false;  // also if the fill fails
    note_use(*words.memory);
    fill(*words.memory, 0, words.memory->size(), &no_position, sizeof no_position);
    words.is_clear = true;
}

u64 StreamState::read_reports() {
    u64 last = 0;
    enqueue([&] {
        const std::vector<std::shared_ptr<IndexReports>> all = std::exchange(unread, {});
        for (const auto& words : all)
            words->is_clear = false;  // until the fill is in the queue
        for (const auto& words : all) {
            if (words->checks.empty()) continue;  // no launch of a recording has a word
            readings.push_back(
                std::make_unique<IndexReading>(IndexReading{++last_reading, words, words->checks, {}}));
            IndexReading& reading = *readings.back();
            reading.positions.assign(reading.checks.size(), no_position);
            if (words == reports) words->checks.clear();
            const u64 bytes = reading.positions.size() * IndexReports::word_bytes;
            note_use(*words->memory);
            perform({Engine::download, bytes}, [&] {
                queue->read(reading.positions.data(), backend::memory_of(*words->memory),
                            IndexReports::word_bytes, bytes);
            });
            clear(*words);
        }
        last = last_reading;
    });
    return last;
}

std::vector<std::unique_ptr<IndexReading>> StreamState::take_readings(u64 last) {
    const std::lock_guard lock(mutex);
    std::vector<std::unique_ptr<IndexReading>> taken;
    const auto end = std::find_if(readings.begin(), readings.end(),
                                  [&](const auto& reading) { return reading->number > last; });
    taken.assign(std::move_iterator(readings.begin()), std::move_iterator(end));
    readings.erase(readings.begin(), end);
    has_reports = !readings.empty() || !unread.empty();
    return taken;
}

}  // namespace concord::detail
