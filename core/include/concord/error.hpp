#pragma once
/// @file
/// The exception type of Concord and its codes.

#include <stdexcept>
#include <string>
#include <string_view>

namespace concord {

/// The kind of an error. Programs branch on the code; people read what(). This is the complete list.
enum class ErrorCode {
    /// An argument or option violates the contract of the call: a size, an offset, overlapping ranges, an unknown name.
    invalid_argument,
    /// The call is valid, but this device, variant or element type does not support it.
    unsupported,
    /// The requested device, backend or component is not available on this machine.
    unavailable,
    /// One call received objects of two devices.
    wrong_device,
    /// The device or the host has too little free memory. Smaller requests still succeed.
    out_of_memory,
    /// A kernel source does not compile. what() holds the compiler's log.
    compile_failed,
    /// The driver reported a failure.
    device_failed,
    /// A file cannot be read or written.
    io
};

/// The name of a code: "invalid_argument" for ErrorCode::invalid_argument.
std::string_view name_of(ErrorCode code);

/// The exception that every function of Concord throws.
///
/// what() reads `<call>: <what is wrong>, got <value>; <what to do>`, followed by the driver's error in brackets if
/// there is one. For example `map: unknown variant 'foo'; available: vectorized, naive, serial`. Programs print
/// `concord: ` before it.
class Error : public std::runtime_error {
  public:
    /// Creates an error. `call` names the public function, the option or the environment variable. `message` is the
    /// rest of the sentence, lower case and without a final period; detail::error_message() composes it. `native` is
    /// the driver's own error.
    Error(ErrorCode code, std::string_view call, std::string_view message, std::string_view native = {});

    /// The kind of the error.
    ErrorCode code() const noexcept { return code_; }
    /// The function, option or environment variable that failed: "Stream::launch".
    const std::string& call() const noexcept { return call_; }
    /// The driver's own error, such as "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory". Empty if there is none.
    const std::string& native() const noexcept { return native_; }

  private:
    ErrorCode code_;
    std::string call_;
    std::string native_;
};

namespace detail {

/// what(), and "out of host memory" for std::bad_alloc.
std::string words_of(const std::exception& error);

/// The value in single quotes. For values that come from the user.
std::string quoted(std::string_view value);

/// The message of an Error: "WRONG, got VALUE; REMEDY". An empty value or remedy is left out together with its
/// separator.
///
///     throw Error(ErrorCode::invalid_argument, "--n",
///                 detail::error_message("invalid element count", detail::quoted(text), "expected e.g. 1000 or 64M"));
std::string error_message(std::string_view wrong, std::string_view value, std::string_view remedy = {});

}  // namespace detail

}  // namespace concord
