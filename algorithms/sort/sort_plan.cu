// The memory and the plan of `onesweep`, CUDA C++: what its launches leave for the next ones. Parallel source:
// sort_plan.cl.

// The words of `memory`, zero at first: tickets of the passes, the ticket of the histogram, whether a copy follows,
// the plan, and the counts of the passes, which become offsets.
constexpr u32 counting_ticket = 8, copy_follows = 9, plan_at = 16, totals_at = 32;

// Where the elements are before or after a pass.
enum Place : u32 { in_place_of = 0, out_place = 1, other_place = 2 };
// An entry of the plan: `skipped`, or source, destination and half of the status words.
constexpr u32 skipped = 64;
__device__ __forceinline__ u32 step_of(u32 from, u32 to, u32 half) { return from | to << 2 | half << 4; }
