#include "run_compute.hpp"

#include "files.hpp"
#include "progress_bar.hpp"
#include "run_ranks.hpp"
#include "text_error.hpp"

#include <algorithm>

namespace concord::app {

RunResult compute(RunTask& task, Device& device, Inputs inputs, RunPlan& plan, const RunArguments& asked) {
    NpyHeader& output = plan.output;
    RunResult
        result;  // outlives the stream, which waits for downloads that are under way when something fails
    const auto stream = device.create_stream();
    const auto marks = [&] {
        std::vector<std::shared_ptr<Event>> made(6);
        for (auto& event : made)
            event = device.create_event();
        return made;
    }();
    result.bytes.resize(output.count * size_of(output.type));
    if (plan.second) result.second.resize(plan.second->header.count * size_of(plan.second->header.type));

    const HostClock total;
    stream->record(*marks[0]);
    std::vector<std::shared_ptr<Buffer>> buffers;
    std::vector<View> views;
    for (const auto& input : inputs) {
        buffers.push_back(device.allocate(input->bytes(), stream.get()));
        views.push_back({buffers.back().get(), 0, input->count(), input->type()});
        ProgressBar progress(input->reading(), input->bytes());
        upload(*stream, *buffers.back(), input->source(), progress);
    }
    stream->record(*marks[1]);
    std::vector<View> outs;
    auto add_output = [&](u64 count, Type type) {
        buffers.push_back(device.allocate(count * size_of(type), stream.get()));
        outs.push_back({buffers.back().get(), 0, count, type});
    };
    add_output(output.count, output.type);
    if (plan.second) add_output(plan.second->header.count, plan.second->header.type);
    if (plan.counted) add_output(1, Type::u64);
    auto call = [&](const Options& options) { return task.call(*stream, views, outs, options); };
    stream->synchronize();

    const Options options = asked.options();
    const HostClock first_call;
    const Enqueued made = [&] {
        const auto* const text = as<TakesText>(task);
        const CompilerNoise noise(text != nullptr && text->has_text());
        return call(options);
    }();
    result.variant = made.variant;
    result.order = made.order;
    const double first_enqueue = first_call.milliseconds();
    stream->synchronize();

    const HostClock second_call;
    stream->record(*marks[2]);
    const HostClock second_enqueue;
    call(options);
    result.times.compile = std::max(0.0, first_enqueue - second_enqueue.milliseconds());
    stream->record(*marks[3]);
    stream->synchronize();
    const double extra = second_call.milliseconds();

    stream->record(*marks[4]);
    if (plan.counted) {
        u64 count = 0;
        stream->read(&count, *outs.back().buffer, 0, sizeof count);
        stream->synchronize();
        const auto shorten = [count](NpyHeader& header, std::vector<std::byte>& bytes) {
            header.count = count;
            header.shape = {count};
            bytes.resize(count * size_of(header.type));
        };
        shorten(output, result.bytes);
        if (plan.second) shorten(plan.second->header, result.second);
    }
    stream->read(result.bytes.data(), *outs[0].buffer, 0, result.bytes.size());
    if (plan.second) stream->read(result.second.data(), *outs[1].buffer, 0, result.second.size());
    stream->record(*marks[5]);
    stream->synchronize();
    result.times.total = total.milliseconds() - extra;
    result.times.upload = marks[1]->milliseconds_since(*marks[0]);
    result.times.kernel = marks[3]->milliseconds_since(*marks[2]);
    result.times.download = marks[5]->milliseconds_since(*marks[4]);
    return result;
}

namespace {

// Writes the results of a pipeline to the output file after its header.
class NpySink final : public PipelineSink {
  public:
    NpySink(OutputFile& file, const NpyHeader& header)
        : PipelineSink(header.type, header.count), file_(file) {}
    void write(const void* from, u64 bytes) override {
        const auto* first = static_cast<const std::byte*>(from);
        if (head_.size() < 8) head_.insert(head_.end(), first, first + std::min<u64>(bytes, 8));
        file_.write({first, bytes});
    }
    // The first bytes, at least one element.
    const std::vector<std::byte>& head() const { return head_; }

  private:
    OutputFile& file_;
    std::vector<std::byte> head_;
};

}  // namespace

RunResult compute_by_segments(Pipelined& task, const PipelineDevices& devices, const std::string& algorithm,
                              Inputs inputs, RunPlan& plan, const RunArguments& asked) {
    NpyHeader& output = plan.output;
    const HostClock total;
    OutputFile file = is_stdout(asked.out) ? OutputFile(ToStdout{}) : OutputFile(asked.out);
    if (plan.counted && file.is_channel())
        throw Error(ErrorCode::unsupported, "--out",
                    "'" + asked.out + "' cannot be rewound, and the file begins with the output length of " +
                        algorithm + ", which is known only at the end; name a regular file");
    const std::string header = npy_header(output.type, output.shape);
    file.write(std::as_bytes(std::span(header)));
    NpySink sink(file, output);
    std::vector<const PipelineSource*> sources;
    for (const auto& input : inputs)
        sources.push_back(&input->source());
    RunResult result;
    {
        const u64 size = inputs[0]->count() > 0 ? inputs[0]->bytes() / inputs[0]->count() * inputs.size() : 0;
        ProgressBar progress(algorithm, inputs[0]->count() * size);
        const PipelineOptions options{.call = asked.options(),
                                      .memory = bytes_of("--memory-limit", asked.memory_limit),
                                      .segment = bytes_of("--chunk", asked.chunk),
                                      .progress = [&](u64 done, u64 /*all*/) { progress.at(done * size); }};
        try {
            result.pipeline = task.run_pipeline(devices, sources, sink, options);
        } catch (const Error& error) {
            // The library names its own option.
            if (options.memory == 0 || error.call() != "PipelineOptions::memory") throw;
            throw Error(error.code(), "--memory-limit", message_of(error));
        }
    }
    if (plan.counted) {
        output.count = result.pipeline->count;
        output.shape = {output.count};
        const std::string final_header = npy_header(output.type, output.shape, header.size());
        file.rewrite(std::as_bytes(std::span(final_header)));
    }
    const double elapsed = total.milliseconds();  // without the wait for the disk
    file.keep();
    const PipelineTimes& times = result.pipeline->times;
    result.bytes = sink.head();
    result.variant = result.pipeline->variant;
    result.order = result.pipeline->order;
    result.times = {times.compile, times.upload, times.kernel, times.download, elapsed};
    return result;
}

RunResult compute_by_boxes(OverBoxes& task, const std::vector<std::shared_ptr<Device>>& devices,
                           Inputs inputs, const RunArguments& asked) {
    if (!asked.memory_limit.empty())
        throw Error(ErrorCode::unsupported, "--memory-limit",
                    "not supported for several ranks; use one device");
    if (is_stdout(asked.out))
        throw Error(ErrorCode::unsupported, "--out",
                    "'-' is not supported where several ranks write; name a file");
    task.check_boxes(static_cast<u32>(devices.size()), asked.options());
    RunResult result;
    run_on_devices(devices, [&](Communicator& ranks, Stream& stream) {
        const BoxesRun run = task.run_boxes(ranks, stream, inputs, asked.out, asked.options());
        if (ranks.rank() == 0) result.boxes = run;
    });
    const BoxesRun& run = *result.boxes;
    result.variant = run.variant;
    result.times = {run.compile, run.upload, run.kernel, run.download, run.total};
    return result;
}

}  // namespace concord::app
