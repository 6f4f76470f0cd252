// An MPI program uses Concord on the memory of an MPI window: every rank owns a part of the numbers, Concord squares
// and sums them, and MPI adds the sums. On CPUs Concord works on the window in place. Ranks use the GPUs in turn, if
// there are any; a GPU gets a copy of the rank's part.
//
// Build, with Concord installed in DIR (in the build tree: example-mpi_cuda):
//     mpicxx -std=c++20 -O2 -ffp-contract=off mpi_cuda.cpp -IDIR/include -LDIR/lib -Wl,-rpath,DIR/lib -lconcord
// Run:
//     mpirun -n 2 ./a.out         # mpirun -n 2 ./a.out tbb: on the CPU
//     2 ranks on tbb:0: the sum of 2097152 squares is 697953008576

#include <mpi.h>

#include <concord/concord.hpp>

#include <iostream>
#include <numeric>
#include <string>

CONCORD_FUNCTION(double, square, (double x), return x * x;)

namespace {

constexpr std::size_t per_rank = 1 << 20;

// The numbers are small integers, so that sums of any order are exact.
double number(std::size_t i) {
    return static_cast<double>(i % 1000);
}

std::shared_ptr<concord::Device> device_of(int rank, int argc, char** argv) {
    if (argc > 1) return concord::open_device(argv[1]);
    try {
        const std::vector<std::string> gpus = concord::device_selectors("cuda:*");
        return concord::open_device(gpus[static_cast<std::size_t>(rank) % gpus.size()]);
    } catch (const concord::Error& error) {
        if (error.code() != concord::ErrorCode::unavailable) throw;
        return concord::open_device("tbb");
    }
}

// Squares the numbers in place and returns their sum.
double sum_of_squares(concord::Device& device, std::span<double> part) {
    const auto stream = device.create_stream();
    if (device.traits().shares_host_memory) {
        const auto x = concord::Array<double>::borrow(device, part);
        concord::map(*stream, x, x, square);
        return concord::sum(*stream, x).get();
    }
    const concord::Array<double> x(*stream, part);
    concord::map(*stream, x, x, square);
    const auto sum = concord::sum(*stream, x);
    stream->read(part.data(), *x.buffer(), 0, part.size_bytes());
    stream->synchronize();
    return sum.get();
}

int run(int argc, char** argv) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const auto device = device_of(rank, argc, argv);

    // A window of shared memory: all ranks must run on one machine.
    double* mine = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_allocate_shared(per_rank * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                            static_cast<void*>(&mine), &window);
    for (std::size_t i = 0; i < per_rank; ++i)
        mine[i] = number(static_cast<std::size_t>(rank) * per_rank + i);

    const double local = sum_of_squares(*device, {mine, per_rank});
    double total = 0;
    MPI_Allreduce(&local, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

    // All numbers are in the window now: every rank adds those of all ranks.
    MPI_Win_fence(0, window);
    double expected = 0, in_window = 0;
    for (int owner = 0; owner < ranks; ++owner) {
        MPI_Aint bytes = 0;
        int unit = 0;
        double* part = nullptr;
        MPI_Win_shared_query(window, owner, &bytes, &unit, static_cast<void*>(&part));
        in_window = std::accumulate(part, part + per_rank, in_window);
        for (std::size_t i = 0; i < per_rank; ++i) {
            const double x = number(static_cast<std::size_t>(owner) * per_rank + i);
            expected += x * x;
        }
    }
    const int right = total == expected && in_window == expected;
    int all_right = 0;
    MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0)
        std::cout << ranks << " ranks on " << device->info().selector << ": the sum of "
                  << per_rank * static_cast<std::size_t>(ranks) << " squares is "
                  << static_cast<long long>(total) << (all_right != 0 ? "" : ", which is wrong") << '\n';
    MPI_Win_free(&window);
    return all_right != 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 2;
    try {
        status = run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        MPI_Abort(MPI_COMM_WORLD, status);
    }
    MPI_Finalize();
    return status;
}
