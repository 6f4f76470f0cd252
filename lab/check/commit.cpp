#include <concord/lab/machine.hpp>

#include "commit.inc"  // defines CONCORD_COMMIT; written by commit.cmake in every build

namespace concord::lab {

std::string build_commit() {
    return CONCORD_COMMIT;
}

}  // namespace concord::lab
