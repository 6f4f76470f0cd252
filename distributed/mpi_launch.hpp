#pragma once
/// Whether this process is a rank of a job that an MPI launcher has started, and the way to its other ranks without linking MPI.

#include <concord/communicator.hpp>

#include <optional>
#include <string>

namespace concord {

/// What the launcher has told this process.
struct MpiLaunch {
    std::string launcher;  ///< "mpirun of Open MPI"
    u32 ranks = 0;         ///< 0: it has not said how many there are
    u32 rank = 0;
};

/// Looks at the variables that Open MPI, MPICH, MVAPICH, Intel MPI, PMIx and Slurm set; none of them: nothing.
std::optional<MpiLaunch> mpi_launch();

/// The communicator of all ranks of the job. Opens the component concord-mpi (libconcord-mpi.so) the first time, which
/// initialises MPI; it is looked for where the backends are, in the folders of CONCORD_BACKEND_PATH, beside the library, and
/// in the folder `concord` there. Throws unavailable if it is not there, is of another version, or is built with another MPI
/// than the one that has started the job; all of it says what was looked for. Programs that link concord::mpi call
/// mpi_communicator() instead (concord/mpi.hpp).
std::shared_ptr<Communicator> launched_communicator();

/// What the component's entry point, `concord_mpi_component`, returns. The first member never moves.
struct MpiComponent {
    u32 interface_version;
    const char* concord_version;
    const char* library;  ///< "Open MPI v4.1.4"
    std::shared_ptr<Communicator> (*communicator)();
};
using MpiComponentEntry = const MpiComponent* (*)();

/// Changes with every change of MpiComponent and Communicator.
inline constexpr u32 mpi_component_version = 2;

}  // namespace concord
