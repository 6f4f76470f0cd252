// Runs both parts of a program. With LINKED they are linked to it: program DEVICE. Otherwise they are plug-ins:
// program DEVICE FLAG ONE OTHER. FLAG is local or global, or again, to load and unload both in turn at one path.
#include <dlfcn.h>

#include <cstdio>
#include <filesystem>
#include <string>

using Part = bool (*)(const char* selector, std::string& problem);

#ifdef LINKED
extern "C" bool part_one(const char* selector, std::string& problem);
extern "C" bool part_two(const char* selector, std::string& problem);
#endif

namespace {

bool run(const char* what, Part part, const char* selector) {
    std::string problem;
    if (part != nullptr && part(selector, problem)) return true;
    std::printf("FAILED %s on %s: %s\n", what, selector, problem.c_str());
    return false;
}

#ifndef LINKED
void* opened(const std::string& path, int flag) {
    void* library = dlopen(path.c_str(), RTLD_NOW | flag);
    if (library == nullptr) std::printf("FAILED: %s\n", dlerror());
    return library;
}

Part part_of(void* library, const char* name) {
    return library == nullptr ? nullptr : reinterpret_cast<Part>(dlsym(library, name));
}

// Loads the file under a path that others had before, runs it and unloads it.
bool run_again(const std::string& file, const char* name, const char* selector) {
    const std::string path = "./again.so";
    std::filesystem::remove(path);  // not overwritten: another file may be loaded from it
    std::filesystem::copy_file(file, path);
    void* library = opened(path, RTLD_LOCAL);
    const bool right = run(name, part_of(library, name), selector);
    if (library != nullptr) dlclose(library);
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD) == nullptr) return right;
    std::printf("FAILED: dlclose() does not unload %s\n", file.c_str());
    return false;
}
#endif

}  // namespace

int main(int count, char** arguments) {
    const char* const selector = arguments[1];
#ifdef LINKED
    (void)count;
    const bool one = run("the first part", part_one, selector),
               two = run("the second part", part_two, selector);
    return one && two ? 0 : 1;
#else
    if (count != 5) return 2;
    const std::string flag = arguments[2], one = arguments[3], other = arguments[4];
    if (flag == "again") {
        bool all = true;
        for (int round = 0; round < 2; ++round) {
            all = run_again(one, "part_one", selector) && all;
            all = run_again(other, "part_two", selector) && all;
        }
        return all ? 0 : 1;
    }
    const int how = flag == "global" ? RTLD_GLOBAL : RTLD_LOCAL;
    void *const first = opened(one, how), *const second = opened(other, how);
    bool right = true;
    for (int round = 0; round < 2; ++round) {
        right = run("the first plug-in", part_of(first, "part_one"), selector) && right;
        right = run("the second plug-in", part_of(second, "part_two"), selector) && right;
    }
    return right ? 0 : 1;
#endif
}
