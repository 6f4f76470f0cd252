#include "program.hpp"
#include "rank_job.hpp"

#include <new>

namespace concord::app {
namespace {

int status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
        case ErrorCode::unsupported:
        case ErrorCode::io:
            return status_bad_input;
        case ErrorCode::unavailable:
            return status_unavailable;
        default:
            return status_failed;
    }
}

}  // namespace

int complain_of_exception() {
    try {
        throw;
    } catch (const Error& error) {
        return RankJob::complain(error.what(), status_of(error.code()));
    } catch (const std::bad_alloc&) {
        return RankJob::complain(out_of_memory, status_failed);
    } catch (const std::exception& error) {
        return RankJob::complain(error.what(), status_failed);
    }
}

}  // namespace concord::app
