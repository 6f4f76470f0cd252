#include "cuda_library.hpp"

#include <dlfcn.h>
#include <link.h>

namespace concord::cuda {

bool SharedLibrary::open(const std::string& name) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return true;
    const char* why = dlerror();
    error_ = why != nullptr ? why : name + ": dlopen failed";
    return false;
}

void* SharedLibrary::symbol(const char* name) const {
    return dlsym(handle_, name);
}

std::string SharedLibrary::path() const {
    link_map* map = nullptr;
    if (handle_ == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
    return map->l_name;
}

}  // namespace concord::cuda
