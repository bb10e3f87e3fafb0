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

// What to send a thread before a signal that it may still hold back, as it was ours when its call began; 0: nothing. What is
// sent to the process, or when no signal is left for us, such a thread gets when its call is over.
int signal_that_lets_through(int signal);

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
  void release();

  int held_ = 0;  // the signal that is blocked, if it was not before
};

}  // namespace longpole::recorder
