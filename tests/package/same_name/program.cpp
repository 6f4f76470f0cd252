// Runs both parts of a program. With LINKED they are linked to it: program DEVICE. Otherwise they are plug-ins:
// program DEVICE FLAG ONE OTHER. FLAG is local or global, or again, which loads ONE and OTHER from one path in turn.
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

// A plug-in that is closed, replaced and opened again.
bool run_again(const char* selector, const std::string& one, const std::string& other) {
    namespace fs = std::filesystem;
    const std::string path = other + ".replaced.so";
    bool right = true;
    for (int round = 0; round < 4; ++round) {
        const bool first = round % 2 == 0;
        fs::remove(path);
        fs::copy_file(first ? one : other, path);
        void* const library = opened(path, RTLD_LOCAL);
        right = run("a plug-in that is opened again", part_of(library, first ? "part_one" : "part_two"),
                    selector) &&
                right;
        if (library != nullptr) dlclose(library);
        if (dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD) != nullptr) {
            std::printf("FAILED: dlclose does not unload %s\n", path.c_str());
            right = false;
        }
    }
    return right;
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
    if (flag == "again") return run_again(selector, one, other) ? 0 : 1;
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
