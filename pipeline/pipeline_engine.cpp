// The loop over segments on one device. A slot holds a segment from the time it is read until its results are
// written. The calling thread reads and writes. The device does the rest (pipeline_device.cpp).

#include "pipeline_engine.hpp"

#include <concord/log.hpp>

#include <algorithm>

namespace concord::detail {

Pipeline::Pipeline(std::string_view name, const PipelineDevices& devices, const PipelineOptions& options)
    : name_("pipeline_" + std::string(name)), options_(options) {
    const auto list = devices.list();
    if (list.empty()) throw Error(ErrorCode::invalid_argument, name_, "no device; pass at least one");
    for (u32 i = 0; i < list.size(); ++i) {
        if (std::find(list.begin(), list.begin() + i, list[i]) != list.begin() + i)
            throw Error(ErrorCode::invalid_argument, name_,
                        "device " + list[i]->info().selector + " is listed twice");
        parts_.push_back(std::make_unique<DevicePipeline>(*list[i], i, options));
    }
}

Pipeline::~Pipeline() = default;

void Pipeline::check(const PipelineTask& task) const {
    auto refuse = [&](const std::string& why) { throw Error(ErrorCode::invalid_argument, name_, why); };
    for (const PipelineSource* source : task.in) {
        if (source->count() != task.in[0]->count())
            refuse("the inputs must have the same element count, got " + std::to_string(task.in[0]->count()) +
                   " and " + std::to_string(source->count()));
    }
    if (task.out == nullptr) return;
    if (task.out->room() < all_)
        refuse("out must have room for " + std::to_string(all_) + " elements, got " +
               std::to_string(task.out->room()));
    for (const PipelineSource* source : task.in) {
        const auto* from = static_cast<const std::byte*>(source->data());
        const auto* to = static_cast<const std::byte*>(task.out->data());
        if (from == nullptr || to == nullptr ||
            (from == to && size_of(source->type()) == size_of(task.out->type())))
            continue;
        if (from < to + all_ * size_of(task.out->type()) && to < from + source->bytes())
            refuse("out overlaps an input; pass exactly the input or a distinct range");
    }
}

// With several devices, results go to the sink's memory in any order. Otherwise they are written in the order of
// segments.
bool Pipeline::in_order(const PipelineTask& task) const {
    return parts_.size() == 1 || !task.one_to_one || (task.out != nullptr && task.out->data() == nullptr);
}

// Waits for the segment and writes its results.
void Pipeline::finish(const PipelineTask& task, DevicePipeline& part, PipelineSlot& slot) {
    on(part.number(), [&] { part.wait(slot, result_.times); });
    slot.busy = false;
    if (task.out != nullptr && !part.has_out_memory() && slot.results > 0) {
        const auto start = std::chrono::steady_clock::now();
        const void* results = DevicePipeline::results_of(slot);
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
    if (error.call() == memory_option) throw Error(error);  // the limit of all devices together
    std::string_view what = error.what();
    if (error.call() == name_) what.remove_prefix(name_.size() + 2);
    if (!error.native().empty()) what.remove_suffix(error.native().size() + 3);  // " [NATIVE]"
    throw Error(error.code(), name_ + " on " + parts_[i]->device().info().selector, what, error.native());
}

PipelineRun Pipeline::run(const PipelineTask& task) {
    result_.device = &device();
    all_ = task.in[0]->count();
    check(task);
    u32 slots = 0;
    for (u32 i = 0; i < devices(); ++i) {
        on(i, [&] { parts_[i]->make_slots(task, devices(), slots); });
        slots += parts_[i]->plan().depth;
        result_.segment = std::max(result_.segment, parts_[i]->plan().segment);
    }
    result_.depth = slots;
    log_debug(name_ + ": segments of at most " + std::to_string(result_.segment) + " elements, " +
              std::to_string(result_.depth) + " in flight");
    if (devices() == 1) {
        run_alone(task);
    } else {
        run_shared(task);
    }
    for (u32 i = 0; i < devices(); ++i) {
        DevicePipeline& part = *parts_[i];
        on(i, [&] { part.synchronize(); });
        result_.times.compile += part.compile_milliseconds();
        result_.segments += part.share().segments;
        if (result_.variant.empty()) result_.variant = part.share().variant;
        result_.order = std::max(result_.order, part.share().order);
        result_.shares.push_back(part.share());
    }
    return result_;
}

void Pipeline::run_alone(const PipelineTask& task) {
    DevicePipeline& part = *parts_[0];
    const u64 segment = part.plan().segment, depth = part.plan().depth;
    const u64 segments = std::max<u64>(1, divide_up(all_, segment));
    for (u64 index = 0; index < segments; ++index) {
        PipelineSlot& slot = part.slot(index);
        if (slot.busy) finish(task, part, slot);
        part.take(slot, index, index * segment, std::min(segment, all_ - index * segment), all_);
        part.read(task, slot, result_.times);
        part.upload(task, slot);
        part.begin(task, slot);
        if (!task.complete) continue;
        // The previous segment had the time of a read to finish its first kernels.
        if (depth == 1) {
            part.complete(task, slot);
        } else if (index > 0) {
            part.complete(task, part.slot(index - 1));
        }
    }
    if (task.complete && depth > 1) part.complete(task, part.slot(segments - 1));
    for (u64 i = 0; i < depth; ++i) {
        PipelineSlot& slot = part.slot(segments + i);
        if (slot.busy) finish(task, part, slot);
    }
}

}  // namespace concord::detail
