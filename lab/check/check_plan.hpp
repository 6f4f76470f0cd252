#pragma once
// What a check has to do, and how processes share it.

#include "check_cases.hpp"

namespace concord::lab {

// Thrown when the check is to stop.
struct CheckStopped {};

struct PlannedWork {
    std::size_t unit = 0;         // in CheckCases::units()
    u64 cases = 0, outcomes = 0;  // outcomes: of the cases, and one for each end of a placement on a device
    double weight = 0;            // sum of weight_of()
    double cost = 0;              // weight, and what compiling new kernels may take
    bool continues_kernels = false;  // whether the work before it in the unit uses the same kernels
};

struct CheckPlan {
    std::vector<PlannedWork> works;  // in their order
    u64 cases = 0;
    double weight = 0, cost = 0;
};

// Enumerates all cases. Throws CheckStopped.
CheckPlan plan_of(const CheckCases& cases, const std::function<bool()>& stop);

// Consecutive works of a unit, which one process runs.
struct CasePiece {
    std::size_t unit = 0;
    u64 first_work = 0, works = 0;  // in the unit
    u64 cases = 0, outcomes = 0;
    double weight = 0;
};

// Splits all works of a check for some processes, in their order. A piece is a unit. A unit that would take much longer
// than the others is split where its works change to other kernels, so that few kernels are compiled twice.
std::vector<CasePiece> pieces_of(const CheckPlan& plan, u32 processes);

}  // namespace concord::lab
