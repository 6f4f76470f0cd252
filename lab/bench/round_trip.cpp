#include "round_trip.hpp"

#include <concord/lab/measure.hpp>

#include <algorithm>

namespace concord::lab {
namespace {

constexpr Effort effort{.min_ms = 20, .max_ms = 300, .precision = 0.01};

}  // namespace

RoundTrip::RoundTrip(Stream& stream, Operands operands) : stream_(stream), operands_(std::move(operands)) {
    Device& device = stream.device();
    for (const View& view : operands_.in) {
        in_.push_back(device.allocate_host(std::max<u64>(1, view.bytes())));
        stream.copy(*in_.back(), 0, *view.buffer, view.offset, view.bytes());
    }
    for (const View& view : operands_.out)
        out_.push_back(device.allocate_host(std::max<u64>(1, view.bytes())));
    stream.synchronize();
}

void RoundTrip::upload() {
    for (std::size_t i = 0; i < in_.size(); ++i)
        stream_.copy(*operands_.in[i].buffer, operands_.in[i].offset, *in_[i], 0, operands_.in[i].bytes());
}

void RoundTrip::download() {
    for (std::size_t i = 0; i < out_.size(); ++i)
        stream_.copy(*out_[i], 0, *operands_.out[i].buffer, operands_.out[i].offset,
                     operands_.out[i].bytes());
}

double RoundTrip::upload_ms() {
    return measure(
               stream_, [this] { upload(); }, effort)
        .median;
}

double RoundTrip::download_ms() {
    return measure(
               stream_, [this] { download(); }, effort)
        .median;
}

double RoundTrip::end_to_end_ms(const std::function<void()>& call) {
    const Timing timing = measure_blocking(
        [&] {
            upload();
            call();
            download();
            stream_.synchronize();
        },
        effort);
    return timing.median;
}

}  // namespace concord::lab
