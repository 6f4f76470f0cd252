// `concord run`: an algorithm on .npy files.

#include "files.hpp"
#include "rank_job.hpp"
#include "run_compute.hpp"
#include "run_ranks.hpp"
#include "text_error.hpp"
#include "trace_file.hpp"

#include <concord/internal/environment.hpp>
#include <concord/lab/compare.hpp>
#include <concord/log.hpp>

#include <sys/resource.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <optional>
#include <utility>

namespace concord::app {
namespace {

// Throws unless what --out and --in name is supported together with the other options.
void check_standard_streams(const RunArguments& asked) {
    const bool reads = std::find(asked.in.begin(), asked.in.end(), "-") != asked.in.end();
    if (RankJob::has_ranks() && (reads || is_stdout(asked.out)))
        throw Error(ErrorCode::unsupported, is_stdout(asked.out) ? "--out" : "--in",
                    "'-' is not supported with MPI ranks; name a file");
    if (!is_stdout(asked.out)) return;
    if (asked.json)
        throw Error(ErrorCode::invalid_argument, "--json",
                    "standard output is for the array of --out, got '-'; name a file there");
    if (::isatty(STDOUT_FILENO) == 1)
        throw Error(ErrorCode::invalid_argument, "--out",
                    "standard output is a terminal, got '-'; redirect it to a file or a pipe");
}

// Whether to compute in segments: because --chunk is given, or because the data exceeds the memory. Outputs also need
// host memory, which may be the device's memory.
bool by_segments(const RunTask& task, const std::string& algorithm, const Device& device, Inputs inputs,
                 const RunPlan& plan, const RunArguments& asked) {
    const DeviceTraits& traits = device.traits();
    const bool is_pipelined = as<Pipelined>(task) != nullptr;
    u64 whole = plan.output.count * size_of(plan.output.type);
    if (plan.second) whole += plan.second->header.count * size_of(plan.second->header.type);
    if (traits.shares_host_memory) whole *= 2;
    for (const auto& input : inputs)
        whole += input->bytes();
    const u64 limit = bytes_of("--memory-limit", asked.memory_limit);
    if (limit > 0 && whole > limit && !is_pipelined)
        throw Error(ErrorCode::unsupported, "--memory-limit",
                    algorithm + " needs " + std::to_string(whole) + " bytes, got a limit of " +
                        std::to_string(limit) +
                        "; algorithms that run in segments: " + joined(commands_with<Pipelined>()));
    // Leaves an eighth for scratch buffers and other processes.
    const u64 memory = limit > 0 ? limit : traits.global_memory / 8 * 7;
    return bytes_of("--chunk", asked.chunk) > 0 || (is_pipelined && whole > memory);
}

void print_json(const std::string& algorithm, const RunTask& task,
                const std::vector<std::shared_ptr<Device>>& devices, Inputs inputs, const NpyHeader& output,
                const RunArguments& asked, const RunResult& result) {
    using nlohmann::ordered_json;
    const RunTimes& t = result.times;
    const Device& device = *devices[0];
    ordered_json object = {
        {"algorithm", algorithm},
        {"function", task.title()},
        {"variant", result.variant},
        {"order", name_of(result.order)},
        {"device", {{"selector", device.info().selector}, {"name", device.info().name}}},
        {"backend", device.info().backend},
        {"type", name_of(inputs.empty() ? output.type : inputs[0]->type())},
        {"shape", inputs.empty() ? output.shape : inputs[0]->shape()},
        {"output", {{"file", asked.out}, {"type", name_of(output.type)}, {"shape", output.shape}}},
        {"times_ms",
         {{"compile", t.compile},
          {"upload", t.upload},
          {"kernel", t.kernel},
          {"download", t.download},
          {"total", t.total}}}};
    if (const auto generated = inputs.empty() ? std::nullopt : inputs[0]->generation())
        object["generated"] = {{"kind", generated->kind}, {"seed", generated->seed}};
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    object["peak_memory"] = static_cast<u64>(usage.ru_maxrss) << 10;
    if (result.pipeline) {
        const PipelineRun& run = *result.pipeline;
        object["pipeline"] = {{"segments", run.segments},
                              {"segment", run.segment},
                              {"depth", run.depth},
                              {"read_ms", run.times.read},
                              {"write_ms", run.times.write}};
        auto& shares = object["pipeline"]["devices"] = ordered_json::array();
        for (const PipelineShare& share : run.shares) {
            shares.push_back({{"selector", share.device->info().selector},
                              {"variant", share.variant},
                              {"segments", share.segments},
                              {"elements", share.elements}});
        }
    }
    if (result.boxes) {
        const BoxesRun& run = *result.boxes;
        object["ranks"] = devices.size();
        auto& names = object["devices"] = ordered_json::array();
        for (const auto& one : devices)
            names.push_back(one->info().selector);
        object["cut"] = run.cut;
        object["steps_per_exchange"] = run.steps_per_exchange;
        object["messages_per_step"] = run.messages;
        object["bytes_per_step"] = run.bytes;
    }
    std::cout << object.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

bool runs_on(const RunTask& task, const Device& device) {
    const auto* const text = as<TakesText>(task);
    return text == nullptr || !text->has_text() || device.traits().launch != LaunchModel::host;
}

// Opens the selected device. `auto` selects the best device that can run the task.
std::shared_ptr<Device> device_for(const RunTask& task, const std::string& selector) {
    auto device = open_device(selector);
    const std::string_view asked =
        selector.empty() ? detail::environment_variable("CONCORD_DEVICE") : selector;
    const bool chosen = !asked.empty() && asked != "auto";
    if (chosen || runs_on(task, *device)) return device;
    for (const std::string& other : device_selectors()) {
        if (auto candidate = open_device(other); runs_on(task, *candidate)) return candidate;
    }
    return device;  // its error names what it lacks
}

// Opens the selected devices. Throws for several devices unless the task supports segments or boxes.
std::vector<std::shared_ptr<Device>> devices_for(const RunTask& task, const std::string& algorithm,
                                                 const RunArguments& asked) {
    const bool has_boxes = as<OverBoxes>(task) != nullptr;
    std::vector<std::shared_ptr<Device>> devices;
    for (const std::string& selector : asked.devices) {
        if (selector == "all")
            throw Error(
                ErrorCode::invalid_argument, device_option(),
                "'all' is not supported by run; name the devices that share the work, e.g. tbb,opencl");
    }
    const std::vector<std::string> selectors = devices_or_default(asked.devices);
    if (selectors.size() > 1 && as<Pipelined>(task) == nullptr && !has_boxes)
        throw Error(ErrorCode::invalid_argument, device_option(),
                    algorithm + " uses one device, got '" +
                        joined(asked.devices.empty() ? selectors : asked.devices, ",") +
                        "'; name one device" +
                        (as<OverRanks>(task) != nullptr ? ", or run one rank per device under mpirun" : ""));
    if (selectors.size() <= 1)
        devices.push_back(device_for(task, selectors.empty() ? std::string() : selectors.front()));
    for (const std::string& selector : selectors) {
        if (selectors.size() == 1) break;
        auto device = open_device(selector);
        // Several ranks may share a device.
        if (!has_boxes && std::find(devices.begin(), devices.end(), device) != devices.end())
            throw Error(ErrorCode::invalid_argument, device_option(),
                        "'" + device->info().selector + "' is named twice; name each device once");
        devices.push_back(std::move(device));
    }
    for (const auto& device : devices)
        check_runs(*device);
    return devices;
}

int run(const RunCommand& command, RunTask& task, const RunArguments& asked) {
    check_standard_streams(asked);
    if (RankJob::has_ranks()) return run_on_ranks(command, task, asked);
    const std::string algorithm(command.name);
    auto* const pipelined = as<Pipelined>(task);
    auto* const over_boxes = as<OverBoxes>(task);
    const auto inputs = open_inputs(command, task, asked);
    RunPlan plan = plan_of(task, inputs);
    const bool to_stdout = is_stdout(asked.out);
    if (!to_stdout) check_writable(asked.out, "--out");
    const std::string second_path = plan.second ? plan.second->path : "";
    if (is_stdout(second_path))
        throw Error(ErrorCode::invalid_argument, "the second output",
                    "only --out can be standard output, got '-'; name a file");
    if (plan.second) {
        check_writable(second_path);
        if (second_path == asked.out)
            throw Error(ErrorCode::invalid_argument, "--out",
                        "both outputs go to '" + asked.out + "'; name different files");
    }
    // A result may replace its input. A trace may not.
    check_apart({{"--out", to_stdout ? "" : asked.out},
                 {"the second output", second_path},
                 {"--trace", asked.trace}});
    for (const auto& input : inputs)
        check_apart({{"--in", input->path().string()}, {"--trace", asked.trace}});

    const auto devices = devices_for(task, algorithm, asked);
    const auto& device = devices[0];
    TraceFile trace(asked.trace);
    const bool boxes = over_boxes != nullptr && (devices.size() > 1 || over_boxes->asks_for_boxes());
    bool pieces =
        !boxes && (devices.size() > 1 || by_segments(task, algorithm, *device, inputs, plan, asked));
    RunResult result;
    try {
        if (boxes) {
            result = compute_by_boxes(*over_boxes, devices, inputs, asked);
        } else if (!pieces) {
            // Other processes may use most of the host's or the device's memory.
            auto again = [&](const char* what) {
                detail::log_info("run: " + std::string(what) + "; retrying in segments");
                device->trim();
                pieces = true;
            };
            try {
                result = compute(task, *device, inputs, plan, asked);
            } catch (const Error& error) {
                if (error.code() != ErrorCode::out_of_memory || pipelined == nullptr) throw;
                again(error.what());
            } catch (const std::bad_alloc&) {
                if (pipelined == nullptr) throw;
                again("out of host memory");
            }
        }
        if (pieces) result = compute_by_segments(*pipelined, devices, algorithm, inputs, plan, asked);
    } catch (const Error& error) {
        const auto* const text = as<TakesText>(task);
        if (error.code() != ErrorCode::compile_failed || text == nullptr || !text->has_text()) throw;
        detail::log_debug(error.what());
        throw Error(ErrorCode::invalid_argument, "--text", error_in_text(message_of(error), *text->text()));
    }
    const NpyHeader& output = plan.output;
    if (!pieces && !boxes) {
        const std::string header = npy_header(output.type, output.shape);
        if (to_stdout) {
            const auto head = std::as_bytes(std::span(header));
            std::vector<std::byte> first(
                result.bytes.begin(),
                result.bytes.begin() + static_cast<std::ptrdiff_t>(std::min<u64>(8, result.bytes.size())));
            keep_for_stdout({{head.begin(), head.end()}, std::exchange(result.bytes, std::move(first))});
        } else {
            write_whole(asked.out, {std::as_bytes(std::span(header)), result.bytes});
        }
    }
    if (plan.second) {
        const NpyHeader& second = plan.second->header;
        const std::string second_header = npy_header(second.type, second.shape);
        write_whole(second_path, {std::as_bytes(std::span(second_header)), result.second});
    }

    trace.write();

    if (asked.json) {
        print_json(algorithm, task, devices, inputs, output, asked, result);
        return status_ok;
    }
    std::vector<std::string> selectors;
    selectors.reserve(devices.size());
    for (const auto& one : devices)
        selectors.push_back(one->info().selector);
    std::ostream& report = to_stdout ? std::cerr : std::cout;
    report << algorithm << "/" << result.variant << " (" << task.title() << ") on "
           << joined(selectors, " and ") << ": "
           << (inputs.empty() ? std::string(name_of(output.type)) + " " + shape_name(output.shape)
                              : inputs[0]->description());
    if (output.shape.empty()) report << " = " << value_name(output.type, result.bytes.data());
    if (result.pipeline) {
        const u64 segments = result.pipeline->segments;
        report << " in " << segments << (segments == 1 ? " segment" : " segments");
    }
    if (result.boxes) report << " cut " << result.boxes->cut;
    report << " -> " << (to_stdout ? "standard output" : asked.out) << ", kernel "
           << rounded(result.times.kernel) << " ms\n";
    return status_ok;
}

// Examples are separated by line breaks.
std::vector<std::string> examples_of(const RunCommand& command) {
    std::vector<std::string> examples = lines_of(std::string(command.example));
    for (std::string& example : examples)
        example.erase(0, std::min(example.find_first_not_of(' '), example.size()));
    return examples;
}

}  // namespace

void add_run(CLI::App& program, Action& action) {
    const std::vector<Status> statuses = {status_ok, status_bad_input, status_unavailable, status_failed};
    CLI::App* command = add_command(program, "run",
                                    {.summary = "Run an algorithm on .npy files",
                                     .details = "Inputs and outputs are NumPy .npy files: format 1.0 to 3.0, "
                                                "little-endian, C order, integers of 8 to "
                                                "64 bits, f32, f64 and bool.",
                                     .examples = examples_of(run_commands().front()),
                                     .statuses = statuses});
    command->require_subcommand(1);
    for (const RunCommand& algorithm : run_commands()) {
        CLI::App* one = add_command(*command, std::string(algorithm.name),
                                    {.summary = std::string(algorithm.summary),
                                     .examples = examples_of(algorithm),
                                     .statuses = statuses});
        const std::shared_ptr<RunTask> task = algorithm.make();
        const bool is_pipelined = as<Pipelined>(*task) != nullptr;
        auto asked = std::make_shared<RunArguments>();
        // An algorithm without inputs has no --in.
        auto* in = algorithm.inputs == 0
                       ? nullptr
                       : add_list(*one, "--in", asked->in, "FILE",
                                  algorithm.inputs == 1 && as<CountsInputs>(*task) == nullptr
                                      ? "Input, a .npy file, or - for standard input"
                                      : "Input, a .npy file, or - for standard input; give it "
                                        "once per input: --in A.npy --in B.npy");
        if (in != nullptr) in->required()->delimiter('\0');  // file names may contain commas
        one->add_option("--out", asked->out,
                        "Output, a .npy file, which appears whole or not at all, or - for standard output")
            ->type_name("FILE")
            ->required();
        add_device_option(
            *one, asked->devices,
            std::string(as<OverBoxes>(*task) != nullptr
                            ? "Device, or devices that share the work, one rank each; a device may "
                              "be named twice"
                        : is_pipelined ? "Device, or devices that share the work in segments"
                                       : "One device") +
                (as<OverRanks>(*task) != nullptr ? "; under mpirun one per rank in turn" : "") +
                " (default: $CONCORD_DEVICE, else auto)");
        one->add_option("--variant", asked->variant,
                        "Variant (see `concord algorithms`), or auto (default: auto)")
            ->type_name("VARIANT");
        add_order_option(*one, asked->order);
        one->add_option("--memory-limit", asked->memory_limit,
                        is_pipelined
                            ? "Memory limit for data, e.g. 256M or 2G; larger data is processed in "
                              "segments (default: segments use up to a quarter of the device's memory "
                              "once data exceeds 7/8 of it)"
                            : "Memory limit for data, e.g. 256M or 2G; larger data is an error")
            ->type_name("BYTES");
        if (is_pipelined) {
            one->add_option("--chunk", asked->chunk,
                            "Bytes of the first input per segment (default: by measured rates)")
                ->type_name("BYTES");
        }
        one->add_flag("--json", asked->json,
                      "Print one JSON object with the variant, the device and the times");
        TraceFile::add_option(*one, asked->trace);
        task->add_options(*one);
        one->callback([=, &action] { action = [=] { return run(algorithm, *task, *asked); }; });
    }
}

}  // namespace concord::app
