#pragma once
// Errors that a compiler reports in the source of --text.

#include <string>

namespace concord::app {

// "line 2, column 9: use of undeclared identifier 'y'": the first error in the compiler's log, at its place in the
// user's text. `log`: the message of a compile_failed error. Without an error in the text: the first error elsewhere,
// or the log.
std::string error_in_text(const std::string& log, const std::string& text);

// Keeps what is written to stderr during its lifetime, then writes it without the lines in which PoCL's compiler counts
// its errors ("1 error generated.").
class CompilerNoise {
  public:
    // Does nothing unless `active`.
    explicit CompilerNoise(bool active);
    ~CompilerNoise();
    CompilerNoise(const CompilerNoise&) = delete;
    CompilerNoise& operator=(const CompilerNoise&) = delete;

  private:
    int stderr_ = -1, kept_ = -1;
};

}  // namespace concord::app
