#pragma once
/// `--trace FILE`.

#include "program.hpp"

#include <concord/trace.hpp>

#include <optional>

namespace concord::app {

/// A trace of all that streams do from here to write(), if a file is named.
class TraceFile {
  public:
    /// Throws io if there could not be such a file.
    explicit TraceFile(std::string path);
    /// Ends the trace and writes it.
    void write();

    /// The option of a command.
    static void add_option(CLI::App& command, std::string& path);

  private:
    std::string path_;
    std::optional<Trace> trace_;
};

}  // namespace concord::app
