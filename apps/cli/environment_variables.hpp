#pragma once
// The environment variables that Concord reads: for `concord doctor` and the manual page. docs/environment.md describes
// them at length; tests/package/readme.sh checks that both are complete.

namespace concord::app {

struct EnvironmentVariable {
    const char* name;
    const char* meaning;
};

inline constexpr EnvironmentVariable environment_variables[] = {
    {"CONCORD_DEVICE", "Selector of the default device."},
    {"CONCORD_THREADS", "Host threads of the tbb device, of copies and of file input."},
    {"CONCORD_HOST_ISA", "Highest instruction set of CPU kernels: baseline, avx2 or avx512."},
    {"CONCORD_OPENCL_ITEMS", "Work-items per group of OpenCL kernels: many or one; for tests."},
    {"CONCORD_OPENCL_SELF_TEST", "Whether OpenCL drivers are tested when a device is opened."},
    {"CONCORD_BACKEND_PATH", "Directories that are searched for backend modules first."},
    {"CONCORD_NVRTC", "CUDA's compiler library, or its directory."},
    {"CONCORD_OPENCL", "OpenCL's ICD loader."},
    {"CONCORD_KERNELS", "Directory with kernel sources that replace the built-in ones."},
    {"CONCORD_CACHE", "\"off\" disables the cache of compiled kernels on disk."},
    {"CONCORD_LAUNCH_OVERLAP",
     "\"off\" launches each CUDA kernel after the end of the kernel in front of it."},
    {"CONCORD_TUNING", "File or directory of tuning tables, or \"off\"."},
    {"CONCORD_CALIBRATION", "\"off\" disables the calibration of CPUs without a tuning table."},
    {"CONCORD_LINKS", "Whether ranks write halos and short results into each other's memory: on or off."},
    {"CONCORD_MPI_CUDA", "Whether MPI receives CUDA memory directly: on or off."},
    {"CONCORD_MPI_PIECE", "Largest MPI message in bytes, equal on all ranks."},
    {"CONCORD_MPI_TRANSPORT", "Transport of messages between CUDA ranks: auto, nccl, ipc or mpi."},
    {"CONCORD_LOG", "Log level: debug, info, warn (default), error or off."},
    {"XDG_CACHE_HOME", "Compiled kernels are in its directory concord."},
    {"XDG_CONFIG_HOME", "The user's tuning tables are in its directory concord/tuning."},
    {"NO_COLOR", "Disables colours on terminals."},
    {"TERM", "\"dumb\" disables progress bars."},
};

}  // namespace concord::app
