// MPI's beginning and end, and the component as programs open it that do not link it.

#include "mpi_communicator.hpp"

#include <concord/internal/mpi_launch.hpp>
#include <concord/log.hpp>
#include <concord/mpi.hpp>

#include <cstdlib>

namespace concord {
namespace mpi {
namespace {

// Registered once MPI is initialised here. A rank that ends badly on its own would leave the others waiting, in MPI_Finalize at
// the latest: ranks that end badly together (all_fail) have said so.
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
    if (is_finalized != 0) throw Error(ErrorCode::unavailable, "mpi_communicator", "MPI has been finalised");
    MPI_Initialized(&is_initialised);
    if (is_initialised != 0) return;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "mpi_communicator");
    ::on_exit(end_job, nullptr);
    if (provided < MPI_THREAD_SERIALIZED)
        detail::log_info("MPI takes calls from the thread that has initialised it only");
}

std::shared_ptr<Communicator> make(MPI_Comm comm) {
    int rank = 0, size = 0;
    check(MPI_Comm_rank(comm, &rank), "mpi_communicator");
    check(MPI_Comm_size(comm, &size), "mpi_communicator");
    return std::make_shared<MpiCommunicator>(comm, static_cast<u32>(rank), static_cast<u32>(size));
}

// "Open MPI v4.1.4": the first words of what the library says of itself.
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
                    "an MPI_Comm of " + std::to_string(size) +
                        " bytes, concord-mpi is built with another MPI (" + mpi::library_name() +
                        "), whose have " + std::to_string(sizeof(MPI_Comm)));
    return mpi::make(*static_cast<const MPI_Comm*>(comm));
}

}  // namespace concord

extern "C" __attribute__((visibility("default"))) const concord::MpiComponent* concord_mpi_component() {
    static const concord::MpiComponent component{concord::mpi_component_version, CONCORD_VERSION,
                                                 concord::mpi::library_name(), &concord::mpi_communicator};
    return &component;
}
