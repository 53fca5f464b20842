import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type AuditedAs, auditedCall } from '../../src/http/audited-call.ts';
import { caused, during, toBeLogged, toldOfCalls } from '../../src/http/caused-entries.ts';
import { noContent } from '../../src/http/reply.ts';
import type { Store } from '../../src/store/store.ts';

const callOf = (audited: AuditedAs = 'administration') =>
  auditedCall({ operation: 'revokeToken', audited }, new Map(), 'r', '::1')!;

const by = { id: 'ann', name: 'Ann', roles: ['admin'] };

/** Stands for the store's thread: says through which call it was asked. */
const asked: (string | undefined)[] = [];
const store = toldOfCalls({
  async revokeToken(_jti, actor) {
    await turn();
    asked.push(actor.call);
    expect(actor).toEqual({
      id: 'ann',
      name: 'Ann',
      ...(actor.call === undefined ? {} : { call: actor.call }),
    });
    return true;
  },
  async record(_event, _id, call) {
    asked.push(call);
  },
} as Partial<Store> as Store);

const change = async () => {
  await turn();
  await store.revokeToken('t', by);
};

test('a store learns through which call it is asked, of many at once', async () => {
  asked.length = 0;
  const calls = Array.from({ length: 20 }, () => callOf());
  await Promise.all(calls.map((call) => during(call, change)));
  expect(new Set(asked)).toEqual(new Set(calls.map(({ id }) => id)));
  expect(asked).toHaveLength(20);
});

test('work that waited for its turn behind that of another call is its own', async () => {
  asked.length = 0;
  let line: Promise<unknown> = Promise.resolve();
  const inLine = () => {
    line = line.then(change);
    return line;
  };
  const calls = [callOf(), callOf(), callOf()];
  await Promise.all(calls.map((call) => during(call, inLine)));
  expect(asked).toEqual(calls.map(({ id }) => id));
});

test('what happens outside of calls, and in those that only read, is through none', async () => {
  asked.length = 0;
  await during(callOf(), change);
  await change();
  await during(callOf('read'), change);
  await during(undefined, change);
  await store.record({
    kind: 'policy.reloaded',
    actor: 'system',
    subject: { type: 'policy', id: 'p' },
    data: {},
  });
  expect(asked.slice(1)).toEqual([undefined, undefined, undefined, undefined]);
});

test('a call that fails ends, and others go on', async () => {
  asked.length = 0;
  const other = callOf();
  const failing = during(callOf(), async () => {
    throw new Error('no');
  });
  await Promise.all([during(other, change), expect(failing).rejects.toThrow('no')]);
  expect(asked).toEqual([other.id]);
});

test('a call is told of entries that did not come through the store, and that it must be told of', async () => {
  const [call, other] = [callOf(), callOf()];
  caused(['of nobody']);
  await Promise.all([
    during(call, async () => {
      await turn();
      caused(['a', 'b']);
      toBeLogged();
    }),
    during(other, async () => turn()),
  ]);
  expect(call.succeeded(noContent, 0).entry_ids).toEqual(['a', 'b']);
  expect(other.succeeded(noContent, 0)).not.toHaveProperty('entry_ids');
  expect([call.countedAlone, other.countedAlone]).toEqual([true, false]);
});
