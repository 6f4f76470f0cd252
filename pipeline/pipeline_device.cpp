// One device's part of a pipeline. Its stages run on three streams:
//
//     calling thread   read 2          write 0          read 3          write 1 ...
//     uploads                  2                                3
//     kernels              1           2                                3
//     downloads            0           1                2
//
// A slot is reused only after its segment is finished, so a stream waits only for the preceding stage.

#include "pipeline_engine.hpp"

#include <concord/internal/host_range.hpp>

#include <algorithm>

namespace concord::detail {
namespace {

bool is_aligned(const void* data, Type type) {
    return reinterpret_cast<std::uintptr_t>(data) % size_of(type) == 0;
}

// The address in page-locked memory of this device. None if the device shares memory with the host.
PageLocked locked_of(const Device& device, std::shared_ptr<Buffer> buffer, const void* data) {
    if (!buffer || device.traits().shares_host_memory || &buffer->device() != &device) return {};
    const auto* begin = static_cast<const std::byte*>(buffer->host_pointer());
    const u64 offset = static_cast<u64>(static_cast<const std::byte*>(data) - begin);
    return {std::move(buffer), offset};
}

double milliseconds(std::chrono::steady_clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

void PipelineStage::start(Stream& stream) {
    if (!from) {
        from = stream.device().create_event();
        to = stream.device().create_event();
    }
    stream.record(*from);
    used = true;
}

double PipelineStage::take(double& milliseconds) {
    const double time = used ? to->milliseconds_since(*from) : 0;
    milliseconds += time;
    used = false;
    return time;
}

DevicePipeline::DevicePipeline(Device& device, u32 number, const PipelineOptions& options)
    : device_(device),
      number_(number),
      options_(options),
      uploads_(device.traits().shares_host_memory ? nullptr : device.create_stream()),
      kernels_(device.create_stream()),
      downloads_(uploads_ ? device.create_stream() : nullptr) {
    share_.device = &device;
}

// Data in memory that the device's kernels can access is not copied.
void DevicePipeline::make_slots(const PipelineTask& task, u64 devices, u32 first) {
    const u64 all = task.in[0]->count();
    const bool reaches = device_.traits().uses_host_memory;
    u64 slot_bytes = 0, all_bytes = 0;
    bool host_copies = false;
    for (const PipelineSource* source : task.in) {
        const bool there = reaches && source->data() != nullptr && is_aligned(source->data(), source->type());
        in_memory_.push_back(there ? host_range(device_, source->data(), source->bytes()) : nullptr);
        in_locked_.push_back(locked_of(device_, source->page_locked(), source->data()));
        host_copies = host_copies || (!there && !in_locked_.back().buffer);
        all_bytes += size_of(source->type());
        if (!there) slot_bytes += size_of(source->type());
    }
    if (task.out != nullptr) {
        const u32 size = size_of(task.out->type());
        if (reaches && task.one_to_one && task.out->data() != nullptr &&
            is_aligned(task.out->data(), task.out->type()))
            out_memory_ = host_range(device_, task.out->data(), all * size);
        if (task.one_to_one) out_locked_ = locked_of(device_, task.out->page_locked(), task.out->data());
        host_copies = host_copies || (!out_memory_ && !out_locked_.buffer);
        all_bytes += size;
        if (!out_memory_) slot_bytes += size;
    }
    plan_ = {.segment = std::max<u64>(all, 1), .depth = 1};
    // One segment if nothing is copied, no length is set, and the work is not shared.
    if (slot_bytes > 0 || options_.segment > 0 || devices > 1)
        plan_ = plan_pipeline(device_, task, options_,
                              {.slot_bytes = slot_bytes,
                               .all_bytes = all_bytes,
                               .devices = devices,
                               .host_copies = host_copies});
    const bool pinned = !device_.traits().shares_host_memory;
    plan_.depth =
        static_cast<u32>(std::min<u64>(plan_.depth, std::max<u64>(1, divide_up(all, plan_.segment))));
    const u64 longest = std::min(plan_.segment, std::max<u64>(all, 1));
    for (u32 i = 0; i < plan_.depth; ++i) {
        auto slot = std::make_unique<PipelineSlot>();
        slot->number = first + i;
        for (std::size_t k = 0; k < task.in.size(); ++k) {
            const u64 bytes = longest * size_of(task.in[k]->type());
            slot->in.push_back(in_memory_[k] ? nullptr : device_.allocate(bytes));
            const bool read = pinned && !in_memory_[k] && !in_locked_[k].buffer;
            slot->in_host.push_back(read ? device_.allocate_host(bytes) : nullptr);
        }
        if (task.out != nullptr && !out_memory_) {
            const u64 bytes = longest * size_of(task.out->type());
            slot->out = device_.allocate(bytes);
            if (pinned && !out_locked_.buffer) slot->out_host = device_.allocate_host(bytes);
        }
        slots_.push_back(std::move(slot));
    }
}

PipelineSlot* DevicePipeline::free_slot() const {
    for (const auto& slot : slots_) {
        if (!slot->busy) return slot.get();
    }
    return nullptr;
}

u32 DevicePipeline::busy_slots() const {
    return static_cast<u32>(
        std::count_if(slots_.begin(), slots_.end(), [](const auto& slot) { return slot->busy; }));
}

PipelineSegment DevicePipeline::segment_of(const PipelineSlot& slot) const {
    return {.index = slot.index,
            .first = slot.first,
            .count = slot.count,
            .device = number_,
            .slot = slot.number,
            .in = slot.views,
            .out = slot.out_view,
            .only = slot.only};
}

void DevicePipeline::take(PipelineSlot& slot, u64 index, u64 first, u64 count, u64 all) {
    slot.busy = true;
    slot.is_complete = false;
    slot.only = count == all;
    slot.index = index;
    slot.first = first;
    slot.count = count;
    under_way_ += count;
    ++share_.segments;
    share_.elements += count;
}

void DevicePipeline::read(const PipelineTask& task, PipelineSlot& slot, PipelineTimes& times) {
    const auto start = Clock::now();
    slot.views.clear();
    for (std::size_t k = 0; k < task.in.size(); ++k) {
        const PipelineSource& source = *task.in[k];
        const u32 size = size_of(source.type());
        if (in_memory_[k]) {
            slot.views.push_back({in_memory_[k].get(), slot.first * size, slot.count, source.type()});
            continue;
        }
        Buffer& host = slot.in_host[k] ? *slot.in_host[k] : *slot.in[k];
        if (slot.count > 0 && !in_locked_[k].buffer)
            source.read(host.host_pointer(), slot.first * size, slot.count * size);
        slot.views.push_back({slot.in[k].get(), 0, slot.count, source.type()});
    }
    times.read += milliseconds(Clock::now() - start);
    const Type type = task.out != nullptr ? task.out->type() : Type::u8;
    slot.out_view = {out_memory_ ? out_memory_.get() : slot.out.get(),
                     out_memory_ ? slot.first * size_of(type) : 0, task.out != nullptr ? slot.count : 0,
                     type};
}

void DevicePipeline::upload(const PipelineTask& task, PipelineSlot& slot) {
    for (std::size_t k = 0; k < task.in.size(); ++k) {
        const PageLocked& locked = in_locked_[k];
        if (!slot.in_host[k] && !locked.buffer) continue;
        const u64 size = size_of(task.in[k]->type());
        if (!slot.upload.used) slot.upload.start(*uploads_);
        if (locked.buffer) {
            uploads_->copy(*slot.in[k], 0, *locked.buffer, locked.offset + slot.first * size,
                           slot.count * size);
        } else {
            uploads_->copy(*slot.in[k], 0, *slot.in_host[k], 0, slot.count * size);
        }
    }
    if (slot.upload.used) slot.upload.end(*uploads_);
}

void DevicePipeline::begin(const PipelineTask& task, PipelineSlot& slot) {
    if (slot.upload.used) kernels_->wait(*slot.upload.to);
    slot.first_kernels.start(*kernels_);
    const auto start = Clock::now();
    const Enqueued run = task.begin(*kernels_, segment_of(slot));
    begun_.add(milliseconds(Clock::now() - start));
    slot.first_kernels.end(*kernels_);
    if (!run.variant.empty()) share_.variant = run.variant;
    share_.order = std::max(share_.order, run.order);
    slot.results = task.out != nullptr ? slot.count : 0;
    if (!task.complete) download(task, slot);
}

void DevicePipeline::complete(const PipelineTask& task, PipelineSlot& slot) {
    slot.first_kernels.to->synchronize();
    slot.last_kernels.start(*kernels_);
    const auto start = Clock::now();
    slot.results = task.complete(*kernels_, segment_of(slot));
    completed_.add(milliseconds(Clock::now() - start));
    slot.last_kernels.end(*kernels_);
    download(task, slot);
}

void DevicePipeline::download(const PipelineTask& task, PipelineSlot& slot) {
    slot.is_complete = true;
    if (!slot.out_host && !out_locked_.buffer) return;
    const u64 size = size_of(task.out->type());
    downloads_->wait(slot.last_kernels.used ? *slot.last_kernels.to : *slot.first_kernels.to);
    slot.download.start(*downloads_);
    if (out_locked_.buffer) {
        downloads_->copy(*out_locked_.buffer, out_locked_.offset + slot.first * size, *slot.out, 0,
                         slot.results * size);
    } else {
        downloads_->copy(*slot.out_host, 0, *slot.out, 0, slot.results * size);
    }
    slot.download.end(*downloads_);
}

void DevicePipeline::wait(PipelineSlot& slot, PipelineTimes& times) {
    slot.last().to->synchronize();
    const double up = slot.upload.take(times.upload);
    const double kernels = slot.first_kernels.take(times.kernel) + slot.last_kernels.take(times.kernel);
    const double down = slot.download.take(times.download);
    under_way_ -= slot.count;
    // The first segment may include compilation. Stages overlap, so the longest one counts.
    if (done_++ == 0 || slot.count == 0) return;
    const double seconds = std::max({up, kernels, down, 1e-3}) * 1e-3;
    const double rate = static_cast<double>(slot.count) / seconds;
    rate_ = rate_ == 0 ? rate : (rate_ + rate) / 2;
}

void* DevicePipeline::results_of(PipelineSlot& slot) {
    return (slot.out_host ? *slot.out_host : *slot.out).host_pointer();
}

void DevicePipeline::synchronize() {
    for (const auto& stream : {uploads_, kernels_, downloads_}) {
        if (stream) stream->synchronize();
    }
}

}  // namespace concord::detail
