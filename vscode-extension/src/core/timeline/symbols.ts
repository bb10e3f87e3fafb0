// How a call is shown: its shape says what it does (Paper I, section 3.3: a post points up, a wait down), its colour what kind of
// object it is about.

export type Shape = 'up' | 'down' | 'both' | 'circle' | 'square';

export type Hue = 'mutex' | 'rwlock' | 'semaphore' | 'condition' | 'barrier' | 'thread' | 'device' | 'channel';

export interface Sign {
  readonly shape: Shape;
  readonly hue: Hue;
  /** What a person calls it. */
  readonly text: string;
}

const signs: ReadonlyMap<string, Sign> = new Map(
  (
    [
      ['create', 'up', 'thread', 'create a thread'],
      ['join', 'down', 'thread', 'join a thread'],
      ['detach', 'circle', 'thread', 'detach a thread'],
      ['cancel', 'up', 'thread', 'cancel a thread'],
      ['end', 'square', 'thread', 'end of the thread'],
      ['lock', 'down', 'mutex', 'lock a mutex'],
      ['trylock', 'down', 'mutex', 'try to lock a mutex'],
      ['timedlock', 'down', 'mutex', 'lock a mutex, for some time'],
      ['unlock', 'up', 'mutex', 'unlock a mutex'],
      ['rdlock', 'down', 'rwlock', 'lock for reading'],
      ['wrlock', 'down', 'rwlock', 'lock for writing'],
      ['rwunlock', 'up', 'rwlock', 'unlock a read-write lock'],
      ['wait', 'down', 'semaphore', 'wait for a semaphore'],
      ['trywait', 'down', 'semaphore', 'try a semaphore'],
      ['timedwait', 'down', 'semaphore', 'wait for a semaphore, for some time'],
      ['post', 'up', 'semaphore', 'post a semaphore'],
      ['cwait', 'down', 'condition', 'wait for a condition'],
      ['ctimedwait', 'down', 'condition', 'wait for a condition, for some time'],
      ['signal', 'up', 'condition', 'signal a condition'],
      ['broadcast', 'up', 'condition', 'signal a condition to all'],
      ['barrier', 'both', 'barrier', 'wait at a barrier'],
      ['yield', 'circle', 'thread', 'yield the CPU'],
      ['sleep', 'down', 'device', 'sleep'],
      ['io', 'down', 'device', 'input or output'],
      ['external', 'down', 'device', 'wait outside of a recorded call'],
      ['send', 'up', 'channel', 'send'],
      ['receive', 'down', 'channel', 'receive'],
      ['exit', 'square', 'thread', 'end of the program'],
    ] as const
  ).map(([kind, shape, hue, text]) => [kind, { shape, hue, text }]),
);

/** The sign of a call by its word in the text forms; one that a later daemon adds is a circle. */
export function signOf(kind: string): Sign {
  return signs.get(kind) ?? { shape: 'circle', hue: 'thread', text: kind };
}

/** What a shape says, for the help. */
export const shapeTexts: Readonly<Record<Shape, string>> = {
  up: 'lets go: unlock, post, create, send',
  down: 'may wait: lock, join, sleep, I/O',
  both: 'waits and lets go: barrier',
  circle: 'neither: detach, yield',
  square: 'the end of a thread',
};

/** What a colour says, for the help. */
export const hueTexts: Readonly<Record<Hue, string>> = {
  thread: 'thread',
  mutex: 'mutex',
  rwlock: 'read-write lock',
  semaphore: 'semaphore',
  condition: 'condition',
  barrier: 'barrier',
  channel: 'channel',
  device: 'input, output, sleep',
};

/** The corners of a shape around a point, two numbers each; `size` is half its width. */
export function outline(shape: Shape, x: number, y: number, size: number): number[] {
  switch (shape) {
    case 'up':
      return [x - size, y + size * 0.7, x + size, y + size * 0.7, x, y - size * 0.9];
    case 'down':
      return [x - size, y - size * 0.7, x + size, y - size * 0.7, x, y + size * 0.9];
    case 'both':
      return [x - size, y, x, y - size, x + size, y, x, y + size];
    case 'square':
      return [x - size * 0.7, y - size * 0.7, x + size * 0.7, y - size * 0.7, x + size * 0.7, y + size * 0.7, x - size * 0.7, y + size * 0.7];
    case 'circle':
      return Array.from({ length: 10 }, (_unused, corner) => {
        const angle = (corner / 10) * 2 * Math.PI;
        return [x + size * 0.75 * Math.cos(angle), y + size * 0.75 * Math.sin(angle)];
      }).flat();
  }
}
