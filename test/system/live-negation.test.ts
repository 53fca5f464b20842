/**
 * Filters in live subscriptions: over a real socket, exactly the items of the list with the same filters
 * arrive.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { assertServerMessage } from '../../scripts/contract-assertions.ts';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import type { ChannelName, ServerMessage } from '../../src/contract/channels.ts';
import { type Item, listAll, send } from './call.ts';

type Told = Item['attributes'];
/** A filter, and its meaning as a plain predicate. */
interface Case {
  readonly channel: ChannelName;
  readonly filters: Readonly<Record<string, string | readonly string[]>>;
  readonly wanted: (told: Told) => boolean;
}

const isIn = (value: unknown, ...values: readonly unknown[]) => values.includes(value);
const cases: readonly Case[] = [
  {
    channel: 'events.network',
    filters: { not_dst_port: ['22', '443'] },
    wanted: ({ dst_port }) => !isIn(dst_port, 22, 443),
  },
  {
    channel: 'events.network',
    filters: { not_src_ip: ['10.9.0.0/16'] },
    wanted: ({ src_ip }) => !String(src_ip).startsWith('10.9.'),
  },
  {
    channel: 'events.network',
    filters: { not_ip: '198.51.100.1' },
    wanted: ({ src_ip, dst_ip }) => !isIn('198.51.100.1', src_ip, dst_ip),
  },
  // A negated filter includes items without the field.
  {
    channel: 'events.network',
    filters: { not_app_protocol: 'ssh' },
    wanted: ({ app_protocol }) => app_protocol !== 'ssh',
  },
  {
    channel: 'events.network',
    filters: { transport: ['tcp', 'udp'], not_transport: 'udp', not_dst_port: ['22'] },
    wanted: ({ transport, dst_port }) => transport === 'tcp' && dst_port !== 22,
  },
  {
    channel: 'events.dns',
    filters: { not_query: ['a.example', 'b.example'] },
    wanted: ({ query }) => !isIn(query, 'a.example', 'b.example'),
  },
  {
    channel: 'events.dns',
    filters: { query: '*.example', not_query: 'c*' },
    wanted: ({ query }) => query !== 'c.example',
  },
  {
    channel: 'events.dns',
    filters: { not_rcode_name: 'NXDOMAIN' },
    wanted: ({ rcode_name }) => rcode_name !== 'NXDOMAIN',
  },
  {
    channel: 'alerts',
    filters: { not_severity: ['high', 'low'] },
    wanted: ({ severity }) => !isIn(severity, 'high', 'low'),
  },
  { channel: 'alerts', filters: { not_rule_id: '1:7' }, wanted: ({ rule_id }) => rule_id !== '1:7' },
  {
    channel: 'alerts',
    filters: { min_severity: 'medium', not_src_ip: ['10.9.0.0/16'] },
    wanted: ({ severity, src_ip }) =>
      isIn(severity, 'medium', 'high', 'critical') && !String(src_ip).startsWith('10.9.'),
  },
  { channel: 'alerts', filters: { severity: 'medium' }, wanted: ({ severity }) => severity === 'medium' },
  {
    channel: 'alerts',
    filters: { severity: ['low', 'medium'] },
    wanted: ({ severity }) => isIn(severity, 'low', 'medium'),
  },
];
const lists = {
  'events.network': 'listNetworkEvents',
  'events.dns': 'listDnsEvents',
  alerts: 'listAlerts',
} as const;
const listOf = (channel: ChannelName) => lists[channel as keyof typeof lists];

const at = (n: number) => new Date(Date.now() - 60_000 + n).toISOString();
const pick = <T>(values: readonly T[], n: number): T => values[n % values.length]!;
const flow = (n: number) => ({
  type: 'network_event',
  timestamp: at(n),
  src_ip: pick(['10.0.0.1', '10.9.0.1', '10.9.200.3', '2001:db8::1'], n),
  src_port: 1000 + n,
  dst_ip: pick(['198.51.100.1', '198.51.100.2', '10.0.0.1'], n),
  dst_port: pick([22, 80, 443, 53, 8443], n),
  transport: pick(['tcp', 'udp'], n),
  ...(n % 4 < 3 && { app_protocol: pick(['ssh', 'http', 'tls'], n) }),
});
const lookup = (n: number) => ({
  type: 'dns_event',
  timestamp: at(n),
  src_ip: '10.0.0.1',
  dst_ip: '10.0.0.53',
  transport: 'udp',
  kind: n % 3 === 0 ? 'query' : 'transaction',
  query: pick(['a.example', 'b.example', 'c.example', 'www.a.example'], n),
  ...(n % 3 > 0 && { rcode_name: pick(['NXDOMAIN', 'NOERROR'], Math.floor(n / 3)) }),
});
const finding = (n: number) => ({
  timestamp: at(n),
  event_type: 'alert',
  src_ip: pick(['10.0.0.1', '10.9.0.1'], n),
  src_port: 2000 + n,
  dest_ip: '198.51.100.9',
  dest_port: 8080,
  proto: 'TCP',
  alert: { gid: 1, signature_id: n, rev: 1, signature: `Rule ${n}`, category: 'x', severity: (n % 3) + 1 },
});
/** Items that match every case. They arrive last, after all other expected items. */
const last = [
  {
    ...flow(1),
    timestamp: at(900),
    src_ip: '10.0.0.77',
    dst_ip: '198.51.100.77',
    dst_port: 80,
    transport: 'tcp',
  },
  { ...lookup(1), timestamp: at(900), query: 'last.example', rcode_name: 'NOERROR' },
  { ...finding(901), src_ip: '10.0.0.77', alert: { ...finding(901).alert, severity: 2 } },
];
const isLast = ({ src_ip, dst_port, query }: Told) =>
  (src_ip === '10.0.0.77' && dst_port === 8080) || query === 'last.example';

const lines = (items: readonly object[]) => items.map((item) => JSON.stringify(item)).join('\n');
const each = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));

let service: Service;
let admin: string;
let viewer: string;
let sensor: string;
beforeAll(async () => {
  service = await startService();
  admin = await login(service);
  viewer = await tokenFor(service, 'viewer');
  sensor = await tokenFor(service, 'sensor');
});
afterAll(() => service.stop());

/** A socket with a subscription for each case, and the items received so far. */
class Reader {
  readonly #socket: WebSocket;
  readonly came: readonly Item[][] = cases.map(() => []);
  #wake: () => void = () => undefined;
  #subscribed = 0;

  constructor() {
    this.#socket = new WebSocket(`${service.url.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${viewer}` },
    });
    this.#socket.on('message', (bytes) => {
      const message = JSON.parse(String(bytes)) as ServerMessage;
      assertServerMessage(message);
      if (message.type === 'subscribed') this.#subscribed++;
      else if (message.type === 'event') this.came[Number(message.id)]!.push(message.data as unknown as Item);
      else throw new Error(JSON.stringify(message));
      this.#wake();
    });
  }

  async subscribe(more: object = {}): Promise<void> {
    await new Promise((resolve) => this.#socket.once('open', resolve));
    for (const [n, { channel, filters }] of cases.entries())
      this.#socket.send(JSON.stringify({ type: 'subscribe', channel, filters, id: String(n), ...more }));
    await this.#until(() => this.#subscribed === cases.length);
  }

  /** Waits until every subscription has received its last item, then disconnects. */
  async end(): Promise<void> {
    await this.#until(() => this.came.every((items) => items.some(({ attributes }) => isLast(attributes))));
    this.#socket.terminate();
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo())
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }
}

const idsOf = (items: readonly Item[]) => [...new Set(items.map(({ id }) => id))].sort();

/** Returns the stored items that a case matches; checks that the case matches some items, but not all. */
async function wantedOf({ channel, wanted }: Case): Promise<string[]> {
  const all = await listAll(service, listOf(channel), admin);
  const left = all.filter(({ attributes }) => wanted(attributes));
  expect(left.length).toBeGreaterThan(1);
  expect(left.length).toBeLessThan(all.length);
  return idsOf(left);
}

describe('items that a filter excludes', () => {
  const live = {} as { reader: Reader };
  beforeAll(async () => {
    live.reader = new Reader();
    await live.reader.subscribe();
    await send(service, sensor, lines([...each(60, flow), ...each(40, lookup), ...each(24, finding)]));
    await vi.waitFor(
      async () => expect((await listAll(service, 'listAlerts', admin)).length).toBeGreaterThanOrEqual(24),
      { timeout: 60_000, interval: 100 },
    );
    await send(service, sensor, lines(last));
    await live.reader.end();
  });

  const named = cases.map((one, n) => [`${one.channel} ${JSON.stringify(one.filters)}`, n] as const);
  test.each(named)('are not sent live: %s', async (_, n) => {
    expect(idsOf(live.reader.came[n]!)).toEqual(await wantedOf(cases[n]!));
  });

  test.each(named)('are not in the list with the same filters: %s', async (_, n) => {
    const { channel, filters } = cases[n]!;
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(filters)) for (const one of [value].flat()) query.append(name, one);
    expect(idsOf(await listAll(service, listOf(channel), admin, `${query}`))).toEqual(await wantedOf(cases[n]!));
  });

  test('are not replayed', async () => {
    const reader = new Reader();
    await reader.subscribe({ since: 0 });
    await reader.end();
    for (const [n, one] of cases.entries()) expect([n, idsOf(reader.came[n]!)]).toEqual([n, await wantedOf(one)]);
  });

  test('do not arrive on a stream path', async () => {
    const query = new URLSearchParams([
      ['since', '0'],
      ['not_dst_port', '22'],
      ['not_dst_port', '443'],
    ]);
    const url = `${service.url.replace('http', 'ws')}/api/v1/events/network/stream?${query}`;
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${viewer}` } });
    const came: Item[] = [];
    await new Promise<void>((resolve, reject) => {
      socket.on('close', (code) => reject(new Error(`closed with ${code}`)));
      socket.on('message', (bytes) => {
        const message = JSON.parse(String(bytes)) as ServerMessage;
        if (message.type === 'event') came.push(message.data as unknown as Item);
        if (came.some(({ attributes }) => isLast(attributes))) resolve();
      });
    });
    socket.terminate();
    expect(idsOf(came)).toEqual(await wantedOf(cases[0]!));
  });
});
