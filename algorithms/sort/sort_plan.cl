// The memory and the plan of `onesweep`, OpenCL C: what its launches leave for the next ones. Parallel source:
// sort_plan.cu.

// The words of `memory`, zero at first: tickets of the passes, the ticket of the histogram, whether a copy follows,
// the plan, and the counts of the passes, which become offsets.
#define COUNTING_TICKET 8
#define COPY_FOLLOWS 9
#define PLAN_AT 16
#define TOTALS_AT 32

// Where the elements are before or after a pass.
#define IN_PLACE_OF 0
#define OUT_PLACE 1
#define OTHER_PLACE 2
// The elements of type E at a place.
#define AT(place, E, in, out, other)                    \
    ((place) == IN_PLACE_OF ? (in)                      \
     : (place) == OUT_PLACE ? (__global const E*)(out)  \
                            : (__global const E*)(other))
// An entry of the plan: SKIPPED, or source, destination and whether it uses the upper half of the status words.
#define SKIPPED 64
#define STEP_OF(from, to, upper) ((from) | (to) << 2 | (upper) << 4)

// The lower half of a word, for atomic operations.
#define LOW_HALF(memory, at) ((volatile __global u32*)((memory) + (at)))
