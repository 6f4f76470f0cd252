#pragma once
/// @file
/// Ranks that are processes under MPI: the optional component concord-mpi (CMake: concord::mpi).
///
///     mpirun -n 4 ./program
///
///     const auto ranks = concord::mpi_communicator();
///     const auto stream = concord::open_device("tbb")->create_stream();
///     concord::distributed_sort(*ranks, *stream, keys, keys);
///
/// Paths: messages between CUDA devices go through NCCL, else through CUDA IPC, where both ends have it and enough
/// bytes have been announced (Communicator::prepare()). All others go through MPI. Memory that the host can access is
/// passed to it directly. So is memory of CUDA devices if the MPI library supports it (MPIX_Query_cuda_support()).
/// Other memory is staged through pinned memory of its size: pieces are copied while others are sent. Messages are
/// bytes, so their length is not limited to 2^31. No derived datatypes are used.
///
/// Environment: CONCORD_MPI_TRANSPORT=nccl, ipc or mpi requires a transport; auto is the default. CONCORD_MPI_CUDA=on
/// or off overrides the query for CUDA memory. CONCORD_MPI_PIECE is the maximum number of bytes per MPI message, from
/// 64 to 2^30 (default 2^22). The first and the last must be the same on all ranks.

#include <concord/communicator.hpp>

namespace concord {

/// Returns the communicator of all ranks of the job (MPI_COMM_WORLD). Initialises MPI with MPI_THREAD_SERIALIZED
/// unless the program has done so, and then finalises it when the program ends. Calls must come from one thread at a
/// time; if MPI provides only MPI_THREAD_FUNNELED, from the thread that initialised it. Communicator::fail() writes
/// one line to standard error and aborts the job. A program that exits with a status other than 0 while other ranks
/// wait for it also aborts the job. Throws unavailable, device_failed.
std::shared_ptr<Communicator> mpi_communicator();

namespace detail {
// comm: address of an MPI_Comm of `size` bytes.
std::shared_ptr<Communicator> mpi_communicator(const void* comm, std::size_t size);
}  // namespace detail

#ifdef MPI_VERSION
/// Returns the ranks of an MPI communicator, which is duplicated. Collective over it. MPI must be initialised.
/// Declared only if <mpi.h> is included before this header.
inline std::shared_ptr<Communicator> mpi_communicator(MPI_Comm comm) {
    return detail::mpi_communicator(&comm, sizeof comm);
}
#endif

}  // namespace concord
