// The loop over segments with several devices. The calling thread assigns segments in order, each to the device that
// is expected to finish it first, and polls for finished segments. Devices wait for one another if results are
// written in order, and for the totals of scan.

#include "pipeline_engine.hpp"

#include <algorithm>
#include <limits>
#include <thread>

namespace concord::detail {
namespace {

// Number of polls without sleep while waiting for one of several segments, and the duration of a sleep after these.
constexpr u32 polls_before_sleep = 100;
constexpr std::chrono::microseconds sleep_time{20};

}  // namespace

// The number of elements that the device processes while the fastest device processes its longest segment. As long as
// the rate is unknown, a short segment that measures it.
u64 Pipeline::length_for(const PipelineTask& task, const DevicePipeline& part) const {
    const u64 longest = part.plan().segment;
    if (options_.segment > 0) return longest;
    double seconds = std::numeric_limits<double>::max();
    for (const auto& other : parts_) {
        if (other->rate() > 0)
            seconds = std::min(seconds, static_cast<double>(other->plan().segment) / other->rate());
    }
    const double wanted = part.rate() > 0 ? seconds * part.rate() : static_cast<double>(longest) / 4;
    const u64 grains = static_cast<u64>(wanted) / task.grain;
    return std::min(longest, std::max<u64>(grains, 1) * task.grain);
}

// Assigns the next segment to the device that is expected to finish it first, if that device has a free slot. As long
// as rates are unknown, to a device with a free slot. Returns false without a free slot or after the last segment.
bool Pipeline::hand_out(const PipelineTask& task) {
    if (taken_ == all_ && handed_out_ > 0) return false;
    const bool known =
        std::all_of(parts_.begin(), parts_.end(), [](const auto& part) { return part->rate() > 0; });
    struct Choice {
        double until = 0;  // seconds from now, or its number of segments
        u64 before = 0, count = 0;
        DevicePipeline* part = nullptr;
    } best;
    for (const auto& part : parts_) {
        if (!known && part->free_slot() == nullptr) continue;
        const u64 count = std::min(length_for(task, *part), all_ - taken_);
        const Choice choice{
            known ? static_cast<double>(part->under_way() + count) / part->rate() : part->busy_slots(),
            part->share().segments, count, part.get()};
        if (best.part == nullptr ||
            std::pair(choice.until, choice.before) < std::pair(best.until, best.before))
            best = choice;
    }
    if (best.part == nullptr || best.part->free_slot() == nullptr) return false;
    DevicePipeline& part = *best.part;
    PipelineSlot& slot = *part.free_slot();
    part.take(slot, handed_out_++, taken_, best.count, all_);
    taken_ += best.count;
    flights_.push_back({&part, &slot});
    part.read(task, slot, result_.times);
    on(part.number(), [&] {
        part.upload(task, slot);
        part.begin(task, slot);
    });
    return true;
}

// Completes the next segment if its first kernels are done. Returns whether it did.
bool Pipeline::complete_next(const PipelineTask& task) {
    if (!task.complete || completed_ == flights_.size()) return false;
    const auto& [part, slot] = flights_[completed_];
    return on(part->number(), [&, part = part, slot = slot] {
        if (!slot->first_kernels.to->done()) return false;
        part->complete(task, *slot);
        ++completed_;
        return true;
    });
}

// Finishes a segment that is done, if it is its turn. Returns whether it did.
bool Pipeline::finish_next(const PipelineTask& task) {
    for (auto at = flights_.begin(); at != flights_.end() && at->slot->is_complete; ++at) {
        const auto [part, slot] = *at;
        if (on(part->number(), [slot = slot] { return slot->last().to->done(); })) {
            flights_.erase(at);
            if (task.complete) --completed_;
            finish(task, *part, *slot);
            return true;
        }
        if (in_order(task)) break;
    }
    return false;
}

// Waits until one of the awaited segments is done. Events of several devices have no common wait, so this thread
// polls.
void Pipeline::wait_for_any(const PipelineTask& task) {
    std::vector<const Flight*> awaited;
    for (const Flight& flight : flights_) {
        if (!flight.slot->is_complete) {
            awaited.push_back(&flight);  // the next one to complete
            break;
        }
        if (awaited.empty() || !in_order(task)) awaited.push_back(&flight);
    }
    for (u32 polls = 0;; ++polls) {
        for (const Flight* flight : awaited) {
            const Event& end =
                flight->slot->is_complete ? *flight->slot->last().to : *flight->slot->first_kernels.to;
            const bool done = on(flight->part->number(), [&] {
                if (awaited.size() == 1) end.synchronize();
                return awaited.size() == 1 || end.done();
            });
            if (done) return;
        }
        if (polls < polls_before_sleep) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(sleep_time);
        }
    }
}

void Pipeline::run_shared(const PipelineTask& task) {
    while (true) {
        if (complete_next(task) || finish_next(task) || hand_out(task)) continue;
        if (flights_.empty()) return;
        wait_for_any(task);
    }
}

}  // namespace concord::detail
