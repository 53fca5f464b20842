import { describe, expect, it } from 'vitest';
import type { FramingOptions } from '../../src/ingest/framing/framing.ts';
import { events, parse } from './ingesting.ts';

const framing: FramingOptions = { name: 'elasticsearch_bulk', index: 'x', fields: ['status'], sender: 's' };
const conn = {
  ts: 1763683200.5,
  uid: 'C1',
  'id.orig_h': '10.0.0.1',
  'id.orig_p': 1234,
  'id.resp_h': '10.0.0.2',
  'id.resp_p': 80,
  proto: 'tcp',
  conn_state: 'SF',
};
const flow = {
  timestamp: '2026-01-01T00:00:00.000000+0000',
  event_type: 'flow',
  flow_id: 1,
  src_ip: '10.0.0.1',
  src_port: 1,
  dest_ip: '10.0.0.2',
  dest_port: 2,
  proto: 'TCP',
  flow: { pkts_toserver: 1, pkts_toclient: 1, bytes_toserver: 60, bytes_toclient: 60, state: 'closed' },
};
const native = {
  type: 'network_event',
  timestamp: '2026-01-01T00:00:00Z',
  src_ip: '10.0.0.1',
  dst_ip: '10.0.0.2',
  transport: 'tcp',
};
const text = (record: object) => JSON.stringify(record);
const ship = (...documents: (object | string)[]) =>
  parse(documents.flatMap((one) => ['{"index":{}}', typeof one === 'string' ? one : text(one)]).join('\n'), {
    framing,
  });

/** Fields that Filebeat adds to each line. */
const filebeat = {
  '@timestamp': '2026-01-01T00:00:00.000Z',
  '@metadata': { beat: 'filebeat' },
  agent: { name: 'shipper', type: 'filebeat', version: '8.15.0' },
  ecs: { version: '8.0.0' },
  host: { name: 'tap-1' },
  input: { type: 'filestream' },
  log: { file: { path: '/nsm/conn.log' }, offset: 12 },
};

describe('a record inside a document', () => {
  it.each([
    ['as a message of Filebeat', { ...filebeat, message: text(conn) }, 'tap-1'],
    [
      'as a message of Filebeat, with dotted names',
      { 'host.name': 'tap-1', 'agent.name': 'a', message: text(conn) },
      'tap-1',
    ],
    ['as the original of an event', { event: { original: text(conn) }, message: 'other' }, undefined],
    [
      'as the original of an event, with a dotted name',
      { 'event.original': text(conn), observer: { name: 'o' }, host: { name: 'h' } },
      'o',
    ],
    ['as the log of Fluent Bit', { '@timestamp': 'x', log: text(conn), stream: 'stdout' }, undefined],
    ['as a message of Vector or Logstash', { host: 'box', message: `${text(conn)}\n` }, 'box'],
    ['as a message of Logstash whose host is an address', { host: '192.0.2.1', message: text(conn) }, '192.0.2.1'],
    ["with the record's fields next to the added fields", { ...filebeat, ...conn }, 'tap-1'],
    ['with the name of its sensor', { ...filebeat, message: text({ ...conn, _node_name: 'w1' }) }, 'w1'],
    ['from Suricata', { ...filebeat, message: text(flow) }, 'tap-1'],
    ["from Suricata, with the record's fields next to the added fields", { ...flow, host: { name: 'tap-1' } }, 'tap-1'],
    ['from Suricata, with the name of its sensor', { ...filebeat, message: text({ ...flow, host: 's' }) }, 's'],
    ['in the native format', { ...filebeat, message: text(native) }, 'tap-1'],
    ['in the native format, next to added fields', { ...filebeat, ...native, tags: ['a'] }, 'tap-1'],
    [
      'with names over the limit',
      { host: { name: 'x'.repeat(201) }, agent: { name: 7 }, message: text(conn) },
      undefined,
    ],
  ])('is parsed %s', (_, document, sensor) => {
    const parsed = ship(document);
    expect(parsed.answer).toMatchObject({ accepted: 1, rejected: 0, errors: [] });
    expect(events(parsed)).toMatchObject([{ src_ip: '10.0.0.1', dst_ip: '10.0.0.2' }]);
    expect(events(parsed)[0]?.sensor).toBe(sensor);
  });

  it('does not get the sensor of the previous record', () => {
    const parsed = ship({ ...filebeat, message: text(conn) }, conn);
    expect(events(parsed).map(({ sensor }) => sensor)).toEqual(['tap-1', undefined]);
  });

  it('keeps the digits of a long flow_id, in the document and in a text', () => {
    const line = text(flow).replace('"flow_id":1', '"flow_id":1234567890123456789');
    const ids = events(ship(line, { message: line })).map(({ connection_id }) => connection_id);
    expect(ids).toEqual(['1234567890123456789', '1234567890123456789']);
  });

  it.each([
    ['a missing record', { message: 'hello' }, 'message'],
    ['a row without its header', { message: '1763683200.5\tC1\t10.0.0.1' }, 'message'],
    ['JSON of an unknown format', { message: '{"a":1}' }, 'message'],
    ['a truncated record', { log: text(conn).slice(0, -5) }, 'log'],
    ['an array', { message: `[${text(conn)}]` }, 'message'],
    ['excessive nesting', { message: `{"ts":1,"uid":${'['.repeat(40)}${']'.repeat(40)}}` }, 'message'],
    ['an invalid field', { message: text({ ...conn, proto: 7 }) }, 'proto'],
    ['nothing', {}, 'line'],
    ['a number', { message: 7 }, 'line'],
    ['a nested document', { message: text({ message: text(conn) }) }, 'message'],
  ])('is rejected, and the error names the field, if there is %s', (_, document, field) => {
    const { answer } = ship(document);
    expect(answer).toMatchObject({ accepted: 0, rejected: 1, errors: [{ line: 1, field }] });
  });

  it('is searched for only in bodies of shipper protocols', () => {
    expect(parse([{ ...filebeat, message: text(conn) }]).answer).toMatchObject({ accepted: 0, rejected: 1 });
  });
});
