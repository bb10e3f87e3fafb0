#include "simulation/courses_of_chance.h"

namespace longpole::simulation {

bool depends_on_chance(const Recording& recording, const Machine& machine) {
  return machine.cpus > 1 && machine.scheduler == SchedulerKind::linux_fair &&
         machine.wake_up.value_or(recording.run.costs.wake_up) > Nanoseconds{} &&
         recording.event_count() <= most_events_for_chance;
}

}  // namespace longpole::simulation
