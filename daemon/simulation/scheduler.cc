#include "simulation/scheduler.h"

namespace longpole::simulation {

std::unique_ptr<Scheduler> make_scheduler(const Machine& machine, Cpus& cpus) {
  switch (machine.scheduler) {
    case SchedulerKind::linux_fair:
      return make_linux_fair(cpus, machine);
    case SchedulerKind::fifo:
      return make_fifo(cpus);
    case SchedulerKind::linux_2_2:
      return make_linux_2_2(cpus);
    case SchedulerKind::solaris:
      return make_solaris(cpus, machine.lwps);
  }
  return nullptr;
}

}  // namespace longpole::simulation
