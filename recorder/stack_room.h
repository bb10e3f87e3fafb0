// Room for recording on the stacks of threads that count on small ones. Stacks that are the program's own memory stay
// as they are.
#pragma once

#include <pthread.h>

namespace longpole::recorder {

// As the program wants a thread to be, but with room where it would be tight.
class RoomierAttributes {
 public:
  // `attributes`: of pthread_create(); null: the default ones.
  explicit RoomierAttributes(const pthread_attr_t* attributes);
  [[nodiscard]] const pthread_attr_t* get() const { return chosen_; }

 private:
  const pthread_attr_t* chosen_;
  pthread_attr_t copy_;
};

// On the stacks of threads without attributes of their own, C11's among them. How large these are the program says
// (pthread_setattr_default_np(3)) or, as it starts, its limit of stacks (setrlimit(2)). To be called once.
void make_room_on_default_stacks();

}  // namespace longpole::recorder
