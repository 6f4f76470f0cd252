#pragma once
/// The way of a call's data from page-locked host memory to the device and back.

#include <concord/lab/rotation.hpp>

#include <functional>
#include <memory>

namespace concord::lab {

class RoundTrip {
  public:
    /// Inputs keep their contents. Throws out_of_memory.
    RoundTrip(Stream& stream, Operands operands);

    /// Device times, milliseconds: of all inputs to the device, and of all outputs back.
    double upload_ms();
    double download_ms();
    /// Host time from inputs in host memory to outputs there; `call` enqueues what lies between.
    double end_to_end_ms(const std::function<void()>& call);

  private:
    void upload();
    void download();

    Stream& stream_;
    Operands operands_;
    std::vector<std::shared_ptr<Buffer>> in_, out_;
};

}  // namespace concord::lab
