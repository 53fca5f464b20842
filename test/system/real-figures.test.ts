/**
 * Real networks, shifted to the present and sent as by shippers: the figures of the dashboard equal counts of the files,
 * and estimates are within their stated error. In small bodies, the machines and services match the files too.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService, tokenFor } from '../../scripts/service.ts';
import type { Dashboard } from '../../src/contract/resources/dashboard.ts';
import type { Trends } from '../../src/contract/resources/trends.ts';
import { limits } from '../../src/limits.ts';
import { call, send } from './call.ts';
import { plainFigures } from './plain-figures.ts';
import { describeAssets } from './recorded-assets.ts';
import { type Conn, internetHost, office } from './recorded-networks.ts';
import { hasSharedData, sharedLines } from './shared-data.ts';

type Line = Readonly<Record<string, unknown>>;
type Timed = Line & { readonly ts: number };

const linesOf = (names: readonly string[]) => names.flatMap(sharedLines).map((line) => JSON.parse(line) as Timed);

/** Returns every third connection, and all lines of connections that were reported while they were open. */
function third(lines: readonly Timed[]): readonly Timed[] {
  const counts = new Map<unknown, number>();
  for (const { uid } of lines) counts.set(uid, (counts.get(uid) ?? 0) + 1);
  return lines.filter(({ uid }, n) => n % 3 === 0 || counts.get(uid)! > 1);
}

const sets = [
  { network: office, perBody: 500, part: (lines: readonly Timed[]) => lines },
  { network: internetHost, perBody: 20_000, part: third },
];

describe.skipIf(!hasSharedData).each(sets)('$network.name in bodies of $perBody', ({ network, perBody, part }) => {
  let service: Service;
  let viewer: string;
  let conn: readonly Line[];
  let dns: readonly Line[];

  const read = async <T>(operation: 'getDashboard' | 'getTrends', window: string): Promise<T> => {
    const { status, body } = await call(service, operation, { token: viewer, query: `window=${window}` });
    expect(status, JSON.stringify(body).slice(0, 300)).toBe(200);
    return (body as { data: { attributes: T } }).data.attributes;
  };

  beforeAll(async () => {
    service = await startService({ env: network.env });
    const sensor = await tokenFor(service, 'sensor');
    viewer = await tokenFor(service, 'viewer');
    const [connLines, dnsLines] = [part(linesOf(network.conn)), linesOf(network.dns)];
    const last = [...connLines, ...dnsLines].reduce((most, { ts }) => Math.max(most, ts), 0);
    const shift = Math.floor(Date.now() / 1000 - last) - 5;
    const shifted = (lines: readonly Timed[]) =>
      lines.map((line) => ({ ...line, ts: Number((line.ts + shift).toFixed(6)) }));
    conn = shifted(connLines);
    dns = shifted(dnsLines);
    for (const lines of [conn, dns])
      for (let from = 0; from < lines.length; from += perBody) {
        const body = lines.slice(from, from + perBody).map((line) => JSON.stringify(line));
        await send(service, sensor, body.join('\n'));
      }
    // Figures of many events are written shortly after the events.
    let seen = -1;
    const counted = async () => (await read<Dashboard>('getDashboard', '30d')).totals;
    for (let all = 0; all !== seen; ) {
      seen = all;
      await new Promise((resolve) => setTimeout(resolve, 3 * limits.inventoryPauseMs));
      const { network_events, dns_events } = await counted();
      all = network_events + dns_events;
    }
  });
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
  });

  if (network === office)
    describeAssets(network, () => ({ service, viewer, lines: [], records: conn as unknown as readonly Conn[] }));

  test.each(['15m', '1h', '24h', '7d', '30d'])(
    'dashboard figures of the last %s equal a count of the lines',
    async (window) => {
      const shown = await read<Dashboard>('getDashboard', window);
      const [from, to] = [Date.parse(shown.from), Number.POSITIVE_INFINITY];
      const want = plainFigures(conn, dns, from, to);
      const { network_events, dns_events, bytes, rejected_connections, nxdomain } = want;
      expect(shown.totals).toMatchObject({
        network_events,
        dns_events,
        bytes,
        rejected_connections,
        nxdomain,
      });
      const before = plainFigures(conn, dns, Date.parse(shown.previous.from), from);
      expect(shown.previous.totals).toMatchObject({
        network_events: before.network_events,
        dns_events: before.dns_events,
        bytes: before.bytes,
        rejected_connections: before.rejected_connections,
        nxdomain: before.nxdomain,
      });
      isTop(shown.top_talkers, want.talkers, 'events');
      isTop(shown.top_talkers_by_bytes, want.talkers, 'bytes');
      isTop(shown.top_destinations, want.destinations, 'events');
      isTop(shown.top_destinations_by_bytes, want.destinations, 'bytes');
      isTop(shown.top_services, want.services, 'events');
      isTop(shown.top_services_by_bytes, want.services, 'bytes');
      isTop(shown.top_domains, want.domains, 'events');
      isNear(shown.distinct.sources, want.talkers.size);
      isNear(shown.distinct.destinations, want.destinations.size);
      isNear(shown.distinct.domains, want.domains.size);
    },
  );

  test('trends equal a count of the lines for each hour', async () => {
    const shown = await read<Trends>('getTrends', '7d');
    const events = shown.metrics.find(({ metric }) => metric === 'network_events')!;
    const sources = shown.metrics.find(({ metric }) => metric === 'sources')!;
    const hours = byHour(conn);
    for (const [i, { at, value }] of events.series.entries()) {
      const want = hours.get(Date.parse(at)) ?? { events: 0, sources: new Set() };
      expect(value, at).toBe(want.events);
      const estimated = sources.series[i]!.value;
      expect(Math.abs(estimated - want.sources.size)).toBeLessThanOrEqual(0.05 * want.sources.size);
    }
  });
});

function byHour(lines: readonly Line[]): Map<number, { events: number; sources: Set<unknown> }> {
  const hours = new Map<number, { events: number; sources: Set<unknown> }>();
  for (const line of lines) {
    const hour = Math.floor((line.ts as number) / 3600) * 3_600_000;
    const known = hours.get(hour) ?? { events: 0, sources: new Set() };
    known.events++;
    known.sources.add(line['id.orig_h']);
    hours.set(hour, known);
  }
  return hours;
}

/**
 * Checks that each row is at least the real count and exceeds it by at most the stated error, and that no
 * missing key has a higher count.
 */
function isTop(
  rows: Dashboard['top_talkers'],
  want: ReadonlyMap<string, { events: number; bytes: number }>,
  measure: 'events' | 'bytes',
): void {
  let all = 0;
  for (const one of want.values()) all += one[measure];
  expect(rows.length).toBe(Math.min(10, [...want.values()].filter((one) => one[measure] > 0).length));
  for (const { key, events, error, bytes = 0, bytes_error = 0 } of rows) {
    const [got, off] = measure === 'events' ? [events, error] : [bytes, bytes_error];
    const really = want.get(key)?.[measure] ?? 0;
    expect(really, key).toBeLessThanOrEqual(got);
    expect(really, key).toBeGreaterThanOrEqual(got - off);
    expect(off).toBeLessThanOrEqual(all / limits.maxRollupEntries);
  }
  const least = rows.at(-1)?.[measure] ?? 0;
  const shown = new Set(rows.map(({ key }) => key));
  for (const [key, one] of want) if (!shown.has(key)) expect(one[measure], key).toBeLessThanOrEqual(least);
}

function isNear({ count, error }: { count: number; error: number }, want: number): void {
  expect(Math.abs(count - want)).toBeLessThanOrEqual(3 * error * want);
}
