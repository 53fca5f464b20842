import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Dashboard } from '../../src/contract/resources/dashboard.ts';
import type { Trends } from '../../src/contract/resources/trends.ts';
import { windows } from '../../src/contract/vocabulary.ts';
import { openService, password, type Service } from './service.ts';

let service: Service;
let token: string;

beforeAll(async () => {
  service = await openService();
  const login = await service.call('login', 'POST /auth/login', { json: { username: 'admin', password } });
  token = (login.body as { access_token: string }).access_token;
});
afterAll(() => service.close());

const read = async <T>(operation: 'getDashboard' | 'getTrends', query = ''): Promise<T> => {
  const path = operation === 'getDashboard' ? 'dashboard' : 'trends';
  const { status, body } = await service.call(operation, `GET /api/v1/analytics/${path}${query}`, { token });
  expect(status).toBe(200);
  return (body as { data: { attributes: T } }).data.attributes;
};
const dashboard = (query?: string) => read<Dashboard>('getDashboard', query);
const trends = (query?: string) => read<Trends>('getTrends', query);
const send = async (records: readonly object[]) => {
  const sent = await service.call('ingest', 'POST /api/v1/ingest', { token, json: records });
  expect(sent.status).toBe(200);
};

describe('without events', () => {
  it('the dashboard and the trends are complete with zeros, for every window', async () => {
    for (const window of windows) {
      const shown = await dashboard(`?window=${window}`);
      expect(shown).toMatchObject({
        window,
        totals: { network_events: 0, bytes: 0 },
        ingest: { accepted: 0 },
      });
      expect(shown.alerts_by_severity).toEqual({ informational: 0, low: 0, medium: 0, high: 0, critical: 0 });
      expect(shown.series.map(({ metric }) => metric)).toContain('alerts');
      expect((await trends(`?window=${window}`)).metrics).toHaveLength(shown.series.length);
    }
    expect(await dashboard()).toMatchObject({ window: '24h', bucket_s: 3600 });
    expect(await trends()).toMatchObject({ window: '24h', bucket_s: 3600 });
  });
});

describe('with events', () => {
  const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
  const flow = (changes: object) => ({
    type: 'network_event',
    timestamp: ago(30_000),
    src_ip: '10.0.0.1',
    dst_ip: '10.0.0.2',
    dst_port: 22,
    transport: 'tcp',
    state: 'closed',
    src_bytes: 10,
    dst_bytes: 20,
    src_packets: 1,
    dst_packets: 1,
    ...changes,
  });

  it('the dashboard counts events within the window and before it, and reports ingest totals', async () => {
    await send([
      flow({}),
      flow({ src_ip: '10.0.0.3', dst_port: 443, src_bytes: 1e6 }),
      flow({ state: 'refused', dst_bytes: 0, dst_packets: 0 }),
      flow({ timestamp: ago(40 * 3_600_000) }),
      flow({ timestamp: new Date(Date.now() + 60_000).toISOString() }),
      {
        type: 'dns_event',
        timestamp: ago(1000),
        src_ip: '10.0.0.1',
        dst_ip: '10.0.0.53',
        transport: 'udp',
        kind: 'transaction',
        query: 'www.example.com',
        rcode_name: 'NXDOMAIN',
      },
      { type: 'network_event' },
    ]);
    const entries = (await service.ledger.status()).size;
    const shown = await dashboard();
    expect(shown).toMatchObject({
      totals: {
        network_events: 4,
        dns_events: 1,
        rejected_connections: 1,
        nxdomain: 1,
        bytes: 30 + 1_000_020 + 10 + 30,
      },
      previous: { totals: { network_events: 1, bytes: 30 } },
      distinct: {
        sources: { count: 2, error: 0 },
        destinations: { count: 1, error: 0 },
        domains: { count: 1 },
      },
      top_talkers: [
        { key: '10.0.0.1', events: 3, error: 0, bytes: 70 },
        { key: '10.0.0.3', events: 1, error: 0, bytes: 1_000_020 },
      ],
      top_services: [
        { key: 'tcp/22', events: 3 },
        { key: 'tcp/443', events: 1 },
      ],
      top_services_by_bytes: [{ key: 'tcp/443' }, { key: 'tcp/22' }],
      top_domains: [{ key: 'example.com', events: 1, error: 0 }],
      ledger_size: entries,
      ingest: { accepted: 6, rejected: 1, ignored: 0 },
      new_assets: 1,
    });
    expect(Date.now() - Date.parse(shown.ingest.last_received_at!)).toBeLessThan(60_000);
    expect(shown.series.find(({ metric }) => metric === 'network_events')!.points.at(-1)!.value).toBeGreaterThan(0);
    const events = (await trends('?window=24h')).metrics.find(({ metric }) => metric === 'network_events')!;
    expect(events).toMatchObject({ current: 4, previous: 1, anomalies: [] });
    expect(events.change_percent).toBeGreaterThan(250);
  });

  it('the dashboard counts alerts by their current state after every change', async () => {
    const lower = {
      timestamp: ago(5000),
      event_type: 'alert',
      src_ip: '10.0.0.1',
      src_port: 1,
      dest_ip: '10.0.0.2',
      dest_port: 80,
      proto: 'TCP',
      alert: { gid: 1, signature_id: 5, signature: 'probe', severity: 3 },
    };
    await send([lower]);
    expect(await dashboard('?window=15m')).toMatchObject({
      totals: { alerts: 1 },
      alerts_by_severity: { low: 1, critical: 0 },
      alerts_by_status: { new: 1 },
    });
    const list = await service.call('listAlerts', 'GET /api/v1/alerts', { token });
    const [{ id }] = (list.body as { data: [{ id: string }] }).data;
    await service.call('updateAlert', `PUT /api/v1/alerts/${id}`, {
      token,
      json: { status: 'resolved', severity: 'critical' },
    });
    expect(await dashboard('?window=30d')).toMatchObject({
      totals: { alerts: 1 },
      alerts_by_severity: { low: 0, critical: 1 },
      alerts_by_status: { new: 0, resolved: 1 },
    });
  });
});

it.each(['1h', '24h', '7d'])(
  'the dashboard counts the same number of alerts in %s as the list of that time range',
  async (window) => {
    const days = 24 * 3600_000;
    const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
    for (const [n, age] of [0, 2 * 3600_000, 2 * days, 20 * days].entries())
      await send([
        {
          timestamp: ago(age + 1000),
          event_type: 'alert',
          src_ip: '10.0.0.1',
          src_port: 1,
          dest_ip: '10.0.0.2',
          dest_port: 80,
          proto: 'TCP',
          alert: { gid: 1, signature_id: 100 + n, signature: 'replayed', severity: 3 },
        },
      ]);
    const { from, totals } = await dashboard(`?window=${window}`);
    const list = await service.call('listAlerts', `GET /api/v1/alerts?from=${from}`, { token });
    expect(list.body).toMatchObject({ pagination: { total: totals.alerts } });
    const { metrics } = await trends(`?window=${window}`);
    expect(metrics.find(({ metric }) => metric === 'alerts')).toMatchObject({ current: totals.alerts });
  },
);

it.each([
  ['window=2h', 'window'],
  ['window=', 'window'],
  ['window=1h&window=24h', 'window'],
  ['from=0', 'from'],
  ['page=1', 'page'],
])('the analytics endpoints reject %s, and the error names %s', async (query, field) => {
  for (const [operation, path] of [
    ['getDashboard', 'dashboard'],
    ['getTrends', 'trends'],
  ] as const) {
    const { status, body } = await service.call(operation, `GET /api/v1/analytics/${path}?${query}`, {
      token,
    });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { code: 'INVALID_REQUEST', details: { field } } });
  }
});

it('the analytics endpoints reject requests without credentials', async () => {
  const { status } = await service.call('getDashboard', 'GET /api/v1/analytics/dashboard');
  expect(status).toBe(401);
});
