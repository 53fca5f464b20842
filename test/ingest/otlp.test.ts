import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { events, parse } from './ingesting.ts';
import {
  type AnyValue,
  anyOf,
  bytesOf,
  encodeRequest,
  type Field,
  type LogRecord,
  type LogsRequest,
  ofBytes,
  ofEight,
  ofText,
  ofVarint,
  pairsOf,
  requestOf,
} from './otlp-messages.ts';

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
const line = JSON.stringify(conn);
const flow = {
  timestamp: '2026-01-02T03:04:05.678Z',
  event_type: 'flow',
  src_ip: '10.0.0.1',
  src_port: 1,
  dest_ip: '10.0.0.2',
  dest_port: 2,
  proto: 'TCP',
  flow: { pkts_toserver: 2, pkts_toclient: 2, bytes_toserver: 120, bytes_toclient: 120, state: 'closed' },
};
const native = {
  type: 'network_event',
  timestamp: '2026-01-02T03:04:05.678Z',
  src_ip: '10.0.0.1',
  dst_ip: '10.0.0.2',
  transport: 'tcp',
};
const text = (stringValue: string): LogRecord => ({ body: { stringValue } });

const encodings = ['otlp_protobuf', 'otlp_json'] as const;
type Encoding = (typeof encodings)[number];
const encode = (name: Encoding, request: LogsRequest): Buffer =>
  name === 'otlp_json' ? Buffer.from(JSON.stringify(request)) : encodeRequest(request);
const read = (name: Encoding, body: Uint8Array) => parse(body, { framing: { name, sender: 'p' } });
const sent = (name: Encoding, records: readonly LogRecord[], resource?: Record<string, string>) =>
  read(name, encode(name, requestOf(records, resource)));
function failure(name: Encoding, body: Uint8Array): unknown {
  try {
    return read(name, body).answer;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [error.code, error.details?.field ?? error.details?.reason];
  }
}
const errorsOf = (parsed: ReturnType<typeof parse>) =>
  parsed.answer.errors.map(({ line: number, field, reason }) => `${number} ${field} ${reason}`);

describe.each(encodings)('a log record in %s', (name) => {
  it.each<[string, LogRecord]>([
    ['the text of its body', text(line)],
    ['a text with white space around it', text(` \n${line}\r\n`)],
    ['the bytes of its body', { body: { bytesValue: Buffer.from(line).toString('base64') } }],
    ['the list that is its body', { body: anyOf(conn) }],
    ['its attributes', { attributes: pairsOf({ ...conn, 'log.file.name': 'conn.log' }) }],
    ['its attributes, next to an empty list', { body: anyOf({}), attributes: pairsOf(conn) }],
    ['its attributes, next to a text without data', { body: anyOf('C1 TCP'), attributes: pairsOf(conn) }],
    ['the text instead of its attributes', { ...text(line), attributes: pairsOf({ ...conn, uid: 'C2' }) }],
    ['a line in a list of its body, as Fluent Bit sends it', { body: anyOf({ log: line }) }],
  ])('is read as %s', (_, record) => {
    const [event] = events(sent(name, [record]));
    expect(event).toMatchObject({ connection_id: 'C1', src_ip: '10.0.0.1', src_port: 1234, source: 'zeek' });
  });

  it.each<[string, object, object]>([
    ['Suricata', flow, { source: 'suricata', state: 'closed' }],
    ['the native format', native, { source: 'native', transport: 'tcp' }],
  ])(
    'with a record in another format is parsed from a text, a key-value list and attributes: %s',
    (_, record, wanted) => {
      const parsed = sent(name, [
        text(JSON.stringify(record)),
        { body: anyOf(record) },
        { attributes: pairsOf({ ...record, 'log.file.path': '/var/log/eve.json' }) },
      ]);
      expect(parsed.answer).toMatchObject({ accepted: 3, rejected: 0 });
      for (const event of events(parsed)) expect(event).toMatchObject(wanted);
    },
  );

  it('keeps all digits of a 64-bit number', () => {
    const body: AnyValue = {
      kvlistValue: {
        values: [...pairsOf(flow), { key: 'flow_id', value: { intValue: '1234567890123456789' } }],
      },
    };
    expect(events(sent(name, [{ body }]))[0]).toMatchObject({ connection_id: '1234567890123456789' });
  });

  it.each<[string, Record<string, string>, string | undefined]>([
    ['the host', { 'service.instance.id': 'i', 'host.name': 'h', 'service.name': 's' }, 'h'],
    ['the service', { 'service.instance.id': 'i', 'service.name': 's' }, 's'],
    ['the service instance', { 'service.instance.id': 'i', 'service.name': 'unknown_service:node' }, 'i'],
    ['no sensor without a name', { 'os.type': 'linux', 'host.name': '' }, undefined],
    ['no sensor if the name is too long', { 'host.name': 'x'.repeat(201) }, undefined],
  ])('gets its sensor from its resource: %s', (_, resource, sensor) => {
    expect(events(sent(name, [text(line)], resource))[0]?.sensor).toBe(sensor);
  });

  it('gets its sensor from the record in its body, otherwise from its scope', () => {
    const own = JSON.stringify({ ...conn, _system_name: 'own' });
    const request: LogsRequest = {
      resourceLogs: [
        {
          scopeLogs: [{ scope: { name: 'scope' }, logRecords: [text(own), text(line)] }, { logRecords: [text(line)] }],
        },
      ],
    };
    const sensors = events(read(name, encode(name, request))).map(({ sensor }) => sensor);
    expect(sensors).toEqual(['own', 'scope', undefined]);
  });

  it('does not affect its neighbours if it is invalid', () => {
    const parsed = sent(name, [
      text(line),
      text('{"ts":1,'),
      text('no object'),
      {},
      { body: anyOf(12), attributes: [] },
      text('{"a":1}'),
      { attributes: pairsOf({ 'log.file.name': 'x' }) },
      text(line),
    ]);
    expect(parsed.answer).toMatchObject({ accepted: 2, rejected: 6, ignored: 0 });
    const nothing = 'body is neither a JSON object nor a key-value list, and there are no attributes';
    expect(errorsOf(parsed)).toEqual([
      '2 line is not valid JSON',
      `3 ${nothing}`,
      `4 ${nothing}`,
      `5 ${nothing}`,
      '6 line is in no known format',
      `7 ${nothing}`,
    ]);
  });

  it('is ignored if its kind is not stored', () => {
    expect(sent(name, [text('{"_path":"http","ts":1,"uid":"C2"}')]).answer).toMatchObject({ ignored: 1 });
  });

  it('keeps characters beyond ASCII', () => {
    const named = JSON.stringify({ ...native, sensor: 'Küche 🍳' });
    const escaped = named.replace('ü', '\\u00fc');
    const parsed = sent(name, [text(named), text(escaped), { body: anyOf(JSON.parse(named)) }]);
    expect(events(parsed).map(({ sensor }) => sensor)).toEqual(Array(3).fill('Küche 🍳'));
  });

  it('may have names of built-in object properties', () => {
    const list: AnyValue = {
      kvlistValue: {
        values: [
          { key: '__proto__', value: anyOf({ polluted: true }) },
          { key: 'constructor', value: anyOf('x') },
          { key: 'uid', value: anyOf('first') },
          ...pairsOf(conn),
        ],
      },
    };
    const [event] = events(sent(name, [{ body: list }]));
    expect(event).toMatchObject({ connection_id: 'C1' });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each([limits.maxNesting, 10_000, 100_000])('is rejected alone if it nests %i deep', (depth) => {
    // Written directly in the encoding: the encoder cannot process values of that depth.
    const array = name === 'otlp_json' ? deepJson(depth) : deepProtobuf(depth);
    const parsed = read(name, array);
    expect(parsed.answer).toMatchObject({ accepted: 1, rejected: 1 });
    expect(errorsOf(parsed)[0]).toMatch(/nests deeper than 32|is longer than/);
  });

  it('is rejected alone if it is too long', () => {
    const parsed = sent(name, [
      { attributes: pairsOf({ ...conn, x: 'x'.repeat(limits.maxLogRecordBytes) }) },
      text(JSON.stringify({ ...conn, x: 'x'.repeat(limits.maxLineBytes) })),
      text(line),
    ]);
    expect(parsed.answer).toMatchObject({ accepted: 1, rejected: 2 });
    expect(errorsOf(parsed)).toEqual([
      `1 log_record is longer than ${limits.maxLogRecordBytes} bytes`,
      `2 line is longer than ${limits.maxLineBytes} bytes`,
    ]);
  });

  it('is processed in a request of at most a million log records; a larger request is rejected', () => {
    const open = name === 'otlp_json' ? '{"resourceLogs":[{"scopeLogs":[{"logRecords":[' : '';
    const many = (count: number) =>
      name === 'otlp_json'
        ? Buffer.from(`${open}${'{},'.repeat(count - 1)}{}]}]}]}`)
        : bytesOf([ofBytes(1, bytesOf([ofBytes(2, Buffer.alloc(2 * count, Buffer.of(0x12, 0)))]))]);
    expect(read(name, many(limits.maxBodyRecords)).answer.rejected).toBe(limits.maxBodyRecords);
    expect(failure(name, many(limits.maxBodyRecords + 1))).toEqual(['PAYLOAD_TOO_LARGE', 'too_many_records']);
  });
});

const inside = (fields: readonly Field[]) => bytesOf([ofBytes(1, bytesOf([ofBytes(2, bytesOf(fields))]))]);
const ofLog = (...fields: readonly Field[]) => ofBytes(2, bytesOf(fields));
const goodLog = ofLog(ofBytes(5, bytesOf([ofText(1, line)])));

function deepProtobuf(depth: number): Buffer {
  // Encoded from the inside: each level is the length of its contents, followed by the contents.
  const heads: Buffer[] = [];
  let length = 0;
  for (let level = 0; level < depth; level++) {
    for (const field of [1, 5]) {
      const [, head] = ofBytes(field, Buffer.alloc(0));
      const size = varintOf(length);
      heads.push(Buffer.concat([head.subarray(0, 1), size]));
      length += 1 + size.length;
    }
  }
  const value = Buffer.concat(heads.reverse());
  const pair = bytesOf([ofText(1, 'a'), ofBytes(2, value)]);
  return inside([ofLog(ofBytes(6, pair)), goodLog]);
}
function varintOf(value: number): Buffer {
  const [, field] = ofVarint(1, BigInt(value));
  return field.subarray(1);
}
function deepJson(depth: number): Buffer {
  const value = `${'{"arrayValue":{"values":['.repeat(depth)}{}${']}}'.repeat(depth)}`;
  const deep = `{"attributes":[{"key":"a","value":${value}}]}`;
  return Buffer.from(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[${deep},${JSON.stringify(text(line))}]}]}]}`);
}

const bytes = (...all: readonly number[]) => Buffer.from(all);
const ones = (count: number) => Buffer.alloc(count, 0xff);
const body = ['INVALID_REQUEST', 'body'];

describe('requests in protobuf', () => {
  it.each<[string, Buffer]>([
    ['a length of 2^63', Buffer.concat([bytes(0x0a), ones(8), bytes(0x7f)])],
    ['a length of 2^64 - 1', Buffer.concat([bytes(0x0a), ones(9), bytes(1)])],
    ['a length beyond the end of the request', bytes(0x0a, 5, 0, 0)],
    ['a length of 2^32', bytes(0x0a, 0x80, 0x80, 0x80, 0x80, 0x10)],
    ['a varint of 11 bytes', Buffer.concat([bytes(0x10), ones(10), bytes(1)])],
    ['a varint of 65 bits', Buffer.concat([bytes(0x10), ones(9), bytes(2)])],
    ['a tag longer than 5 bytes', Buffer.concat([ones(5), bytes(1)])],
    ['a tag without its value', bytes(0x0a)],
    ['half a number of 8 bytes', bytes(0x11, 1, 2, 3, 4)],
    ['field 0', bytes(2, 0)],
    ['a group', bytes(0x0b, 0x0c)],
    ['the end of a group', bytes(0x0c)],
    ['wire type 7', bytes(0x0f)],
    ['a number in place of resource_logs', bytesOf([ofVarint(1, 1n)])],
    ['a number in place of scope_logs', bytesOf([ofBytes(1, bytesOf([ofVarint(2, 1n)]))])],
    ['eight bytes in place of log_records', inside([ofEight(2, 1n)])],
    ['a number in place of a scope', inside([ofVarint(1, 1n)])],
    ['JSON', Buffer.from('{"resourceLogs":[]}')],
  ])('are rejected if they are invalid: %s', (_, request) => {
    expect(failure('otlp_protobuf', request)).toEqual(body);
  });

  it.each<[string, readonly Field[], string]>([
    ['a varint in place of a time', [ofVarint(1, 1n)], 'has field 1 with wire type 0, not 1'],
    ['a varint in place of a body', [ofVarint(5, 1n)], 'has field 5 with wire type 0, not 2'],
    ['a varint in place of an attribute', [ofVarint(6, 1n)], 'has field 6 with wire type 0, not 2'],
    ['a varint in place of a text', [ofBytes(5, bytesOf([ofVarint(1, 1n)]))], 'has field 1 with wire type 0, not 2'],
    ['a truncated body', [ofBytes(5, bytes(0x0a, 9, 1))], 'is truncated'],
    ['a group', [[5, bytes(0x2b, 0x2c)]], 'has a group, or an invalid wire type'],
  ])('with an invalid record lose only this record: %s', (_, fields, reason) => {
    const parsed = read('otlp_protobuf', inside([goodLog, ofLog(...fields), goodLog]));
    expect(parsed.answer).toMatchObject({ accepted: 2, rejected: 1 });
    expect(errorsOf(parsed)).toEqual([`2 protobuf ${reason}`]);
  });

  it('may have invalid UTF-8 in a text, which becomes U+FFFD', () => {
    const named = Buffer.concat([
      Buffer.from(`${JSON.stringify(native).slice(0, -1)},"sensor":"a`),
      bytes(0xff),
      Buffer.from('"}'),
    ]);
    const [event] = events(read('otlp_protobuf', inside([ofLog(ofBytes(5, bytesOf([ofBytes(1, named)])))])));
    expect(event?.sensor).toBe('a\ufffd');
  });

  it('may be empty, and then have no records', () => {
    expect(read('otlp_protobuf', Buffer.alloc(0)).answer).toMatchObject({ accepted: 0, rejected: 0 });
  });
});

describe('requests in JSON', () => {
  const records = (inner: string) => `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${inner}]}]}]}`;

  it.each<[string, string]>([
    ['nothing', ''],
    ['an array', '[]'],
    ['a text', '"x"'],
    ['two requests', '{}{}'],
    ['a missing end', '{"resourceLogs":[{}'],
    ['a missing comma', '{"resourceLogs":[{} {}]}'],
    ['an invalid list', '{"resourceLogs":{}}'],
    ['an invalid resource', '{"resourceLogs":[{"resource":[]}]}'],
    ['a resource that cannot be parsed', '{"resourceLogs":[{"resource":{"attributes":[{"key":tru}]}}]}'],
    ['records that end in a text', records('{"body":{"stringValue":"x}')],
    ['a missing element', records('{},')],
    ['protobuf', encodeRequest(requestOf([text(line)])).toString('latin1')],
  ])('are rejected if they are invalid: %s', (_, request) => {
    expect(failure('otlp_json', Buffer.from(request))).toEqual(body);
  });

  it.each<[string, string, string]>([
    ['a record that is not an object', '"x"', 'log_record is not an object'],
    ['a record that is null', 'null', 'log_record is not an object'],
    ['a body that is a text', '{"body":"x"}', 'body is not an OTLP value'],
    [
      'a text that is a number',
      '{"body":{"stringValue":1}}',
      'body has a stringValue or bytesValue that is not a string',
    ],
    ['an invalid time', '{"timeUnixNano":"2026-01-02"}', 'timeUnixNano is not a number of nanoseconds'],
    ['a time before 1970', '{"timeUnixNano":"-1"}', 'timeUnixNano is not a number of nanoseconds'],
    ['a key without a value', '{"body"}', 'json has a name without a value'],
    ['a bad escape', '{"body":{"stringValue":"{\\\\x"}}'.replace('\\\\', '\\'), 'json is not valid'],
    ['an invalid list', '{"body":{"kvlistValue":{"values":7}}}', 'json has a list that is not a JSON array'],
    ['an invalid integer', '{"attributes":[{"key":"a","value":{"intValue":"x"}}]}', 'json has an invalid intValue'],
  ])('with an invalid record lose only this record: %s', (_, record, reason) => {
    const parsed = read(
      'otlp_json',
      Buffer.from(records(`${JSON.stringify(text(line))},${record},${JSON.stringify(text(line))}`)),
    );
    expect(parsed.answer).toMatchObject({ accepted: 2, rejected: 1 });
    expect(errorsOf(parsed)).toEqual([`2 ${reason}`]);
  });

  it('may have null for absent members, and names in snake_case, which are ignored', () => {
    expect(failure('otlp_json', Buffer.from('{"resourceLogs":null}'))).toMatchObject({ accepted: 0 });
    const nulls =
      '{"resourceLogs":[{"resource":null,"scopeLogs":[{"scope":null,"logRecords":[]}]},{"scopeLogs":null}]}';
    expect(failure('otlp_json', Buffer.from(nulls))).toMatchObject({ accepted: 0, rejected: 0 });
    expect(failure('otlp_json', Buffer.from('{"resource_logs":[{}]}'))).toMatchObject({ accepted: 0 });
  });

  it('may have a resource after its records, and a byte order mark', () => {
    const logs = JSON.stringify([{ logRecords: [text(line)] }]);
    const resource = JSON.stringify({ attributes: pairsOf({ 'host.name': 'late' }) });
    const request = `\ufeff{"resourceLogs":[{"scopeLogs":${logs},"resource":${resource}}]}`;
    expect(events(read('otlp_json', Buffer.from(request)))[0]?.sensor).toBe('late');
  });
});
