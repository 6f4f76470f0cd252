// The study `transfers`: upload, kernel and download of the square roots of n floats, separately, in sequence and
// overlapped.

#include <concord/study/internal/study.hpp>

#include <concord/device.hpp>
#include <concord/lab/bench.hpp>
#include <concord/pipeline.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace concord::study {
namespace {

using lab::BenchRow;
using lab::Effort;

// Data of one size on one device, and the ways to move them. Inputs are perfect squares, so every square root is exact.
class Trip {
  public:
    Trip(Device& device, u64 n)
        : device_(device),
          n_(n),
          bytes_(n * sizeof(f32)),
          pageable_in_(n),
          pageable_out_(n),
          pinned_in_(device.allocate_host(bytes_)),
          pinned_out_(device.allocate_host(bytes_)),
          in_(device.allocate(bytes_)),
          out_(device.allocate(bytes_)) {
        for (u64 i = 0; i < n; ++i)
            pageable_in_[i] = static_cast<f32>(root(i) * root(i));
        std::memcpy(pinned_in_->host_pointer(), pageable_in_.data(), bytes_);
        for (auto& stream : streams_)
            stream = device.create_stream();
        upload_pinned();
        run();
        finish();
    }

    struct Way {
        const char* name;
        void (Trip::*go)();
        enum class Leaves { input, output, pinned, pageable } leaves;  // memory that receives the result
        bool whole = false;                                            // uploads, computes and downloads
    };
    static const std::vector<Way>& ways() {
        using Leaves = Way::Leaves;
        static const std::vector<Way> list = {
            {"upload, pinned", &Trip::upload_pinned, Leaves::input},
            {"upload, pageable", &Trip::upload_pageable, Leaves::input},
            {"kernel", &Trip::run, Leaves::output},
            {"download, pinned", &Trip::download_pinned, Leaves::pinned},
            {"download, pageable", &Trip::download_pageable, Leaves::pageable},
            {.name = "in sequence, pinned",
             .go = &Trip::turn_pinned,
             .leaves = Leaves::pinned,
             .whole = true},
            {.name = "in sequence, pageable",
             .go = &Trip::turn_pageable,
             .leaves = Leaves::pageable,
             .whole = true},
            {.name = "overlapped, pinned", .go = &Trip::overlapped, .leaves = Leaves::pinned, .whole = true},
            {"pipeline, pageable", &Trip::piped, Leaves::pageable},
            {"host, one thread", &Trip::on_host, Leaves::pageable}};
        return list;
    }

    void measure(const Way& way, const Effort& effort, BenchRow& row) {
        poison(way);
        (this->*way.go)();
        finish();
        verify(way.leaves, row);
        if (!row.problem.empty()) return;
        row.timing = lab::measure_blocking(
            [&] {
                (this->*way.go)();
                finish();
            },
            effort);
    }

  private:
    static f32 root(u64 i) { return static_cast<f32>(i % 4093); }

    void poison(const Way& way) {
        std::fill(pageable_out_.begin(), pageable_out_.end(), -1.0F);
        std::memcpy(pinned_out_->host_pointer(), pageable_out_.data(), bytes_);
        const u32 minus = 0xbf800000;
        if (way.whole || way.leaves == Way::Leaves::input)
            streams_[0]->fill(*in_, 0, bytes_, &minus, sizeof minus);
        if (way.whole || way.leaves == Way::Leaves::output)
            streams_[0]->fill(*out_, 0, bytes_, &minus, sizeof minus);
        finish();
    }
    void verify(Way::Leaves what, BenchRow& row) {
        std::vector<f32> back(n_);
        if (what == Way::Leaves::input || what == Way::Leaves::output) {
            streams_[0]->read(back.data(), what == Way::Leaves::input ? *in_ : *out_, 0, bytes_);
            finish();
        }
        const f32* got = what == Way::Leaves::pinned ? static_cast<const f32*>(pinned_out_->host_pointer())
                         : what == Way::Leaves::pageable ? pageable_out_.data()
                                                         : back.data();
        for (u64 i = 0; i < n_; ++i) {
            const f32 expected = what == Way::Leaves::input ? pageable_in_[i] : root(i);
            if (got[i] == expected) continue;
            row.problem = "WRONG: element " + std::to_string(i) + ": expected " + std::to_string(expected) +
                          ", got " + std::to_string(got[i]);
            return;
        }
    }
    void finish() {
        for (auto& stream : streams_)
            stream->synchronize();
    }
    void run_part(Stream& stream, u64 first, u64 count) {
        map(stream, View{in_.get(), first * sizeof(f32), count, Type::f32},
            View{out_.get(), first * sizeof(f32), count, Type::f32}, MapFunction::sqrt);
    }

    void upload_pinned() { streams_[0]->copy(*in_, 0, *pinned_in_, 0, bytes_); }
    void upload_pageable() { streams_[0]->write(*in_, 0, pageable_in_.data(), bytes_); }
    void run() { run_part(*streams_[0], 0, n_); }
    void download_pinned() { streams_[0]->copy(*pinned_out_, 0, *out_, 0, bytes_); }
    void download_pageable() { streams_[0]->read(pageable_out_.data(), *out_, 0, bytes_); }
    void turn_pinned() {
        upload_pinned();
        run();
        download_pinned();
    }
    void turn_pageable() {
        upload_pageable();
        run();
        download_pageable();
    }
    // Three streams take the parts in turn, so that uploads, kernels and downloads overlap.
    void overlapped() {
        const u64 part = std::max<u64>((n_ + 11) / 12, 1 << 14);
        for (u64 first = 0, k = 0; first < n_; first += part, ++k) {
            Stream& stream = *streams_[k % std::size(streams_)];
            const u64 count = std::min(part, n_ - first), from = first * sizeof(f32),
                      bytes = count * sizeof(f32);
            stream.copy(*in_, from, *pinned_in_, from, bytes);
            run_part(stream, first, count);
            stream.copy(*pinned_out_, from, *out_, from, bytes);
        }
    }
    void piped() {
        HostSink sink(pageable_out_);
        pipeline_map(device_, HostSource(pageable_in_), sink, MapFunction::sqrt);
    }
    void on_host() {
        for (u64 i = 0; i < n_; ++i)
            pageable_out_[i] = std::sqrt(pageable_in_[i]);
    }

    Device& device_;
    u64 n_, bytes_;
    std::vector<f32> pageable_in_, pageable_out_;
    std::shared_ptr<Buffer> pinned_in_, pinned_out_, in_, out_;
    std::shared_ptr<Stream> streams_[3];
};

}  // namespace

void run_transfers(const std::string& selector, const Case& what, bool quick,
                   const std::function<bool(const Result&)>& wanted,
                   const std::function<void(const Result&, const ordered_json& row)>& done) {
    const auto device = open_device(selector);
    const Effort effort = quick ? Effort{.min_ms = 2, .max_ms = 20, .precision = 0.05}
                                : Effort{.min_ms = 30, .max_ms = 400, .precision = 0.01};
    for (const u64 n : what.sizes.of(quick)) {
        std::unique_ptr<Trip> trip;
        for (const Trip::Way& way : Trip::ways()) {
            Result asked;
            asked.algorithm = what.suite;
            asked.workload = "sqrt";
            asked.asked = asked.variant = way.name;
            asked.device = selector;
            asked.threads = threads_of(*device);
            asked.type = "f32";
            asked.n = n;
            if (!wanted(asked)) continue;
            BenchRow row;
            row.algorithm = asked.algorithm;
            row.function = asked.workload;
            row.variant = asked.variant;
            row.device = selector;
            row.type = Type::f32;
            row.n = n;
            row.bytes = n * sizeof(f32) * (std::strstr(way.name, "load") != nullptr ? 1 : 2);
            row.host_clock = true;
            row.copies = 1;
            try {
                if (!trip) trip = std::make_unique<Trip>(*device, n);
                trip->measure(way, effort, row);
            } catch (const Error& error) {
                row.timing.reset();
                row.problem = error.what();
                if (error.code() == ErrorCode::out_of_memory) row.problem = "no room: " + row.problem;
                if (error.code() == ErrorCode::device_failed)
                    return done(asked, ordered_json::parse(json_of(row)));
            }
            done(asked, ordered_json::parse(json_of(row)));
        }
    }
}

}  // namespace concord::study
