// Some of the hooks of POSIX semaphores, for who measures what they cost: under names that no other library takes over.
#pragma once

#include <semaphore.h>

extern "C" int longpole_post(sem_t* semaphore) noexcept
    __attribute__((visibility("hidden"), nonnull));
extern "C" int longpole_trywait(sem_t* semaphore) noexcept
    __attribute__((visibility("hidden"), nonnull));
extern "C" int longpole_wait(sem_t* semaphore) __attribute__((visibility("hidden"), nonnull));
