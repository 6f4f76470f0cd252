#pragma once
// Calls of drivers in a process of their own: some drivers end their process, or never return.

#include <concord/types.hpp>

#include <chrono>
#include <functional>
#include <string>

namespace concord::app {

// What became of a process.
struct DriverProcess {
    // What the function returned, or the program's status for what it threw.
    int status = 0;
    // How it ended without returning: "ends the process (SIGABRT): MESSAGE". Empty: it returned.
    std::string end;
};

// Calls f in a child process and waits for it. Its output goes where that of this process goes. The child is killed if
// it does not return within `limit`, which starts anew whenever progress() changes. Without a child, for lack of
// memory, f runs in this process. This process has loaded no backend.
DriverProcess in_driver_process(const std::function<int()>& f, std::chrono::seconds limit,
                                const std::function<u64()>& progress);

}  // namespace concord::app
