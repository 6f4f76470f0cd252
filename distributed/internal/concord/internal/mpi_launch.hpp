#pragma once
// Detection of an MPI launcher, and access to the job's communicator without linking MPI.

#include <concord/communicator.hpp>

#include <optional>
#include <string_view>

namespace concord::detail {

// What the launcher has set in the environment.
struct MpiLaunch {
    std::string_view launcher;  // "mpirun of Open MPI"
    u32 ranks = 0;              // 0: not set
    u32 rank = 0;
};

// Reads the variables of Open MPI, MPICH, MVAPICH, Intel MPI, PMIx and Slurm. Returns nothing if none are set.
std::optional<MpiLaunch> mpi_launch();

// Returns the communicator of all ranks of the job. The first call opens the component concord-mpi
// (libconcord-mpi.so), which initialises MPI. The component is searched for like the backends: in the folders of
// CONCORD_BACKEND_PATH, next to the library and in the folder `concord` there. Throws unavailable if the component is
// missing, has another version or was built with another MPI than the launcher's. Programs that link concord::mpi
// call mpi_communicator() instead (concord/mpi.hpp).
std::shared_ptr<Communicator> launched_communicator();
// Collective over all ranks of the job. Returns a new communicator of the first `count` ranks, null on the others.
std::shared_ptr<Communicator> first_launched_ranks(u32 count);

// Result of the component's entry point, `concord_mpi_component`. The position of the first member is fixed for all
// versions.
struct MpiComponent {
    u32 interface_version;
    const char* concord_version;
    const char* library;  // "Open MPI v4.1.4"
    std::shared_ptr<Communicator> (*communicator)();
    std::shared_ptr<Communicator> (*first_ranks)(u32 count);  // see first_launched_ranks()
};
using MpiComponentEntry = const MpiComponent* (*)();

// Incremented with every change of MpiComponent or Communicator.
inline constexpr u32 mpi_component_version = 4;

}  // namespace concord::detail
