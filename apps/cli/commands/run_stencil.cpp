// `concord run stencil`, on one device and over ranks. Each rank reads or generates its part of the volume and writes
// it.

#include "boxes.hpp"
#include "generate.hpp"
#include "rank_job.hpp"
#include "run.hpp"
#include "run_work.hpp"

#include <concord/distributed_stencil.hpp>

#include <algorithm>
#include <cstring>
#include <optional>

namespace concord::app {
namespace {

class RunStencil final : public RunTask, public OverBoxes, public GeneratesInput {
  public:
    void add_options(CLI::App& command) override {
        command.add_option("--steps", steps_, "Number of time steps; 0 copies the input (default: 1)");
        command
            .add_option(
                "--cut", cut_,
                "Domain decomposition over several devices: parts along z, y and x, e.g. 4x2 or 2x2x2")
            ->type_name("ZxY[xX]");
        generate_.add_options(command);
    }
    std::unique_ptr<InputArray> generated() const override { return generate_.volume(); }
    RunPlan plan(Inputs inputs) override {
        const InputArray &in = *inputs[0], &coefficients = *inputs[1];
        auto refuse = [](const std::string& what) {
            throw Error(ErrorCode::invalid_argument, "run stencil", what);
        };
        if (in.shape().size() != 3)
            refuse(in.name() + " must have three dimensions, got shape " + shape_name(in.shape()));
        if (coefficients.shape().size() != 1)
            refuse(coefficients.name() + " must have one dimension, got shape " +
                   shape_name(coefficients.shape()));
        if (coefficients.type() != in.type())
            refuse("volume and coefficients must have one type, got " + in.name() + " of " +
                   std::string(name_of(in.type())) + " and " + coefficients.name() + " of " +
                   std::string(name_of(coefficients.type())));
        if (!is_float(in.type()))
            refuse(in.name() + " must be f32 or f64, got " + std::string(name_of(in.type())));
        if (coefficients.count() < 2 || coefficients.count() > StarCoefficients::max_count)
            refuse(coefficients.name() + " must hold 2 to 9 coefficients, for a star of radius 1 to 8, got " +
                   std::to_string(coefficients.count()));
        const std::vector<std::byte> elements = coefficients.elements();
        std::vector<f64> values;
        for (u64 r = 0; r < coefficients.count(); ++r)
            values.push_back(value(elements, coefficients.type(), r));
        star_.emplace(values);
        shape_ = {in.shape()[0], in.shape()[1], in.shape()[2]};
        if (!is_whole(steps_, count_))
            throw Error(ErrorCode::invalid_argument, "--steps",
                        "invalid number of steps '" + steps_ + "'; expected e.g. 100");
        if (!cut_.empty()) read_cut();
        return {{in.type(), in.shape()}};
    }
    Enqueued call(Stream& stream, Views in, Views out, const Options& options) override {
        const auto volume = [&](const View& range) {
            return VolumeView{range, shape_.depth, shape_.rows, shape_.columns};
        };
        return stencil(stream, volume(in[0]), *star_, volume(out[0]), count_, options);
    }
    std::string title() const override {
        return "radius " + std::to_string(star_->radius()) + ", " + std::to_string(count_) +
               (count_ == 1 ? " step" : " steps");
    }
    bool asks_for_boxes() const override { return !cut_.empty(); }
    void check_boxes(u32 ranks, const Options& options) const override {
        stencil_cut(shape_, ranks, star_->radius(), over_ranks(options));
    }
    BoxesRun run_boxes(Communicator& ranks, Stream& stream, Inputs inputs, const std::string& out,
                       const Options& options) override;

  private:
    DistributedStencilOptions over_ranks(const Options& options) const {
        return {.variant = options.variant, .along_z = along_z_, .along_y = along_y_, .along_x = along_x_};
    }
    void read_cut() {
        std::vector<u32> parts;
        for (std::size_t at = 0; at <= cut_.size(); at = std::min(cut_.find('x', at), cut_.size()) + 1) {
            if (!is_whole(cut_.substr(at, cut_.find('x', at) - at), parts.emplace_back())) parts.back() = 0;
        }
        if (parts.size() < 2 || parts.size() > 3 || std::count(parts.begin(), parts.end(), 0U) > 0)
            throw Error(
                ErrorCode::invalid_argument, "--cut",
                "invalid domain decomposition '" + cut_ +
                    "'; expected parts along z times parts along y, and optionally x, e.g. 4x1 or 2x2x2");
        along_z_ = parts[0];
        along_y_ = parts[1];
        along_x_ = parts.size() == 3 ? parts[2] : 1;
    }
    static f64 value(const std::vector<std::byte>& elements, Type type, u64 r) {
        return detail::visit_float(type, [&]<class T>(detail::TypeTag<T>) -> f64 {
            T value;
            std::memcpy(&value, elements.data() + r * sizeof value, sizeof value);
            return value;
        });
    }

    Generate generate_;
    std::string steps_ = "1", cut_;
    u32 along_z_ = 0, along_y_ = 0, along_x_ = 0;
    u64 count_ = 1;
    std::optional<StarCoefficients> star_;
    VolumeExtents shape_;
};

BoxesRun RunStencil::run_boxes(Communicator& ranks, Stream& stream, Inputs inputs, const std::string& out,
                               const Options& options) {
    const HostClock total;
    const InputArray& in = *inputs[0];
    const u64 size = size_of(in.type());
    DistributedStencil volume(ranks, stream, in.type(), shape_, *star_, over_ranks(options));
    RankFile file(ranks, out, npy_header(in.type(), in.shape()));
    const StencilBox box = volume.holding();
    const u64 points = box.points(shape_.columns);
    std::shared_ptr<Buffer> buffer;
    RankJob::together(ranks, [&] { buffer = stream.device().allocate(points * size, &stream); });
    const View held{buffer.get(), 0, points, in.type()};

    BoxesRun run;
    run.variant = volume.variant();
    run.cut = volume.cut().name();
    run.steps_per_exchange = volume.steps_per_exchange();
    run.messages = volume.messages_per_step();
    run.bytes = volume.bytes_per_step();
    const HostClock upload;
    RankJob::together(ranks, [&] { read_box(stream, *buffer, in.source(), shape_, box); });
    run.upload = upload.milliseconds();

    // A first step compiles the kernels outside the timed run.
    volume.load(held);
    const HostClock first;
    volume.run(std::min<u64>(count_, 1));
    stream.synchronize();
    const double first_step = first.milliseconds();
    volume.load(held);
    stream.synchronize();
    ranks.barrier();
    const HostClock kernel;
    volume.run(count_);
    stream.synchronize();
    run.kernel = kernel.milliseconds();
    if (count_ > 0) run.compile = std::max(0.0, first_step - run.kernel / static_cast<double>(count_));

    const HostClock download;
    volume.store(held);
    RankJob::together(ranks, [&] { write_box(stream, *buffer, file, shape_, box, size); });

    run.download = download.milliseconds();
    file.keep();
    run.total = total.milliseconds() - first_step;
    combine_ranks(ranks, run);
    return run;
}

}  // namespace

RunCommand run_stencil() {
    return {
        .name = "stencil",
        .summary = "Run time steps of a 3-D star stencil; inputs: the volume and the coefficients c0 ... cR",
        .example =
            "concord run stencil --in volume.npy --in c.npy --out after.npy --steps 100\n"
            "  concord run stencil --generate random --shape 400x480x480 --in c.npy --out after.npy",
        .inputs = 2,
        .make = make_task<RunStencil>};
}

}  // namespace concord::app
