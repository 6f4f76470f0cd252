#pragma once
// The headers that CUDA sources may include besides those in folders of the user's own.

#include <string>
#include <string_view>
#include <vector>

#include "cuda_nvrtc.hpp"

namespace concord::cuda {

// The headers of CUDA's toolkit, those of libcu++ and CUB included, and the standard headers of C and C++ as far as
// device code can use them. Found once. Immutable. Any thread may use it.
class ToolkitHeaders {
  public:
    // Searches next to NVRTC, in the folders of NVIDIA's wheels around it, in CUDA_HOME, CUDA_PATH, /usr/local/cuda and
    // /usr. Accepts headers of NVRTC's major version only.
    static const ToolkitHeaders& get();

    // The include folders. Empty if the toolkit's headers are not found.
    const std::vector<std::string>& folders() const { return folders_; }
    // Distinguishes versions of the headers, for cache keys.
    const std::string& fingerprint() const { return fingerprint_; }
    // Where a header was searched, and what to do.
    std::string searched(const std::vector<std::string>& own_folders) const;
    // Standard headers, which NVRTC lacks, and cub/cub.cuh with the parts of CUB for device code, because NVRTC refuses
    // the parts for the host. Without those in the user's own folders, which come first.
    std::vector<MemoryHeader> memory_headers(const std::vector<std::string>& own_folders) const;

  private:
    explicit ToolkitHeaders(const Nvrtc& nvrtc);
    void add_folder(const std::string& folder, const std::string& marker);
    void find_cub();

    std::vector<std::string> folders_;
    std::vector<std::string> candidates_;
    std::vector<MemoryHeader> memory_headers_;
    std::string fingerprint_ = "no toolkit headers";
    std::string nvrtc_title_;
};

}  // namespace concord::cuda
