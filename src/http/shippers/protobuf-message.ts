/** A message in Protocol Buffers' wire format, of the fields that are given, in order. */
export const message = (...fields: readonly Uint8Array[]): Buffer => Buffer.concat(fields);

/** A field with a whole number from 0; what is the default is left out, as proto3 does. */
export function numberField(field: number, value: number): Buffer {
  return value === 0 ? nothing : Buffer.concat([varint(field * 8), varint(value)]);
}

export function textField(field: number, value: string): Buffer {
  return value === '' ? nothing : messageField(field, Buffer.from(value));
}

/** A field with another message, which is there even where it is empty. */
export function messageField(field: number, value: Uint8Array): Buffer {
  return Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);
}

const nothing = Buffer.alloc(0);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
