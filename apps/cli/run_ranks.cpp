#include "run_ranks.hpp"

#include "files.hpp"
#include "rank_file.hpp"
#include "rank_job.hpp"

#include <concord/distributed.hpp>
#include <concord/internal/backend_status.hpp>
#include <concord/internal/environment.hpp>
#include <concord/internal/host_threads.hpp>
#include <concord/lab/compare.hpp>
#include <concord/log.hpp>

#include <nlohmann/json.hpp>

#include <sched.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <thread>

namespace concord::app {
namespace {

// A rank's part of the elements of a file.
class Slice final : public PipelineSource {
  public:
    Slice(const PipelineSource& whole, const Part& part)
        : PipelineSource(whole.type(), part.count),
          whole_(whole),
          first_(part.first * size_of(whole.type())) {}
    void read(void* to, u64 first, u64 bytes) const override { whole_.read(to, first_ + first, bytes); }

  private:
    const PipelineSource& whole_;
    u64 first_;
};

Part part_by(const Spread& spread, u64 count) {
    if (spread.whole) return {0, count};
    return part_of(count, RankJob::ranks(), spread.granule);
}

// An output. Each rank writes its part.
class Output {
  public:
    // Collective, like all calls.
    Output(const std::string& path, const NpyHeader& header, const Spread& spread)
        : header_(header),
          part_(part_by(spread, header.count)),
          writes_(!spread.whole || RankJob::speaks()),
          file_(RankJob::ranks(), path, npy_header(header.type, header.shape)) {}

    const Part& part() const { return part_; }
    Type type() const { return header_.type; }

    // Writes this rank's part after the stream's work. `first`: receives the bytes of the first element.
    void write(Stream& stream, const View& from, std::vector<std::byte>& first) {
        constexpr u64 piece = u64{32} << 20;
        const u32 size = size_of(header_.type);
        std::vector<std::byte> bytes(std::min(piece, from.bytes()));
        RankJob::together([&] {
            if (!writes_) return;
            for (u64 done = 0; done < from.bytes(); done += piece) {
                const u64 count = std::min(piece, from.bytes() - done);
                stream.read(bytes.data(), *from.buffer, from.offset + done, count);
                stream.synchronize();
                if (done == 0) first.assign(bytes.begin(), bytes.begin() + size);
                file_.write(part_.first * size + done, std::span(bytes).first(count));
            }
        });
    }

    // Completes the file.
    void keep() { file_.keep(); }

  private:
    NpyHeader header_;
    Part part_;
    bool writes_;
    RankFile file_;
};

// Inputs and outputs, the same on all ranks.
struct Plan {
    std::vector<std::unique_ptr<InputArray>> inputs;
    RunPlan outputs;
};

void refuse_options(const RunArguments& asked) {
    const std::pair<const char*, const std::string*> alone[] = {
        {"--memory-limit", &asked.memory_limit}, {"--chunk", &asked.chunk}, {"--trace", &asked.trace}};
    for (const auto& [name, value] : alone) {
        if (!value->empty())
            throw Error(ErrorCode::unsupported, name, "not supported under mpirun; use one process");
    }
}

void check_task(const RunCommand& command, const RunTask& task, const RunArguments& asked) {
    if (as<OverRanks>(task) == nullptr && as<OverBoxes>(task) == nullptr)
        throw Error(ErrorCode::unsupported, "ALGORITHM",
                    std::string(command.name) + " does not run under mpirun; available: " +
                        joined(commands_with<OverRanks, OverBoxes>()));
    refuse_options(asked);
}

Plan make_plan(const RunCommand& command, RunTask& task, const RunArguments& asked) {
    Plan plan;
    std::string what(command.name);
    RankJob::together([&] {
        check_task(command, task, asked);
        plan.inputs = open_inputs(command, task, asked);
        plan.outputs = plan_of(task, plan.inputs);
        const auto& second = plan.outputs.second;
        if (const auto* const boxes = as<OverBoxes>(task))
            boxes->check_boxes(RankJob::ranks().size(), asked.options());
        if (RankJob::speaks()) check_writable(asked.out, "--out");
        if (RankJob::speaks() && second) check_writable(second->path);
        if (second && second->path == asked.out)
            throw Error(ErrorCode::invalid_argument, "--out",
                        "both outputs go to '" + asked.out + "'; name different files");
        for (const auto& input : plan.inputs) {
            what += ", " + input->description();
            if (const auto generated = input->generation())
                what += ", seed " + std::to_string(generated->seed);
        }
    });
    // Files of the same name may differ between machines.
    detail::agree(RankJob::ranks(), "run", what, {});
    return plan;
}

// Divides the processors of a machine between its ranks, unless the launcher has bound each rank to its own.
void share_processors() {
    const RankJob::Place place = RankJob::on_this_machine();
    if (detail::host_threads_are_chosen() || place.ranks == 1) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    const u32 all = std::thread::hardware_concurrency();
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return;
    const u32 given = static_cast<u32>(CPU_COUNT(&set)),
              online = std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN));
    if (given == 0 || given < online) return;
    detail::choose_host_threads(std::max(1u, all / place.ranks));
}

struct Done {
    std::string variant;
    OperationOrder order = OperationOrder::canonical;
    double compile = 0, read = 0, kernel = 0, write = 0, total = 0;
    std::vector<std::byte> first = {};  // element of the output
    std::optional<BoxesRun> boxes = {};
};

// Calls the algorithm twice, as in one process: the first call compiles.
Done compute(OverRanks& task, Device& device, const Plan& plan, const RunArguments& asked) {
    Communicator& ranks = RankJob::ranks();
    const HostClock total;
    Output out(asked.out, plan.outputs.output, task.spread_output());
    std::unique_ptr<Output> second;
    if (const auto& planned = plan.outputs.second)
        second = std::make_unique<Output>(planned->path, planned->header, task.spread_output());

    Done done;
    const auto stream = device.create_stream();
    std::vector<std::shared_ptr<Buffer>> buffers;
    std::vector<View> views, outs;
    RankJob::together([&] {
        const HostClock clock;
        for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
            const InputArray& input = *plan.inputs[i];
            const Slice slice(input.source(), part_by(task.spread_input(i), input.count()));
            buffers.push_back(device.allocate(slice.bytes(), stream.get()));
            views.push_back({buffers.back().get(), 0, slice.count(), slice.type()});
            ProgressBar progress(input.reading(), slice.bytes());
            upload(*stream, *buffers.back(), slice, progress);
        }
        auto room = [&](const Output& output) {
            buffers.push_back(device.allocate(output.part().count * size_of(output.type()), stream.get()));
            return View{buffers.back().get(), 0, output.part().count, output.type()};
        };
        outs = {room(out)};
        if (second) outs.push_back(room(*second));
        stream->synchronize();
        done.read = clock.milliseconds();
    });

    auto call = [&] {
        const HostClock clock;
        const Enqueued made = task.call_ranks(ranks, *stream, views, outs, asked.options());
        done.variant = made.variant;
        done.order = made.order;
        stream->synchronize();
        ranks.barrier();
        return clock.milliseconds();
    };
    const double first = call();
    done.kernel = call();
    done.compile = std::max(0.0, first - done.kernel);

    const HostClock clock;
    std::vector<std::byte> unused;
    out.write(*stream, outs[0], done.first);
    if (second) second->write(*stream, outs[1], unused);
    out.keep();
    if (second) second->keep();
    done.write = clock.milliseconds();
    done.total = total.milliseconds() - first;
    return done;
}

Done compute_boxes(OverBoxes& task, Device& device, const Plan& plan, const RunArguments& asked) {
    const auto stream = device.create_stream();
    const BoxesRun run = task.run_boxes(RankJob::ranks(), *stream, plan.inputs, asked.out, asked.options());
    return {run.variant, OperationOrder::canonical,
            run.compile, run.upload,
            run.kernel,  run.download,
            run.total,   {},
            run};
}

void print_json(const RunCommand& command, const RunTask& task, const std::vector<std::string>& devices,
                const Device& device, const Plan& plan, const RunArguments& asked, const Done& done) {
    using nlohmann::ordered_json;
    Communicator& ranks = RankJob::ranks();
    ordered_json object = {{"algorithm", command.name},
                           {"function", task.title()},
                           {"variant", done.variant},
                           {"order", name_of(done.order)},
                           {"device", {{"selector", device.info().selector}, {"name", device.info().name}}},
                           {"backend", device.info().backend},
                           {"type", name_of(plan.inputs[0]->type())},
                           {"shape", plan.inputs[0]->shape()},
                           {"output",
                            {{"file", asked.out},
                             {"type", name_of(plan.outputs.output.type)},
                             {"shape", plan.outputs.output.shape}}},
                           {"times_ms",
                            {{"compile", done.compile},
                             {"upload", done.read},
                             {"kernel", done.kernel},
                             {"download", done.write},
                             {"total", done.total}}}};
    if (const auto generated = plan.inputs[0]->generation())
        object["generated"] = {{"kind", generated->kind}, {"seed", generated->seed}};
    object["ranks"] = ranks.size();
    object["devices"] = devices;
    object["messages"] = ranks.path_to(1);
    if (done.boxes) {
        object["cut"] = done.boxes->cut;
        object["steps_per_exchange"] = done.boxes->steps_per_exchange;
        object["messages_per_step"] = done.boxes->messages;
        object["bytes_per_step"] = done.boxes->bytes;
    }
    std::cout << object.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace

std::shared_ptr<Device> device_of_rank(const std::vector<std::string>& list) {
    share_processors();
    const std::vector<std::string> devices = devices_or_default(list);
    if (devices.size() > 1) return open_device(devices[RankJob::ranks().rank() % devices.size()]);
    std::string asked = devices.empty() ? std::string() : devices.front();
    if (asked.empty()) asked = detail::environment_variable("CONCORD_DEVICE");
    if (asked.empty()) asked = "auto";
    if (asked.find_first_of(":@") != std::string::npos) return open_device(asked);
    // The devices of the best one's kind.
    std::vector<DeviceInfo> alike;
    std::string name = asked;
    if (asked == "auto") {
        const std::vector<std::string> order = device_selectors();
        if (!order.empty()) name = order.front().substr(0, order.front().find(':'));
    }
    const std::vector<std::string> known = detail::backend_names();
    if (std::find(known.begin(), known.end(), name) != known.end()) {
        const std::vector<DeviceInfo> infos = detail::backend_status(name).devices;
        const auto best = std::min_element(infos.begin(), infos.end(),
                                           [](const auto& a, const auto& b) { return a.rank < b.rank; });
        for (const DeviceInfo& info : infos) {
            if (info.rank == best->rank) alike.push_back(info);
        }
    }
    if (alike.empty()) return open_device(asked);
    return open_device(alike[RankJob::on_this_machine().rank % alike.size()].selector);
}

int run_on_ranks(const RunCommand& command, RunTask& task, const RunArguments& asked) {
    Communicator& ranks = RankJob::ranks();
    const Plan plan = make_plan(command, task, asked);
    RankJob::on_this_machine();
    std::shared_ptr<Device> device;
    RankJob::together([&] {
        device = device_of_rank(asked.devices);
        check_runs(*device);
    });
    auto* const boxes = as<OverBoxes>(task);
    const Done done = boxes != nullptr ? compute_boxes(*boxes, *device, plan, asked)
                                       : compute(*as<OverRanks>(task), *device, plan, asked);

    std::vector<std::string> selectors;
    for (const auto& said : ranks.all_gather(std::as_bytes(std::span(device->info().selector))))
        selectors.emplace_back(reinterpret_cast<const char*>(said.data()), said.size());
    if (!RankJob::speaks()) return status_ok;
    if (asked.json) {
        print_json(command, task, selectors, *device, plan, asked, done);
        return status_ok;
    }
    std::cout << command.name << "/" << done.variant << " (" << task.title() << ") on " << ranks.size()
              << " ranks, " << joined(selectors) << ": " << plan.inputs[0]->description();
    const NpyHeader& output = plan.outputs.output;
    if (output.shape.empty()) std::cout << " = " << value_name(output.type, done.first.data());
    if (done.boxes) std::cout << " cut " << done.boxes->cut;
    std::cout << " -> " << asked.out << ", kernel " << rounded(done.kernel) << " ms\n";
    return status_ok;
}

}  // namespace concord::app
