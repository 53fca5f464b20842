/** The figures of the overview agree with the lists behind their links. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { metricTexts } from '../../src/console/pages/overview/metrics.ts';
import { adminOf, openService, type Service } from './service.ts';

let service: Service;
let token: string;
beforeAll(async () => {
  service = await openService();
  token = await adminOf(service);
});
afterAll(() => service.close());

const hourMs = 3_600_000;
const flow = (hoursAgo: number, dst: number, more: Record<string, unknown> = {}) => ({
  timestamp: new Date(Date.now() - hoursAgo * hourMs).toISOString(),
  ...{ src_ip: '10.0.0.1', src_port: 40_000, dst_ip: `10.0.0.${dst}`, dst_port: 22, transport: 'tcp' },
  ...{ state: 'closed', src_bytes: 500, dst_bytes: 500, src_packets: 5, dst_packets: 5 },
  ...more,
});

/** Returns the API path of the list behind a console link. */
function listOf(link: string): string {
  const { pathname, searchParams } = new URL(link, service.url);
  const isServices = searchParams.get('view') === 'services';
  const table = searchParams.get('table');
  for (const name of ['view', 'table']) searchParams.delete(name);
  const path = pathname === '/events' ? `events/${table}` : isServices ? 'services' : 'assets';
  return `/api/v1/${path}?${searchParams}&per_page=1`;
}

test.each(['network_events', 'rejected_connections', 'new_assets', 'new_services'])(
  'the figure %s of the overview equals the number of items in the list that it links to',
  async (name) => {
    if (name === 'network_events') {
      const json = [
        flow(60, 2),
        flow(60, 3),
        flow(1, 2),
        flow(1, 4),
        flow(1, 4, { dst_port: 443 }),
        flow(1, 3, { state: 'refused', dst_port: 23, dst_bytes: 0, dst_packets: 0 }),
        flow(1, 3, { state: 'refused', dst_port: 23, connection_id: 'C1', dst_bytes: 0, dst_packets: 0 }),
        flow(0.9, 3, { state: 'refused', dst_port: 23, connection_id: 'C1', dst_bytes: 0, dst_packets: 0 }),
        flow(1, 3, { state: 'reset' }),
        flow(1, 3, { state: 'reset', dst_port: 24, dst_bytes: 0, dst_packets: 0 }),
      ];
      await service.call('ingestNetworkEvents', 'POST /api/v1/events/network', { token, json });
      await service.call('createAsset', 'POST /api/v1/assets', { token, json: { name: 'never seen' } });
    }
    const trends = async () => {
      const { body } = await service.call('getTrends', 'GET /api/v1/analytics/trends?window=24h', { token });
      return (body as { data: { attributes: { from: string; metrics: { metric: string; current: number }[] } } }).data
        .attributes;
    };
    const { from, metrics } = await trends();
    const { list, since = 'from' } = metricTexts[name]!;
    const answer = await fetch(service.url + listOf(`${list}&${since}=${from}`), {
      headers: { authorization: `Bearer ${token}` },
    });
    const { pagination } = (await answer.json()) as { pagination: { total: number } };
    const { current } = metrics.find(({ metric }) => metric === name)!;
    expect(current).toBeGreaterThan(0);
    expect(pagination.total).toBe(current);
  },
);
