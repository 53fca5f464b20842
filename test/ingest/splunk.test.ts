import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { events, hasShared, parse, sharedFile } from './ingesting.ts';

const conn = (n: number) => ({
  ts: 1763683200.5 + n,
  uid: `C${n}`,
  'id.orig_h': '10.0.0.1',
  'id.orig_p': 1234,
  'id.resp_h': '10.0.0.2',
  'id.resp_p': 80,
  proto: 'tcp',
  conn_state: 'SF',
});
const text = JSON.stringify;
const good = text({ event: conn(1) });
const two = text({ event: conn(2) });
const http = text({ event: { _path: 'http', ts: 1, uid: 'C2' } });

type Name = 'splunk_event' | 'splunk_raw';
const read = (body: string | Uint8Array, name: Name = 'splunk_event', host?: string) =>
  parse(body, { framing: host === undefined ? { name } : { name, host } });

/** Returns the number of accepted and ignored events, and the line and field of each rejected event. */
function outcome(body: string | Uint8Array, name?: Name): unknown {
  try {
    const { accepted, ignored, errors, rejected } = read(body, name).answer;
    expect(rejected).toBe(errors.length);
    return [accepted, ignored, ...errors.map(({ line, field }) => `${line} ${field}`)];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [error.code, error.details?.field ?? error.details?.reason];
  }
}
/**
 * Returns the record without its sensor, because shippers' documents name the sensor, but sensors' lines do
 * not.
 */
const withoutSensor = ({ sensor: _, ...rest }: Readonly<Record<string, unknown>>) => rest;
const nothing = ['INVALID_REQUEST', 'body'];

describe('events in envelopes', () => {
  it.each<[string, string | Uint8Array, unknown]>([
    ['none', '', nothing],
    ['white space', ' \r\n\t\n', nothing],
    ['an empty array', ' [ ] ', nothing],
    ['one', good, [1, 0]],
    ['one after another', good + two + http, [2, 1]],
    ['one per line', `${good}\n${two}\n`, [2, 0]],
    ['CRLF and blank lines', `\r\n${good}\r\n\r\n${two}\r\n`, [2, 0]],
    ['a byte order mark', `\ufeff${good}`, [1, 0]],
    ['indented', text({ time: 1, fields: { a: ['}'] }, event: conn(1) }).replaceAll(',', ',\n  ') + good, [2, 0]],
    ['an array', `[${good},${two}]`, [2, 0]],
    ['an array over several lines', `[\n${good},\n${two}\n]\n`, [2, 0]],
    ['an array that is not closed', `[${good},${two}`, [2, 0, '3 envelope']],
    ['text after an array', `[${good}]]${two}`, [2, 0, '2 envelope']],
    ['text events', text({ event: text(conn(1)) }) + text({ event: ` ${text(conn(2))}\n` }), [2, 0]],
    ['a wrapped line', text({ event: { message: text(conn(1)), host: 'a' } }), [1, 0]],
    ['members in any order, and unknown members', text({ x: [{ '"': '\\' }], event: conn(1), index: 'main' }), [1, 0]],
    ['the later of two events', `{"event":1,"event":${text(conn(1))}}`, [1, 0]],
    ['special characters in a string', text({ source: '"}{"event', event: conn(1) }) + two, [2, 0]],
    ['an envelope without members', '{}', [0, 0, '1 envelope.event']],
    ['a record without an envelope', text(conn(1)), [0, 0, '1 envelope.event']],
    ['invalid JSON', 'hello', [0, 0, '1 envelope']],
    ['null', text({ event: null }), [0, 0, '1 envelope.event']],
    ['a number', text({ event: 1 }), [0, 0, '1 event']],
    ['a flag', text({ event: true }), [0, 0, '1 event']],
    ['an array as event', text({ event: [conn(1)] }), [0, 0, '1 event']],
    ['an empty text', text({ event: '' }), [0, 0, '1 envelope.event']],
    ['a blank text', text({ event: ' \n' }), [0, 0, '1 envelope.event']],
    ['an empty object', '{"event":{ }}', [0, 0, '1 envelope.event']],
    ['a text that is not a record', text({ event: 'Hello, world!' }), [0, 0, '1 line']],
    ['an object that is not a record', text({ event: { a: 1 } }), [0, 0, '1 line']],
    ['an invalid field', text({ event: { ...conn(1), proto: 6 } }), [0, 0, '1 proto']],
    ['fields that are not an object', text({ fields: 'x', event: conn(1) }), [0, 0, '1 envelope.fields']],
    ['fields of null', text({ fields: null, event: conn(1) }), [1, 0]],
    ['a word', '{"event":hello}', [0, 0, '1 envelope.event']],
    ['an invalid escape in a text', '{"event":"\\x"}', [0, 0, '1 envelope.event']],
    ['a byte that is not UTF-8', Buffer.from(`{"host":"\xff","event":${text(conn(1))}}`, 'latin1'), [1, 0]],
    ['excessive nesting', text({ event: { a: JSON.parse('['.repeat(40) + ']'.repeat(40)) } }), [0, 0, '1 line']],
    [
      'fields with unlimited nesting',
      `{"fields":{"a":${'['.repeat(1e5)}${']'.repeat(1e5)}},"event":${text(conn(1))}}`,
      [1, 0],
    ],
  ])('are accepted, ignored or rejected as listed: %s', (_, body, wanted) => {
    expect(outcome(body)).toEqual(wanted);
  });

  it.each<[string, string, unknown]>([
    ['between others on a line', `${good}{"event" 1}${two}`, [2, 0, '2 envelope']],
    ['between others in an array', `[${good},1,{"event"},${two}]`, [2, 0, '2 envelope', '3 envelope']],
    ['truncated at the end of its line', `${good}\n{"event":{"a":\n${two}\n`, [2, 0, '2 envelope']],
    ['with an extra quote', `${good}\n{"event":"a"b"}\n${two}\n`, [2, 0, '2 envelope']],
    ['with a missing quote', `${good}\n{"event":"a}\n${two}\n${http}\n`, [2, 1, '2 envelope']],
    ['with only words', `${good}\nhello world\n${two}\n`, [2, 0, '2 envelope']],
    ['with words before another event', `${good} hello ${two}`, [2, 0, '2 envelope']],
    ['truncated at the end', `${good}${two.slice(0, -1)}`, [1, 0, '2 envelope']],
    ['with an invalid event inside', `${good}{"event":{"a" 1}}${two}`, [2, 0, '2 line']],
    ['with the wrong kind of bracket', `${good}{"event":{"a":1]}${two}`, [2, 0, '2 line']],
  ])('an invalid event does not affect its neighbours: %s', (_, body, wanted) => {
    expect(outcome(body)).toEqual(wanted);
  });

  it.each<[string, unknown, boolean]>([
    ['seconds', 1763683200, true],
    ['with a fraction', 1763683200.123, true],
    ['as a text', '1763683200.123', true],
    ['as an empty text', '', true],
    ['null', null, true],
    ['zero', 0, true],
    ['milliseconds', 1763683200123, true],
    ['an exponent', '1.7e9', true],
    ['negative', -1, false],
    ['not a number', 'NaN', false],
    ['beyond all years', '1e400', false],
    ['words', 'yesterday', false],
    ['hexadecimal', '0x10', false],
    ['a flag', true, false],
    ['an object', {}, false],
    ['long', '1'.repeat(1000), false],
  ])('are accepted or rejected by their time: %s', (_, time, isTime) => {
    expect(outcome(text({ time, event: conn(1) }))).toEqual(isTime ? [1, 0] : [0, 0, '1 envelope.time']);
  });

  it('the host of the envelope, otherwise of the request, names the sensor of records without a sensor', () => {
    const body = [
      { host: 'a', event: conn(1) },
      { host: 'a', event: conn(2) },
      { event: conn(3) },
      { host: '', event: conn(4) },
      { host: 'b\r\n\u0000', event: { ...conn(5), _node_name: 'worker' } },
      { host: 'b\r\n', event: conn(6) },
      { host: 'x'.repeat(201), event: conn(7) },
      { host: 'x'.repeat(5000), event: conn(8) },
      { host: '\ud800', event: conn(9) },
    ].map((one) => text(one));
    const sensors = (host?: string) => events(read(body.join(''), 'splunk_event', host)).map(({ sensor }) => sensor);
    expect(sensors()).toEqual(['a', 'a', undefined, undefined, 'worker', 'b\r\n', undefined, undefined, '\ufffd']);
    expect(sensors('of-url')[2]).toBe('of-url');
    expect(sensors('x'.repeat(201))[2]).toBeUndefined();
    expect(outcome(text({ host: 1, event: conn(1) }))).toEqual([0, 0, '1 envelope.host']);
  });

  it('an event over the line limit is rejected, as an object and as a text', () => {
    const long = 'x'.repeat(limits.maxLineBytes);
    const body = text({ event: { ...conn(1), long } }) + text({ event: long }) + good;
    expect(outcome(body)).toEqual([1, 0, '1 line', '2 event']);
  });

  it('an event with a million members of fields is accepted', () => {
    const many = Array.from({ length: 1e6 }, (_, n) => `"${n}":1`).join();
    expect(outcome(`{"fields":{${many}},"event":${text(conn(1))}}`)).toEqual([1, 0]);
  });

  it.each([
    ['objects that never end', '{"a":{\n'.repeat(200_000)],
    ['nested arrays with wrong ends', `${'{"a":[\n'.repeat(100_000)}${']x}'.repeat(100_000)}`],
    ['strings opened on each line', '{"a":"\n'.repeat(200_000)],
    ['invalid objects on a single line', `[${'{"a" 1},'.repeat(200_000)}`],
    ['lines without a brace', 'x\n'.repeat(200_000)],
  ])('%s are rejected', (_, body) => {
    const { accepted, rejected } = read(body).answer;
    expect([accepted, rejected > 0]).toEqual([0, true]);
  });

  it('are all rejected if their body has more events than the limit', () => {
    expect(outcome('{}'.repeat(limits.maxBodyRecords + 1))).toEqual(['PAYLOAD_TOO_LARGE', 'too_many_records']);
  });

  it('are parsed from the output of JSON.stringify, in any combination', () => {
    const envelope = fc.record(
      {
        time: fc.oneof(fc.integer({ min: 0, max: 4e9 }), fc.double({ min: 0, max: 4e9, noNaN: true }).map(String)),
        host: fc.string(),
        source: fc.jsonValue(),
        fields: fc.dictionary(fc.string(), fc.jsonValue()),
        anything: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const between = fc.constantFrom('', '\n', '\r\n\r\n', ' \t');
    fc.assert(
      fc.property(fc.array(fc.tuple(envelope, between, fc.boolean()), { minLength: 1 }), (all) => {
        const body = all.map(
          ([one, space, asText], n) => text({ ...one, event: asText ? text(conn(n)) : conn(n) }) + space,
        );
        expect(outcome(body.join(''))).toEqual([all.length, 0]);
      }),
    );
  });

  it('cause only a ServiceError, for any input', () => {
    const piece = fc.constantFrom(
      good,
      '{"event":',
      '}',
      '{',
      '[',
      ']',
      '"',
      '\\',
      ',',
      '\n',
      ' ',
      'x',
      ':',
      'null',
      '\ufeff',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }),
        fc.constantFrom<Name>('splunk_event', 'splunk_raw'),
        (pieces, name) => {
          outcome(pieces.join(''), name);
        },
      ),
    );
  });
});

describe('raw lines', () => {
  const line = text(conn(1));
  const tsv = [
    '#separator \\x09',
    '#path\tconn',
    '#fields\tts\tuid\tid.orig_h\tid.resp_h\tproto',
    '#types\ttime\tstring\taddr\taddr\tenum',
  ];
  const row = '1763683200.5\tC9\t10.0.0.1\t10.0.0.2\ttcp';

  it.each<[string, string, unknown]>([
    ['none', '', nothing],
    ['white space', '\r\n \n', nothing],
    ['one record per line', `${line}\n${text(conn(2))}\n`, [2, 0]],
    ['CRLF', `${line}\r\n\r\n${line}`, [2, 0]],
    ['objects one after another', `${line}${line}\n${line}`, [3, 0]],
    ['an object with }{ in a text', `${text({ ...conn(1), note: '}{' })}\n${line}`, [2, 0]],
    ['an array', `[${line},\n${line}]`, [2, 0]],
    ['Zeek TSV with its header', [...tsv, row, row].join('\n'), [2, 0]],
    ['a header alone', tsv.join('\n'), [0, 0]],
    ['rows without a header', row, [0, 0, '1 line']],
    ['an invalid line', `${line}\n{"a":\n${line}`, [2, 0, '2 line']],
    ['an invalid object among others', `${line}{"a" 1}${line}`, [2, 0, '2 line']],
    ['a truncated line', `${line}\n${line.slice(0, 20)}`, [1, 0, '2 line']],
  ])('are accepted or rejected as listed: %s', (_, body, wanted) => {
    expect(outcome(body, 'splunk_raw')).toEqual(wanted);
  });

  it('the host of the request names the sensor of records without a sensor', () => {
    const body = `${line}\n${text({ ...conn(2), _node_name: 'worker' })}`;
    expect(events(read(body, 'splunk_raw', 'tap')).map(({ sensor }) => sensor)).toEqual(['tap', 'worker']);
  });
});

describe.skipIf(!hasShared)('real records', () => {
  it.each([
    'zeek-lan/m57.conn.ndjson.gz',
    'zeek-lan/m57.dns.ndjson.gz',
    'zeek-variants/four-dialects.ndjson',
    'suricata/one-of-each.eve.ndjson',
  ])('of %s have the same result in envelopes as in lines', (file) => {
    const bytes = sharedFile(file);
    const all = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString().trim();
    const lines = all.split('\n').slice(0, 2000);
    const plain = parse(lines.join('\n'));
    const counts = ({ accepted, rejected, ignored }: typeof plain.answer) => [accepted, rejected, ignored];
    const objects = lines.map((one) => `{"time":1,"host":null,"event":${one}}`).join('');
    const texts = lines.map((one) => text({ event: one })).join('\n');
    for (const body of [objects, texts]) {
      const framed = read(body);
      expect(counts(framed.answer)).toEqual(counts(plain.answer));
      expect(events(framed).map(withoutSensor)).toEqual(events(plain).map(withoutSensor));
    }
    expect(events(read(lines.join('\n'), 'splunk_raw')).map(withoutSensor)).toEqual(events(plain).map(withoutSensor));
  });
});
