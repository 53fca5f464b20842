import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import type { Services } from '../../src/http/services.ts';
import { adminOf, openService, type Service } from './service.ts';

/** Folder of the official exporters, which are not dependencies: scripts/with-client-libraries.sh installs them. */
const folder = process.env.CLIENT_LIBRARIES;

/** The parts of the libraries that these tests use. */
interface Logger {
  emit(record: { body: unknown; timestamp?: number; attributes?: object }): void;
}
interface Provider {
  getLogger(name: string): Logger;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}
type Class<T> = new (options: object) => T;
interface Libraries {
  readonly OTLPLogExporter: Class<object>;
  readonly LoggerProvider: Class<Provider>;
  readonly BatchLogRecordProcessor: Class<object>;
  resourceFromAttributes(attributes: object): object;
}

const conn = (n: number) => ({
  ts: 1_763_683_200 + n,
  uid: `C${n}`,
  'id.orig_h': '10.0.0.1',
  'id.orig_p': 1024 + n,
  'id.resp_h': '10.0.0.2',
  'id.resp_p': 443,
  proto: 'tcp',
  conn_state: 'SF',
});

describe.skipIf(folder === undefined)('the official exporters', () => {
  let service: Service;
  let token: string;
  let next = 0;
  const refusals: ServiceError[] = [];

  beforeAll(async () => {
    service = await openService();
    // Requests are rejected with the errors in `refusals`, as by an overloaded service.
    const { ingest } = service.services;
    (service.services as { ingest: Services['ingest'] }).ingest = {
      add: async (...body) => {
        const refusal = refusals.shift();
        if (refusal !== undefined) throw refusal;
        return ingest.add(...body);
      },
    };
    token = await adminOf(service);
  });
  afterAll(() => service?.close());

  const stored = async () => (await service.store.status()).events.network;

  function provider(encoding: 'proto' | 'http', compression: 'none' | 'gzip'): Provider {
    const load = createRequire(join(folder!, 'package.json'));
    const { LoggerProvider, BatchLogRecordProcessor }: Libraries = load('@opentelemetry/sdk-logs');
    const { resourceFromAttributes }: Libraries = load('@opentelemetry/resources');
    const { OTLPLogExporter }: Libraries = load(`@opentelemetry/exporter-logs-otlp-${encoding}`);
    const url = `${service.url}/v1/logs`;
    const headers = { authorization: `Bearer ${token}` };
    const exporter = new OTLPLogExporter({ url, headers, compression, timeoutMillis: 20_000 });
    const batches = { maxExportBatchSize: 100, scheduledDelayMillis: 50, exportTimeoutMillis: 20_000 };
    return new LoggerProvider({
      resource: resourceFromAttributes({ 'host.name': `tap-${encoding}-${compression}` }),
      processors: [new BatchLogRecordProcessor({ exporter, ...batches })],
    });
  }

  let bad = 0;
  test.each([
    ['proto', 'none'],
    ['proto', 'gzip'],
    ['http', 'none'],
    ['http', 'gzip'],
  ] as const)('store all records once, even after a refusal: %s, compression %s', async (encoding, compression) => {
    const opened = provider(encoding, compression);
    const logger = opened.getLogger('conn');
    const before = await stored();
    for (let i = 0; i < 300; i++) {
      const record = conn(next++);
      if (i % 3 === 0) logger.emit({ timestamp: Date.now(), body: JSON.stringify(record) });
      else if (i % 3 === 1) logger.emit({ body: record });
      else logger.emit({ body: 'conn', attributes: record });
    }
    await opened.forceFlush();
    expect(await stored()).toBe(before + 300);
    const last = await service.call('listNetworkEvents', `GET /api/v1/events/network?q=C${next - 1}`, {
      token,
    });
    expect(last.body).toMatchObject({
      data: [{ attributes: { sensor: `tap-${encoding}-${compression}` } }],
    });

    refusals.push(new ServiceError('OVERLOADED', 'full', { retry_after_s: 1 }));
    logger.emit({ body: JSON.stringify(conn(next++)) });
    await opened.forceFlush();
    expect([refusals.length, await stored()]).toEqual([0, before + 301]);

    logger.emit({ body: 'a line of something else' });
    logger.emit({ body: JSON.stringify(conn(next++)) });
    await opened.forceFlush();
    expect(await stored()).toBe(before + 302);

    const fields = ['ts', 'uid', 'id.orig_h', 'id.resp_h', 'proto', 'conn_state'];
    const types = ['time', 'string', 'addr', 'addr', 'enum', 'string'];
    const row = ['1700000000.5', 'T1', '10.0.0.1', '203.0.113.5', 'tcp', 'SF'];
    for (const cells of [['#path', 'conn'], ['#fields', ...fields], ['#types', ...types], row]) {
      logger.emit({ body: cells.join('\t'), attributes: { 'log.file.name': 'conn.log' } });
      await opened.forceFlush();
    }
    expect(await stored()).toBe(before + 303);
    const { rejected, refused } = service.services.metrics.notStored.counts();
    expect([rejected, refused]).toEqual([++bad, 0]);
    await opened.shutdown();
  });
});
