import { expect, onTestFinished, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { GroupCommit, type Transactor } from '../../src/store/lmdb/group-commit.ts';

/** A database of one list: `transactionSync` stores the writes, or fails as requested. */
class List implements Transactor {
  kept: string[] = [];
  written: string[] = [];
  transactions = 0;
  failures: (Error | undefined)[] = [];

  transactionSync<T>(action: () => T): T {
    this.transactions++;
    this.written = [];
    const result = action();
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    this.kept.push(...this.written);
    return result;
  }

  put(text: string): () => () => string {
    return () => () => {
      this.written.push(text);
      return text;
    };
  }
}

function queueOn(list: List, diskFull = false) {
  let forgotten = 0;
  const queue = new GroupCommit(list, { forget: () => forgotten++, diskFull: () => diskFull });
  return { queue, forgotten: () => forgotten };
}

const refuse = () => {
  throw new ServiceError('CONFLICT', 'no');
};
const lmdbError = (code: number) => Object.assign(new Error('lmdb'), { code });

test('calls that wait together share one transaction, in order, each with its own result', async () => {
  const list = new List();
  const { queue } = queueOn(list);
  const names = Array.from({ length: 100 }, (_, i) => `${i}`);
  expect(await Promise.all(names.map((name) => queue.submit(1, list.put(name))))).toEqual(names);
  expect(list.kept).toEqual(names);
  expect(list.transactions).toBe(1);
});

test('work before the flush is done once, at the end of each transaction, inside it', async () => {
  const list = new List();
  const queue = new GroupCommit(list, {
    forget: () => undefined,
    diskFull: () => false,
    beforeFlush: () => void list.written.push('last'),
  });
  list.failures = [lmdbError(28)];
  await Promise.all([queue.submit(1, list.put('a')), queue.submit(1, list.put('b'))]);
  await queue.submit(1, list.put('c'));
  // The first transaction found no room, and each call was tried alone.
  expect(list.kept).toEqual(['a', 'last', 'b', 'last', 'c', 'last']);
});

test('a group is bounded in bytes; a call above the bound goes alone', async () => {
  const list = new List();
  const { queue } = queueOn(list);
  const sizes = [1, 20, 20, 100, 1].map((mb) => mb * 2 ** 20);
  await Promise.all(sizes.map((size, i) => queue.submit(size, list.put(`${i}`))));
  expect(list.kept).toEqual(['0', '1', '2', '3', '4']);
  expect(list.transactions).toBe(4);
});

test('a rejected call does not affect the others', async () => {
  const list = new List();
  const { queue } = queueOn(list);
  const results = await Promise.allSettled([
    queue.submit(1, list.put('a')),
    queue.submit(1, refuse),
    queue.submit(1, list.put('b')),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(list.kept).toEqual(['a', 'b']);
});

test('a bug while writing aborts the group, and the other calls are applied without it', async () => {
  const list = new List();
  const { queue, forgotten } = queueOn(list);
  const results = await Promise.allSettled([
    queue.submit(1, list.put('a')),
    queue.submit(1, () => () => {
      list.written.push('half');
      throw new TypeError('bug');
    }),
    queue.submit(1, list.put('b')),
  ]);
  expect(results[1]).toMatchObject({ status: 'rejected', reason: expect.any(TypeError) });
  expect(list.kept).toEqual(['a', 'b']);
  expect(forgotten()).toBe(1);
});

test('a bug while planning does the same, because it may have left partial changes', async () => {
  const list = new List();
  const { queue, forgotten } = queueOn(list);
  const results = await Promise.allSettled([
    queue.submit(1, list.put('a')),
    queue.submit(1, () => {
      list.written.push('half');
      throw new TypeError('bug');
    }),
    queue.submit(1, list.put('b')),
  ]);
  expect(results[1]).toMatchObject({ status: 'rejected', reason: expect.any(TypeError) });
  expect(list.kept).toEqual(['a', 'b']);
  expect(forgotten()).toBe(1);
});

test.for([
  ['the map is full', lmdbError(-30792), false],
  ['no space', lmdbError(28), false],
  ['short write on a full disk', lmdbError(5), true],
] as const)('%s: UNAVAILABLE, nothing stored, and the store continues', async ([, error, diskFull]) => {
  const list = new List();
  const { queue } = queueOn(list, diskFull);
  list.failures = [error];
  await expect(queue.submit(1, list.put('a'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(list.kept).toEqual([]);
  await expect(queue.submit(1, list.put('b'))).resolves.toBe('b');
});

test('a call that does not fit fails alone', async () => {
  const list = new List();
  const { queue } = queueOn(list);
  list.failures = [lmdbError(28), undefined, lmdbError(28), undefined];
  const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => queue.submit(1, list.put(name))));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(list.kept).toEqual(['a', 'c']);
});

test('a failed flush is fatal: nothing more is read, and the calls stay unanswered', async () => {
  const list = new List();
  const { queue, forgotten } = queueOn(list);
  list.failures = [lmdbError(5)];
  const handlers = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  onTestFinished(() => {
    for (const handler of handlers) process.on('uncaughtException', handler);
  });
  const fatal = new Promise<Error>((resolve) => process.once('uncaughtException', resolve));
  let answered = false;
  const call = queue.submit(1, list.put('a')).finally(() => {
    answered = true;
  });
  call.catch(() => {});
  expect(await fatal).toMatchObject({ code: 5 });
  await new Promise(setImmediate);
  expect(answered).toBe(false);
  expect(forgotten()).toBe(0);
});

test('closing waits for accepted calls, and accepts no more', async () => {
  const list = new List();
  const { queue } = queueOn(list);
  const call = queue.submit(1, list.put('a'));
  const closed = queue.close();
  await expect(queue.submit(1, list.put('b'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await closed;
  expect(list.kept).toEqual(['a']);
  await expect(call).resolves.toBe('a');
});
