import type { DnsRecord, NetworkRecord } from '../../../src/events/records.ts';
import { registeredDomain } from '../../../src/net/registered-domain.ts';

/** A stored event, and its time of receipt (epoch milliseconds). */
export interface Received<R> {
  readonly record: R;
  readonly at: number;
}

export interface PlainFigures {
  network_events: number;
  dns_events: number;
  bytes: number;
  rejected_connections: number;
  nxdomain: number;
  talkers: Record<string, Met>;
  destinations: Record<string, Met>;
  services: Record<string, Met>;
  domains: Record<string, Met>;
}

interface Met {
  events: number;
  bytes: number;
}

const timeOf = ({ record, at }: Received<NetworkRecord | DnsRecord>) => Math.min(record.timestamp, at);

/** Computes the figures for [from, to) one event at a time, from all events in order of arrival. */
export function plainFigures(
  network: readonly Received<NetworkRecord>[],
  dns: readonly Received<DnsRecord>[],
  from: number,
  to: number,
): PlainFigures {
  const figures: PlainFigures = {
    network_events: 0,
    dns_events: 0,
    bytes: 0,
    rejected_connections: 0,
    nxdomain: 0,
    talkers: {},
    destinations: {},
    services: {},
    domains: {},
  };
  const met = (list: Record<string, Met>, key: string, bytes: number) => {
    list[key] ??= { events: 0, bytes: 0 };
    list[key].events++;
    list[key].bytes += bytes;
  };
  const reported = new Map<string, number>();
  for (const one of network) {
    const { record } = one;
    const { src_ip, src_port, dst_ip, dst_port, transport, state, connection_id } = record;
    const id = connection_id === undefined ? undefined : [src_ip, src_port, dst_ip, dst_port, connection_id].join(' ');
    const before = id === undefined ? undefined : reported.get(id);
    const all = (record.src_bytes ?? 0) + (record.dst_bytes ?? 0);
    const bytes = Math.max(0, all - (before ?? 0));
    if (id !== undefined) reported.set(id, Math.max(all, before ?? 0));
    const time = timeOf(one);
    if (time < from || time >= to) continue;
    figures.network_events++;
    figures.bytes += bytes;
    if (state === 'refused') figures.rejected_connections++;
    met(figures.talkers, src_ip, bytes);
    met(figures.destinations, dst_ip, bytes);
    met(
      figures.services,
      dst_port === undefined || transport === 'icmp' ? transport : `${transport}/${dst_port}`,
      bytes,
    );
  }
  for (const one of dns) {
    const time = timeOf(one);
    if (time < from || time >= to) continue;
    const { query, rcode } = one.record;
    figures.dns_events++;
    if (rcode === 3) figures.nxdomain++;
    if (query === undefined) continue;
    met(figures.domains, registeredDomain(query) ?? query.toLowerCase().replace(/(?<=.)\.$/, ''), 0);
  }
  return figures;
}
