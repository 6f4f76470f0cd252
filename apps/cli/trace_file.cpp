#include "trace_file.hpp"

#include "files.hpp"

#include <concord/log.hpp>

namespace concord::app {

TraceFile::TraceFile(std::string path) : path_(std::move(path)) {
    if (path_.empty()) return;
    check_writable(path_, "--trace");
    trace_.emplace();
}

void TraceFile::write() {
    if (!trace_) return;
    trace_->finish();
    if (trace_->dropped() > 0)
        detail::log_warn(std::to_string(trace_->dropped()) + " operations were dropped from " + path_);
    write_whole(path_, trace_->json());
}

void TraceFile::add_option(CLI::App& command, std::string& path) {
    command
        .add_option(
            "--trace", path,
            "Write a timeline of all streams to this file, for ui.perfetto.dev; slows down short kernels")
        ->type_name("FILE");
}

}  // namespace concord::app
