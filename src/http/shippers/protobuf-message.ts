/** Encodes a message in Protocol Buffers' wire format, with the given fields in order. */
export const message = (...fields: readonly Uint8Array[]): Buffer => Buffer.concat(fields);

/** Encodes a field with a non-negative integer; zero is omitted, as in proto3. */
export function numberField(field: number, value: number): Buffer {
  return value === 0 ? nothing : Buffer.concat([varint(field * 8), varint(value)]);
}

export function textField(field: number, value: string): Buffer {
  return value === '' ? nothing : messageField(field, Buffer.from(value));
}

/** Encodes a field with another message, even if the message is empty. */
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
