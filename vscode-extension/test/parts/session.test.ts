// What comes first: a test answers the questions of the session when it wants to, and in the order that it wants.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Memento } from 'vscode';
import { usualMachine } from '../../src/core/machineSettings';
import type { Daemon } from '../../src/daemon/daemon';
import { Session } from '../../src/editor/session';
import { GetFunctionsResponse, GetLinesResponse } from '../../src/protocol/longpole/v1/lines';
import { Recording } from '../../src/protocol/longpole/v1/recording';
import { change as changeSetting, Memory, settings } from './standIn';

settings['longpole.cpus'] = 8;

interface Question {
  readonly what: string;
  readonly answer: () => void;
  readonly refuse: () => void;
}

/** A daemon that answers what it is told to, and nothing else. */
class Answers {
  readonly closed: string[] = [];
  readonly questions: Question[] = [];
  private readonly paths: string[] = [];

  private readonly connection = {
    info: { machineCpus: 4 },
    client: {
      openRecording: (path: string) => this.asked(`open ${path}`, () => Recording.create({ handle: BigInt(this.paths.push(path)) })),
      keepChanged: (handle: bigint) => this.asked(`change ${this.name(handle)}`, () => Recording.create({ handle: BigInt(this.paths.push(`${this.name(handle)}'`)) })),
      closeRecording: (handle: bigint) => {
        this.closed.push(this.name(handle));
        return Promise.resolve();
      },
      predict: () => Promise.resolve({ predictions: [] }),
      getLines: (_handle: bigint, cpus: number[]) => Promise.resolve(GetLinesResponse.create({ totalNs: cpus.map(() => 1) })),
      getFunctions: (handle: bigint, cpus: number[], machine: { scheduler: string }) =>
        this.asked(`learn ${this.name(handle)}${machine.scheduler === '' ? '' : ` under ${machine.scheduler}`} at ${cpus.join(' ')}`, () =>
          GetFunctionsResponse.create({ totalNs: cpus.map(() => 1), waitingNs: cpus.map(() => 0) }),
        ),
    },
  };
  readonly daemon = { connection: () => Promise.resolve(this.connection) } as unknown as Daemon;

  private name(handle: bigint): string {
    return this.paths[Number(handle) - 1] ?? '';
  }

  private asked<T>(what: string, make: () => T): Promise<T> {
    return new Promise((resolve, reject) => this.questions.push({ what, answer: () => resolve(make()), refuse: () => reject(new Error(`no ${what}`)) }));
  }

  /** Waits for a question that begins so, and takes it off the list. */
  async question(start: string): Promise<Question> {
    for (let turns = 0; turns < 1000; turns++) {
      const at = this.questions.findIndex(({ what }) => what.startsWith(start));
      const [found] = at < 0 ? [] : this.questions.splice(at, 1);
      if (found !== undefined) {
        return found;
      }
      await new Promise(setImmediate);
    }
    throw new Error(`nobody asks ${start}; asked is ${this.questions.map(({ what }) => what).join(', ')}`);
  }

  async answer(...starts: string[]): Promise<void> {
    for (const start of starts) {
      (await this.question(start)).answer();
    }
  }

  /** All that is asked until the work is done. */
  async until<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const end = work.finally(() => (isDone = true));
    end.catch(() => undefined);
    while (!isDone) {
      this.questions.splice(0).forEach(({ answer }) => answer());
      await new Promise(setImmediate);
    }
    return end;
  }
}

async function started(): Promise<{ answers: Answers; session: Session; memory: Memory }> {
  const answers = new Answers();
  const memory = new Memory();
  const session = new Session(answers.daemon, memory as unknown as Memento);
  await answers.until(session.open('one'));
  return { answers, session, memory };
}

const shown = (session: Session): string => `${session.recording?.path}${session.recording?.change === '' ? '' : ` ${session.recording?.change}`}`;

void test('a CPU count that is looked at meanwhile takes no new recording away', async () => {
  const { answers, session, memory } = await started();
  const opened = session.open('two');
  await answers.answer('open two');
  const learnt = await answers.question('learn two');
  await session.preview(2);
  await session.preview(undefined);
  learnt.answer();
  assert.equal(await answers.until(opened), true);
  assert.equal(shown(session), 'two');
  assert.equal(memory.get('longpole.shownRecording'), 'two');
  assert.deepEqual(answers.closed, ['one']);
});

void test('a CPU count that is chosen meanwhile is known of the new recording as it is shown', async () => {
  const { answers, session } = await started();
  const opened = session.open('two');
  await answers.answer('open two');
  const learnt = await answers.question('learn two');
  const chosen = session.choose(3);
  await answers.answer('learn one at 3');
  await chosen;
  learnt.answer();
  await answers.answer('learn two at');
  await answers.until(opened);
  assert.equal(session.cpus, 3);
  assert.ok(session.recording?.weights.has(3));
});

void test('what was asked for before what is shown is closed, forgotten, and not told as shown', async () => {
  const { answers, session, memory } = await started();
  const slow = session.open('two');
  const opening = await answers.question('open two');
  assert.equal(await answers.until(session.open('three')), true);
  opening.answer();
  assert.equal(await answers.until(slow), false);
  assert.equal(shown(session), 'three');
  assert.equal(memory.get('longpole.shownRecording'), 'three');
  assert.deepEqual(answers.closed, ['one', 'two']);
  const cleared = session.open('four');
  await answers.answer('open four');
  const learnt = await answers.question('learn four');
  session.clear();
  learnt.answer();
  assert.equal(await answers.until(cleared), false);
  assert.equal(session.recording, undefined);
  assert.deepEqual(answers.closed, ['one', 'two', 'three', 'four']);
});

void test('what cannot be opened takes away nothing that was asked for before it', async () => {
  const { answers, session } = await started();
  const slow = session.open('two');
  const opening = await answers.question('open two');
  const damaged = session.open('three');
  (await answers.question('open three')).refuse();
  await assert.rejects(damaged, /no open three/);
  opening.answer();
  assert.equal(await answers.until(slow), true);
  // Nor does what cannot be read further, and then it is closed.
  const unread = session.open('four');
  await answers.answer('open four');
  (await answers.question('learn four')).refuse();
  await assert.rejects(unread, /no learn four/);
  assert.equal(shown(session), 'two');
  assert.deepEqual(answers.closed, ['one', 'four']);
});

void test('another machine, set while a new recording is opened, is kept, and takes nothing away', async () => {
  const { answers, session } = await started();
  const opened = session.open('two');
  await answers.answer('open two');
  const learnt = await answers.question('learn two');
  const set = session.setMachine({ ...usualMachine, scheduler: 'fifo' });
  const anew = await answers.question('learn one under fifo');
  learnt.answer();
  assert.equal(await answers.until(opened), true);
  // What was shown is closed by now, so the daemon knows nothing of it.
  anew.refuse();
  await answers.until(set);
  assert.equal(shown(session), 'two');
  assert.equal(session.machine.scheduler, '');
  const back = session.open('one');
  await answers.answer('open one', 'learn one under fifo at 8');
  await answers.until(back);
  assert.equal(session.machine.scheduler, 'fifo');
});

void test('a machine and threads that are chosen at once are both heeded, also by a recording that is being opened', async () => {
  const { answers, session } = await started();
  const set = session.setMachine({ ...usualMachine, scheduler: 'fifo' });
  const filtered = session.setFilter({ names: ['main'], functions: [] });
  await session.preview(2);
  const opened = session.open('two');
  await answers.until(Promise.all([set, filtered, opened]));
  assert.deepEqual(session.filter, { names: ['main'], functions: [] });
  await answers.until(session.open('one'));
  assert.equal(session.machine.scheduler, 'fifo');
});

void test('threads that are chosen while a recording is opened are those that it shows', async () => {
  const { answers, session } = await started();
  const opened = session.open('two');
  await answers.answer('open two');
  const learnt = await answers.question('learn two');
  await answers.until(session.setFilter({ names: ['main'], functions: [] }));
  learnt.answer();
  // Of all threads was not what is to be shown by now.
  await answers.answer('learn two');
  assert.equal(await answers.until(opened), true);
});

void test('a what-if gives way to a new recording and to its end, and closes what it made', async () => {
  const { answers, session } = await started();
  const change = { speeds: [], splits: [], freed: [] };
  const late = session.showChanged('late', change);
  const changing = await answers.question('change one');
  await answers.until(session.open('two'));
  changing.answer();
  await answers.until(late);
  assert.equal(shown(session), 'two');
  await answers.until(session.showChanged('faster', change));
  assert.equal(shown(session), 'two faster');
  const taken = session.showChanged('much faster', change);
  await answers.answer('change two');
  const learnt = await answers.question("learn two'");
  await answers.until(session.takeBack());
  learnt.answer();
  await answers.until(taken);
  assert.equal(shown(session), 'two');
  assert.deepEqual(answers.closed, ['one', "one'", "two'", "two'"]);
  // It takes no recording away that is being opened.
  await answers.until(session.showChanged('faster', change));
  const opened = session.open('three');
  await answers.answer('open three');
  const unread = await answers.question('learn three');
  await answers.until(session.takeBack());
  unread.answer();
  assert.equal(await answers.until(opened), true);
  assert.equal(shown(session), 'three');
});

void test('another CPU count in the settings is shown once it is known, unless one was chosen', async () => {
  const { answers, session } = await started();
  let [changes, cpusThen] = [0, 0];
  session.onDidChange(() => {
    changes++;
    cpusThen = session.cpus;
    assert.ok(session.recording?.weights.has(session.cpus), `${session.cpus} is drawn before it is known`);
  });
  changeSetting('longpole.cpus', 5);
  await answers.answer('learn one at 5');
  await new Promise(setImmediate);
  assert.ok(changes > 0);
  assert.equal(cpusThen, 5);
  await session.choose(2);
  changeSetting('longpole.cpus', 8);
  await new Promise(setImmediate);
  assert.equal(session.cpus, 2);
  assert.deepEqual(answers.questions, []);
});
