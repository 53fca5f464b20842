import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Asset } from '../../../src/contract/resources/asset.ts';
import type { Service } from '../../../src/contract/resources/service.ts';
import { hasShared, home, parse, sharedFile } from '../../ingest/ingesting.ts';
import { batchOf, everything, opened, resources, settled } from '../../store/opened.ts';

type Line = Readonly<Record<string, string | number | undefined>>;

/** By service (`address port/transport`): the number of connections, and the client addresses. */
type Found = Map<string, { connections: number; clients: Set<string> }>;

const established = ['S1', 'SF', 'S2', 'S3', 'RSTO', 'RSTR'];

/** Evaluates the lines naively, one by one. */
function servicesIn(lines: readonly Line[], isHome: (ip: string) => boolean): { found: Found; hosts: Set<string> } {
  const found: Found = new Map();
  const hosts = new Set<string>();
  const known = new Set<string>();
  for (const line of lines) {
    const [src, dst] = [String(line['id.orig_h']), String(line['id.resp_h'])];
    const tcp = line.proto === 'tcp';
    const answered = tcp
      ? established.includes(String(line.conn_state)) && /[hd]/.test(String(line.history ?? 'h'))
      : Number(line.resp_pkts) > 0 && Number(line.orig_pkts) > 0;
    const isNew = !known.has(String(line.uid));
    known.add(String(line.uid));
    if (!answered) continue;
    if (tcp && isHome(src)) hosts.add(src);
    if (!isHome(dst) || /^(22[4-9]|23\d)\.|^ff|^255\.255\.255\.255$/.test(dst)) continue;
    hosts.add(dst);
    if (line.proto === 'icmp' || Number(line['id.resp_p']) === 0) continue;
    const key = `${dst} ${line['id.resp_p']}/${line.proto}`;
    const service = found.get(key) ?? { connections: 0, clients: new Set() };
    found.set(key, service);
    if (isNew) service.connections++;
    service.clients.add(src);
  }
  return { found, hosts };
}

const linesOf = (files: readonly string[]): string[] =>
  files.flatMap((file) => gunzipSync(sharedFile(file)).toString('utf8').trimEnd().split('\n'));

async function ingested(lines: readonly string[], networks: readonly string[], linesAtOnce: number) {
  const { store, reader } = opened({ home: networks });
  for (let i = 0; i < lines.length; i += linesAtOnce) {
    const { blocks, findings, answer } = parse(lines.slice(i, i + linesAtOnce).join('\n'), {
      home: networks,
    });
    await store.commit(batchOf(findings, { blocks, answer }));
  }
  await settled(store);
  const services = resources<Service>(reader.listServices({ ...everything, sort: 'port' }));
  const assets = resources<Asset>(reader.listAssets({ ...everything, sort: 'name' }));
  return { services, assets, status: await store.status() };
}

const shown = (services: readonly { readonly attributes: Service }[]) =>
  Object.fromEntries(
    services.map(({ attributes: { ip, port, transport, connections, clients } }) => [
      `${ip} ${port}/${transport}`,
      { connections, clients },
    ]),
  );

const expected = ({ found }: { found: Found }) =>
  Object.fromEntries(
    [...found].map(([key, { connections, clients }]) => [key, { connections, clients: clients.size }]),
  );

const sets = [
  {
    name: 'a small office network',
    files: ['zeek-lan/m57.conn.ndjson.gz'],
    networks: home,
    isHome: (ip: string) => ip.startsWith('192.168.') || ip.startsWith('169.254.'),
  },
  {
    name: 'one host on the internet',
    files: ['zeek-internet-host/missing_host.open_conn.ndjson.gz', 'zeek-internet-host/missing_host.conn.ndjson.gz'],
    networks: ['64.225.56.201/32'],
    isHome: (ip: string) => ip === '64.225.56.201',
  },
];

describe.skipIf(!hasShared)('real sensor data', () => {
  test.each(sets)(
    'results in the same hosts and services as a count of the lines: $name',
    async ({ files, networks, isHome }) => {
      const lines = linesOf(files);
      const wanted = servicesIn(
        lines.map((line) => JSON.parse(line)),
        isHome,
      );
      for (const linesAtOnce of [5000, 997]) {
        const { services, assets, status } = await ingested(lines, networks, linesAtOnce);
        const got = shown(services);
        const want = expected(wanted);
        expect(Object.keys(got).sort()).toEqual(Object.keys(want).sort());
        for (const [key, { connections, clients }] of Object.entries(want)) {
          expect(got[key], key).toMatchObject({ connections });
          // Above 4,096 clients the count is an estimate.
          if (clients <= 4096) expect(got[key]!.clients, key).toBe(clients);
          else expect(Math.abs(got[key]!.clients / clients - 1), key).toBeLessThan(0.05);
        }
        expect(assets.flatMap(({ attributes }) => attributes.ip_addresses).sort()).toEqual([...wanted.hosts].sort());
        for (const { id, attributes } of assets)
          expect(services.filter(({ attributes: { asset_id } }) => asset_id === id)).toHaveLength(
            attributes.service_count,
          );
        expect(status).toMatchObject({
          services: wanted.found.size,
          assets: wanted.hosts.size,
          limits_reached: {},
        });
      }
    },
  );
});
