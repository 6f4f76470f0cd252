// The loop over segments. A slot holds a segment from when it is read until its results are written; the calling thread does
// both, the device the rest, on three streams:
//
//     calling thread   read 2          write 0          read 3          write 1 ...
//     uploads                  2                                3
//     kernels              1           2                                3
//     downloads            0           1                2
//
// A slot is filled again only after it was finished, so streams wait for nothing but the stage before their own.

#include "pipeline_engine.hpp"

#include <concord/log.hpp>

namespace concord::detail {
namespace {

// Memory of the caller's as a buffer, for devices whose kernels take pointers.
class HostRange final : public Buffer {
  public:
    HostRange(Device& device, const void* data, u64 bytes)
        : Buffer(device, Kind::device, bytes), data_(const_cast<void*>(data)) {}
    void* host_pointer() noexcept override { return data_; }

  private:
    void* data_;
};

bool is_aligned(const void* data, Type type) {
    return reinterpret_cast<std::uintptr_t>(data) % size_of(type) == 0;
}

double milliseconds(std::chrono::steady_clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

// Two marks of a stream and the time between them.
struct Stage {
    std::shared_ptr<Event> from, to;
    bool used = false;

    void start(Stream& stream) {
        if (!from) {
            from = stream.device().create_event();
            to = stream.device().create_event();
        }
        stream.record(*from);
        used = true;
    }
    void end(Stream& stream) { stream.record(*to); }
    /// Adds the time, and forgets it.
    void take(double& milliseconds) {
        if (used) milliseconds += to->milliseconds_since(*from);
        used = false;
    }
};

}  // namespace

struct Pipeline::Slot {
    u32 number = 0;
    u64 index = 0, first = 0, count = 0;
    bool busy = false;
    u64 results = 0;
    std::vector<std::shared_ptr<Buffer>> in,
        in_host;  // null where an input stays where it lies; pinned, or null
    std::shared_ptr<Buffer> out, out_host;
    std::vector<View> views;
    View out_view;
    Stage upload, first_kernels, last_kernels, download;
};

Pipeline::Pipeline(Device& device, const PipelineOptions& options)
    : device_(device),
      options_(options),
      uploads_(device.traits().shares_host_memory ? nullptr : device.create_stream()),
      kernels_(device.create_stream()),
      downloads_(uploads_ ? device.create_stream() : nullptr) {}

Pipeline::~Pipeline() = default;

void Pipeline::check(const PipelineTask& task) const {
    auto refuse = [&](const std::string& why) {
        throw Error(ErrorCode::invalid_argument, "pipeline_" + std::string(task.name), why);
    };
    for (const Source* source : task.in) {
        if (source->count() != task.in[0]->count())
            refuse("the inputs have " + std::to_string(task.in[0]->count()) + " and " +
                   std::to_string(source->count()) + " elements");
    }
    if (task.out == nullptr) return;
    if (task.out->room() < all_)
        refuse("out has room for " + std::to_string(task.out->room()) + " elements, the input has " +
               std::to_string(all_));
    for (const Source* source : task.in) {
        const auto* from = static_cast<const std::byte*>(source->data());
        const auto* to = static_cast<const std::byte*>(task.out->data());
        if (from == nullptr || to == nullptr ||
            (from == to && size_of(source->type()) == size_of(task.out->type())))
            continue;
        if (from < to + all_ * size_of(task.out->type()) && to < from + source->bytes())
            refuse("out overlaps an input without being it");
    }
}

// What lies in memory that the device's kernels can reach is left there.
void Pipeline::make_slots(const PipelineTask& task) {
    const bool reaches = device_.traits().dialect == Dialect::host;
    u64 slot_bytes = 0, all_bytes = 0;
    for (const Source* source : task.in) {
        const bool there = reaches && source->data() != nullptr && is_aligned(source->data(), source->type());
        in_memory_.push_back(there ? std::make_shared<HostRange>(device_, source->data(), source->bytes())
                                   : nullptr);
        all_bytes += size_of(source->type());
        if (!there) slot_bytes += size_of(source->type());
    }
    if (task.out != nullptr) {
        const u32 size = size_of(task.out->type());
        if (reaches && task.one_to_one && task.out->data() != nullptr &&
            is_aligned(task.out->data(), task.out->type()))
            out_memory_ = std::make_shared<HostRange>(device_, task.out->data(), all_ * size);
        all_bytes += size;
        if (!out_memory_) slot_bytes += size;
    }
    PipelinePlan plan{std::max<u64>(all_, 1), 1};
    // With nothing to be copied and no length asked for there is no use in segments.
    if (slot_bytes > 0 || options_.segment > 0)
        plan = plan_pipeline(device_, task, options_, slot_bytes, all_bytes);
    const bool pinned = !device_.traits().shares_host_memory;
    const u64 segments = std::max<u64>(1, divide_up(all_, plan.segment));
    plan.depth = static_cast<u32>(std::min<u64>(plan.depth, segments));
    result_.segment = plan.segment;
    result_.segments = segments;
    result_.depth = plan.depth;
    const u64 longest = std::min(plan.segment, std::max<u64>(all_, 1));
    for (u32 i = 0; i < plan.depth; ++i) {
        auto slot = std::make_unique<Slot>();
        slot->number = i;
        for (std::size_t k = 0; k < task.in.size(); ++k) {
            const u64 bytes = longest * size_of(task.in[k]->type());
            slot->in.push_back(in_memory_[k] ? nullptr : device_.allocate(bytes));
            slot->in_host.push_back(in_memory_[k] || !pinned ? nullptr : device_.allocate_host(bytes));
        }
        if (task.out != nullptr && !out_memory_) {
            const u64 bytes = longest * size_of(task.out->type());
            slot->out = device_.allocate(bytes);
            if (pinned) slot->out_host = device_.allocate_host(bytes);
        }
        slots_.push_back(std::move(slot));
    }
}

PipelineSegment Pipeline::segment_of(const Slot& slot) const {
    return {slot.index, slot.first,    slot.count,           slot.number,
            slot.views, slot.out_view, result_.segments == 1};
}

// Reads the segment, and enqueues its upload.
void Pipeline::fill(const PipelineTask& task, Slot& slot) {
    const auto start = Clock::now();
    slot.views.clear();
    for (std::size_t k = 0; k < task.in.size(); ++k) {
        const Source& source = *task.in[k];
        const u32 size = size_of(source.type());
        if (in_memory_[k]) {
            slot.views.push_back({in_memory_[k].get(), slot.first * size, slot.count, source.type()});
            continue;
        }
        Buffer& host = slot.in_host[k] ? *slot.in_host[k] : *slot.in[k];
        if (slot.count > 0) source.read(host.host_pointer(), slot.first * size, slot.count * size);
        slot.views.push_back({slot.in[k].get(), 0, slot.count, source.type()});
    }
    result_.times.read += milliseconds(Clock::now() - start);
    for (std::size_t k = 0; k < task.in.size(); ++k) {
        if (!slot.in_host[k]) continue;
        if (!slot.upload.used) slot.upload.start(*uploads_);
        uploads_->copy(*slot.in[k], 0, *slot.in_host[k], 0, slot.count * size_of(task.in[k]->type()));
    }
    if (slot.upload.used) slot.upload.end(*uploads_);
    const Type type = task.out != nullptr ? task.out->type() : Type::u8;
    slot.out_view = {out_memory_ ? out_memory_.get() : slot.out.get(),
                     out_memory_ ? slot.first * size_of(type) : 0, task.out != nullptr ? slot.count : 0,
                     type};
}

void Pipeline::begin(const PipelineTask& task, Slot& slot) {
    if (slot.upload.used) kernels_->wait(*slot.upload.to);
    slot.first_kernels.start(*kernels_);
    const auto start = Clock::now();
    const Run run = task.begin(*kernels_, segment_of(slot));
    begun_.add(slot.index, milliseconds(Clock::now() - start));
    slot.first_kernels.end(*kernels_);
    if (!run.variant.empty()) result_.variant = run.variant;
    slot.results = task.out != nullptr ? slot.count : 0;
    if (!task.complete) download(task, slot);
}

void Pipeline::complete(const PipelineTask& task, Slot& slot) {
    slot.first_kernels.to->synchronize();
    slot.last_kernels.start(*kernels_);
    const auto start = Clock::now();
    slot.results = task.complete(*kernels_, segment_of(slot));
    completed_.add(slot.index, milliseconds(Clock::now() - start));
    slot.last_kernels.end(*kernels_);
    download(task, slot);
}

void Pipeline::download(const PipelineTask& task, Slot& slot) {
    if (!slot.out_host) return;
    downloads_->wait(slot.last_kernels.used ? *slot.last_kernels.to : *slot.first_kernels.to);
    slot.download.start(*downloads_);
    downloads_->copy(*slot.out_host, 0, *slot.out, 0, slot.results * size_of(task.out->type()));
    slot.download.end(*downloads_);
}

// Waits for the segment and writes its results.
void Pipeline::finish(const PipelineTask& task, Slot& slot) {
    const Stage& last = slot.download.used       ? slot.download
                        : slot.last_kernels.used ? slot.last_kernels
                                                 : slot.first_kernels;
    last.to->synchronize();
    slot.upload.take(result_.times.upload);
    slot.first_kernels.take(result_.times.kernel);
    slot.last_kernels.take(result_.times.kernel);
    slot.download.take(result_.times.download);
    slot.busy = false;
    if (task.out != nullptr && !out_memory_ && slot.results > 0) {
        const auto start = Clock::now();
        Buffer& host = slot.out_host ? *slot.out_host : *slot.out;
        task.out->write(host.host_pointer(), slot.results * size_of(task.out->type()));
        result_.times.write += milliseconds(Clock::now() - start);
    }
    result_.count += slot.results;
    if (options_.progress) options_.progress(slot.first + slot.count, all_);
}

PipelineRun Pipeline::run(const PipelineTask& task) {
    result_.device = &device_;
    all_ = task.in[0]->count();
    check(task);
    make_slots(task);
    log::debug("pipeline_" + std::string(task.name) + ": " + std::to_string(result_.segments) +
               " segments of " + std::to_string(result_.segment) + " elements, " +
               std::to_string(result_.depth) + " at once");
    const u64 depth = slots_.size();
    for (u64 index = 0; index < result_.segments; ++index) {
        Slot& slot = *slots_[index % depth];
        if (slot.busy) finish(task, slot);
        slot.busy = true;
        slot.index = index;
        slot.first = index * result_.segment;
        slot.count = std::min(result_.segment, all_ - slot.first);
        fill(task, slot);
        begin(task, slot);
        if (!task.complete) continue;
        // The one before has had the time of a read to get there.
        if (depth == 1) {
            complete(task, slot);
        } else if (index > 0) {
            complete(task, *slots_[(index - 1) % depth]);
        }
    }
    if (task.complete && depth > 1) complete(task, *slots_[(result_.segments - 1) % depth]);
    for (u64 i = 0; i < depth; ++i) {
        Slot& slot = *slots_[(result_.segments + i) % depth];
        if (slot.busy) finish(task, slot);
    }
    for (const auto& stream : {uploads_, kernels_, downloads_}) {
        if (stream) stream->synchronize();  // throws what failed on the device
    }
    result_.times.compile = begun_.compile() + completed_.compile();
    return result_;
}

}  // namespace concord::detail
