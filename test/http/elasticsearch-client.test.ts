import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import type { Services } from '../../src/http/services.ts';
import { adminOf, openService, type Service } from './service.ts';

/** Folder of the official client, which is not a dependency: scripts/with-client-libraries.sh installs it. */
const folder = process.env.CLIENT_LIBRARIES;

// The parts of the client that these tests use.
interface Dropped {
  readonly status: number;
  readonly error: { readonly type: string } | null;
  readonly document: { readonly uid?: string };
}
interface Client {
  info(): Promise<{ version: { number: string } }>;
  ping(): Promise<boolean>;
  bulk(params: { operations: object[] }): Promise<{ errors: boolean; items: object[] }>;
  close(): Promise<void>;
  readonly helpers: {
    bulk(options: {
      datasource: readonly object[];
      flushBytes?: number;
      concurrency?: number;
      onDocument(document: { uid?: string }): object;
      onDrop?(dropped: Dropped): void;
    }): Promise<{ total: number; failed: number; successful: number }>;
  };
}
type ClientClass = new (options: object) => Client;

const conn = (n: number) => ({
  ts: 1_700_000_000 + n,
  uid: `C${n}`,
  'id.orig_h': '192.168.0.10',
  'id.orig_p': 40_000,
  'id.resp_h': '203.0.113.5',
  'id.resp_p': 443,
  proto: 'tcp',
  conn_state: 'SF',
});

describe.skipIf(folder === undefined)('the official client', () => {
  let service: Service;
  let token: string;
  let clients: ((auth: object) => Client) | undefined;
  const opened: Client[] = [];
  const refusals: ServiceError[] = [];

  beforeAll(async () => {
    const { Client } = createRequire(join(folder!, 'package.json'))('@elastic/elasticsearch') as {
      Client: ClientClass;
    };
    service = await openService();
    // The next requests are rejected as by an overloaded service.
    const { ingest } = service.services;
    (service.services as { ingest: Services['ingest'] }).ingest = {
      add: async (...body) => {
        const refusal = refusals.shift();
        if (refusal !== undefined) throw refusal;
        return ingest.add(...body);
      },
    };
    token = await adminOf(service);
    clients = (auth) => {
      const client = new Client({ node: service.url, auth, compression: true });
      opened.push(client);
      return client;
    };
  });
  afterAll(async () => {
    await Promise.all(opened.map((client) => client.close()));
    await service?.close();
  });
  const client = (auth: object = { username: 'shipper', password: token }) => clients!(auth);
  const stored = async () => (await service.store.status()).events.network;

  test('accepts the server with each of its authentication methods', async () => {
    for (const auth of [
      { username: 'shipper', password: token },
      { apiKey: { id: 'any', api_key: token } },
      { bearer: token },
    ]) {
      expect((await client(auth).info()).version.number).toMatch(/^8\./);
      expect(await client(auth).ping()).toBe(true);
    }
    await expect(client({ username: 'a', password: 'b' }).info()).rejects.toMatchObject({ statusCode: 401 });
  });

  test('ships all valid records once with its bulk helper, and gets errors for the other records', async () => {
    const before = await stored();
    const records = Array.from({ length: 2000 }, (_, n) => (n % 500 === 7 ? { nonsense: n } : conn(n)));
    const ship = async (action: 'create' | 'index') => {
      const dropped: Dropped[] = [];
      const { total, failed } = await client().helpers.bulk({
        datasource: records,
        flushBytes: 50_000,
        onDocument: ({ uid }) => ({
          [action]: { _index: 'logs', ...(uid === undefined ? {} : { _id: uid }) },
        }),
        onDrop: (one) => dropped.push(one),
      });
      return { total, failed, statuses: dropped.map(({ status }) => status).sort() };
    };
    expect(await ship('create')).toEqual({ total: 2000, failed: 4, statuses: [400, 400, 400, 400] });
    expect(await stored()).toBe(before + 1996);
    expect(await ship('index')).toEqual({ total: 2000, failed: 4, statuses: [400, 400, 400, 400] });
    const again = await ship('create');
    expect([again.failed, new Set(again.statuses)]).toEqual([2000, new Set([400, 409])]);
    expect(await stored()).toBe(before + 1996);
  });

  test('ships lines of Zeek TSV unchanged; an invalid line is dropped and counted', async () => {
    const before = await stored();
    const lines = [
      '#separator \\x09',
      '#path\tconn',
      '#fields\tts\tuid\tid.orig_h\tid.resp_h\tproto\tconn_state',
      '#types\ttime\tstring\taddr\taddr\tenum\tstring',
      '1700000000.5\tT1\t10.0.0.1\t203.0.113.5\ttcp\tSF',
      'a line of something else',
      '1700000001.5\tT2\t10.0.0.1\t203.0.113.5\ttcp\tSF',
    ];
    const dropped: Dropped[] = [];
    for (const message of lines)
      await client().helpers.bulk({
        datasource: [{ message }],
        onDocument: () => ({ create: { _index: 'logs' } }),
        onDrop: (one) => dropped.push(one),
      });
    expect([await stored(), dropped.map(({ status }) => status)]).toEqual([before + 2, [400]]);
    const { reasons } = service.services.metrics.notStored.shown();
    expect(reasons.flatMap(({ samples }) => samples)).toContainEqual(expect.stringContaining(lines[5]!));
  });

  test('retries after an overload', async () => {
    const before = await stored();
    refusals.push(
      new ServiceError('OVERLOADED', 'full'),
      new ServiceError('UNAVAILABLE', 'full', { reason: 'disk_full' }),
    );
    const { total, failed } = await client().helpers.bulk({
      datasource: [conn(9001), conn(9002)],
      onDocument: () => ({ index: {} }),
    });
    expect([total, failed, refusals.length]).toEqual([2, 0, 0]);
    expect(await stored()).toBe(before + 2);
  });
});
