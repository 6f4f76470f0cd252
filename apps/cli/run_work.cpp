#include "run_work.hpp"

#include "npy.hpp"

#include <concord/detail/checked_size.hpp>
#include <concord/device.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace concord::app {

Options RunArguments::options() const {
    return {.variant = variant, .order = order_of(order)};
}

u64 bytes_of(const char* option, const std::string& text) {
    if (text.empty()) return 0;
    constexpr std::string_view units = "KMGT";
    u64 value = 0;
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    std::string_view rest(at, static_cast<std::size_t>(text.data() + text.size() - at));
    const std::size_t unit = rest.empty() ? std::string_view::npos : units.find(rest[0]);
    detail::CheckedSize bytes = value;
    if (unit != std::string_view::npos) {
        rest.remove_prefix(1);
        bytes = bytes * (u64{1} << 10 * (unit + 1));
    }
    if (error != std::errc() || !rest.empty() || value == 0 || !bytes.fits(detail::max_bytes))
        throw Error(ErrorCode::invalid_argument, option,
                    "invalid byte count '" + text + "'; expected e.g. 256M or 2G");
    return bytes.value();
}

std::vector<std::unique_ptr<InputArray>> open_inputs(const RunCommand& command, const RunTask& task,
                                                     const RunArguments& asked) {
    std::vector<std::unique_ptr<InputArray>> inputs;
    std::string also;
    const auto* const generates = as<GeneratesInput>(task);
    if (auto generated = generates != nullptr ? generates->generated() : nullptr) {
        also = " in addition to " + generated->name();
        inputs.push_back(std::move(generated));
    }
    const auto* const counts = as<CountsInputs>(task);
    const std::size_t all = counts != nullptr ? counts->inputs() : command.inputs;
    if (const std::size_t files = all - inputs.size(); asked.in.size() != files)
        throw Error(ErrorCode::invalid_argument, "--in",
                    std::string(command.name) + " expects " + std::to_string(files) +
                        (files == 1 ? " input" : " inputs") + also + ", got " +
                        std::to_string(asked.in.size()));
    std::vector<NamedInput> files;
    for (const std::string& path : asked.in)
        files.push_back({"--in", path});
    if (const auto* const names = as<NamesInputs>(task)) {
        for (const NamedInput& input : names->more_inputs())
            files.push_back(input);
    }
    bool has_stdin = false;
    for (const NamedInput& file : files) {
        if (file.path == "-" && std::exchange(has_stdin, true))
            throw Error(ErrorCode::invalid_argument, file.option,
                        "standard input can be one input only, got a second '-'; name a file");
    }
    for (const NamedInput& file : files)
        inputs.push_back(open_npy(file.path, file.option));
    return inputs;
}

void upload(Stream& stream, Buffer& to, const PipelineSource& from, ProgressBar& progress) {
    constexpr u64 piece = u64{32} << 20;
    Device& device = stream.device();
    std::shared_ptr<Buffer> pinned[2];
    std::shared_ptr<Event> uploaded[2];
    for (u64 done = 0, turn = 0; done < from.bytes(); ++turn) {
        const u64 bytes = std::min(piece, from.bytes() - done), i = turn % 2;
        if (to.host_pointer() != nullptr) {
            from.read(static_cast<std::byte*>(to.host_pointer()) + done, done, bytes);
        } else {
            if (!pinned[i]) {
                pinned[i] = device.allocate_host(bytes);
                uploaded[i] = device.create_event();
            }
            uploaded[i]->synchronize();
            from.read(pinned[i]->host_pointer(), done, bytes);
            stream.copy(to, done, *pinned[i], 0, bytes);
            stream.record(*uploaded[i]);
        }
        done += bytes;
        progress.at(done);
    }
}

void check_one_dimension(std::string_view call, const InputArray& input) {
    if (input.shape().size() == 1) return;
    throw Error(ErrorCode::invalid_argument, call,
                input.name() + " must have one dimension, got shape " + shape_name(input.shape()));
}

RunPlan plan_of(RunTask& task, Inputs inputs) {
    RunPlan plan = task.plan(inputs);
    auto count = [](NpyHeader& header) {
        header.count = 1;
        for (const u64 n : header.shape)
            header.count *= n;
    };
    count(plan.output);
    if (plan.second) count(plan.second->header);
    return plan;
}

}  // namespace concord::app
