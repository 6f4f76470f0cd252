// `concord run`: an algorithm on .npy files.

#include "run.hpp"

#include "files.hpp"
#include "trace_file.hpp"

#include <concord/conformance/compare.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>

namespace concord::app {
namespace {

// The options that every algorithm takes.
struct Asked {
    std::vector<std::string> in;
    std::string out, device, variant = "auto", order = "any", trace;
    bool json = false;
};

Order order_named(std::string_view name) {
    for (const Order order : {Order::canonical, Order::own}) {
        if (name_of(order) == name) return order;
    }
    return Order::any;
}

struct Times {
    double compile = 0, upload = 0, kernel = 0, download = 0, total = 0;
};

class HostClock {
  public:
    double milliseconds() const {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Result {
    std::vector<std::byte> bytes, second;  // of the outputs
    std::string variant;
    Times times;
};

// Uploads, computes, downloads. The algorithm is called twice: the first call compiles, which device time
// would count as work; the second one is the kernel time, and `total` is without it. A length that only the call knows
// is put into `output`. `second`: null, or a second output.
Result compute(RunTask& task, Device& device, std::span<const std::unique_ptr<NpyFile>> inputs,
               NpyHeader& output, const NpyHeader* second, const Asked& asked) {
    const auto stream = device.create_stream();
    const auto marks = [&] {
        std::vector<std::shared_ptr<Event>> made(6);
        for (auto& event : made)
            event = device.create_event();
        return made;
    }();
    Result result;
    result.bytes.resize(output.count * size_of(output.type));
    if (second != nullptr) result.second.resize(second->count * size_of(second->type));

    const HostClock total;
    stream->record(*marks[0]);
    std::vector<std::shared_ptr<Buffer>> buffers;
    std::vector<View> views;
    for (const auto& input : inputs) {
        buffers.push_back(device.allocate(input->bytes(), stream.get()));
        views.push_back({buffers.back().get(), 0, input->count(), input->type()});
        stream->write(*buffers.back(), 0, input->data(), input->bytes());
    }
    stream->record(*marks[1]);
    buffers.push_back(device.allocate(result.bytes.size(), stream.get()));
    const View out{buffers.back().get(), 0, output.count, output.type};
    buffers.push_back(device.allocate(sizeof(u64), stream.get()));
    const View count{buffers.back().get(), 0, 1, Type::u64};
    buffers.push_back(device.allocate(result.second.size(), stream.get()));
    const View other{buffers.back().get(), 0, second != nullptr ? second->count : 0,
                     second != nullptr ? second->type : Type::u8};
    auto call = [&](const Options& options) {
        if (second != nullptr) return task.call_two(*stream, views, out, other, options);
        return task.is_counted() ? task.call_counted(*stream, views, out, count, options)
                                 : task.call(*stream, views, out, options);
    };
    stream->synchronize();

    const Options options{.variant = asked.variant, .order = order_named(asked.order)};
    const HostClock first_call;
    result.variant = call(options).variant;
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
    if (task.is_counted()) {
        stream->read(&output.count, *count.buffer, 0, sizeof output.count);
        stream->synchronize();
        output.shape = {output.count};
        result.bytes.resize(output.count * size_of(output.type));
    }
    stream->read(result.bytes.data(), *out.buffer, 0, result.bytes.size());
    stream->read(result.second.data(), *other.buffer, 0, result.second.size());
    stream->record(*marks[5]);
    stream->synchronize();
    result.times.total = total.milliseconds() - extra;
    result.times.upload = marks[1]->milliseconds_since(*marks[0]);
    result.times.kernel = marks[3]->milliseconds_since(*marks[2]);
    result.times.download = marks[5]->milliseconds_since(*marks[4]);
    return result;
}

void print_json(const char* algorithm, const RunTask& task, const Device& device, const NpyFile& input,
                const NpyHeader& output, const Asked& asked, const Result& result) {
    using nlohmann::ordered_json;
    const Times& t = result.times;
    const ordered_json object = {
        {"algorithm", algorithm},
        {"function", task.title()},
        {"variant", result.variant},
        {"device", {{"selector", device.info().selector}, {"name", device.info().name}}},
        {"backend", device.info().backend},
        {"type", name_of(input.type())},
        {"shape", input.shape()},
        {"output", {{"file", asked.out}, {"type", name_of(output.type)}, {"shape", output.shape}}},
        {"times_ms",
         {{"compile", t.compile},
          {"upload", t.upload},
          {"kernel", t.kernel},
          {"download", t.download},
          {"total", t.total}}}};
    std::cout << object.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

// The device that was asked for; `auto` is the best of those that can run the task.
std::shared_ptr<Device> device_for(const RunTask& task, const std::string& selector) {
    auto device = open_device(selector);
    const char* variable = std::getenv("CONCORD_DEVICE");
    const bool chosen = selector.empty()
                            ? variable != nullptr && *variable != '\0' && variable != std::string_view("auto")
                            : selector != "auto";
    if (chosen || task.runs_on(*device)) return device;
    for (const std::string& other : device_selectors()) {
        if (auto candidate = open_device(other); task.runs_on(*candidate)) return candidate;
    }
    return device;  // which then says what it lacks
}

NpyHeader with_count(NpyHeader header) {
    header.count = 1;
    for (const u64 n : header.shape)
        header.count *= n;
    return header;
}

int run(const char* algorithm, RunTask& task, const Asked& asked) {
    if (asked.in.size() != task.input_count())
        throw Error(ErrorCode::invalid_argument, "--in",
                    std::string(algorithm) + " takes " + std::to_string(task.input_count()) +
                        (task.input_count() == 1 ? " input, " : " inputs, ") +
                        std::to_string(asked.in.size()) + " given");
    std::vector<std::unique_ptr<NpyFile>> inputs;
    for (const std::string& path : asked.in)
        inputs.push_back(std::make_unique<NpyFile>(path));
    for (const std::string& path : task.more_inputs())
        inputs.push_back(std::make_unique<NpyFile>(path));
    NpyHeader output = with_count(task.plan(inputs));
    check_writable(asked.out);
    std::optional<NpyHeader> second;
    const std::string second_path = task.second_output();
    if (!second_path.empty()) {
        second = with_count(task.plan_second(inputs));
        check_writable(second_path);
        if (second_path == asked.out)
            throw Error(ErrorCode::invalid_argument, "--out", "'" + asked.out + "' is both outputs' file");
    }

    const auto device = device_for(task, asked.device);
    if (!device->traits().runs)
        throw Error(ErrorCode::unsupported, "--device",
                    "'" + asked.device + "' only compiles, it cannot run anything");
    TraceFile trace(asked.trace);
    Result result;
    try {
        result = compute(task, *device, inputs, output, second ? &*second : nullptr, asked);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::compile_failed || !task.has_user_text()) throw;
        throw Error(ErrorCode::invalid_argument, "--text", error.what());
    }
    const std::string header = npy_header(output.type, output.shape);
    write_whole(asked.out, {std::as_bytes(std::span(header)), result.bytes});
    if (second) {
        const std::string second_header = npy_header(second->type, second->shape);
        write_whole(second_path, {std::as_bytes(std::span(second_header)), result.second});
    }

    trace.write();

    if (asked.json) {
        print_json(algorithm, task, *device, *inputs[0], output, asked, result);
        return status_ok;
    }
    std::cout << algorithm << "/" << result.variant << " (" << task.title() << ") on "
              << device->info().selector << ": " << name_of(inputs[0]->type()) << " "
              << shape_name(inputs[0]->shape());
    if (output.shape.empty()) std::cout << " = " << value_name(output.type, result.bytes.data());
    std::cout << " -> " << asked.out << ", kernel " << rounded(result.times.kernel) << " ms\n";
    return status_ok;
}

}  // namespace

void add_run(CLI::App& program, Action& action) {
    CLI::App* command =
        add_command(program, "run", "Run an algorithm on .npy files", run_tasks().front().example);
    command->require_subcommand(1);
    for (const RunTaskRow& row : run_tasks()) {
        CLI::App* one = add_command(*command, row.name, row.description, row.example);
        const std::shared_ptr<RunTask> task = row.make();
        auto asked = std::make_shared<Asked>();
        auto* in = add_list(*one, "--in", asked->in,
                            task->input_count() == 1 ? "Input, a .npy file"
                                                     : "Input, a .npy file; given once for each input");
        in->required()->delimiter('\0')->type_name("FILE");  // a file's name may hold commas
        one->add_option("--out", asked->out, "Output, a .npy file: appears whole or not at all")->required();
        one->add_option("--device", asked->device, "Selector (default: $CONCORD_DEVICE, else auto)");
        one->add_option("--variant", asked->variant, "See `concord algorithms`, or auto (default)");
        one->add_option(
               "--order", asked->order,
               "The least promise of the order of float operations that will do: canonical (equal bits on "
               "every device), own or any (default)")
            ->check(CLI::IsMember({"canonical", "own", "any"}));
        one->add_flag("--json", asked->json, "Print what ran and how long it took as one JSON object");
        TraceFile::add_option(*one, asked->trace);
        task->add_options(*one);
        one->callback([=, &action] { action = [=] { return run(row.name, *task, *asked); }; });
    }
}

}  // namespace concord::app
