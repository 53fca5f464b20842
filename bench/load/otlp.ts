/**
 * Lines as log records of OpenTelemetry, in the form of a collector's file receiver: the text of a record's
 * body.
 */

const resource = { 'host.name': 'zeek-1' };
const attributes = { 'log.file.name': 'conn.log' };
/** Time at which the lines were read, in seconds since 1970. It is ignored, because the lines have their own times. */
const observedSeconds = 1_760_000_000;

const pairs = (of: Readonly<Record<string, string>>) =>
  Object.entries(of).map(([key, stringValue]) => ({ key, value: { stringValue } }));

/** Encodes an ExportLogsServiceRequest in JSON. */
export function otlpJson(lines: readonly string[]): Buffer {
  const logRecords = lines.map((stringValue) => ({
    observedTimeUnixNano: `${observedSeconds}000000000`,
    body: { stringValue },
    attributes: pairs(attributes),
  }));
  const request = {
    resourceLogs: [{ resource: { attributes: pairs(resource) }, scopeLogs: [{ scope: {}, logRecords }] }],
  };
  return Buffer.from(JSON.stringify(request));
}

/**
 * Encodes an ExportLogsServiceRequest in Protocol Buffers (opentelemetry-proto: collector/logs/v1, logs/v1,
 * resource/v1, common/v1).
 */
export function otlpProtobuf(lines: readonly string[]): Buffer {
  const observed = Buffer.alloc(9, (11 << 3) | 1);
  observed.writeBigUInt64LE(BigInt(observedSeconds) * 1_000_000_000n, 1);
  const fixed = [observed, ...keyValues(6, attributes)];
  const records = lines.map((line) => field(2, field(5, field(1, Buffer.from(line))), ...fixed));
  return field(1, field(1, ...keyValues(1, resource)), field(2, field(1), ...records));
}

const keyValues = (number: number, of: Readonly<Record<string, string>>) =>
  Object.entries(of).map(([key, value]) =>
    field(number, field(1, Buffer.from(key)), field(2, field(1, Buffer.from(value)))),
  );

/** Encodes a length-delimited field. Its content is the parts, joined. */
function field(number: number, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(length)]), ...parts]);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}
