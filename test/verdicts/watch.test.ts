/**
 * `candor audit --watch` while the log grows. An honest log is never accused. If a fork replaces the
 * log, the watch ends with exit code 5 and evidence against the log.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { AuditFault } from '../../src/client/fault.ts';
import { httpLog, type LogSource } from '../../src/client/log-source.ts';
import type { Pin } from '../../src/client/pin.ts';
import { rewrite } from '../client/insider.ts';
import { ServedLog } from '../client/served-log.ts';
import { pinOf, rowsOf, watchedOf } from './parties.ts';

let log: ServedLog;
let pin: Pin;
beforeEach(async () => {
  log = await ServedLog.start(Date.now() - 60_000);
  onTestFinished(() => log.close());
  await log.append(3);
  pin = await pinOf(httpLog(log.url));
});

const rotate = () => log.ledger.rotateKey('transparency-sth', 'system');
const restart = () => log.tamper(() => {});

/** Appends entries until the watch is over; a restart may refuse some entries. */
async function growWhile<T>(watching: Promise<T>): Promise<T> {
  let over = false;
  const grow = async () => {
    while (!over) {
      log.now += 10;
      await log.append(1).catch(() => {});
      await sleep(5);
    }
  };
  const growing = grow();
  try {
    return await watching;
  } finally {
    over = true;
    await growing;
  }
}

const unreachable = (url: string): LogSource => {
  const refuse = async () => new AuditFault('UNREACHABLE', 'restarting');
  return { url, get: refuse, getBytes: refuse };
};

test.each([
  { polls: 20, entries: undefined },
  { polls: 15, entries: true as const },
])('the watch accepts a growing log in $polls polls, entries: $entries', async ({ polls, entries }) => {
  const source = httpLog(log.url);
  const events = new Map<number, () => Promise<unknown>>([
    [3, rotate],
    [5, restart],
    [7, () => log.ledger.rotateKey('event-signing', 'system')],
    [9, async () => Promise.all([rotate(), restart()].map((event) => event.catch(() => {})))],
    [11, () => log.append(300)],
  ]);
  const rounds = Array.from({ length: polls }, (_, i) => async () => {
    await events.get(i)?.();
    return i === 13 ? unreachable(source.url) : source;
  });
  const watching = watchedOf(pin, rounds, entries === undefined ? {} : { entries });
  const { reports, found, ended } = await growWhile(watching);
  expect(ended).toBe(false);
  const unexpected = found.filter((one) => !/^0 (extended|unchanged)$/.test(one));
  expect(unexpected).toEqual(['3 UNREACHABLE']);
  const sizes = reports.flatMap(({ fields }) => (typeof fields.tree_size === 'number' ? [fields.tree_size] : []));
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
  expect(sizes.at(-1)).toBeGreaterThan(305);
});

/** Copies of the honest log: at the pin, and after two more polls of the watch. */
let copies: { pinned: string; seen: string };

/** Serves a copy of the log. The copy can continue without changing the original. */
async function serveCopy(from: keyof typeof copies): Promise<void> {
  await log.restore(copies[from]);
  await log.restore(await log.snapshot());
  log.now += 1000;
}

/** Continues a copy with entries that the honest log does not have. */
const forked = (from: keyof typeof copies, more: number) => async () => {
  await serveCopy(from);
  if (more > 0) await log.append(more);
};

const forks: Record<string, readonly (() => Promise<unknown>)[]> = {
  'smaller, signed later': [forked('pinned', 1)],
  'of the same size': [forked('pinned', 4)],
  larger: [forked('pinned', 9)],
  'larger, by a key that took over in the fork': [
    async () => {
      await forked('pinned', 9)();
      await rotate();
    },
  ],
  'larger, after a restart': [
    async () => {
      await forked('pinned', 9)();
      await restart();
    },
  ],
  'with an edited entry': [
    async () => {
      await log.tamper((folder) =>
        rewrite(folder, (entries) => {
          entries[1]!.data = { title: 'nothing happened' };
        }),
      );
      log.now += 1000;
      await log.append(1);
    },
  ],
  'an older copy, then its growth': [forked('pinned', 0), forked('pinned', 9)],
  'beyond the last poll, then the honest log': [
    forked('seen', 2),
    async () => {
      await serveCopy('seen');
      await log.append(5);
    },
  ],
};

/** Columns: the fork, and the result of each poll after the fork began. */
const rows = rowsOf(`
  smaller, signed later                       | 5 ROLLBACK evidence
  of the same size                            | 5 FORK evidence
  larger                                      | 5 INCONSISTENT evidence
  larger, by a key that took over in the fork | 5 INCONSISTENT evidence
  larger, after a restart                     | 5 INCONSISTENT evidence
  with an edited entry                        | 5 INCONSISTENT evidence
  an older copy, then its growth              | 4 OLD_HEAD | 5 INCONSISTENT evidence
  beyond the last poll, then the honest log   | 0 extended | 5 INCONSISTENT evidence
`);

test.each(
  rows.flatMap(([fork, ...found]) => ([undefined, true] as const).map((entries) => ({ fork, found, entries }))),
)('the watch detects a fork: $fork, entries: $entries', async ({ fork, found: expected, entries }) => {
  const source = httpLog(log.url);
  const pinned = await log.snapshot();
  const grow = (count: number) => async () => {
    log.now += 1000;
    await log.append(count);
    return source;
  };
  const fixed = async () => {
    copies = { pinned, seen: await log.snapshot() };
    return source;
  };
  const shown = forks[fork!]!.map((show) => async () => {
    await show();
    return source;
  });
  const rounds = [() => source, grow(2), grow(2), fixed, ...shown];
  const { found, ended } = await watchedOf(pin, rounds, entries === undefined ? {} : { entries });
  expect(found.slice(0, 4)).toEqual(['0 unchanged', '0 extended', '0 extended', '0 unchanged']);
  expect(found.slice(4)).toEqual(expected);
  expect(ended).toBe(true);
});

test('the table has a row for each fork', () => expect(rows.map(([fork]) => fork)).toEqual(Object.keys(forks)));
