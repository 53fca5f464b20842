/** Guarantees of the store while the host's clock is wrong by a year, and after it was corrected. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { dashboard } from '../../src/analytics/dashboard.ts';
import { isLive } from '../../src/contract/token-life.ts';
import type { Detection, Detector, Flow } from '../../src/detect/behaviour/detector.ts';
import { Windows } from '../../src/detect/behaviour/support/windows.ts';
import { packCorrelations } from '../../src/detect/packed-rules.ts';
import { parseSigma } from '../../src/detect/sigma/parse-document.ts';
import { compileRules } from '../../src/detect/sigma/rule-set.ts';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import { createAuthenticator } from '../../src/identities/authenticate.ts';
import { newSecret, secretHash, writeSecret } from '../../src/identities/secrets.ts';
import { limits } from '../../src/limits.ts';
import { openReader } from '../../src/store/reader.ts';
import type { CommitNotice, Token } from '../../src/store/store.ts';
import { openStore, type StoreOptions } from '../../src/store/writer.ts';
import { uuid7 } from '../../src/uuid.ts';
import { MemoryWire } from '../http/live/fakes.ts';
import { memoryHub } from '../http/live/memory-hub.ts';
import { holder, see } from '../inventory/store/sightings.ts';
import { administrator, analyst, batchOf, everything, finding, hour, resources, start, withAlerts } from './opened.ts';
import { networkRecord } from './records.ts';

const threeInAMinute = `title: base
name: base
logsource: {category: dns}
detection: {selection: {query: x}, condition: selection}
---
title: counted
name: counted
correlation:
  type: event_count
  rules: [base]
  group-by: [src_ip]
  timespan: 1m
  condition: {gte: 3}
`;

const day = 24 * hour;
const year = 365 * day;

/** Reports every third flow of a source in a window of four days. */
class EveryThird implements Detector {
  readonly card = {
    id: 'third',
    version: 1,
    name: 'Third',
    category: 'test',
    mitre: { tactics: [], techniques: [] },
  };
  readonly #windows = new Windows<{ n: number }>({
    ...{ slotMs: day, slots: 4, maxKeys: 10 },
    create: () => ({ n: 0 }),
    merge: (into, from) => {
      into.n += from.n;
    },
  });
  #found: Detection[] = [];
  get dropped() {
    return this.#windows.dropped;
  }
  flow({ src, time, seq }: Flow): void {
    const counted = this.#windows.at(src, time);
    if (counted === undefined || ++counted.n % 3 !== 0) return;
    this.#found.push({
      ...{ title: 'Third', description: 'Three.', severity: 'low', confidence: 0.5, timestamp: time },
      ...{ ends: { src_ip: src }, evidence: {}, events: [{ table: 'network', seq }] },
    });
  }
  evaluate(emit: (detection: Detection) => void): void {
    for (const one of this.#found.splice(0)) emit(one);
  }
  state() {
    return this.#windows.state();
  }
  restore(state: ReturnType<Windows<{ n: number }>['state']>): void {
    this.#windows.restore(state);
  }
  merge(): void {
    throw new Error('not asked for here');
  }
}

/**
 * Opens a store whose clock can jump. Its monotonic clock advances with `pass`, and starts at 0 after a
 * restart.
 */
function world(restarts: boolean, options: Pick<StoreOptions, 'detectors' | 'retention'> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'candor-clock-'));
  const clock = { wall: start, steady: 0 };
  const notices: CommitNotice[] = [];
  const open = () => {
    const store = openStore({
      ...{ dataDir, alertWindowMs: hour, clock: () => clock.wall, steadyMs: () => clock.steady },
      ...{ home: ['10.0.0.0/8'], detectors: () => [], ...options },
      onCommitted: (notice) => notices.push(notice),
    });
    return { store: withAlerts(store, notices), reader: openReader(dataDir) };
  };
  let now = open();
  const close = async () => {
    now.reader.close();
    await now.store.close();
  };
  onTestFinished(async () => {
    await close();
    rmSync(dataDir, { recursive: true });
  });
  return {
    clock,
    get store() {
      return now.store;
    },
    get reader() {
      return now.reader;
    },
    pass: (ms: number) => {
      clock.wall += ms;
      clock.steady += ms;
    },
    leap: async (ms: number) => {
      if (restarts) await close();
      clock.wall += ms;
      if (!restarts) return;
      clock.steady = 7;
      now = open();
    },
    /** Stores events of these times, received now. */
    send: (...times: readonly number[]) => {
      const builder = new BlockBuilder('network', clock.wall);
      for (const timestamp of times) builder.add(networkRecord({ timestamp, src_ip: '10.0.0.1' }));
      return now.store.commit(batchOf([], { blocks: [builder.finish()] }));
    },
    counted: () => now.store.createAsset({ name: crypto.randomUUID() }, analyst),
  };
}

describe.each([
  ['ahead', year],
  ['back', -year],
])('a clock that jumps a year %s', (_, leap) => {
  describe.each([
    ['while the store runs', false],
    ['with restarts', true],
  ])('%s', (_, restarts) => {
    test('does not expire events', async () => {
      const of = world(restarts, { retention: { maxAgeMs: 10 * day, maxBytes: 2 ** 37 } });
      const total = () => {
        const filter = { terms: [] };
        return of.reader.listEvents({ table: 'network', filter, order: 'asc', per_page: 10, page: 1 }).total;
      };
      await of.send(start);
      await of.leap(leap);
      await of.send(of.clock.wall);
      await setTimeout(1.3 * limits.retentionLookMs);
      expect(total()).toBe(2);
      await of.leap(-leap);
      await of.send(start);
      await setTimeout(1.3 * limits.retentionLookMs);
      expect(total()).toBe(3);
    });

    test('stores each repeated request once, and forgets its key after a day', async () => {
      const of = world(restarts);
      const send = async (key: string) => {
        const { replayed } = await of.store.commit(batchOf([], { idempotency: { key, digest: 'd' } }));
        return replayed;
      };
      expect(await send('before')).toBe(false);
      await of.leap(leap);
      expect(await send('before')).toBe(true);
      expect(await send('while')).toBe(false);
      await of.leap(-leap);
      expect([await send('before'), await send('while')]).toEqual([true, true]);
      of.pass(limits.idempotencyTtlMs + 1);
      expect([await send('before'), await send('while')]).toEqual([false, false]);
    });

    test('neither ends nor extends sessions and tokens permanently', async () => {
      const of = world(restarts);
      await of.send(start);
      const admin = administrator();
      await of.store.createPrincipal(admin, analyst);
      const secrets = new Map<string, string>();
      const add = async (name: string, kind: Token['kind'], lastsMs: number) => {
        const secret = newSecret();
        const jti = uuid7(of.clock.wall);
        secrets.set(name, writeSecret(kind, { jti, secret }));
        await of.store.addToken(
          {
            ...{ jti, principal_id: admin.id, kind, roles: ['admin'], secret_hash: secretHash(secret) },
            issued_at: new Date(of.clock.wall).toISOString(),
            expires_at: new Date(of.clock.wall + lastsMs).toISOString(),
          },
          analyst,
        );
        return jti;
      };
      const live = (jti: string) => {
        const token = of.reader.token(jti);
        return token !== undefined && isLive(token, of.clock.wall);
      };
      const session = await add('session', 'session', 7 * day);
      const token = await add('token', 'long_lived', 90 * day);
      await of.leap(leap);
      const meanwhile: string[] = [];
      for (let n = 0; n < 4; n++) meanwhile.push(await add(`meanwhile ${n}`, 'session', 7 * day));
      expect(meanwhile.every(live)).toBe(true);
      await of.leap(-leap);
      expect([live(session), live(token), ...meanwhile.map(live)]).toEqual([
        ...[true, true, false, false, false, false],
      ]);
      const authenticate = createAuthenticator(of.reader, undefined as never);
      const authorization = `Bearer ${secrets.get('token')}`;
      expect(await authenticate({ authorization }, of.clock.wall)).toMatchObject({ jti: token });
      of.pass(90 * day);
      expect([live(session), live(token)]).toEqual([false, false]);
    });

    test('does not leave the last use of a token in the future', async () => {
      const of = world(restarts);
      const admin = administrator();
      await of.store.createPrincipal(admin, analyst);
      const jti = uuid7(start);
      await of.store.addToken(
        {
          ...{ jti, principal_id: admin.id, kind: 'long_lived', roles: ['admin'], secret_hash: 's' },
          issued_at: new Date(start).toISOString(),
        },
        analyst,
      );
      const use = async () => {
        const used = new Date(of.clock.wall).toISOString();
        await of.store.noteTokenUse(new Map([[jti, used]]));
        return used;
      };
      await of.leap(leap);
      await use();
      await of.leap(-leap);
      of.pass(60_000);
      const last = await use();
      expect(of.reader.token(jti)?.last_used_at).toBe(last);
    });

    test('does not remove figures, and counts new events', async () => {
      const of = world(restarts);
      const totals = () => {
        const asked = { window: '30d', now: of.clock.wall, ledger_size: 0, ingest: {} } as const;
        return dashboard(of.reader, asked as unknown as Parameters<typeof dashboard>[1]).totals;
      };
      await of.send(start);
      await of.store.commit(batchOf([finding({ src_ip: '192.0.2.1' })]));
      await of.counted();
      await of.leap(leap);
      // Sensors have separate clocks, which are correct.
      await of.send(start);
      for (let n = 0; n < 3; n++) {
        of.pass(60_000);
        await of.store.commit(batchOf([finding({ src_ip: `192.0.2.${10 + n}`, timestamp: of.clock.wall })]));
      }
      await of.counted();
      await of.leap(-leap);
      await of.send(start);
      await of.counted();
      const { network_events, alerts } = totals();
      expect(alerts).toBe(1);
      // If the store's clock is behind the sensors' clocks, events count at the time of receipt.
      expect(network_events).toBe(leap > 0 ? 3 : 2);
    });

    test('does not lower risk scores permanently', async () => {
      const of = world(restarts);
      await of.send(start);
      await see(of, { ip: '10.0.0.1' });
      await of.store.commit(batchOf([finding({ dst_ip: '10.0.0.1', severity: 'critical' })]));
      await of.counted();
      const score = holder(of.reader, '10.0.0.1').risk_score;
      expect(score).toBeGreaterThan(90);
      await of.leap(leap);
      await setTimeout(3 * limits.riskPauseMs);
      await of.leap(-leap);
      expect(holder(of.reader, '10.0.0.1').risk_score).toBe(score);
    });

    test('assigns unique ids, and sequences in order', async () => {
      const of = world(restarts);
      const sequences: number[] = [];
      const ids: string[] = [];
      for (const ms of [0, leap, -leap, 0]) {
        await of.leap(ms);
        const { blocks } = await of.send(of.clock.wall, of.clock.wall);
        for (const { first_seq } of blocks) sequences.push(first_seq);
        const found = finding({ timestamp: of.clock.wall, src_ip: `192.0.2.${sequences.length}` });
        const { alerts } = await of.store.commit(batchOf([found]));
        ids.push(...alerts.map(({ alert }) => alert.id));
      }
      expect(sequences).toEqual([1, 3, 5, 7]);
      expect(new Set(ids).size).toBe(4);
      expect(resources(of.reader.listAlerts(everything)).map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    });

    test('sends live events and alerts in order and without gaps, also to a subscriber that reconnects', async () => {
      const of = world(restarts);
      const names = ['events.network', 'alerts'] as const;
      const received = (wire: MemoryWire, name: string) =>
        wire.sent.filter(({ channel }) => channel === name).map(({ seq }) => seq as number);
      const connect = (wire: MemoryWire) => {
        const { feeds, subscribe } = memoryHub(of.reader);
        for (const name of names) subscribe(wire, name, received(wire, name).at(-1) ?? 0);
        return feeds;
      };
      const wire = new MemoryWire();
      let feeds = connect(wire);
      for (const [n, ms] of [0, leap, -leap, 0].entries()) {
        await of.leap(ms);
        if (restarts) {
          await of.send(of.clock.wall); // the disconnected subscriber misses this event
          feeds = connect(wire);
        }
        const { blocks } = await of.send(of.clock.wall, of.clock.wall);
        const found = finding({ timestamp: of.clock.wall, src_ip: `192.0.2.${n}` });
        const { alerts } = await of.store.commit(batchOf([found]));
        feeds.events(blocks);
        const heads = { alerts: of.reader.head('alerts'), topology: of.reader.head('topology') };
        const processed = { network: of.reader.head('events.network') + 1, dns: of.reader.head('events.dns') + 1 };
        feeds.committed({ alerts, scans: [], heads, processed });
      }
      const late = new MemoryWire();
      connect(late);
      for (const name of names) {
        const all = Array.from({ length: of.reader.head(name) }, (_, n) => n + 1);
        expect(all.length).toBeGreaterThanOrEqual(4);
        for (const one of [wire, late]) await expect.poll(() => received(one, name)).toEqual(all);
      }
    });

    test('does not add current findings to a summary alert from another time', async () => {
      const of = world(restarts);
      await of.leap(leap);
      for (let n = 0; n < 26; n++) {
        of.pass(hour);
        await of.store.commit(batchOf([finding({ timestamp: of.clock.wall, src_ip: `192.0.2.${n}` })]));
      }
      await of.leap(-leap);
      const begun = new Set<string>();
      for (let n = 0; n < 12; n++) {
        of.pass(hour);
        const found = Array.from({ length: 10 }, (_, i) =>
          finding({ timestamp: of.clock.wall, src_ip: `198.51.100.${10 * n + i}`, dst_ip: '203.0.113.1' }),
        );
        for (const { alert } of (await of.store.commit(batchOf(found))).alerts) begun.add(alert.id);
      }
      expect(begun.size).toBe(120);
    });

    test('neither stops correlations nor combines events from before and after the jump', async () => {
      const of = world(restarts);
      const correlations = packCorrelations(compileRules(parseSigma(threeInAMinute).documents).correlations);
      await of.store.changeRules({ version: 1, put: [], remove: [], correlations }, analyst);
      const send = async (times: number) => {
        let alerts = 0;
        for (let n = 0; n < times; n++) {
          of.pass(1000);
          const fact = {
            ...{ correlation: 'counted', rule: 'base', timestamp: of.clock.wall, value: null, carried: [] },
            ...{ group: ['10.0.0.1'], ends: { src_ip: '10.0.0.1' } },
          };
          const { fired } = await of.store.commit(batchOf([], { facts: [fact] }));
          alerts += fired?.length ?? 0;
        }
        return alerts;
      };
      expect(await send(2)).toBe(0);
      await of.leap(leap);
      expect([await send(2), await send(1)]).toEqual([0, 1]);
      of.pass(2 * 60_000);
      await of.leap(-leap);
      expect([await send(2), await send(1)]).toEqual([0, 1]);
    });

    test('stops behaviour detection for at most an hour', async () => {
      const of = world(restarts, { detectors: () => [new EveryThird()] });
      const send = async () => {
        await of.send(of.clock.wall);
        of.pass(40 * 60_000);
      };
      for (let n = 0; n < 4; n++) await send();
      await of.leap(leap);
      for (let n = 0; n < 4; n++) await send();
      await of.leap(-leap);
      for (let n = 0; n < 3; n++) await send();
      await of.counted();
      const found = () =>
        resources<{ count: number; rule_source: string }>(of.reader.listAlerts(everything))
          .filter(({ attributes }) => attributes.rule_source === 'behaviour')
          .reduce((all, { attributes }) => all + attributes.count, 0);
      const before = found();
      for (let n = 0; n < 3; n++) await send();
      await of.counted();
      expect(found()).toBe(before + 1);
    });
  });
});
