#include "user_scan.hpp"

#include <concord/concord.hpp>

namespace test {

concord::Enqueued user_scan(concord::Stream& stream, const concord::Array<concord::i32>& in,
                            const concord::Array<concord::i32>& out, const concord::Options& options) {
    return concord::scan(stream, in, out, larger_user_scan, INT32_MIN, concord::ScanKind::inclusive, options);
}

}  // namespace test
