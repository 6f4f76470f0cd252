// Prints what the environment decides. privileged.sh runs copies of it with and without privileges.
#include <concord/concord.hpp>

#include <concord/internal/environment.hpp>
#include <concord/internal/host_threads.hpp>
#include <concord/internal/program_cache.hpp>
#include <concord/log.hpp>
#include <concord/tuning.hpp>

#include <exception>
#include <iostream>

using namespace concord;

int main() try {
    std::cout << "privileged: " << (detail::is_privileged() ? "yes" : "no") << '\n';
    for (const BackendStatus& backend : backends())
        std::cout << backend.name << ": " << (backend.available ? "available" : backend.reason) << '\n';
    std::cout << "threads: " << detail::host_threads() << '\n'
              << "cache: " << detail::program_cache::folder().string() << '\n'
              << "tables: " << tuning_folder().string() << '\n';
    detail::log_debug("logged");
    try {
        open_device();
        std::cout << "default device: opened\n";
    } catch (const Error& error) {
        std::cout << error.what() << '\n';
    }
    const auto device = open_device("tbb");
    const auto stream = device->create_stream();
    const Array<u32> zeros(*stream, std::vector<u32>(4));  // an upload, which NVTX tools see
    stream->synchronize();
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
