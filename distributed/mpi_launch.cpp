#include <concord/internal/environment.hpp>
#include <concord/internal/modules.hpp>

#include <concord/internal/mpi_launch.hpp>

#include <concord/device.hpp>
#include <concord/log.hpp>

#include <dlfcn.h>

#include <charconv>
#include <mutex>

namespace concord::detail {
namespace {

std::optional<u32> number(const char* variable) {
    if (variable == nullptr) return std::nullopt;
    const std::string_view text = environment_variable(variable);
    u32 value = 0;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || at != end) return std::nullopt;
    return value;
}

// Order matters: mpirun inside a batch job sets its own variables in addition to those of the job.
struct Variables {
    const char* launcher;
    const char *rank, *ranks;
};
constexpr Variables known[] = {
    {"mpirun of Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
    {"mpiexec of MPICH or Intel MPI", "PMI_RANK", "PMI_SIZE"},
    // Slurm sets SLURM_PROCID in batch scripts too, which are not ranks. Only ranks also have a PMI or PMIx variable.
    {"Slurm with PMIx", "PMIX_RANK", "SLURM_NTASKS"},
    {"Slurm with PMI", "PMI_RANK", "SLURM_NTASKS"},
    {"PMIx", "PMIX_RANK", nullptr},
};

constexpr const char* library_name = "libconcord-mpi";

[[noreturn]] void fail(const std::string& why) {
    throw Error(ErrorCode::unavailable, "MPI", why);
}

MpiComponent load() {
    refuse_privileged("MPI", "the MPI library");
    for (const auto& [path, refused] : find_modules(library_name)) {
        if (path.stem() != library_name) continue;
        if (!refused.empty()) fail(path.string() + " is not loaded: it is " + refused);
        // RTLD_GLOBAL: MPI libraries open modules that resolve symbols in the library.
        void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
        if (module == nullptr) fail("cannot load " + path.string() + ": " + dlerror());
        auto* entry = reinterpret_cast<MpiComponentEntry>(dlsym(module, "concord_mpi_component"));
        if (entry == nullptr)
            fail(path.string() + " lacks the entry point concord_mpi_component; rebuild it");
        const MpiComponent* component = entry();
        if (component->interface_version != mpi_component_version)
            fail("this library (" CONCORD_VERSION ") requires interface version " +
                 std::to_string(mpi_component_version) + " of " + path.string() + ", got " +
                 std::to_string(component->interface_version) + "; rebuild them together");
        log_info("MPI component: " + path.string());
        return *component;
    }
    std::string searched;
    for (const ModulePath& folder : module_folders())
        searched += " " + folder.path.string();
    fail(std::string("component concord-mpi not found: ") + library_name + ".so is not in" + searched +
         "; build Concord on a machine where CMake finds MPI");
}

const MpiComponent& opened() {
    static const MpiComponent component = load();
    return component;
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
    const MpiComponent& component = opened();
    auto ranks = component.communicator();
    const auto launch = mpi_launch();
    if (launch && launch->ranks > 1 && ranks->size() != launch->ranks)
        fail("launcher and MPI library do not match: " + std::string(launch->launcher) + " started " +
             std::to_string(launch->ranks) + " ranks, " + component.library + " of concord-mpi sees " +
             std::to_string(ranks->size()) + "; use the launcher of " + component.library);
    return ranks;
}

std::shared_ptr<Communicator> first_launched_ranks(u32 count) {
    return opened().first_ranks(count);
}

}  // namespace concord::detail
