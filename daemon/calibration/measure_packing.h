// Whether a thread that wakes up joins the one that woke it on its CPU, though another CPU is idle.
//
//   one    A ├─ computes ─┤wakes B├─ computes ─┤ sleeps …
//   other  idle; B was here before: does it wake up here, or beside A?
//
// Kernels for virtual machines that do so, so that the host need not run as many CPUs, ask how much of a CPU both use.
// So A uses little of its CPU in some rounds, where B must join it nearly always, and nearly all in others, where it must
// not: else it is what other programs do on the CPUs. Where these do much, nothing can be told (host_costs.cc).
//
// Source: traces of Linux 6.18 with `sched_vcpu_pack` (simulation/linux_fair.h).
#pragma once

#include <cstdint>

#include "trace/types.h"

namespace longpole::calibration {

// HostCosts::packed_use; 0: it wakes up on the idle CPU, or that is not known. Where it joins, up to how much is taken from those
// traces. On threads of its own that have both CPUs for two tenths of a second, or six where the first do not tell.
[[nodiscard]] Nanoseconds measure_packing(std::uint32_t one, std::uint32_t other);

}  // namespace longpole::calibration
