#include <concord/internal/module_folders.hpp>

#include <concord/internal/mpi_launch.hpp>

#include <concord/device.hpp>
#include <concord/log.hpp>

#include <dlfcn.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>

namespace concord {
namespace {

namespace fs = std::filesystem;

std::optional<u32> number(const char* variable) {
    const char* text = variable == nullptr ? nullptr : std::getenv(variable);
    if (text == nullptr) return std::nullopt;
    u32 value = 0;
    const char* end = text + std::strlen(text);
    const auto [at, error] = std::from_chars(text, end, value);
    if (error != std::errc() || at != end) return std::nullopt;
    return value;
}

// In this order: mpirun within a batch job sets its own beside those of the job.
struct Variables {
    const char* launcher;
    const char *rank, *ranks;
};
constexpr Variables known[] = {
    {"mpirun of Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
    {"mpiexec of MPICH or Intel MPI", "PMI_RANK", "PMI_SIZE"},
    // Slurm sets SLURM_PROCID in batch scripts too, which are no ranks; a rank has one of these beside it.
    {"Slurm with PMIx", "PMIX_RANK", "SLURM_NTASKS"},
    {"Slurm with PMI", "PMI_RANK", "SLURM_NTASKS"},
    {"PMIx", "PMIX_RANK", nullptr},
};

constexpr const char* file_name = "libconcord-mpi.so";

[[noreturn]] void fail(const std::string& why) {
    throw Error(ErrorCode::unavailable, "MPI", why);
}

const MpiComponent& load() {
    std::string looked_in;
    for (const fs::path& folder : detail::module_folders()) {
        const fs::path path = folder / file_name;
        looked_in += " " + folder.string();
        std::error_code error;
        if (!fs::exists(path, error)) continue;
        // Global: MPI libraries open parts of their own, which look for the rest.
        void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
        if (module == nullptr) fail(path.string() + " does not load: " + dlerror());
        auto* entry = reinterpret_cast<MpiComponentEntry>(dlsym(module, "concord_mpi_component"));
        if (entry == nullptr) fail(path.string() + " has no entry point concord_mpi_component");
        const MpiComponent* component = entry();
        if (component->interface_version != mpi_component_version)
            fail(path.string() + " has interface " + std::to_string(component->interface_version) +
                 ", this library (" CONCORD_VERSION ") " + std::to_string(mpi_component_version) +
                 "; rebuild one with the other");
        detail::log_info("MPI component: " + path.string());
        return *component;
    }
    fail(std::string("the component concord-mpi is not there: ") + file_name + " is not in" + looked_in +
         "; Concord builds it where CMake finds MPI");
}

}  // namespace

std::optional<MpiLaunch> mpi_launch() {
    for (const Variables& v : known) {
        const auto rank = number(v.rank), ranks = number(v.ranks);
        if (rank && (ranks || v.ranks == nullptr)) return MpiLaunch{v.launcher, ranks.value_or(0), *rank};
    }
    return std::nullopt;
}

std::shared_ptr<Communicator> launched_communicator() {
    static const MpiComponent& component = load();
    auto ranks = component.communicator();
    const auto launch = mpi_launch();
    if (launch && launch->ranks > 1 && ranks->size() != launch->ranks)
        fail("this is rank " + std::to_string(launch->rank) + " of " + std::to_string(launch->ranks) +
             ", started by " + launch->launcher + ", but " + component.library +
             ", which concord-mpi is built with, sees " + std::to_string(ranks->size()) +
             ": start it with that one's own launcher");
    return ranks;
}

}  // namespace concord
