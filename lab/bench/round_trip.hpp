#pragma once
// Transfers of a call's operands between page-locked host memory and the device.

#include <concord/lab/rotation.hpp>

#include <functional>
#include <memory>

namespace concord::lab {

class RoundTrip {
  public:
    // Copies the inputs to host memory. Throws out_of_memory.
    RoundTrip(Stream& stream, Operands operands);

    // Device times in milliseconds: of all inputs to the device, and of all outputs to the host.
    double upload_ms();
    double download_ms();
    // Host time in milliseconds of upload, `call` and download. `call` enqueues the work.
    double end_to_end_ms(const std::function<void()>& call);

  private:
    void upload();
    void download();

    Stream& stream_;
    Operands operands_;
    std::vector<std::shared_ptr<Buffer>> in_, out_;
};

}  // namespace concord::lab
