// Initialisation and finalisation of MPI, and the entry point for programs that load the component at run time.

#include "mpi_communicator.hpp"

#include <concord/internal/mpi_launch.hpp>
#include <concord/log.hpp>
#include <concord/mpi.hpp>

#include <cstdlib>

namespace concord {
namespace mpi {
namespace {

// Exit handler, registered if MPI is initialised here. A rank that fails alone aborts the job: the others would wait
// for it, in MPI_Finalize at the latest. Ranks that fail together have called end_together().
bool ends_together = false;

void end_job(int status, void* /*unused*/) {
    int is_finalized = 0;
    MPI_Finalized(&is_finalized);
    if (is_finalized != 0) return;
    if (status != 0 && !ends_together) MPI_Abort(MPI_COMM_WORLD, status);
    MPI_Finalize();
}

void initialise() {
    int is_finalized = 0, is_initialised = 0, provided = 0;
    MPI_Finalized(&is_finalized);
    if (is_finalized != 0)
        throw Error(ErrorCode::unavailable, "mpi_communicator", "MPI is already finalised");
    MPI_Initialized(&is_initialised);
    if (is_initialised != 0) return;
    check("MPI_Init_thread", MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided),
          "mpi_communicator");
    ::on_exit(end_job, nullptr);
    if (provided < MPI_THREAD_SERIALIZED)
        detail::log_info("MPI accepts calls only from the thread that initialised it");
}

std::shared_ptr<Communicator> make(MPI_Comm comm) {
    int rank = 0, size = 0;
    check("MPI_Comm_rank", MPI_Comm_rank(comm, &rank), "mpi_communicator");
    check("MPI_Comm_size", MPI_Comm_size(comm, &size), "mpi_communicator");
    return std::make_shared<MpiCommunicator>(comm, static_cast<u32>(rank), static_cast<u32>(size));
}

std::shared_ptr<Communicator> first_ranks(u32 count) {
    constexpr const char* call = "mpi_communicator";
    initialise();
    int rank = 0;
    check("MPI_Comm_rank", MPI_Comm_rank(MPI_COMM_WORLD, &rank), call);
    MPI_Comm first = MPI_COMM_NULL;
    check("MPI_Comm_split",
          MPI_Comm_split(MPI_COMM_WORLD, static_cast<u32>(rank) < count ? 0 : MPI_UNDEFINED, rank, &first),
          call);
    if (first == MPI_COMM_NULL) return nullptr;
    auto ranks = make(first);  // of a duplicate
    check("MPI_Comm_free", MPI_Comm_free(&first), call);
    return ranks;
}

// "Open MPI v4.1.4": the beginning of the library's version string.
const char* library_name() {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(text, &length);
    for (char* c = text; *c != '\0'; ++c) {
        if (*c != ',' && *c != '\n') continue;
        *c = '\0';
        break;
    }
    return text;
}

}  // namespace

void end_together() {
    ends_together = true;
}

}  // namespace mpi

std::shared_ptr<Communicator> mpi_communicator() {
    mpi::initialise();
    return mpi::make(MPI_COMM_WORLD);
}

std::shared_ptr<Communicator> detail::mpi_communicator(const void* comm, std::size_t size) {
    if (size != sizeof(MPI_Comm))
        throw Error(ErrorCode::invalid_argument, "mpi_communicator",
                    "MPI_Comm must have " + std::to_string(sizeof(MPI_Comm)) +
                        " bytes as in the MPI of concord-mpi (" + mpi::library_name() + "), got " +
                        std::to_string(size) + "; build the program and concord-mpi with one MPI");
    return mpi::make(*static_cast<const MPI_Comm*>(comm));
}

}  // namespace concord

extern "C" __attribute__((visibility("default"))) const concord::detail::MpiComponent*
concord_mpi_component() {
    static const concord::detail::MpiComponent component{
        concord::detail::mpi_component_version, CONCORD_VERSION, concord::mpi::library_name(),
        &concord::mpi_communicator, &concord::mpi::first_ranks};
    return &component;
}
