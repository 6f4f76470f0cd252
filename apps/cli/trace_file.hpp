#pragma once
// `--trace FILE`.

#include "program.hpp"

#include <concord/trace.hpp>

#include <optional>

namespace concord::app {

// Records a trace of all streams from construction to write(), if a file is named.
class TraceFile {
  public:
    // Throws io if the file cannot be written.
    explicit TraceFile(std::string path);
    // Ends the trace and writes it.
    void write();

    // Adds the option to a command.
    static void add_option(CLI::App& command, std::string& path);

  private:
    std::string path_;
    std::optional<Trace> trace_;
};

}  // namespace concord::app
