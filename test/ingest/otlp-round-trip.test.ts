import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { shippedId } from '../../src/events/scoped-id.ts';
import type { JsonObject } from '../../src/ingest/fields.ts';
import { otlpJson } from '../../src/ingest/framing/otlp-json.ts';
import { otlpProtobuf } from '../../src/ingest/framing/otlp-protobuf.ts';
import type { Sink } from '../../src/ingest/framing/otlp-record.ts';
import type { Envelope } from '../../src/ingest/item-reader.ts';
import { Rejection } from '../../src/ingest/rejection.ts';
import { parse } from './ingesting.ts';
import {
  type AnyValue,
  type Arrange,
  bytesOf,
  encodeRequest,
  type KeyValue,
  type LogRecord,
  type LogsRequest,
  ofBytes,
  ofEight,
  ofText,
  ofVarint,
  type ResourceLogs,
  requestOf,
  type ScopeLogs,
} from './otlp-messages.ts';

/** A log record as the decoder returns it. */
interface Told {
  readonly what: unknown;
  readonly envelope?: Envelope;
}

const begun = (text: string) => text.replace(/^[\0- ]+/, '');
/** Returns whether a text is an object, or a line of Zeek TSV. */
const isText = (text: string) => /^[{#]/.test(begun(text)) || begun(text).includes('\t');

function told(decode: typeof otlpJson, request: Uint8Array): Told[] {
  const bytes = Buffer.from(request);
  const all: Told[] = [];
  const sink: Sink = {
    bytes(start, end, envelope) {
      all.push({ what: bytes.toString('utf8', start, end), envelope: { ...envelope } });
      return 'created';
    },
    value(value, envelope) {
      all.push({ what: typeof value === 'string' ? begun(value) : value, envelope: { ...envelope } });
      return 'created';
    },
    refuse(field, reason) {
      all.push({ what: 'refused' });
      return new Rejection(field, reason);
    },
  };
  try {
    decode(bytes, sink, { name: 'otlp_json', sender: 'p' });
  } finally {
    // The decoder must not change its input.
    expect(bytes.equals(request)).toBe(true);
  }
  return all;
}
/** Fails if the decoder's output differs from the meaning of the values. */
function same(decoded: readonly Told[], sent: LogsRequest): void {
  expect(decoded).toEqual(expected(sent));
}
const fromProtobuf = (request: LogsRequest, arrange?: Arrange) =>
  told(otlpProtobuf as typeof otlpJson, encodeRequest(request, arrange));
const fromJson = (request: unknown) => told(otlpJson, Buffer.from(JSON.stringify(request)));

// The meaning of the messages is computed from their values without any encoding.

function meant(any: AnyValue = {}): unknown {
  if (any.intValue !== undefined) {
    const number = Number(any.intValue);
    return Number.isSafeInteger(number) ? number : any.intValue;
  }
  if (any.arrayValue !== undefined) return any.arrayValue.values.map(meant);
  if (any.kvlistValue !== undefined) return objectOf(any.kvlistValue.values);
  return any.stringValue ?? any.boolValue ?? any.doubleValue ?? any.bytesValue ?? null;
}
const objectOf = (pairs: readonly KeyValue[]): JsonObject =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, meant(value)]));

const textsOf = (pairs: readonly KeyValue[] = []): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, value?.stringValue]));

function ofRecord({ body, attributes = [] }: LogRecord): unknown {
  const text = body?.stringValue ?? (body?.bytesValue && Buffer.from(body.bytesValue, 'base64').toString());
  if (text !== undefined && isText(text)) return begun(text);
  const list = body?.kvlistValue?.values ?? [];
  if (list.length > 0) return objectOf(list);
  const said = Object.entries(objectOf(attributes)).filter(([name]) => !name.startsWith('log.'));
  return said.length > 0 ? Object.fromEntries(said) : 'refused';
}

function expected({ resourceLogs = [] }: LogsRequest): Told[] {
  return resourceLogs.flatMap(({ resource, scopeLogs = [] }) => {
    const known = textsOf(resource?.attributes);
    return scopeLogs.flatMap(({ scope, logRecords = [] }) => {
      const names = [known['host.name'], known['service.name'], known['service.instance.id'], scope?.name];
      const sensor = names.find((name) => name !== undefined && name !== '');
      return logRecords.map((record): Told => {
        const what = ofRecord(record);
        if (what === 'refused') return { what };
        const nanos = [record.timeUnixNano, record.observedTimeUnixNano].find((time) => time && time !== '0');
        const uid = textsOf(record.attributes)['log.record.uid'];
        return {
          what,
          envelope: {
            id: uid ? shippedId('p', uid) : undefined,
            sensor,
            at: nanos === undefined ? undefined : Number(BigInt(nanos) / 1_000_000n),
          },
        };
      });
    });
  });
}

const text = fc.string({ unit: 'grapheme', maxLength: 8 });
const { any } = fc.letrec<{ any: AnyValue }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.record({ stringValue: text }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({ intValue: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String) }),
    fc.record({ intValue: fc.maxSafeInteger().map(String) }),
    fc.record({ doubleValue: fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => x + 0) }),
    fc.record({ bytesValue: fc.uint8Array({ maxLength: 9 }).map((x) => Buffer.from(x).toString('base64')) }),
    fc.constant({}),
    fc.record({ arrayValue: fc.record({ values: fc.array(tie('any'), { maxLength: 3 }) }) }),
    fc.record({
      kvlistValue: fc.record({
        values: fc.array(fc.record({ key: fc.oneof(text, fc.constant('__proto__')), value: tie('any') }), {
          maxLength: 4,
        }),
      }),
    }),
  ),
}));
const line = fc
  .tuple(fc.constantFrom('', ' ', '\n\t', '\0'), text, text)
  .map(([blank, key, value]) => blank + JSON.stringify({ [key]: value, '"\\': 'ü\u0007\ud83d\ude00', x: 'a/b' }));
const name = fc.oneof(text, fc.constantFrom('log.file.name', 'log.record.uid', '__proto__', 'uid'));
const attributes = fc.array(fc.record({ key: name, value: any }, { requiredKeys: ['key'] }), {
  maxLength: 4,
});
const nanos = fc.oneof(fc.constant('0'), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String));
const log: fc.Arbitrary<LogRecord> = fc.record(
  {
    timeUnixNano: nanos,
    observedTimeUnixNano: nanos,
    severityNumber: fc.nat(24),
    severityText: text,
    body: fc.oneof(
      any,
      line.map((stringValue) => ({ stringValue })),
      line.map((said) => ({ bytesValue: Buffer.from(said).toString('base64') })),
    ),
    attributes,
    traceId: fc.constant('5b8efff798038103d269b633813fc60c'),
  },
  { requiredKeys: [] },
);
const ofResource = fc.constantFrom('host.name', 'service.name', 'service.instance.id', 'os.type');
const request: fc.Arbitrary<LogsRequest> = fc.record({
  resourceLogs: fc.array(
    fc.record<ResourceLogs>(
      {
        resource: fc.record({
          attributes: fc.array(fc.record({ key: ofResource, value: any }), { maxLength: 4 }),
        }),
        scopeLogs: fc.array(
          fc.record<ScopeLogs>(
            {
              scope: fc.record({ name: text, version: text }),
              logRecords: fc.array(log, { maxLength: 4 }),
              schemaUrl: text,
            },
            { requiredKeys: [] },
          ),
          { maxLength: 3 },
        ),
      },
      { requiredKeys: [] },
    ),
    { maxLength: 3 },
  ),
});

describe('a request has the same meaning in both encodings', () => {
  it('in protobuf', () => {
    fc.assert(fc.property(request, (sent) => same(fromProtobuf(sent), sent)));
  });

  it('in JSON', () => {
    fc.assert(fc.property(request, (sent) => same(fromJson(sent), sent)));
  });

  it('in protobuf with fields of a later version, and with the fields of messages in another order', () => {
    const unknown = [ofVarint(1000, 5n), ofText(2000, '{}'), ofEight(536_870_911, 7n)];
    const arrange: Arrange = (fields) => {
      // Fields with the same number keep their order, because they form a list.
      const numbers = [...new Set(fields.map(([number]) => number))].reverse();
      return numbers.flatMap((number) => [...fields.filter((field) => field[0] === number), ...unknown]);
    };
    fc.assert(fc.property(request, (sent) => same(fromProtobuf(sent, arrange), sent)));
  });

  it('in JSON with members of a later version, with members in another order, and with white space', () => {
    const turned = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(turned);
      if (typeof value !== 'object' || value === null) return value;
      const members = Object.entries(value).map(([key, inner]) => [key, turned(inner)] as const);
      return Object.fromEntries([['later', [{ a: '}]"' }, null]], ...members.reverse()]);
    };
    fc.assert(
      fc.property(request, (sent) =>
        same(told(otlpJson, Buffer.from(JSON.stringify(turned(sent), null, '\r\n\t '))), sent),
      ),
    );
  });

  it('in JSON with every character escaped', () => {
    const escaped = (json: string) =>
      json.replaceAll(/"((?:[^"\\]|\\.)*)"/g, (_, inner: string) => {
        const codes = Array.from({ length: JSON.parse(`"${inner}"`).length }, (_1, at) =>
          (JSON.parse(`"${inner}"`) as string).charCodeAt(at).toString(16).padStart(4, '0'),
        );
        return `"${codes.map((code) => `\\u${code}`).join('')}"`;
      });
    // The decoder does not recognise a key that is escaped like this.
    const plain = request.filter((sent) => !JSON.stringify(sent).includes('log.record.uid'));
    fc.assert(fc.property(plain, (sent) => same(told(otlpJson, Buffer.from(escaped(JSON.stringify(sent)))), sent)));
  });

  it('in protobuf with a message in parts, which are merged', () => {
    const pair = (key: string, value: string) =>
      ofBytes(1, bytesOf([ofText(1, key), ofBytes(2, bytesOf([ofText(1, value)]))]));
    const list = (...pairs: readonly ReturnType<typeof ofBytes>[]) => ofBytes(5, bytesOf([ofBytes(6, bytesOf(pairs))]));
    const record = bytesOf([
      ofBytes(5, bytesOf([ofText(1, '{"before":1}')])),
      list(pair('uid', '1'), pair('a', 'x')),
      list(pair('a', 'y')),
    ]);
    const whole = bytesOf([ofBytes(1, bytesOf([ofBytes(2, bytesOf([ofBytes(2, record)]))]))]);
    expect(told(otlpProtobuf as typeof otlpJson, whole)).toMatchObject([{ what: { uid: '1', a: 'y' } }]);
  });
});

describe('any input', () => {
  const framings = ['otlp_protobuf', 'otlp_json'] as const;
  const judged = (name: (typeof framings)[number], bytes: Uint8Array): void => {
    try {
      const { answer } = parse(bytes, { framing: { name, sender: 'p' } });
      expect(answer.rejected).toBeGreaterThanOrEqual(0);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      expect([error.code, error.details?.field]).toEqual(['INVALID_REQUEST', 'body']);
    }
  };

  it.each(framings)('is decoded, or rejected as a request: %s', (name) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => judged(name, bytes)),
      { numRuns: 150 },
    );
  });

  it.each(framings)('is decoded, or rejected as a request, if a byte is changed, removed or inserted: %s', (name) => {
    const encode = (sent: LogsRequest) =>
      name === 'otlp_json' ? Buffer.from(JSON.stringify(sent)) : encodeRequest(sent);
    const change = fc.tuple(fc.nat(), fc.nat(255), fc.constantFrom('change', 'cut', 'put'));
    fc.assert(
      fc.property(request, fc.array(change, { minLength: 1, maxLength: 3 }), (sent, changes) => {
        let bytes = encode(sent);
        for (const [place, byte, how] of changes) {
          const at = place % (bytes.length + 1);
          const rest = bytes.subarray(how === 'put' ? at : at + 1);
          bytes = Buffer.concat([bytes.subarray(0, at), ...(how === 'cut' ? [] : [Buffer.of(byte)]), rest]);
        }
        judged(name, bytes);
      }),
      { numRuns: 100 },
    );
  });

  it('that is a truncated protobuf request is rejected', () => {
    const bytes = encodeRequest(requestOf([{ body: { stringValue: '{"ts":1,"uid":"C1"}' } }, { timeUnixNano: '1' }]));
    for (let length = 1; length < bytes.length; length++)
      expect(() => told(otlpProtobuf as typeof otlpJson, bytes.subarray(0, length))).toThrow(ServiceError);
  });

  it('that is a truncated JSON request is rejected', () => {
    const bytes = Buffer.from(JSON.stringify(requestOf([{ body: { stringValue: '{"ts":1}' } }, {}])));
    for (let length = 0; length < bytes.length; length++)
      expect(() => told(otlpJson, bytes.subarray(0, length))).toThrow(ServiceError);
  });
});
