// What the daemon refuses to go beyond. The message of each refusal names the limit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace longpole::service {

inline constexpr std::size_t max_open_recordings = 256;  // handles, of all clients together
inline constexpr std::size_t max_running_programs = 16;  // Record calls at one time
inline constexpr std::size_t max_cpu_counts = 64;        // in one request
inline constexpr std::uint32_t max_cpus = 65'536;
inline constexpr std::size_t max_rows = 1000;                 // of a ranking, in one answer
inline constexpr std::uint32_t max_pixels = 16'384;           // of a timeline's width
inline constexpr std::size_t max_timeline_rows = 512;         // threads drawn in one answer
inline constexpr std::size_t max_timeline_cells = 1U << 21U;  // pixels of all rows of one answer
inline constexpr std::size_t max_timeline_threads = 20'000;   // listed in one answer
inline constexpr std::uint32_t max_following = 1000;          // calls behind the one asked for
inline constexpr std::size_t max_timelines = 4;       // simulations kept for each open recording
inline constexpr std::size_t max_thread_choices = 4;  // whose sums are kept, likewise
inline constexpr std::size_t max_label_bytes = 4096;  // of a name in a timeline; cut off with "…"
inline constexpr std::size_t max_rows_of_object = 100;  // lines and pairs of threads
inline constexpr std::uint32_t max_lead_cpus = 1024;
inline constexpr std::size_t max_changes = 256;            // of one what-if
inline constexpr std::size_t max_latencies = 64;           // in one request
inline constexpr std::uint64_t max_tests = 1'000'000;      // of one search for a binding
inline constexpr std::size_t max_searches = 4;             // at one time
inline constexpr int max_request_bytes = 4 * 1024 * 1024;  // a program's arguments and environment

// Output of a program that its client has not taken yet: above the one the program has to wait when
// it writes, as it would for a slow terminal; below the other it goes on.
inline constexpr std::size_t hold_output_above_bytes = 4 * 1024 * 1024;
inline constexpr std::size_t release_output_below_bytes = 1024 * 1024;
inline constexpr std::size_t max_output_message_bytes = 64 * 1024;

}  // namespace longpole::service
