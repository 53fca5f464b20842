import type { NetworkRecord } from '../src/events/records.ts';

/**
 * Yields seeded network events in the shape of a busy site's conn log: 400 clients, a long tail of servers and of
 * scanners, few services, bytes over six orders of magnitude, 1,000 events per second.
 */
export function* connRecords(count: number, seed = 1): Generator<NetworkRecord> {
  const random = mulberry32(seed);
  const below = (n: number) => Math.floor(random() * n);
  /** Returns small numbers often, and large numbers rarely. */
  const skewed = (n: number) => Math.floor(n ** random());
  const start = Date.UTC(2026, 0, 1);
  for (let i = 0; i < count; i++) {
    const scan = random() < 0.15;
    const service = services[scan ? below(services.length) : Math.min(services.length - 1, skewed(services.length))]!;
    const failed = scan || random() < 0.05;
    const v6 = random() < 0.05;
    const client = v6 ? `2001:db8:1::${below(400).toString(16)}` : `10.0.${below(4)}.${1 + below(100)}`;
    const server = v6
      ? `2001:db8:${skewed(4000).toString(16)}::${skewed(60000).toString(16)}`
      : `${93 + below(4)}.${below(16)}.${skewed(255)}.${skewed(255)}`;
    const payload = failed ? 0 : skewed(5_000_000);
    yield {
      id: undefined,
      timestamp: start + i + below(5000),
      duration_ms: failed ? undefined : skewed(600_000_000) / 1000,
      src_ip: scan ? server : client,
      src_port: 1024 + below(64_000),
      src_mac: undefined,
      dst_ip: scan ? client : server,
      dst_port: service.port,
      dst_mac: undefined,
      transport: service.transport,
      app_protocol: failed ? undefined : service.name,
      src_bytes: failed ? 60 : payload + 400,
      dst_bytes: failed ? 0 : 2 * payload + 300,
      src_payload_bytes: failed ? undefined : payload,
      dst_payload_bytes: failed ? undefined : 2 * payload,
      src_packets: failed ? 1 : 4 + (payload >> 10),
      dst_packets: failed ? 0 : 3 + (payload >> 9),
      missed_bytes: 0,
      state: failed ? 'attempt' : 'closed',
      conn_state: failed ? 'S0' : 'SF',
      history: failed ? 'S' : histories[skewed(histories.length)]!,
      direction: scan ? 'inbound' : 'outbound',
      community_id: undefined,
      connection_id: `C${letters(random, 17)}`,
      vlan: undefined,
      sensor: 'zeek-1',
      source: 'zeek',
      severity: 'informational',
    };
  }
}

const services = [
  { port: 443, transport: 'tcp', name: 'ssl' },
  { port: 53, transport: 'udp', name: 'dns' },
  { port: 80, transport: 'tcp', name: 'http' },
  { port: 123, transport: 'udp', name: 'ntp' },
  { port: 22, transport: 'tcp', name: 'ssh' },
  { port: 445, transport: 'tcp', name: 'smb' },
  { port: 25, transport: 'tcp', name: 'smtp' },
  { port: 3389, transport: 'tcp', name: 'rdp' },
];

const histories = ['ShADadFf', 'ShADadfF', 'ShADadFRf', 'Dd', 'ShADdaFf', 'ShAdDaFf', 'ShADadtFf', 'ShADadfFR', 'ShR'];

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function letters(random: () => number, count: number): string {
  let text = '';
  for (let i = 0; i < count; i++) text += alphabet[Math.floor(random() * 62)];
  return text;
}

/** Creates a Mulberry32 generator (Tommy Ettinger, public domain). */
export function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
