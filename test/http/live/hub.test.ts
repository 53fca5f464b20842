import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertServerMessage } from '../../../scripts/contract-assertions.ts';
import { ServiceError } from '../../../src/errors.ts';
import { Hub } from '../../../src/http/live/hub.ts';
import { type LimitName, limits } from '../../../src/limits.ts';
import { type MemoryBatch, MemoryChannel, MemoryWire, turnOfLoop } from './fakes.ts';

const name = 'events.network';

function setUp(options: { part?: number; clock?: () => number } = {}) {
  const channel = new MemoryChannel(options.part ?? 3);
  const reached: LimitName[] = [];
  const counts = { sent: 0, dropped: 0 };
  const errors: unknown[] = [];
  const observer = {
    live: (counter: keyof typeof counts, n: number) => {
      counts[counter] += n;
    },
    limitReached: (limit: LimitName) => void reached.push(limit),
  };
  const other = new MemoryChannel(1);
  const hub = new Hub(
    { 'events.network': channel, 'events.dns': other, alerts: other, topology: other, discovery: other },
    observer,
    (error) => void errors.push(error),
    options.clock ?? (() => 0),
  );
  return { channel, hub, reached, counts, errors };
}

/** Settles all replays and reads all unread bytes, until none are left for 30 turns of the event loop. */
async function settle({ channel, hub }: Pick<ReturnType<typeof setUp>, 'channel' | 'hub'>, wires: MemoryWire[]) {
  for (let quiet = 0; quiet < 30; ) {
    quiet = channel.reads.length === 0 && wires.every(({ unread }) => unread === 0) ? quiet + 1 : 0;
    while (channel.reads.length > 0) channel.settleOne();
    for (const wire of wires) {
      wire.unread = 0;
      hub.drain(wire);
    }
    await turnOfLoop();
  }
}

const seqs = (wire: MemoryWire) => wire.sent.filter(({ type }) => type === 'event').map(({ seq }) => seq);

interface Subscriber {
  readonly id: string;
  readonly wire: MemoryWire;
  readonly wanted: ReadonlySet<number>;
  readonly since: number;
  /** Head of the channel when the subscription ended; undefined while it is active. */
  until: number | undefined;
}

/** Checks the order of all messages of a subscription, and that `lagged` counts the missing messages. */
function check({ id, wire, wanted, since, until }: Subscriber, channel: MemoryChannel, ended: boolean) {
  const due = channel.items.filter(
    ({ seq, value }) => seq > since && seq <= (until ?? Infinity) && (wanted.size === 0 || wanted.has(value)),
  );
  let next = 0;
  let lagged = 0;
  for (const message of wire.sent) {
    assertServerMessage({ ...message, ...(message.type === 'event' ? { data: {} } : {}) });
    if (message.id !== id) continue;
    if (message.type === 'lagged') lagged += message.dropped as number;
    if (message.type !== 'event') continue;
    next += lagged;
    lagged = 0;
    expect(due[next]?.seq).toBe(message.seq);
    next++;
  }
  if (ended) expect(next + lagged).toBeLessThanOrEqual(due.length);
  else expect(next + lagged).toBe(due.length);
}

const values = fc.array(fc.nat(5), { minLength: 1, maxLength: 4 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('publish' as const), values }) },
  // Committed now and published by a later step: until then, replays see the commit, but live subscriptions do not.
  { weight: 2, arbitrary: fc.record({ do: fc.constant('commit' as const), values }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('publish committed' as const), late: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('subscribe' as const),
      wire: fc.nat(2),
      wanted: fc.uniqueArray(fc.nat(5), { maxLength: 3 }),
      back: fc.option(fc.nat(30), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unsubscribe' as const), nth: fc.nat(20) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('read' as const), wire: fc.nat(2), share: fc.nat(4) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('settle a replay' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const) }) },
);

describe('a subscription', () => {
  it('gets each match after `since` once and in order, in any interleaving; `lagged` counts dropped matches', async () => {
    const clockSteps = fc.array(fc.constantFrom(0, 0, 0, 40, 400), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80, size: 'max' }), clockSteps, async (steps, clocks) => {
        let now = 0;
        let looked = 0;
        const it = setUp({ clock: () => (now += clocks[looked++ % clocks.length]!) });
        const { channel, hub } = it;
        // One reader is fast, one is slow, and one is slower than a single commit.
        const wires = [0, 300_000, 900_000].map((bytes) => new MemoryWire(bytes));
        const subscribers: Subscriber[] = [];
        const committed: MemoryBatch[] = [];
        let published = 0;
        const publish = (batch: MemoryBatch) => {
          hub.publish(name, batch);
          published = Math.max(published, batch.lastSeq);
        };
        const publishCommitted = () => {
          for (const batch of committed.splice(0)) publish(batch);
        };
        for (const one of steps) {
          switch (one.do) {
            case 'publish':
              // Commits are published in order, or with an earlier commit postponed.
              if (committed.length > 1) committed.reverse();
              publish(channel.commit(one.values));
              break;
            case 'commit':
              committed.push(channel.commit(one.values));
              break;
            case 'publish committed':
              if (one.late) committed.reverse();
              publishCommitted();
              break;
            case 'subscribe': {
              const wire = wires[one.wire]!;
              const id = `s${subscribers.length}`;
              const since = one.back === undefined ? undefined : Math.max(0, channel.head() - one.back);
              const wanted = new Set(one.wanted);
              hub.subscribe(wire, id, name, wanted, since);
              subscribers.push({ id, wire, wanted, since: since ?? published, until: undefined });
              break;
            }
            case 'unsubscribe': {
              const subscriber = subscribers[one.nth];
              if (!subscriber || subscriber.until !== undefined) break;
              expect(hub.unsubscribe(subscriber.wire, subscriber.id)).toBe(name);
              subscriber.until = channel.head();
              break;
            }
            case 'read': {
              const wire = wires[one.wire]!;
              wire.unread = Math.floor((wire.unread * one.share) / 5);
              hub.drain(wire);
              break;
            }
            case 'settle a replay':
              channel.settleOne();
              break;
            case 'wait':
              await turnOfLoop();
          }
        }
        publishCommitted();
        await settle(it, wires);
        for (const one of subscribers) check(one, channel, one.until !== undefined);
        expect(channel.mostReading).toBeLessThanOrEqual(limits.maxConcurrentReplays);
        expect(it.errors).toEqual([]);
        // All subscribers are live: one more commit reaches each matching subscriber immediately.
        publish(channel.commit([0, 1, 2, 3, 4, 5]));
        for (const wire of wires) {
          wire.unread = 0;
          hub.drain(wire);
        }
        await settle(it, wires);
        for (const one of subscribers) check(one, channel, one.until !== undefined);
        for (const wire of wires) hub.remove(wire);
        expect(hub.subscriptions).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  it('starts with the next commit if there is no `since`', () => {
    const { channel, hub } = setUp();
    const wire = new MemoryWire();
    hub.publish(name, channel.commit([1, 1]));
    hub.subscribe(wire, 'a', name, new Set(), undefined);
    hub.publish(name, channel.commit([1]));
    expect(seqs(wire)).toEqual([3]);
    expect(wire.sent[0]).toMatchObject({ type: 'event', channel: name, id: 'a', data: { value: 1 } });
  });

  it('continues from the recent commits without reading from disk', async () => {
    const { channel, hub } = setUp();
    const wire = new MemoryWire();
    for (let n = 0; n < 10; n++) hub.publish(name, channel.commit([n]));
    hub.subscribe(wire, 'a', name, new Set(), 8);
    await turnOfLoop();
    expect(channel.reading).toBe(0);
    expect(seqs(wire)).toEqual([9, 10]);
  });

  it('first reports the number of matches that are no longer stored, then sends the remaining matches', async () => {
    const parts = setUp();
    const { channel, hub } = parts;
    const wire = new MemoryWire();
    for (let n = 0; n < 20; n++) hub.publish(name, channel.commit([n]));
    channel.oldest = 8;
    hub.subscribe(wire, 'a', name, new Set(), 3);
    await settle(parts, [wire]);
    expect(wire.sent[0]).toEqual({ type: 'lagged', channel: name, id: 'a', dropped: 4 });
    expect(seqs(wire)).toEqual([8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
  });

  it('becomes live even if new matches arrive during every read', async () => {
    const { channel, hub } = setUp({ part: 1000 });
    const wire = new MemoryWire();
    for (let n = 0; n < 50; n++) hub.publish(name, channel.commit([n]));
    hub.subscribe(wire, 'a', name, new Set(), 0);
    await turnOfLoop();
    hub.publish(name, channel.commit([1]));
    channel.settleOne();
    hub.publish(name, channel.commit([2]));
    await turnOfLoop();
    await turnOfLoop();
    expect(channel.reading).toBe(0);
    hub.publish(name, channel.commit([3]));
    expect(seqs(wire)).toEqual(Array.from({ length: 53 }, (_, n) => n + 1));
  });

  it('reads unpublished commits from disk', async () => {
    const parts = setUp();
    const { channel, hub } = parts;
    const wire = new MemoryWire();
    hub.subscribe(wire, 'a', name, new Set(), undefined);
    const missing = channel.commit([1, 2]);
    hub.publish(name, channel.commit([3]));
    hub.publish(name, missing);
    await settle(parts, [wire]);
    hub.publish(name, channel.commit([4]));
    expect(seqs(wire)).toEqual([1, 2, 3, 4]);
  });

  it('reports dropped messages before it ends', () => {
    const { channel, hub } = setUp();
    const wire = new MemoryWire(limits.maxSocketBacklogBytes + 1);
    hub.subscribe(wire, 'a', name, new Set(), undefined);
    hub.publish(name, channel.commit([1, 2, 3]));
    hub.unsubscribe(wire, 'a');
    expect(wire.sent.at(-1)).toEqual({ type: 'lagged', channel: name, id: 'a', dropped: 2 });
  });
});

describe('a stalled reader', () => {
  it('never delays other readers, and gets a lagged message after reading again', () => {
    const { channel, hub, reached, counts } = setUp();
    const [stalled, quick] = [new MemoryWire(100_000), new MemoryWire()];
    for (const wire of [stalled, quick]) hub.subscribe(wire, 'a', name, new Set(), undefined);
    for (let n = 0; n < 100; n++) hub.publish(name, channel.commit([n]));
    expect(seqs(quick)).toHaveLength(100);
    expect(stalled.unread).toBeLessThanOrEqual(limits.maxSocketBacklogBytes + 100_000);
    const read = seqs(stalled).length;
    expect(stalled.sent.every(({ type }) => type === 'event')).toBe(true);
    stalled.unread = 0;
    hub.drain(stalled);
    expect(stalled.sent.at(-1)).toEqual({ type: 'lagged', channel: name, id: 'a', dropped: 100 - read });
    expect(counts).toEqual({ sent: 100 + read, dropped: 100 - read });
    expect(reached).toEqual(['maxSocketBacklogBytes']);
  });

  it('pauses only its own replay, whose messages are not kept in memory', async () => {
    const { channel, hub } = setUp({ part: 500 });
    const [stalled, quick] = [new MemoryWire(400_000), new MemoryWire()];
    for (let n = 0; n < 40; n++) hub.publish(name, channel.commit([n]));
    hub.subscribe(stalled, 'a', name, new Set(), 0);
    hub.subscribe(quick, 'a', name, new Set(), 0);
    await turnOfLoop();
    while (channel.reads.length > 0) channel.settleOne();
    for (let n = 0; n < 3; n++) await turnOfLoop();
    expect(seqs(quick)).toHaveLength(40);
    expect(seqs(stalled)).toEqual([1, 2, 3]);
    expect(channel.reading).toBe(0);
    stalled.unread = 0;
    hub.drain(stalled);
    await turnOfLoop();
    // The next replay starts at the reader's position.
    expect(channel.reads.map(({ since }) => since)).toEqual([3]);
  });

  it('gets a small buffer if all readers together have many unread bytes', () => {
    const { channel, hub, reached } = setUp();
    const wires = Array.from({ length: 80 }, () => new MemoryWire(limits.maxSocketBacklogBytes));
    for (const wire of wires) hub.subscribe(wire, 'a', name, new Set(), undefined);
    hub.publish(name, channel.commit([1]));
    hub.publish(name, channel.commit([2]));
    expect(reached).toContain('maxTotalSocketBacklogBytes');
    expect(wires.reduce((sum, { unread }) => sum + unread, 0)).toBeLessThan(
      wires.length * limits.maxSocketBacklogBytes * 1.8,
    );
    for (const wire of wires) {
      wire.unread = 0;
      hub.drain(wire);
    }
    for (const wire of wires) {
      expect(wire.sent.length).toBeGreaterThan(0);
      wire.unread = 0;
      hub.drain(wire);
    }
    hub.publish(name, channel.commit([3]));
    for (const wire of wires) expect(wire.sent.at(-1)).toMatchObject({ type: 'event', seq: 3 });
  });
});

describe('replays', () => {
  it('take turns: only a few read at the same time', async () => {
    const parts = setUp();
    const { channel, hub } = parts;
    for (let n = 0; n < 20; n++) hub.publish(name, channel.commit([n]));
    const wires = Array.from({ length: 50 }, () => new MemoryWire());
    for (const wire of wires) hub.subscribe(wire, 'a', name, new Set(), 0);
    await settle(parts, wires);
    expect(channel.mostReading).toBe(limits.maxConcurrentReplays);
    for (const wire of wires) expect(seqs(wire)).toHaveLength(20);
  });

  it('give up their slot when cancelled', async () => {
    const parts = setUp();
    const { channel, hub } = parts;
    for (let n = 0; n < 20; n++) hub.publish(name, channel.commit([n]));
    const churn = new MemoryWire();
    for (let n = 0; n < 200; n++) {
      hub.subscribe(churn, 'a', name, new Set(), 0);
      hub.unsubscribe(churn, 'a');
    }
    const wire = new MemoryWire();
    hub.subscribe(wire, 'a', name, new Set(), 0);
    await settle(parts, [wire]);
    expect(seqs(wire)).toHaveLength(20);
    expect(churn.sent).toEqual([]);
    expect(hub.subscriptions).toBe(1);
  });

  it('end the subscription with a code and the last sequence sent, if they fail', async () => {
    const { channel, hub, errors } = setUp();
    for (let n = 0; n < 20; n++) hub.publish(name, channel.commit([n]));
    const wire = new MemoryWire();
    for (const [id, error] of [
      ['bug', new Error('/secret/path')],
      ['known', new ServiceError('INVALID_REQUEST', 'no such field')],
    ] as const) {
      hub.subscribe(wire, id, name, new Set(), 2);
      await turnOfLoop();
      channel.reads.shift()!.reject(error);
      await turnOfLoop();
    }
    expect(wire.sent).toMatchObject([
      {
        type: 'error',
        id: 'bug',
        error: { code: 'INTERNAL', details: { channel: name, after: 2, reason: expect.any(String) } },
      },
      { type: 'error', id: 'known', error: { code: 'INVALID_REQUEST' } },
    ]);
    for (const message of wire.sent) assertServerMessage(message);
    expect(JSON.stringify(wire.sent)).not.toContain('secret');
    expect(errors).toHaveLength(1);
    expect(hub.subscriptions).toBe(0);
  });

  it('are retried when the reader threads are overloaded', async () => {
    const parts = setUp();
    const { channel, hub } = parts;
    for (let n = 0; n < 20; n++) hub.publish(name, channel.commit([n]));
    const wire = new MemoryWire();
    hub.subscribe(wire, 'a', name, new Set(), 0);
    await turnOfLoop();
    channel.reads.shift()!.reject(new ServiceError('OVERLOADED', 'the queue is full'));
    while (channel.reads.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await settle(parts, [wire]);
    expect(seqs(wire)).toHaveLength(20);
  });
});

describe('filters that take too long', () => {
  it('are evaluated in turn, from disk, without losing matches', async () => {
    let now = 0;
    const parts = setUp({ clock: () => now });
    const { channel, hub, reached } = parts;
    channel.onMatch = () => {
      now += 20;
    };
    const wires = Array.from({ length: 30 }, () => new MemoryWire());
    for (const wire of wires) hub.subscribe(wire, 'a', name, new Set(), undefined);
    for (let n = 0; n < 10; n++) hub.publish(name, channel.commit([n]));
    expect(reached).toContain('maxLiveMatchMsPerS');
    await settle(parts, wires);
    for (const wire of wires) expect(seqs(wire)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});

describe('the text of a message', () => {
  it('is read only if the reader has room for the message', () => {
    const { channel, hub, counts } = setUp();
    let texts = 0;
    channel.onText = () => void texts++;
    const wire = new MemoryWire(limits.maxSocketBacklogBytes);
    hub.subscribe(wire, 'a', name, new Set(), undefined);
    hub.publish(name, channel.commit([1, 2, 3, 4, 5, 6]));
    hub.publish(name, channel.commit([7, 8, 9]));
    expect(counts).toEqual({ sent: 2, dropped: 7 });
    expect(texts).toBe(2);
  });

  it('is read once if a slow reader catches up from the recent commits', async () => {
    const parts = setUp();
    const { channel, hub } = parts;
    let texts = 0;
    channel.onText = () => void texts++;
    for (let n = 0; n < 3; n++) hub.publish(name, channel.commit([1, 2, 3, 4, 5, 6, 7, 8]));
    const wire = new MemoryWire(limits.maxSocketBacklogBytes / 3);
    hub.subscribe(wire, 'a', name, new Set(), 0);
    await settle(parts, [wire]);
    expect(seqs(wire)).toHaveLength(24);
    expect(texts).toBe(24);
  });

  it('takes time that counts towards the time limit of filters; beyond the limit, subscriptions read from disk', async () => {
    let now = 0;
    const parts = setUp({ clock: () => now });
    const { channel, hub, reached } = parts;
    channel.onText = () => {
      now += 20;
    };
    const wires = Array.from({ length: 30 }, () => new MemoryWire());
    for (const wire of wires) hub.subscribe(wire, 'a', name, new Set(), undefined);
    for (let n = 0; n < 10; n++) hub.publish(name, channel.commit([n]));
    expect(reached).toContain('maxLiveMatchMsPerS');
    const before = now;
    await settle(parts, wires);
    // Without the limit, reading the texts of the recent commits for each subscription would take 6 s.
    expect(now - before).toBeLessThan(20 * 50);
    for (const wire of wires) expect(seqs(wire)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});
