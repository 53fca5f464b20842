/**
 * The figures of a time range, counted from Zeek's conn and dns lines alone: slow and simple, with maps and
 * sets.
 */
import { getDomain } from 'tldts';
import { stateOf } from './naive.ts';

type Line = Readonly<Record<string, unknown>>;
type Sums = Map<string, { events: number; bytes: number }>;

export interface PlainFigures {
  network_events: number;
  dns_events: number;
  bytes: number;
  rejected_connections: number;
  nxdomain: number;
  readonly talkers: Sums;
  readonly destinations: Sums;
  readonly services: Sums;
  readonly domains: Sums;
}

/** Counts the lines in [from, to), epoch milliseconds, in the order in which they were sent. */
export function plainFigures(conn: readonly Line[], dns: readonly Line[], from: number, to: number): PlainFigures {
  const figures: PlainFigures = {
    network_events: 0,
    dns_events: 0,
    bytes: 0,
    rejected_connections: 0,
    nxdomain: 0,
    talkers: new Map(),
    destinations: new Map(),
    services: new Map(),
    domains: new Map(),
  };
  const reported = new Map<string, number>();
  for (const r of conn) {
    const number = (name: string) => r[name] as number | undefined;
    const all =
      (number('orig_ip_bytes') ?? number('orig_bytes') ?? 0) + (number('resp_ip_bytes') ?? number('resp_bytes') ?? 0);
    const key = [r.uid, r['id.orig_h'], r['id.orig_p'], r['id.resp_h'], r['id.resp_p']].join(' ');
    const before = reported.get(key);
    reported.set(key, Math.max(all, before ?? 0));
    if (!isWithin(r, from, to)) continue;
    const bytes = Math.max(0, all - (before ?? 0));
    figures.network_events++;
    figures.bytes += bytes;
    if (stateOf(r) === 'refused') figures.rejected_connections++;
    add(figures.talkers, r['id.orig_h'] as string, bytes);
    add(figures.destinations, r['id.resp_h'] as string, bytes);
    add(figures.services, r.proto === 'icmp' ? 'icmp' : `${r.proto}/${r['id.resp_p']}`, bytes);
  }
  for (const r of dns) {
    if (!isWithin(r, from, to)) continue;
    figures.dns_events++;
    if (r.rcode === 3) figures.nxdomain++;
    if (r.query === undefined || r.query === '') continue;
    const name = (r.query as string).toLowerCase();
    add(figures.domains, getDomain(name, { extractHostname: false, validateHostname: false }) ?? name, 0);
  }
  return figures;
}

function isWithin(line: Line, from: number, to: number): boolean {
  const time = Math.floor(Math.round((line.ts as number) * 1e6) / 1e3);
  return time >= from && time < to;
}

function add(sums: Sums, key: string, bytes: number): void {
  const sum = sums.get(key) ?? { events: 0, bytes: 0 };
  sums.set(key, { events: sum.events + 1, bytes: sum.bytes + bytes });
}
