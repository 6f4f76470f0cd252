#pragma once
// Shared libraries that are opened at run time.

#include <string>

namespace concord::cuda {

// One open library. Never closed, because the driver's threads and exit handlers need its code.
class SharedLibrary {
  public:
    // Opens a file, or a bare name that the system's loader searches. If it returns false, error() has the reason.
    bool open(const std::string& name);
    const std::string& error() const { return error_; }
    // Null if the library has no such symbol.
    void* symbol(const char* name) const;
    // The path where the loader found it.
    std::string path() const;

  private:
    void* handle_ = nullptr;
    std::string error_;
};

}  // namespace concord::cuda
