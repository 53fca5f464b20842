import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openService, password, type Service } from './service.ts';

/**
 * A request of a shipper. The requests are those of the shippers' sources, from the first one on: elastic/beats
 * libbeat/esleg/eslegclient, libbeat/template/load.go, libbeat/idxmgmt/lifecycle, x-pack/libbeat/licenser;
 * logstash-plugins/logstash-output-elasticsearch lib/logstash/outputs/elasticsearch; vectordotdev/vector
 * src/sinks/elasticsearch; fluent/fluent-bit plugins/out_es; rsyslog/rsyslog plugins/omelasticsearch.
 */
interface Step {
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly gzip?: true;
}

const line = (uid: string) =>
  JSON.stringify({
    ts: 1_700_000_000,
    uid,
    'id.orig_h': '192.168.0.10',
    'id.orig_p': 40_000,
    'id.resp_h': '203.0.113.5',
    'id.resp_p': 443,
    proto: 'tcp',
    conn_state: 'SF',
  });
const ndjson = (...lines: object[]) => lines.map((one) => `${JSON.stringify(one)}\n`).join('');

const json = { accept: 'application/json', 'content-type': 'application/json; charset=UTF-8' };
const template = { headers: json, body: '{"index_patterns":["x-*"],"data_stream":{}}' };

const shippers: Readonly<Record<string, { sensor: string; steps: readonly Step[] }>> = {
  Filebeat: {
    sensor: 'tap-1',
    steps: [
      { method: 'GET', target: '/', headers: { accept: 'application/json' } },
      { method: 'GET', target: '/_license?human=false', headers: { accept: 'application/json' } },
      { method: 'GET', target: '/_ilm/policy/filebeat' },
      { method: 'PUT', target: '/_ilm/policy/filebeat', headers: json, body: '{"policy":{}}' },
      { method: 'HEAD', target: '/_index_template/filebeat-8.15.0' },
      { method: 'PUT', target: '/_index_template/filebeat-8.15.0', ...template },
      { method: 'GET', target: '/_data_stream/filebeat-8.15.0' },
      { method: 'PUT', target: '/_data_stream/filebeat-8.15.0' },
      { method: 'GET', target: '/_nodes/ingest' },
      { method: 'GET', target: '/_ingest/pipeline/filebeat-8.15.0-zeek-connection-pipeline' },
      {
        method: 'POST',
        target: '/_bulk?filter_path=errors%2Citems.%2A.error%2Citems.%2A.status',
        headers: { ...json, 'x-elastic-product-origin': 'beats' },
        gzip: true,
        body: ndjson(
          { create: { _index: 'filebeat-8.15.0' } },
          {
            '@timestamp': '2026-01-01T00:00:00.000Z',
            log: { offset: 0, file: { path: '/opt/zeek/logs/current/conn.log' } },
            message: line('Filebeat'),
            input: { type: 'filestream' },
            ecs: { version: '8.0.0' },
            host: { name: 'tap-1', ip: ['192.0.2.1'] },
            agent: { name: 'tap-1', type: 'filebeat', version: '8.15.0', ephemeral_id: 'e', id: 'i' },
          },
        ),
      },
    ],
  },
  Logstash: {
    sensor: 'tap-2',
    steps: [
      { method: 'HEAD', target: '/' },
      { method: 'GET', target: '/' },
      { method: 'GET', target: '/_license' },
      { method: 'GET', target: '/_xpack' },
      { method: 'HEAD', target: '/_index_template/ecs-logstash' },
      { method: 'PUT', target: '/_index_template/ecs-logstash', ...template },
      { method: 'GET', target: '/_nodes/http' },
      {
        method: 'POST',
        target: '/_bulk?filter_path=errors,items.*.error,items.*.status',
        headers: { 'content-type': 'application/json' },
        gzip: true,
        body: ndjson(
          { create: { _id: null, _index: 'logs-generic-default', routing: null } },
          {
            '@timestamp': '2026-01-01T00:00:00.000Z',
            '@version': '1',
            event: { original: line('Logstash') },
            host: { name: 'tap-2' },
            log: { file: { path: '/a' } },
            message: line('Logstash'),
            data_stream: { type: 'logs', dataset: 'generic', namespace: 'default' },
          },
        ),
      },
    ],
  },
  Vector: {
    sensor: 'tap-3',
    steps: [
      { method: 'GET', target: '/' },
      { method: 'GET', target: '/_cluster/health' },
      {
        method: 'POST',
        target: '/_bulk?timeout=60s',
        headers: { 'content-type': 'application/x-ndjson', 'accept-encoding': 'gzip' },
        gzip: true,
        body: ndjson(
          { create: { _index: 'vector-2026.01.01' } },
          {
            file: '/opt/zeek/logs/current/conn.log',
            host: 'tap-3',
            message: line('Vector'),
            source_type: 'file',
            timestamp: '2026-01-01T00:00:00.000000000Z',
          },
        ),
      },
    ],
  },
  'Fluent Bit': {
    sensor: 'tap-4',
    steps: [
      {
        method: 'POST',
        target: '/_bulk',
        headers: { 'content-type': 'application/x-ndjson', 'user-agent': 'Fluent-Bit' },
        body: ndjson(
          { create: { _index: 'fluent-bit', _id: '0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f' } },
          { '@timestamp': '2026-01-01T00:00:00.000Z', log: line('Fluent Bit'), 'host.name': 'tap-4' },
        ),
      },
    ],
  },
  rsyslog: {
    sensor: 'tap-5',
    steps: [
      { method: 'GET', target: '/_cat/health' },
      {
        method: 'POST',
        target: '/_bulk?timeout=1m',
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: `{"index":{"_index":"system","_type":"events"}}\n${JSON.stringify({ message: ` ${line('rsyslog')}`, host: 'tap-5' })}\n`,
      },
    ],
  },
};

let service: Service;
let admin: string;
let token: string;

beforeAll(async () => {
  service = await openService();
  const login = { json: { username: 'admin', password } };
  admin = ((await service.call('login', 'POST /auth/login', login)).body as { access_token: string }).access_token;
  const { body } = await service.call('issueToken', 'POST /api/v1/tokens', {
    token: admin,
    json: { name: 'a shipper', scopes: ['sensor'] },
  });
  token = (body as { data: { attributes: { token: string } } }).data.attributes.token;
});
afterAll(() => service.close());

describe.each(Object.entries(shippers))('%s', (name, { sensor, steps }) => {
  test('gets a response to every request, and its records are stored', async () => {
    for (const { method, target, headers = {}, body, gzip } of steps) {
      const sent = body === undefined ? undefined : gzip ? new Uint8Array(gzipSync(body)) : body;
      const answer = await fetch(service.url + target, {
        method,
        headers: {
          authorization: `Basic ${Buffer.from(`${name}:${token}`).toString('base64')}`,
          ...headers,
          ...(gzip ? { 'content-encoding': 'gzip' } : {}),
        },
        ...(sent === undefined ? {} : { body: sent }),
      });
      const text = await answer.text();
      expect([method, target, answer.status]).toEqual([method, target, 200]);
      expect(answer.headers.get('x-elastic-product')).toBe('Elasticsearch');
      if (target.startsWith('/_bulk')) expect(text).toContain('"errors":false,"items":[');
    }
    const { body } = await service.call('listNetworkEvents', `GET /api/v1/events/network?sensor=${sensor}`, {
      token: admin,
    });
    expect((body as { data: object[] }).data).toMatchObject([{ attributes: { connection_id: name, sensor } }]);
  });
});
