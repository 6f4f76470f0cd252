// The table of skips of concord-tests: which cases are skipped on which kinds of devices. A skip without an entry and
// an entry without a skip fail the run.
#include "requires.hpp"

namespace concord::test {
namespace {

constexpr unsigned cpu = kinds::tbb | kinds::tbb_isa,   //
    any_opencl = kinds::opencl | kinds::opencl_many,    //
    any_cuda = kinds::cuda | kinds::cuda_simulated,     //
    not_cuda = cpu | any_opencl | kinds::minimal,       //
    one_item = cpu | kinds::opencl | kinds::minimal,    //
    run_time = any_opencl | any_cuda | kinds::minimal;  //

const SkipRule table[] = {
    {.need = needs::host_memory,
     .on = kinds::opencl_many | any_cuda | kinds::minimal,
     .cases = {"host_memory_is_borrowed_in_place", "memory_that_is_adopted_twice_is_not_input_and_output",
               "memory_that_is_adopted_twice_is_not_input_and_output_of_a_kernel",
               "borrowed_matrices_keep_their_pitch", "read_only_memory_is_not_written",
               "adopted_memory_is_released_once_and_after_its_work",
               "adopted_memory_is_released_while_another_thread_feeds_the_stream",
               "adopted_memory_is_released_in_a_callback_of_its_stream",
               "memory_that_cannot_be_adopted_is_refused",
               "dlpack_tensors_of_the_host_are_used_in_place_and_released_once"}},
    {.need = needs::own_memory,
     .on = one_item,
     .maybe_on = kinds::opencl_many,  // PoCL
     .cases = {"a_pipeline_uploads_and_downloads_while_kernels_run"}},

    // Languages and compilers
    {.need = needs::compiler,
     .on = cpu,
     .cases = {"every_part_of_a_specification_distinguishes_a_kernel",
               "a_kernel_with_other_constants_is_another_kernel", "compile_errors_name_file_and_line",
               "included_files_and_flags_reach_the_compiler",
               "an_expression_names_the_kernel_in_every_language", "compilers_errors_name_this_file_and_line",
               "after_a_kernel_that_does_not_compile_results_are_right", "group_collectives_of_sources",
               "text_kernel_reports_its_order_and_the_lines_of_errors"}},
    {.need = needs::host_kernels,
     .on = run_time,
     .cases = {"after_a_function_that_throws_results_are_right",
               "after_a_failed_kernel_the_stream_skips_work_until_it_is_synchronized",
               "a_stream_that_waits_for_failed_work_fails_too", "short_work_behind_a_failure_is_skipped",
               "after_a_function_that_throws_in_a_pipeline_results_are_right",
               "variants_of_the_cpu_agree_on_user_operators"}},
    {.need = needs::opencl,
     .on = cpu | any_cuda,
     .cases = {"opencl_parameters_are_known_only_if_an_offset_follows_each_buffer",
               "vocabulary_of_functions_that_a_device_lacks"}},
    {.need = needs::parameter_types,
     .maybe_on = kinds::minimal,
     .cases = {"types_of_arguments_are_compared", "launches_name_the_slip_in_an_argument_list"}},
    {.need = needs::nvrtc,
     .maybe_on = kinds::none,
     .cases = {"CUDA sources include the toolkit's headers", "CUDA sources include mma.h",
               "a missing header is reported with the searched folders",
               "a changed header of the user's own gives a new CUDA kernel", "flags reach the CUDA compiler",
               "expressions name CUDA kernels", "collectives compile for CUDA",
               "expressions compile for CUDA", "expressions as inputs compile for CUDA",
               "kernels of logic compile for CUDA"}},
    {.need = needs::cuda_toolkit,
     .maybe_on = kinds::none,
     .cases = {"CUDA sources include the toolkit's headers", "CUDA sources include mma.h"}},
    {.need = needs::cuda_mma, .maybe_on = kinds::none, .cases = {"CUDA sources include mma.h"}},

    // Hardware
    {.need = needs::fp64,
     .maybe_on = any_opencl | kinds::minimal,
     .cases = {"matmul_of_f64_without_tensor_cores", "matmul_of_f64_is_recorded",
               "vocabulary_math_has_the_bits_of_the_host", "vocabulary_compiles_for_all_backends",
               "vocabulary_in_functions_that_call_functions"}},
    {.need = needs::matrix_units,
     .on = one_item,
     .maybe_on = kinds::opencl_many | kinds::cuda,
     .cases = {"matmul_self_test_of_tensor_cores_refuses_a_wrong_order",
               "matmul_on_tensor_cores_with_every_tile"}},
    {.need = needs::many_items, .on = one_item, .cases = {"matmul_of_f64_without_tensor_cores"}},
    {.need = needs::partitioned,
     .on = kinds::opencl_many | kinds::cuda | kinds::minimal,
     .cases = {"own_operators_on_few_integers_keep_the_canonical_order"}},
    {.need = needs::two_units,
     .maybe_on = cpu | any_opencl | kinds::minimal,
     .cases = {"a_trace_shows_concurrent_streams"}},

    // Several devices
    {.need = needs::tbb,
     .on = run_time,
     .cases = {"short_work_on_an_empty_stream_of_the_cpu_runs_in_the_call"}},
    {.need = needs::another_device,
     .on = kinds::tbb,
     .cases = {"devices_of_two_backends_have_no_links", "devices_of_two_backends_have_no_peer_access",
               "devices_that_share_a_pipeline_run_concurrently",
               "shared_maps_are_bitwise_identical_to_one_call",
               "shared_reductions_are_bitwise_identical_to_one_call",
               "shared_scans_are_bitwise_identical_to_one_call", "shared_histograms_count_all_samples",
               "shared_compactions_keep_the_order", "a_slow_device_gets_fewer_elements",
               "failed_shared_pipelines_free_their_memory", "shared_pipelines_reject_invalid_calls",
               "shared_pipelines_stay_within_the_memory_limit"}},
    {.need = needs::another_device, .maybe_on = kinds::tbb, .cases = {"objects_of_two_devices_do_not_mix"}},
    {.need = needs::sibling,
     .on = kinds::tbb,
     .maybe_on = any_opencl | kinds::cuda | kinds::minimal,
     .cases = {"messages_between_devices_use_peer_copies_if_available"}},
    {.need = needs::reachable,
     .on = kinds::tbb,
     .maybe_on = any_opencl | kinds::cuda | kinds::minimal,
     .cases = {"links_write_into_the_memory_of_another_device"}},
    {.need = needs::cuda, .on = not_cuda, .cases = {"halo_exchange_overlaps_with_the_interior"}},
    {.need = needs::second_cuda,
     .on = not_cuda,
     .maybe_on = kinds::cuda,
     .cases = {"fused_steps_are_bitwise_identical_to_one_rank", "fused_steps_continue_over_calls"}},

// Memory, queues and contexts of other owners
#if __has_include(<CL/cl.h>)
    {.need = needs::opencl_memory,
     .on = cpu | any_cuda | kinds::minimal,
     .cases = {"buffers_and_queues_of_opencl_are_adopted", "events_of_opencl_are_adopted",
               "contexts_of_opencl_are_adopted", "contexts_with_several_devices_are_adopted",
               "shared_virtual_memory_of_opencl_is_adopted"}},
    {.need = needs::two_in_platform,
     .maybe_on = any_opencl,
     .cases = {"contexts_with_several_devices_are_adopted"}},
    {.need = needs::svm, .maybe_on = any_opencl, .cases = {"shared_virtual_memory_of_opencl_is_adopted"}},
#else
    {.need = needs::opencl_headers,
     .on = kinds::none,
     .cases = {"memory, queues, events and contexts of OpenCL are adopted"}},
#endif
#if __has_include(<cuda.h>)
    {.need = needs::cuda,
     .on = not_cuda,
     .cases = {"memory_streams_and_events_of_cuda_are_adopted", "primary_contexts_of_cuda_are_adopted",
               "adopted_streams_of_cuda_are_captured", "kernels_overlap_directly_after_kernels",
               "graphs_of_captured_calls_are_replayed", "adopted_memory_outlives_a_capture"}},
    {.need = needs::simulated_cuda, .on = kinds::cuda, .cases = {"kernels_overlap_directly_after_kernels"}},
    {.need = needs::real_cuda,
     .on = kinds::cuda_simulated,
     .cases = {"graphs_of_captured_calls_are_replayed",
               "trim_in_a_callback_keeps_memory_that_later_work_of_the_stream_uses"}},
#else
    {.need = needs::cuda_headers,
     .on = kinds::none,
     .cases = {"memory, streams, events and contexts of CUDA are adopted"}},
#endif

    // What the machine or the environment lacks
    {.need = needs::comma_locale,
     .maybe_on = ~0U,
     .cases = {"numbers in files do not depend on the locale",
               "kernels_and_traces_do_not_depend_on_the_locale"}},
    {.need = needs::numpy, .maybe_on = kinds::none, .cases = {".npy files are those of NumPy"}},
    {.need = needs::test_modules,
     .maybe_on = kinds::none,
     .cases = {"unusable modules have a reason", "a backend that ran out of memory is loaded again"}},
};

}  // namespace

std::span<const SkipRule> skip_rules() {
    return table;
}

}  // namespace concord::test
