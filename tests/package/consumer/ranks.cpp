// ranks: the ranks of a job, which need not have been started by mpirun, add up their numbers.
#include <concord/distributed.hpp>
#include <concord/mpi.hpp>

#include <cstdio>
#include <exception>
#include <vector>

int main() try {
    const auto ranks = concord::mpi_communicator();
    const auto stream = concord::open_device("tbb")->create_stream();
    const concord::Array<concord::u32> number(*stream, std::vector<concord::u32>{ranks->rank() + 1}),
        sum(*stream, 1);
    concord::distributed_reduce(*ranks, *stream, number, sum);
    const concord::u32 size = ranks->size();
    if (sum.to_host(*stream)[0] != size * (size + 1) / 2) return 1;
    if (ranks->rank() == 0) std::printf("%u ranks\n", size);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
