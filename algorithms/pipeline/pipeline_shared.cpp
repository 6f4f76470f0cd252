// The loop over segments, with several devices: the calling thread hands out segments in order, each to the device that will
// be done with it first, and looks in turn for what is done. Devices wait for one another where results are written in order,
// and for the totals of scan.

#include "pipeline_engine.hpp"

#include <algorithm>
#include <limits>
#include <thread>

namespace concord::detail {
namespace {

// How long to look for the end of one of several segments without sleeping, and how long to sleep then.
constexpr u32 looks_before_sleep = 100;
constexpr std::chrono::microseconds nap{20};

}  // namespace

// As much as the fastest device does in the time of its longest segment. While rates are not known, a short one that tells.
u64 Pipeline::length_for(const PipelineTask& task, const PipelineLine& line) const {
    const u64 longest = line.plan().segment;
    if (options_.segment > 0) return longest;
    double seconds = std::numeric_limits<double>::max();
    for (const auto& other : lines_) {
        if (other->rate() > 0)
            seconds = std::min(seconds, static_cast<double>(other->plan().segment) / other->rate());
    }
    const double wanted = line.rate() > 0 ? seconds * line.rate() : static_cast<double>(longest) / 4;
    const u64 grains = static_cast<u64>(wanted) / task.grain;
    return std::min(longest, std::max<u64>(grains, 1) * task.grain);
}

// Gives the next segment to the device that will be done with it first, if it has room for it; while rates are not known, to
// one that has. False: it has none, or there is no segment left.
bool Pipeline::hand_out(const PipelineTask& task) {
    if (taken_ == all_ && handed_out_ > 0) return false;
    const bool known =
        std::all_of(lines_.begin(), lines_.end(), [](const auto& line) { return line->rate() > 0; });
    struct Choice {
        double until = 0;  // seconds from now, or the segments that it has
        u64 before = 0, count = 0;
        PipelineLine* line = nullptr;
    } best;
    for (const auto& line : lines_) {
        if (!known && line->free_slot() == nullptr) continue;
        const u64 count = std::min(length_for(task, *line), all_ - taken_);
        const Choice choice{
            known ? static_cast<double>(line->under_way() + count) / line->rate() : line->busy_slots(),
            line->share().segments, count, line.get()};
        if (best.line == nullptr ||
            std::pair(choice.until, choice.before) < std::pair(best.until, best.before))
            best = choice;
    }
    if (best.line == nullptr || best.line->free_slot() == nullptr) return false;
    PipelineLine& line = *best.line;
    PipelineSlot& slot = *line.free_slot();
    line.take(slot, handed_out_++, taken_, best.count, all_);
    taken_ += best.count;
    flights_.push_back({&line, &slot});
    line.read(task, slot, result_.times);
    on(line.number(), [&] {
        line.upload(task, slot);
        line.begin(task, slot);
    });
    return true;
}

// Completes the next segment if it is time. False: it is not.
bool Pipeline::complete_next(const PipelineTask& task) {
    if (!task.complete || completed_ == flights_.size()) return false;
    const auto& [line, slot] = flights_[completed_];
    return on(line->number(), [&, line = line, slot = slot] {
        if (!slot->first_kernels.to->done()) return false;
        line->complete(task, *slot);
        ++completed_;
        return true;
    });
}

// Finishes a segment, if one is done whose turn it is. False: none is.
bool Pipeline::finish_next(const PipelineTask& task) {
    for (auto at = flights_.begin(); at != flights_.end() && at->slot->is_complete; ++at) {
        const auto [line, slot] = *at;
        if (on(line->number(), [slot = slot] { return slot->last().to->done(); })) {
            flights_.erase(at);
            if (task.complete) --completed_;
            finish(task, *line, *slot);
            return true;
        }
        if (in_order(task)) break;
    }
    return false;
}

// No device tells of others, so this thread looks.
void Pipeline::wait_for_any(const PipelineTask& task) {
    std::vector<const Flight*> awaited;
    for (const Flight& flight : flights_) {
        if (!flight.slot->is_complete) {
            awaited.push_back(&flight);  // the next to be completed
            break;
        }
        if (awaited.empty() || !in_order(task)) awaited.push_back(&flight);
    }
    for (u32 looks = 0;; ++looks) {
        for (const Flight* flight : awaited) {
            const Event& end =
                flight->slot->is_complete ? *flight->slot->last().to : *flight->slot->first_kernels.to;
            const bool done = on(flight->line->number(), [&] {
                if (awaited.size() == 1) end.synchronize();
                return awaited.size() == 1 || end.done();
            });
            if (done) return;
        }
        if (looks < looks_before_sleep) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(nap);
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
