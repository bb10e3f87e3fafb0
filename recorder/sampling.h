// The portable source of samples: a timer on each thread's CPU clock that signals that thread. Used
// where the kernel refuses perf events.
//
// Threads: each for itself. Does nothing unless the control asks for the thread clock and a rate.
#pragma once

namespace longpole::recorder {

// Once in the process, before the first thread is registered. Picks a real-time signal that the
// program does not use and installs its handler.
void prepare_sampling();

// The signal in use; 0: no samples are taken. The program must not see it: see signal_hooks.cc.
int signal_of_sampling();

// Gives the signal back to the program, which wants it, and goes on with another.
void move_sampling_from(int signal);

// For the calling thread, whose log is live.
void start_sampling();
void stop_sampling();

// In a forked child, which has none of its parent's timers.
void forget_timers();

// While it lives, the calling thread takes no samples and no call of it returns EINTR on their
// account. Costs nothing unless samples are taken.
class SamplingHeldBack {
 public:
  SamplingHeldBack();
  ~SamplingHeldBack();
  SamplingHeldBack(const SamplingHeldBack&) = delete;
  SamplingHeldBack& operator=(const SamplingHeldBack&) = delete;

 private:
  bool held_ = false;
};

}  // namespace longpole::recorder
