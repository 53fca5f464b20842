// An encoder for tests, written from the messages of opentelemetry-proto (collector/logs/v1, logs/v1,
// resource/v1, common/v1). Requests are values in the format of OTLP/JSON, so that JSON.stringify is the
// other encoding.

export interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  /** Decimal digits, the format for 64-bit numbers. */
  readonly intValue?: string;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values: readonly AnyValue[] };
  readonly kvlistValue?: { readonly values: readonly KeyValue[] };
  /** Bytes in Base64. */
  readonly bytesValue?: string;
}
export interface KeyValue {
  readonly key: string;
  readonly value?: AnyValue;
}
export interface LogRecord {
  readonly timeUnixNano?: string;
  readonly observedTimeUnixNano?: string;
  readonly severityNumber?: number;
  readonly severityText?: string;
  readonly body?: AnyValue;
  readonly attributes?: readonly KeyValue[];
  readonly traceId?: string;
}
export interface ScopeLogs {
  readonly scope?: { readonly name?: string; readonly version?: string };
  readonly logRecords?: readonly LogRecord[];
  readonly schemaUrl?: string;
}
export interface ResourceLogs {
  readonly resource?: { readonly attributes?: readonly KeyValue[] };
  readonly scopeLogs?: readonly ScopeLogs[];
}
export interface LogsRequest {
  readonly resourceLogs?: readonly ResourceLogs[];
}

/** A field: its number and its bytes on the wire. */
export type Field = readonly [number: number, bytes: Buffer];
/** Arranges the encoded fields of a message: their order, and fields added among them. */
export type Arrange = (fields: readonly Field[]) => readonly Field[];

export function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}
const tag = (field: number, wire: number) => varint(BigInt(field * 8 + wire));
export const ofVarint = (field: number, value: bigint): Field => [field, Buffer.concat([tag(field, 0), varint(value)])];
export const ofBytes = (field: number, value: Uint8Array): Field => [
  field,
  Buffer.concat([tag(field, 2), varint(BigInt(value.length)), value]),
];
export const ofText = (field: number, value: string): Field => ofBytes(field, Buffer.from(value));
export function ofEight(field: number, value: bigint): Field {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, value));
  return [field, Buffer.concat([tag(field, 1), bytes])];
}
export function ofDouble(field: number, value: number): Field {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return [field, Buffer.concat([tag(field, 1), bytes])];
}
export const bytesOf = (fields: readonly Field[]): Buffer => Buffer.concat(fields.map(([, bytes]) => bytes));

const inOrder: Arrange = (fields) => fields;

export function encodeRequest({ resourceLogs = [] }: LogsRequest, arrange: Arrange = inOrder): Buffer {
  const message = (fields: readonly Field[]) => bytesOf(arrange(fields));

  const value = (any: AnyValue): Buffer => {
    const fields: Field[] = [];
    if (any.stringValue !== undefined) fields.push(ofText(1, any.stringValue));
    if (any.boolValue !== undefined) fields.push(ofVarint(2, any.boolValue ? 1n : 0n));
    if (any.intValue !== undefined) fields.push(ofVarint(3, BigInt(any.intValue)));
    if (any.doubleValue !== undefined) fields.push(ofDouble(4, any.doubleValue));
    if (any.arrayValue !== undefined)
      fields.push(ofBytes(5, message(any.arrayValue.values.map((inner) => ofBytes(1, value(inner))))));
    if (any.kvlistValue !== undefined)
      fields.push(ofBytes(6, message(any.kvlistValue.values.map((pair) => ofBytes(1, keyValue(pair))))));
    if (any.bytesValue !== undefined) fields.push(ofBytes(7, Buffer.from(any.bytesValue, 'base64')));
    return message(fields);
  };
  const keyValue = (pair: KeyValue): Buffer =>
    message([ofText(1, pair.key), ...(pair.value === undefined ? [] : [ofBytes(2, value(pair.value))])]);
  const pairs = (field: number, attributes: readonly KeyValue[] = []) =>
    attributes.map((pair) => ofBytes(field, keyValue(pair)));
  const record = (log: LogRecord): Buffer => {
    const fields: Field[] = [];
    if (log.timeUnixNano !== undefined) fields.push(ofEight(1, BigInt(log.timeUnixNano)));
    if (log.severityNumber !== undefined) fields.push(ofVarint(2, BigInt(log.severityNumber)));
    if (log.severityText !== undefined) fields.push(ofText(3, log.severityText));
    if (log.body !== undefined) fields.push(ofBytes(5, value(log.body)));
    fields.push(...pairs(6, log.attributes));
    if (log.traceId !== undefined) fields.push(ofBytes(9, Buffer.from(log.traceId, 'hex')));
    if (log.observedTimeUnixNano !== undefined) fields.push(ofEight(11, BigInt(log.observedTimeUnixNano)));
    return message(fields);
  };
  const scopeLogs = ({ scope, logRecords = [], schemaUrl }: ScopeLogs): Buffer => {
    const fields: Field[] = [];
    if (scope !== undefined) {
      const { name, version } = scope;
      const said = [name === undefined ? [] : [ofText(1, name)], version === undefined ? [] : [ofText(2, version)]];
      fields.push(ofBytes(1, message(said.flat())));
    }
    fields.push(...logRecords.map((log) => ofBytes(2, record(log))));
    if (schemaUrl !== undefined) fields.push(ofText(3, schemaUrl));
    return message(fields);
  };
  return message(
    resourceLogs.map(({ resource, scopeLogs: scopes = [] }) =>
      ofBytes(
        1,
        message([
          ...(resource === undefined ? [] : [ofBytes(1, message(pairs(1, resource.attributes)))]),
          ...scopes.map((scope) => ofBytes(2, scopeLogs(scope))),
        ]),
      ),
    ),
  );
}

/** Returns a request with these log records, and the attributes of their resource. */
export const requestOf = (
  logRecords: readonly LogRecord[],
  resource: Readonly<Record<string, string>> = {},
): LogsRequest => ({
  resourceLogs: [
    {
      resource: {
        attributes: Object.entries(resource).map(([key, stringValue]) => ({ key, value: { stringValue } })),
      },
      scopeLogs: [{ logRecords }],
    },
  ],
});

/** Returns a JSON value as an AnyValue: whole numbers as integers. */
export function anyOf(value: unknown): AnyValue {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyOf) } };
  if (typeof value === 'object' && value !== null) return { kvlistValue: { values: pairsOf(value) } };
  return {};
}
export const pairsOf = (object: object): KeyValue[] =>
  Object.entries(object).map(([key, value]) => ({ key, value: anyOf(value) }));
