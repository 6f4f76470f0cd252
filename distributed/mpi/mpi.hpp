#pragma once
/// Ranks that are processes under MPI: the optional component concord-mpi (CMake: concord::mpi).
///
///     mpirun -n 4 ./program
///
///     const auto ranks = concord::mpi_communicator();
///     const auto stream = concord::open_device("auto")->create_stream();
///     concord::distributed_sort(*ranks, *stream, keys, keys);
///
/// Buffers that the host sees go to MPI as they are. So does memory of CUDA devices, if the MPI library says at run time that it
/// takes it (MPIX_Query_cuda_support); else, and for all other devices, messages are staged through page-locked memory, as much
/// as is under way. Messages are bytes, in pieces of 1 GiB at most, so that counts beyond 2^31 are no matter; there are no
/// derived datatypes.
///
/// Variables: CONCORD_MPI_CUDA=on or off has the last word on CUDA memory; CONCORD_MPI_PIECE is the most bytes of one piece
/// (2^30, 64 at least), the same on all ranks.

#include <concord/communicator.hpp>

namespace concord {

/// All ranks of the job (MPI_COMM_WORLD). Initialises MPI if the program has not, with MPI_THREAD_SERIALIZED, and then finalises
/// it when the program ends. Calls come from one thread at a time; where MPI gives no more than MPI_THREAD_FUNNELED, from the
/// thread that initialised it. fail() writes one line to standard error and aborts the job. A program that ends of its own
/// accord, with a status other than 0, while others wait for it aborts the job, too. Throws unavailable, device_failed.
std::shared_ptr<Communicator> mpi_communicator();

namespace detail {
/// comm: an MPI_Comm of `size` bytes.
std::shared_ptr<Communicator> mpi_communicator(const void* comm, std::size_t size);
}  // namespace detail

#ifdef MPI_VERSION
/// The ranks of a communicator of the caller's, which is duplicated; collective over it. There where <mpi.h> is included before
/// this header. MPI is initialised.
inline std::shared_ptr<Communicator> mpi_communicator(MPI_Comm comm) {
    return detail::mpi_communicator(&comm, sizeof comm);
}
#endif

}  // namespace concord
