// Lists the backends with their files, and the number of baselines. package.sh runs it where modules lie that it must
// not load.
#include <concord/device.hpp>
#include <concord/lab/baseline.hpp>

#include <cstdio>

int main() {
    for (const concord::BackendStatus& backend : concord::backends())
        std::printf("%s %s\n", backend.name.c_str(), backend.path.c_str());
    std::printf("%zu baselines\n", concord::lab::baselines().size());
}
