// The loop over segments, with one device. A slot holds a segment from when it is read until its results are written; the
// calling thread does both, the device the rest (pipeline_line.cpp).

#include "pipeline_engine.hpp"

#include <concord/log.hpp>

#include <algorithm>

namespace concord::detail {

Pipeline::Pipeline(std::string_view name, const PipelineDevices& devices, const PipelineOptions& options)
    : name_("pipeline_" + std::string(name)), options_(options) {
    const auto list = devices.list();
    if (list.empty()) throw Error(ErrorCode::invalid_argument, name_, "there is no device");
    for (u32 i = 0; i < list.size(); ++i) {
        if (std::find(list.begin(), list.begin() + i, list[i]) != list.begin() + i)
            throw Error(ErrorCode::invalid_argument, name_, list[i]->info().selector + " is named twice");
        lines_.push_back(std::make_unique<PipelineLine>(*list[i], i, options));
    }
}

Pipeline::~Pipeline() = default;

void Pipeline::check(const PipelineTask& task) const {
    auto refuse = [&](const std::string& why) { throw Error(ErrorCode::invalid_argument, name_, why); };
    for (const PipelineSource* source : task.in) {
        if (source->count() != task.in[0]->count())
            refuse("the inputs have " + std::to_string(task.in[0]->count()) + " and " +
                   std::to_string(source->count()) + " elements");
    }
    if (task.out == nullptr) return;
    if (task.out->room() < all_)
        refuse("out has room for " + std::to_string(task.out->room()) + " elements, the input has " +
               std::to_string(all_));
    for (const PipelineSource* source : task.in) {
        const auto* from = static_cast<const std::byte*>(source->data());
        const auto* to = static_cast<const std::byte*>(task.out->data());
        if (from == nullptr || to == nullptr ||
            (from == to && size_of(source->type()) == size_of(task.out->type())))
            continue;
        if (from < to + all_ * size_of(task.out->type()) && to < from + source->bytes())
            refuse("out overlaps an input without being it");
    }
}

// With several devices results that have a place go there in any order; else each is written after the one before.
bool Pipeline::in_order(const PipelineTask& task) const {
    return lines_.size() == 1 || !task.one_to_one || (task.out != nullptr && task.out->data() == nullptr);
}

// Waits for the segment and writes its results.
void Pipeline::finish(const PipelineTask& task, PipelineLine& line, PipelineSlot& slot) {
    on(line.number(), [&] { line.wait(slot, result_.times); });
    slot.busy = false;
    if (task.out != nullptr && !line.has_out_memory() && slot.results > 0) {
        const auto start = std::chrono::steady_clock::now();
        const void* results = PipelineLine::results_of(slot);
        const u32 size = size_of(task.out->type());
        if (in_order(task)) {
            task.out->write(results, slot.results * size);
        } else {
            HostSink(static_cast<std::byte*>(task.out->data()) + slot.first * size, slot.results,
                     task.out->type())
                .write(results, slot.results * size);
        }
        result_.times.write +=
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    }
    result_.count += slot.results;
    done_ += slot.count;
    if (options_.progress) options_.progress(done_, all_);
}

void Pipeline::name_device(u32 i, const Error& error) const {
    std::string_view what = error.what();
    if (error.call() == name_) what.remove_prefix(name_.size() + 2);
    if (!error.native().empty()) what.remove_suffix(error.native().size() + 3);  // " [NATIVE]"
    throw Error(error.code(), name_ + " on " + lines_[i]->device().info().selector, what, error.native());
}

PipelineRun Pipeline::run(const PipelineTask& task) {
    result_.device = &device();
    all_ = task.in[0]->count();
    check(task);
    u32 slots = 0;
    for (u32 i = 0; i < devices(); ++i) {
        on(i, [&] { lines_[i]->make_slots(task, devices(), slots); });
        slots += lines_[i]->plan().depth;
        result_.segment = std::max(result_.segment, lines_[i]->plan().segment);
    }
    result_.depth = slots;
    log_debug(name_ + ": segments of " + std::to_string(result_.segment) + " elements at most, " +
              std::to_string(result_.depth) + " at once");
    if (devices() == 1) {
        run_alone(task);
    } else {
        run_shared(task);
    }
    for (u32 i = 0; i < devices(); ++i) {
        PipelineLine& line = *lines_[i];
        on(i, [&] { line.synchronize(); });
        result_.times.compile += line.compile_milliseconds();
        result_.segments += line.share().segments;
        if (result_.variant.empty()) result_.variant = line.share().variant;
        result_.shares.push_back(line.share());
    }
    return result_;
}

void Pipeline::run_alone(const PipelineTask& task) {
    PipelineLine& line = *lines_[0];
    const u64 segment = line.plan().segment, depth = line.plan().depth;
    const u64 segments = std::max<u64>(1, divide_up(all_, segment));
    for (u64 index = 0; index < segments; ++index) {
        PipelineSlot& slot = line.slot(index);
        if (slot.busy) finish(task, line, slot);
        line.take(slot, index, index * segment, std::min(segment, all_ - index * segment), all_);
        line.read(task, slot, result_.times);
        line.upload(task, slot);
        line.begin(task, slot);
        if (!task.complete) continue;
        // The one before has had the time of a read to get there.
        if (depth == 1) {
            line.complete(task, slot);
        } else if (index > 0) {
            line.complete(task, line.slot(index - 1));
        }
    }
    if (task.complete && depth > 1) line.complete(task, line.slot(segments - 1));
    for (u64 i = 0; i < depth; ++i) {
        PipelineSlot& slot = line.slot(segments + i);
        if (slot.busy) finish(task, line, slot);
    }
}

}  // namespace concord::detail
