import { expect, onTestFinished, test } from 'vitest';
import { GroupCommit, type Transactor } from '../../src/database/group-commit.ts';
import { ServiceError } from '../../src/errors.ts';

/** A database of one list. `transactionSync` stores the writes, or fails as requested. */
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

function queueOn(list: List) {
  let forgotten = 0;
  const queue = new GroupCommit(list, { forget: () => forgotten++ });
  return { queue, forgotten: () => forgotten };
}

const refuse = () => {
  throw new ServiceError('CONFLICT', 'no');
};
const lmdbError = (code: number) => Object.assign(new Error('lmdb'), { code });
const mapFull = () => lmdbError(-30792);

test('calls that wait together share one transaction, in order, each with its own result', async () => {
  const list = new List();
  const { queue } = queueOn(list);
  const names = Array.from({ length: 100 }, (_, i) => `${i}`);
  expect(await Promise.all(names.map((name) => queue.submit(1, list.put(name))))).toEqual(names);
  expect(list.kept).toEqual(names);
  expect(list.transactions).toBe(1);
});

test('the callback beforeFlush runs once in each transaction, after the calls', async () => {
  const list = new List();
  const queue = new GroupCommit(list, {
    forget: () => undefined,
    beforeFlush: () => void list.written.push('last'),
  });
  list.failures = [mapFull()];
  await Promise.all([queue.submit(1, list.put('a')), queue.submit(1, list.put('b'))]);
  await queue.submit(1, list.put('c'));
  // The first transaction ran out of space, so each of its calls was repeated in a separate transaction.
  expect(list.kept).toEqual(['a', 'last', 'b', 'last', 'c', 'last']);
});

test('urgent calls are committed before waiting ordinary calls, and ordinary calls get every second transaction', async () => {
  const list = new List();
  const { queue } = queueOn(list);
  const urgent: Promise<unknown>[] = [];
  // Each urgent call submits another one, so that the urgent queue is never empty.
  const repeat = (round: number) => {
    if (round < 4)
      urgent.push(
        queue.submit(1, list.put(`urgent ${round}`), 'urgent').then(() => repeat(round + 1)),
        queue.submit(1, list.put(`beside ${round}`), 'urgent'),
      );
  };
  const large = 2 ** 25;
  const ordinary = ['a', 'b', 'c'].map((name) => queue.submit(large, list.put(name)));
  repeat(0);
  await Promise.all(ordinary);
  await Promise.all(urgent);
  const rounds = [0, 1, 2, 3].map((round) => [`urgent ${round}`, `beside ${round}`]);
  expect(list.kept).toEqual([...rounds[0]!, 'a', ...rounds[1]!, 'b', ...rounds[2]!, 'c', ...rounds[3]!]);
});

test('transactions of background work and of ordinary calls alternate, until no work waits', async () => {
  const list = new List();
  const turns: string[] = [];
  let works = 5;
  const idle = Promise.withResolvers<void>();
  const queue = new GroupCommit(list, {
    forget: () => undefined,
    hasWork: () => works > 0,
    onIdle: () => works === 0 && idle.resolve(),
    beforeFlush: (turn) => {
      turns.push(turn);
      if (turn === 'work') works--;
    },
  });
  const large = 2 ** 25;
  await Promise.all(['a', 'b'].map((name) => queue.submit(large, list.put(name))));
  await queue.submit(1, list.put('c'), 'urgent');
  await idle.promise;
  expect(turns).toEqual(['ordinary', 'work', 'ordinary', 'urgent', 'work', 'work', 'work', 'work']);
  expect(list.kept).toEqual(['a', 'b', 'c']);
});

test('without space, and after closing, no background work is done', async () => {
  for (const isClosed of [false, true]) {
    const list = new List();
    const turns: string[] = [];
    const queue = new GroupCommit(list, {
      forget: () => undefined,
      hasWork: () => true,
      hasRoom: () => isClosed,
      beforeFlush: (turn) => void turns.push(turn),
    });
    const call = queue.submit(1, list.put('a'));
    await (isClosed ? queue.close() : expect(call).rejects.toThrow('full'));
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(turns).toEqual(isClosed ? ['ordinary'] : []);
  }
});

test('while ordinary calls are held, transactions of background work and of urgent calls alternate', async () => {
  const list = new List();
  let held = 3;
  const urgent: Promise<unknown>[] = [];
  const queue = new GroupCommit(list, {
    forget: () => undefined,
    hasWork: () => held > 0,
    holds: () => held > 0,
    beforeFlush: (turn) => {
      list.written.push('work');
      if (turn === 'urgent') return;
      held--;
      urgent.push(queue.submit(1, list.put(`urgent ${held}`), 'urgent'));
    },
  });
  await queue.submit(1, list.put('a'));
  await Promise.all(urgent);
  expect(list.kept).toEqual(
    [['work'], ['urgent 2', 'work'], ['work'], ['urgent 1', 'work'], ['work'], ['urgent 0', 'work']]
      .flat()
      .concat(['a', 'work'], ['urgent -1', 'work']),
  );
});

test('a held queue continues after a transaction that failed because the map was full', async () => {
  const list = new List();
  list.failures = [mapFull()];
  let isHeld = true;
  const queue = new GroupCommit(list, {
    forget() {
      isHeld = false;
    },
    hasWork: () => isHeld,
    holds: () => isHeld,
  });
  expect(await queue.submit(1, list.put('a'))).toBe('a');
  expect(list.transactions).toBe(2);
});

test('without space, held ordinary calls are rejected', async () => {
  const list = new List();
  const queue = new GroupCommit(list, {
    forget: () => undefined,
    hasRoom: () => false,
    hasWork: () => true,
    holds: () => true,
  });
  await expect(queue.submit(1, list.put('a'))).rejects.toThrow('full');
});

test('a group is bounded in bytes; a call above the bound has a separate transaction', async () => {
  const list = new List();
  const { queue } = queueOn(list);
  const sizes = [1, 20, 20, 100, 1].map((mb) => mb * 2 ** 20);
  await Promise.all(sizes.map((size, i) => queue.submit(size, list.put(`${i}`))));
  expect(list.kept).toEqual(['0', '1', '2', '3', '4']);
  expect(list.transactions).toBe(4);
});

test('a rejected call does not affect the other calls', async () => {
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

test('an unexpected error while writing aborts the group, and the other calls are applied without the failed call', async () => {
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

test('an unexpected error while planning also aborts the group, because it may have left partial changes', async () => {
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

test('a full map rejects the call as UNAVAILABLE without storing it, and the store continues', async () => {
  const list = new List();
  const { queue } = queueOn(list);
  list.failures = [mapFull()];
  await expect(queue.submit(1, list.put('a'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(list.kept).toEqual([]);
  await expect(queue.submit(1, list.put('b'))).resolves.toBe('b');
});

test('without space nothing is written, and each call is rejected', async () => {
  const list = new List();
  let hasRoom = false;
  const queue = new GroupCommit(list, { forget: () => undefined, hasRoom: () => hasRoom });
  const calls = await Promise.allSettled(['a', 'b'].map((name) => queue.submit(1, list.put(name))));
  for (const call of calls) expect(call).toMatchObject({ reason: { details: { reason: 'disk_full' } } });
  expect(list.transactions).toBe(0);
  hasRoom = true;
  await expect(queue.submit(1, list.put('c'))).resolves.toBe('c');
});

test('if the map has no room for a call, only that call fails', async () => {
  const list = new List();
  const { queue } = queueOn(list);
  list.failures = [mapFull(), undefined, mapFull(), undefined];
  const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => queue.submit(1, list.put(name))));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(list.kept).toEqual(['a', 'c']);
});

test.each([
  ['EIO', 5],
  ['ENOSPC', 28],
])('a failed write (%s) ends the thread without further reads, and the calls do not resolve', async (_, code) => {
  const list = new List();
  const { queue, forgotten } = queueOn(list);
  list.failures = [lmdbError(code)];
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
  expect(await fatal).toMatchObject({ code });
  await new Promise(setImmediate);
  expect(answered).toBe(false);
  expect(forgotten()).toBe(0);
});

test('closing waits for accepted calls, and rejects new calls', async () => {
  const list = new List();
  const { queue } = queueOn(list);
  const call = queue.submit(1, list.put('a'));
  const closed = queue.close();
  await expect(queue.submit(1, list.put('b'))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await closed;
  expect(list.kept).toEqual(['a']);
  await expect(call).resolves.toBe('a');
});
