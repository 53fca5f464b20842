import { describe, expect, test } from 'vitest';
import type { AuditRecord } from '../../src/contract/resources/audit-record.ts';
import { AuditCaps } from '../../src/http/audit-caps.ts';
import type { AuditedAs } from '../../src/http/audited-call.ts';
import { limits } from '../../src/limits.ts';

const minute = 60_000;
const start = Date.UTC(2026, 10, 20);
const principal = '01900000-0000-7000-8000-00000000000a';

function call(changes: Partial<AuditRecord> = {}): AuditRecord {
  return {
    actor: 'anonymous',
    operation: 'login',
    request_id: 'r1',
    source_address: '192.0.2.1',
    outcome: 'refused',
    code: 'UNAUTHENTICATED',
    time: new Date(start).toISOString(),
    ...changes,
  };
}

/** Caps at the beginning of a minute; `admitted` returns the number of calls that get a record. */
function caps() {
  const it = new AuditCaps();
  expect(it.due(start)).toEqual([]);
  const admitted = (calls: Iterable<AuditRecord>, as: AuditedAs = 'account') =>
    Array.from(calls, (record) => it.admit(record, as, start)).filter((limit) => limit === undefined).length;
  return { it, admitted };
}

const times = (n: number, record: (k: number) => AuditRecord) => Array.from({ length: n }, (_, k) => record(k));
const callsIn = (records: readonly AuditRecord[]) => records.reduce((sum, { count = 1 }) => sum + count, 0);

describe('repeated calls of one caller', () => {
  test("are counted beyond the caller's share of the minute, and recorded when the minute ends", () => {
    const { it, admitted } = caps();
    expect(admitted(times(25, (k) => call({ request_id: `r${k}`, actor_name: `name ${k}` })))).toBe(10);
    expect(it.admit(call(), 'account', start)).toBe('auditFailuresPerMinute');
    expect(it.due(start + minute - 1)).toEqual([]);
    expect(it.due(start + minute)).toEqual([
      {
        actor: 'anonymous',
        operation: 'login',
        request_id: 'r10',
        source_address: '192.0.2.1',
        outcome: 'refused',
        code: 'UNAUTHENTICATED',
        time: new Date(start + minute).toISOString(),
        count: 16,
      },
    ]);
    expect(it.due(start + 2 * minute)).toEqual([]);
    expect(it.admit(call(), 'account', start + 2 * minute)).toBeUndefined();
  });

  test('are counted separately by operation and outcome', () => {
    const { it, admitted } = caps();
    admitted(times(10, () => call()));
    admitted([
      ...times(3, () => call()),
      ...times(2, () => call({ operation: 'refresh' })),
      call({ outcome: 'failed', code: 'INVALID_REQUEST' }),
    ]);
    const counts = it.due(start, true).map(({ operation, code, count }) => [operation, code, count]);
    expect(counts).toEqual([
      ['login', 'UNAUTHENTICATED', 3],
      ['refresh', 'UNAUTHENTICATED', 2],
      ['login', 'INVALID_REQUEST', 1],
    ]);
  });

  test('leave the shares of other callers unchanged: principals are identified by id, not by address', () => {
    const { it, admitted } = caps();
    const reads = (actor: string) =>
      times(100, (k) => ({
        ...call({ actor, operation: 'listPrincipals', outcome: 'success', source_address: `192.0.2.${k}` }),
      }));
    expect(admitted(reads(principal))).toBe(limits.auditSuccessesPerMinute);
    expect(admitted(reads('01900000-0000-7000-8000-00000000000b'))).toBe(limits.auditSuccessesPerMinute);
    expect(admitted([call({ actor: principal, outcome: 'refused', code: 'FORBIDDEN' })])).toBe(1);
    expect(callsIn(it.due(start, true))).toBe(2 * (100 - limits.auditSuccessesPerMinute));
  });

  test('have separate shares for reads and for changes', () => {
    const { it, admitted } = caps();
    const successes = (operation: string) =>
      times(100, () => call({ actor: principal, operation, outcome: 'success' }));
    const share = limits.auditSuccessesPerMinute;
    expect(admitted(successes('listPrincipals'), 'read')).toBe(share);
    expect(admitted(successes('updateAlert'))).toBe(share);
    expect(admitted(successes('getPrincipal'), 'read')).toBe(0);
    expect(callsIn(it.due(start, true))).toBe(300 - 2 * share);
  });

  test.each([
    ['the addresses of one /64 are one caller', (k: number) => `2001:0db8:0000:0001:0000:0000:0000:${hex(k)}`, 10],
    [
      'addresses of two networks are two callers',
      (k: number) => `2001:0db8:0000:${hex(k % 2)}:0000:0000:0000:${hex(k)}`,
      20,
    ],
    [
      'IPv4-mapped IPv6 addresses are separate callers',
      (k: number) => `0000:0000:0000:0000:0000:ffff:0a00:${hex(k)}`,
      50,
    ],
  ])('%s', (_, address, expected) => {
    const { admitted } = caps();
    expect(admitted(times(50, (k) => call({ source_address: address(k) })))).toBe(expected);
  });
});

const hex = (n: number) => n.toString(16).padStart(4, '0');

describe('a flood from many addresses', () => {
  const flood = (n: number) => times(n, (k) => call({ source_address: `10.${k >> 16}.${(k >> 8) & 255}.${k & 255}` }));

  test('fills the shared limit of failures, then counters per address; a last counter counts all other calls', () => {
    const { it, admitted } = caps();
    const calls = 100_000;
    const own = admitted(flood(calls));
    expect(own).toBe(limits.auditFailuresBurst);
    const counts = it.due(start, true);
    expect(counts).toHaveLength(limits.maxAuditCounts + 1);
    expect(counts.at(-1)).toMatchObject({
      actor: 'anonymous',
      operation: 'several',
      source_address: '::',
      outcome: 'refused',
    });
    expect(counts.at(-1)).not.toHaveProperty('code');
    expect(own + callsIn(counts)).toBe(calls);
  });

  test('creates a bounded number of records in a day', () => {
    const { it } = caps();
    let records = 0;
    for (let now = start; now < start + 24 * 60 * minute; now += minute) {
      records += it.due(now).length;
      for (const record of flood(100)) if (it.admit(record, 'account', now) === undefined) records++;
    }
    expect(records).toBeLessThan(33_000);
  });

  test('does not affect authenticated callers and other successful calls', () => {
    const { admitted } = caps();
    admitted(flood(100_000));
    expect(admitted([call({ actor: principal, outcome: 'success' })])).toBe(1);
    expect(admitted([call({ outcome: 'success', source_address: '192.0.2.9' })])).toBe(1);
  });

  test('is reported when it reaches the limit of tracked addresses', () => {
    const { it } = caps();
    const successes = flood(limits.maxAuditStrangers + 1).map((record) => ({
      ...record,
      outcome: 'success' as const,
    }));
    const reached = successes
      .map((record) => it.admit(record, 'account', start))
      .filter((limit) => limit !== undefined);
    expect(reached).toEqual(['maxAuditStrangers']);
  });
});

test('ignored records of a sensor become one audit record an hour, and leave room for counts of failures', () => {
  const { it, admitted } = caps();
  const sensors = times(2 * limits.maxAuditCounts, (k) =>
    call({ actor: `s${k}`, operation: 'ingest', outcome: 'success', count: 3 }),
  );
  for (const kind of ['zeek.http', 'zeek.ssl']) for (const record of sensors) it.countIgnored(record, kind);
  admitted(times(11, () => call()));
  expect(it.due(start + minute)).toMatchObject([{ actor: 'anonymous', operation: 'login', count: 1 }]);
  expect(it.due(start + 59 * minute)).toEqual([]);
  const hourly = it.due(start + 60 * minute);
  expect(hourly).toHaveLength(sensors.length);
  expect(hourly[0]).toMatchObject({ count: 6, reason: 'ignored: zeek.http; ignored: zeek.ssl' });
  expect(it.due(start + 120 * minute)).toEqual([]);
});

test('ignored records of further sensors become one record an hour', () => {
  const { it } = caps();
  for (const { actor } of times(limits.maxNotStoredSensors + 2, (k) => call({ actor: `s${k}` })))
    it.countIgnored(call({ actor, operation: 'ingest', outcome: 'success', count: 3 }), 'zeek.http');
  expect(it.due(start + minute)).toEqual([]);
  expect(it.due(start + 60 * minute).at(-1)).toMatchObject({
    operation: 'several',
    outcome: 'success',
    count: 6,
    reason: 'ignored: zeek.http',
  });
});

test('setting the clock back ends the current minute, and its counts are recorded', () => {
  const { it, admitted } = caps();
  admitted(times(11, () => call()));
  expect(callsIn(it.due(start - minute))).toBe(1);
  expect(it.due(start - minute + 1)).toEqual([]);
});
