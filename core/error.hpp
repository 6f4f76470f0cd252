#pragma once
/// The one exception type of Concord.

#include <stdexcept>
#include <string>
#include <string_view>

namespace concord {

/// What kind of thing went wrong; callers branch on it, people read what().
enum class ErrorCode {
    invalid_argument,  ///< a value that the contract of the call excludes: sizes, offsets, overlap, names
    unsupported,       ///< valid, but this device, variant or type does not do it
    unavailable,       ///< the device or backend asked for cannot be had
    wrong_device,      ///< objects of two devices met in one call
    out_of_memory,     ///< the device (or the host) has no room; the next, smaller call works
    compile_failed,    ///< a kernel source does not compile; what() holds the compiler's log
    device_failed,     ///< the driver reported a failure
    io                 ///< a file could not be read or written
};

/// "invalid_argument" for ErrorCode::invalid_argument.
std::string_view name_of(ErrorCode code);

/// Thrown by every function of Concord that fails. what() reads "CALL: MESSAGE [NATIVE]".
class Error : public std::runtime_error {
  public:
    /// call: the public function or option at fault; message: the values; native: the driver's own error, if
    /// any.
    Error(ErrorCode code, std::string_view call, std::string_view message, std::string_view native = {});

    ErrorCode code() const noexcept { return code_; }
    const std::string& call() const noexcept { return call_; }
    const std::string& native() const noexcept { return native_; }

  private:
    ErrorCode code_;
    std::string call_;
    std::string native_;
};

}  // namespace concord
