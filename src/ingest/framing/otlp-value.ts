import { limits } from '../../limits.ts';
import { isObject } from '../fields.ts';
import { reject } from '../rejection.ts';
import { integer, reasons, setMember } from './otlp-record.ts';
import { type ProtobufReader, wire } from './protobuf-reader.ts';

/** An object under construction. */
export type Members = Record<string, unknown>;

const bits = new DataView(new ArrayBuffer(8));

/**
 * Reads the AnyValue (opentelemetry/proto/common/v1/common.proto) in the current field as JSON: bytes as
 * base64, integers beyond the safe integers as digits, an empty value as null. Repeated messages are
 * merged: the last of several values is used, and two lists in sequence form one list.
 *
 * @param depth - number of enclosing lists
 * @param before - the result of an earlier occurrence of the field
 */
export function anyValue(reader: ProtobufReader, bytes: Buffer, depth: number, before: unknown = null): unknown {
  let value = before;
  const outer = reader.enter();
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        value = reader.text();
        break;
      case 2:
        reader.expect(wire.varint);
        value = reader.low !== 0 || reader.high !== 0;
        break;
      case 3:
        reader.expect(wire.varint);
        value = int64(reader.high, reader.low);
        break;
      case 4:
        reader.expect(wire.eight);
        bits.setUint32(0, reader.high);
        bits.setUint32(4, reader.low);
        value = bits.getFloat64(0);
        break;
      case 5:
        value = elements(reader, bytes, deeper(depth), Array.isArray(value) ? value : []);
        break;
      case 6:
        value = members(reader, bytes, deeper(depth), isObject(value) ? (value as Members) : {});
        break;
      case 7:
        reader.expect(wire.bytes);
        value = bytes.toString('base64', reader.start, reader.stop);
        break;
    }
  }
  reader.leave(outer);
  return value;
}

/**
 * Adds the KeyValueList in the current field to `object`. If a key has several values, the last value is used.
 */
function members(reader: ProtobufReader, bytes: Buffer, depth: number, object: Members): Members {
  const outer = reader.enter();
  while (reader.next()) if (reader.field === 1) member(reader, bytes, depth, object);
  reader.leave(outer);
  return object;
}

/** Adds the KeyValue in the current field to `object`. */
export function member(reader: ProtobufReader, bytes: Buffer, depth: number, object: Members): void {
  let key = '';
  let value: unknown = null;
  const outer = reader.enter();
  while (reader.next()) {
    if (reader.field === 1) key = reader.text();
    else if (reader.field === 2) value = anyValue(reader, bytes, depth, value);
  }
  reader.leave(outer);
  setMember(object, key, value);
}

function elements(reader: ProtobufReader, bytes: Buffer, depth: number, array: unknown[]): unknown[] {
  const outer = reader.enter();
  while (reader.next()) if (reader.field === 1) array.push(anyValue(reader, bytes, depth));
  reader.leave(outer);
  return array;
}

function deeper(depth: number): number {
  return depth < limits.maxNesting ? depth + 1 : reject('protobuf', reasons.tooDeep);
}

function int64(high: number, low: number): number | string {
  const number = (high | 0) * 2 ** 32 + low;
  if (Number.isSafeInteger(number)) return number;
  return integer((BigInt(high | 0) << 32n) | BigInt(low));
}
