// The program `concord`: runs, checks and measures algorithms from the command line.

#include "check_worker.hpp"
#include "files.hpp"
#include "help.hpp"
#include "interrupt.hpp"
#include "program.hpp"
#include "rank_job.hpp"

#include <concord/internal/environment.hpp>
#include <concord/internal/host_threads.hpp>
#include <concord/internal/modules.hpp>
#include <concord/log.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>

namespace concord::app {
namespace {

// An invalid environment variable is an error like an invalid option.
void check_environment() {
    auto value_of = [](const char* name) { return std::string(detail::environment_variable(name)); };
    auto fail = [](const char* name, const std::string& why) {
        throw Error(ErrorCode::invalid_argument, name, why);
    };
    auto one_of = [&](const char* name, const std::vector<std::string>& words) {
        const std::string value = value_of(name);
        if (!value.empty() && std::find(words.begin(), words.end(), value) == words.end())
            fail(name, "invalid value '" + value + "'; expected one of " + joined(words));
    };
    one_of("CONCORD_HOST_ISA", {"baseline", "avx2", "avx512"});
    one_of("CONCORD_LOG", {"debug", "info", "warn", "error", "off"});
    one_of("CONCORD_CACHE", {"on", "off"});
    one_of("CONCORD_CALIBRATION", {"on", "off"});
    one_of("CONCORD_LAUNCH_OVERLAP", {"on", "off"});
    one_of("CONCORD_OPENCL_ITEMS", {"many", "one"});
    one_of("CONCORD_OPENCL_SELF_TEST", {"on", "off"});
    one_of("CONCORD_LINKS", {"on", "off"});
    one_of("CONCORD_MPI_CUDA", {"on", "off"});
    one_of("CONCORD_MPI_TRANSPORT", {"auto", "nccl", "ipc", "mpi"});
    if (const std::string tuning = value_of("CONCORD_TUNING");
        !tuning.empty() && tuning != "off" && !std::filesystem::exists(tuning))
        fail("CONCORD_TUNING", "no such file, got '" + tuning + "' (use 'off' to disable tuning)");
    if (const std::string folder = value_of("CONCORD_KERNELS");
        !folder.empty() && !std::filesystem::is_directory(folder))
        fail("CONCORD_KERNELS",
             "not a directory, got '" + folder + "'; expected a directory of kernel sources");
    for (const auto& [folder, refused] : detail::module_folders_of_environment()) {
        if (!refused.empty())
            fail("CONCORD_BACKEND_PATH",
                 detail::error_message(refused, detail::quoted(folder.string()),
                                       "name folders by absolute paths that only you and "
                                       "root may write to"));
    }
    if (const std::string threads = value_of("CONCORD_THREADS"); !threads.empty()) {
        u32 count = 0;
        if (!is_whole(threads, count) || count < 1 || count > 4096)
            fail("CONCORD_THREADS", "invalid number of threads '" + threads + "'; expected 1 to 4096");
    }
}

// An empty list, from an unset shell variable for example, does not select the default.
void refuse_empty_lists(const CLI::App& command) {
    for (const CLI::Option* option : command.get_options()) {
        const auto& values = option->results();
        if (option->count() > 0 && option->get_delimiter() == ',' &&
            std::all_of(values.begin(), values.end(), [](const std::string& value) { return value.empty(); }))
            throw CLI::ValidationError(option->get_name(false, true),
                                       "empty list; expected at least one value");
    }
    for (const CLI::App* chosen : command.get_subcommands())
        refuse_empty_lists(*chosen);
}

int run_program(int argc, char** argv) {
    CLI::App program{"", "concord"};
    set_up_program(
        program,
        {.summary = "Data-parallel computing on CUDA, OpenCL and the CPU, with results that agree",
         .details =
             "A SELECTOR names a device: 'auto', 'cuda', 'cuda:1', 'opencl:0', 'tbb', 'tbb@avx2' for an "
             "instruction set of the CPU, or 'cuda@sm_90' for a device that only compiles. Where a list is "
             "expected, 'all' names every device and "
             "'cuda:*' every device of a backend. `concord devices` lists the selectors.",
         .examples = {"concord check reduce --devices all"},
         .statuses = {status_ok, status_wrong, status_bad_input, status_unavailable, status_failed}});
    program.set_version_flag("--version", "concord " CONCORD_VERSION, "Print the version and exit")
        ->group(common_group);
    program.require_subcommand(1);
    Action action;
    for (const auto add : {add_devices, add_doctor, add_algorithms, add_run, add_check, add_bench, add_study,
                           add_tune, add_cache, add_documentation})
        add(program, action);
    add_common_options(program);
    add_worker_option(program, argc, argv);
    try {
        program.parse(argc, argv);
        refuse_empty_lists(program);
    } catch (const CLI::Success& success) {  // --help, --version
        return program.exit(success);
    } catch (const CLI::ParseError& error) {
        return RankJob::complain(complaint(program, error), status_bad_input);
    }
    // Commands without a group are hidden; the build runs them, in the user's environment.
    if (!program.get_subcommands().front()->get_group().empty()) check_environment();
    const CommonOptions& common = common_options();
    if (common.threads != 0) detail::choose_host_threads(common.threads);
    if (!common.log_level.empty()) set_log_level(common.log_level);
    note_device_option(argc, argv);
    int status = status_ok;
    try {
        status = action();
    } catch (const Error& error) {
        // The library names its own function.
        if (error.call() != "open_device" && error.call() != "device_selectors") throw;
        throw Error(error.code(), device_option(), message_of(error));
    }
    publish_outputs();
    return status;
}

// Takes the exceptions that no handler can take: those that leave a noexcept function of a library, a thread, or the
// initializer of a static object.
[[noreturn]] void end_without_handler() {
    detail::remove_temporary_files();
    try {
        if (std::current_exception()) throw;
    } catch (const std::bad_alloc&) {
        std::_Exit(RankJob::print(out_of_memory, status_failed));
    } catch (const std::exception& error) {
        std::_Exit(RankJob::print(error.what(), status_failed));
    } catch (...) {
    }
    std::abort();
}
// Before the initializers of the program's other static objects, which allocate memory.
struct TakeUnhandled {
    TakeUnhandled() { std::set_terminate(end_without_handler); }
};
[[gnu::init_priority(101)]] const TakeUnhandled take_unhandled;

}  // namespace
}  // namespace concord::app

int main(int argc, char** argv) {
    using namespace concord;
    app::occupy_standard_files();
    app::catch_interrupts();
    try {
        return app::run_program(argc, argv);
    } catch (const std::exception&) {
        return app::complain_of_exception();
    }
}
