import { describe, expect, test } from 'vitest';
import type { ListQuery } from '../../../src/store/store.ts';
import { analyst, batchOf, everything, finding, hour, opened, resources, start } from '../../store/opened.ts';
import { inbound, macA, see, sight } from './sightings.ts';

async function filled() {
  const open = opened();
  const { store } = open;
  open.clock.now = start + 5 * hour;
  await store.createAsset(
    {
      name: 'Web',
      kind: 'server',
      criticality: 'high',
      ip_addresses: ['10.0.0.10', '2001:db8::1'],
      owner: 'Ana',
      tags: ['dmz', 'prod'],
      os: 'Debian',
      vendor: 'Dell',
      notes: 'rack 7',
    },
    analyst,
  );
  await store.createAsset(
    { name: 'printer', kind: 'printer', criticality: 'low', hostnames: ['hp.example'], state: 'staged' },
    analyst,
  );
  await see(open, { ip: '10.0.0.9', mac: macA, at: start + hour }, { ip: '10.1.0.1', at: start + 2 * hour });
  await sight(open, [{ kind: 'name', ip: '10.1.0.1', name: 'laptop', from: 'dhcp', at: start + 2 * hour }]);
  await store.commit(
    batchOf([finding({ dst_ip: '10.1.0.1', severity: 'critical', timestamp: start + 2 * hour })], {
      blocks: [inbound([{ dst_ip: '10.0.0.9', timestamp: start + hour }])],
    }),
  );
  return open;
}

const ask = (changes: Partial<ListQuery>): ListQuery => ({ ...everything, sort: 'name', ...changes });
const term = (field: string, ...values: (string | number)[]) => ask({ terms: [{ field, values }] });

describe('lists of assets', () => {
  test('are filtered by all attributes', async () => {
    const { reader } = await filled();
    const names = (query: ListQuery) =>
      resources<{ name: string }>(reader.listAssets(query)).map(({ attributes }) => attributes.name);
    const wanted: [ListQuery, string[]][] = [
      [ask({}), ['10.0.0.9', 'Web', 'laptop', 'printer']],
      [term('ip', '10.0.0.0/24'), ['10.0.0.9', 'Web']],
      [term('ip', '2001:DB8:0::1'), ['Web']],
      [term('mac', macA), ['10.0.0.9']],
      [term('hostname', 'hp.example', 'laptop'), ['laptop', 'printer']],
      [term('name', 'Web'), ['Web']],
      [term('kind', 'server', 'printer'), ['Web', 'printer']],
      [term('criticality', 'medium'), ['10.0.0.9', 'laptop']],
      [term('state', 'managed'), ['Web']],
      [term('source', 'passive'), ['10.0.0.9', 'laptop']],
      [term('tag', 'prod'), ['Web']],
      [term('owner', 'Ana'), ['Web']],
      [term('os', 'Debian'), ['Web']],
      [term('vendor', 'Dell'), ['Web']],
      [term('name', 'wEB'), ['Web']],
      [term('tags', 'PROD'), ['Web']],
      [term('owner', 'aNA'), ['Web']],
      [term('os', 'DEBIAN'), ['Web']],
      [term('vendor', 'dell'), ['Web']],
      [term('risk_level', 'critical'), ['laptop']],
      [term('open_alerts', 1), ['laptop']],
      [term('service_count', 1), ['10.0.0.9']],
      [ask({ q: 'RACK' }), ['Web']],
      [ask({ q: 'dmz' }), ['Web']],
      [ask({ q: '10.1.' }), ['laptop']],
      [ask({ q: macA.slice(3) }), ['10.0.0.9']],
      [ask({ from: start + 2 * hour }), ['laptop']],
      [ask({ from: start, to: start + 2 * hour }), ['10.0.0.9']],
    ];
    for (const [query, expected] of wanted) expect(names(query), JSON.stringify(query)).toEqual(expected);
    expect(() => reader.listAssets(term('risk_level', 'grave'))).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST' }),
    );
    expect(() => reader.listAssets(term('colour', 'red'))).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST' }),
    );
  });

  test.each([
    ['last_seen', ['laptop', '10.0.0.9']],
    ['risk_score', ['laptop']],
    ['open_alerts', ['laptop']],
    ['service_count', ['10.0.0.9']],
    ['criticality', ['Web']],
    ['ip', ['laptop', 'Web', '10.0.0.9', 'printer']],
    ['name', ['printer', 'laptop', 'Web', '10.0.0.9']],
  ])('are sorted by %s, and continue by cursor', async (sort, first) => {
    const { reader } = await filled();
    const all = resources<{ name: string }>(reader.listAssets(ask({ sort, order: 'desc' })));
    const names = all.map(({ attributes }) => attributes.name);
    expect(names.slice(0, first.length)).toEqual(first);
    const paged: string[] = [];
    let cursor: string | undefined;
    do {
      const page = reader.listAssets(
        ask({ sort, order: 'desc', per_page: 1, ...(cursor === undefined ? {} : { cursor }) }),
      );
      paged.push(...resources(page).map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(paged).toEqual(all.map(({ id }) => id));
  });
});
