// Waits by asking again and again: what a test waits for never depends on a time.
import { setTimeout as sleep } from 'node:timers/promises';

/** For what takes a second on a quiet machine: others may be building on this one. */
export const patience = 60_000;

/** Polls until it holds; fails with what was wanted. */
export async function eventually(holds: () => Promise<boolean>, what: () => string, ms = patience): Promise<void> {
  const end = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > end) {
      throw new Error(`waited ${ms / 1000} s in vain for: ${what()}`);
    }
    await sleep(100);
  }
}
