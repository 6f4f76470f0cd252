// `concord run stencil`: on one device, and over ranks, each of which reads or makes its part of the volume and writes it.

#include "generate.hpp"
#include "rank_file.hpp"
#include "rank_job.hpp"
#include "run.hpp"
#include "run_work.hpp"

#include <concord/distributed_stencil.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>

namespace concord::app {
namespace {

class RunStencil final : public RunTask {
  public:
    std::size_t input_count() const override { return 2; }
    void add_options(CLI::App& command) override {
        command.add_option("--steps", steps_, "How many time steps (1); none is a copy");
        command
            .add_option("--cut", cut_,
                        "How several devices cut the volume, as in 4x2: parts along z, times parts along y")
            ->type_name("ZxY");
        generate_.add_options(command);
    }
    std::unique_ptr<InputArray> generated() const override { return generate_.volume(); }
    NpyHeader plan(Inputs inputs) override {
        const InputArray &in = *inputs[0], &coefficients = *inputs[1];
        auto refuse = [](const std::string& what) {
            throw Error(ErrorCode::invalid_argument, "run stencil", what);
        };
        if (in.shape().size() != 3)
            refuse(in.name() + " has the shape " + shape_name(in.shape()) + ", not three dimensions");
        if (coefficients.shape().size() != 1)
            refuse(coefficients.name() + " has the shape " + shape_name(coefficients.shape()) +
                   ", coefficients take one dimension");
        if (coefficients.type() != in.type())
            refuse(in.name() + " is " + std::string(name_of(in.type())) + ", " + coefficients.name() + " " +
                   std::string(name_of(coefficients.type())));
        if (!is_float(in.type()))
            refuse(in.name() + " is " + std::string(name_of(in.type())) + "; f32 and f64 have stencils");
        if (coefficients.count() < 2 || coefficients.count() > StarCoefficients::most)
            refuse(coefficients.name() + " has " + std::to_string(coefficients.count()) +
                   " coefficients: a star of radius 1 to 8 has 2 to 9");
        const std::vector<std::byte> elements = coefficients.elements();
        std::vector<f64> values;
        for (u64 r = 0; r < coefficients.count(); ++r)
            values.push_back(value(elements, coefficients.type(), r));
        star_.emplace(values);
        shape_ = {in.shape()[0], in.shape()[1], in.shape()[2]};
        if (!is_whole(steps_, count_))
            throw Error(ErrorCode::invalid_argument, "--steps", "'" + steps_ + "' is no number of steps");
        if (!cut_.empty()) read_cut();
        return {in.type(), in.shape()};
    }
    Enqueued call(Stream& stream, std::span<const View> in, const View& out,
                  const Options& options) override {
        return stencil(stream, in[0], out, shape_, *star_, count_, options);
    }
    std::string title() const override {
        return "radius " + std::to_string(star_->radius()) + ", " + std::to_string(count_) +
               (count_ == 1 ? " step" : " steps");
    }
    bool has_boxes() const override { return true; }
    bool asks_for_boxes() const override { return !cut_.empty(); }
    void check_boxes(u32 ranks, const Options& options) const override {
        stencil_cut(shape_, ranks, star_->radius(), over_ranks(options));
    }
    BoxesRun run_boxes(Communicator& ranks, Stream& stream, Inputs inputs, const std::string& out,
                       const Options& options) override;

  private:
    DistributedStencilOptions over_ranks(const Options& options) const {
        return {.variant = options.variant, .along_z = along_z_, .along_y = along_y_};
    }
    void read_cut() {
        const std::size_t times = cut_.find('x');
        if (times == std::string::npos || !is_whole(cut_.substr(0, times), along_z_) ||
            !is_whole(cut_.substr(times + 1), along_y_) || along_z_ == 0 || along_y_ == 0)
            throw Error(ErrorCode::invalid_argument, "--cut",
                        "'" + cut_ + "' is no cut; examples: 4x1, 2x2 (parts along z, times parts along y)");
    }
    // Element r.
    static f64 value(const std::vector<std::byte>& elements, Type type, u64 r) {
        f32 single = 0;
        f64 value = 0;
        if (type == Type::f32) {
            std::memcpy(&single, elements.data() + r * sizeof single, sizeof single);
            return single;
        }
        std::memcpy(&value, elements.data() + r * sizeof value, sizeof value);
        return value;
    }

    Generate generate_;
    std::string steps_ = "1", cut_;
    u32 along_z_ = 0, along_y_ = 0;
    u64 count_ = 1;
    std::optional<StarCoefficients> star_;
    StencilShape shape_;
};

// --- Over ranks -----------------------------------------------------------------------------------------------------

// A box in a file and by itself: f(byte among the elements, byte of the box, bytes) for pieces that have no gap in either.
template <class F>
void each_piece(const StencilShape& shape, const StencilBox& box, u64 size, F f) {
    constexpr u64 most = u64{32} << 20;
    const u64 row = shape.columns * size, rows = box.y_end - box.y_begin;
    const bool is_gapless = rows == shape.rows;
    const u64 runs = is_gapless ? 1 : box.z_end - box.z_begin;
    const u64 length = rows * row * (is_gapless ? box.z_end - box.z_begin : 1);
    for (u64 run = 0; run < runs; ++run) {
        const u64 from = ((box.z_begin + run) * shape.rows + box.y_begin) * row;
        for (u64 at = 0; at < length; at += most)
            f(from + at, run * length + at, std::min(most, length - at));
    }
}

// Two page-locked buffers, which take turns, so that a file is at work while the device copies.
class Turns {
  public:
    Turns(Stream& stream, u64 bytes) : stream_(stream) {
        for (Turn& turn : turns_)
            turn = {stream.device().allocate_host(bytes), stream.device().create_event()};
    }

    /// The next one, which the stream is done with.
    Buffer& next() {
        now_ = 1 - now_;
        turns_[now_].done->synchronize();
        return *turns_[now_].buffer;
    }
    /// The stream has been asked for a copy of it.
    void asked() { stream_.record(*turns_[now_].done); }

  private:
    struct Turn {
        std::shared_ptr<Buffer> buffer;
        std::shared_ptr<Event> done;
    };
    Stream& stream_;
    Turn turns_[2];
    u32 now_ = 0;
};

u64 largest_piece(const StencilShape& shape, const StencilBox& box, u64 size) {
    u64 largest = 0;
    each_piece(shape, box, size, [&](u64, u64, u64 bytes) { largest = std::max(largest, bytes); });
    return largest;
}

void read_box(Stream& stream, Buffer& to, const PipelineSource& from, const StencilShape& shape,
              const StencilBox& box) {
    const u64 size = size_of(from.type());
    auto* const host = static_cast<std::byte*>(to.host_pointer());
    if (host != nullptr)
        return each_piece(shape, box, size,
                          [&](u64 of_file, u64 at, u64 bytes) { from.read(host + at, of_file, bytes); });
    Turns turns(stream, largest_piece(shape, box, size));
    each_piece(shape, box, size, [&](u64 of_file, u64 at, u64 bytes) {
        Buffer& staged = turns.next();
        from.read(staged.host_pointer(), of_file, bytes);
        stream.copy(to, at, staged, 0, bytes);
        turns.asked();
    });
    stream.synchronize();
}

void write_box(Stream& stream, const Buffer& from, RankFile& to, const StencilShape& shape,
               const StencilBox& box, u64 size) {
    const auto* const host = static_cast<const std::byte*>(const_cast<Buffer&>(from).host_pointer());
    if (host != nullptr) {
        stream.synchronize();
        return each_piece(shape, box, size, [&](u64 of_file, u64 at, u64 bytes) {
            to.write(of_file, {host + at, bytes});
        });
    }
    Turns turns(stream, largest_piece(shape, box, size));
    std::function<void()> before;  // what is left to do with the piece ahead
    each_piece(shape, box, size, [&](u64 of_file, u64 at, u64 bytes) {
        Buffer& staged = turns.next();
        stream.copy(staged, 0, from, at, bytes);
        const auto event = stream.device().create_event();
        stream.record(*event);
        if (before) before();
        before = [&to, &staged, event, of_file, bytes] {
            event->synchronize();
            to.write(of_file, {static_cast<const std::byte*>(staged.host_pointer()), bytes});
        };
    });
    if (before) before();
}

// Puts together what the ranks tell: the slowest one's times, and the sums of what they send.
void combine(Communicator& ranks, BoxesRun& run) {
    struct Told {
        double compile, upload, kernel, download;
        u64 messages, bytes;
    };
    const Told mine{run.compile, run.upload, run.kernel, run.download, run.messages, run.bytes};
    run.messages = run.bytes = 0;
    for (const auto& bytes : ranks.all_gather(std::as_bytes(std::span(&mine, 1)))) {
        Told told{};
        std::memcpy(&told, bytes.data(), sizeof told);
        run.compile = std::max(run.compile, told.compile);
        run.upload = std::max(run.upload, told.upload);
        run.kernel = std::max(run.kernel, told.kernel);
        run.download = std::max(run.download, told.download);
        run.messages += told.messages;
        run.bytes += told.bytes;
    }
}

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
    run.cut = std::to_string(volume.cut().along_z) + " x " + std::to_string(volume.cut().along_y);
    run.messages = volume.messages_per_step();
    run.bytes = volume.bytes_per_step();
    const HostClock upload;
    RankJob::together(ranks, [&] { read_box(stream, *buffer, in.source(), shape_, box); });
    run.upload = upload.milliseconds();

    // The first step compiles, which the clock would count as work; it is done again.
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
    combine(ranks, run);
    return run;
}

}  // namespace

std::unique_ptr<RunTask> make_run_stencil() {
    return std::make_unique<RunStencil>();
}

}  // namespace concord::app
