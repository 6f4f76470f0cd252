#pragma once
// Shared libraries that are looked for at run time.

#include <string>

namespace concord::cuda {

/// One library, opened. It is never closed: the driver leaves threads and exit handlers behind that need its
/// code.
class SharedLibrary {
  public:
    /// Opens a file, or a bare name that the system's loader looks for. False: error() says why not.
    bool open(const std::string& name);
    const std::string& error() const { return error_; }
    /// Null if the library has no such symbol.
    void* symbol(const char* name) const;
    /// Where the loader found it.
    std::string path() const;

  private:
    void* handle_ = nullptr;
    std::string error_;
};

}  // namespace concord::cuda
