import type { TSchema } from 'typebox';
import { clientMessages } from '../../src/contract/channels.ts';
import { operationIds, routeOf } from '../../src/contract/routes.ts';
import type { Random } from './random.ts';
import type { Tokens } from './requests.ts';
import { generate, type SeenIds } from './values.ts';

const paths = operationIds.map(routeOf).filter(({ websocket }) => websocket !== undefined);

/** Returns the head of a WebSocket request, which is sometimes invalid. */
export function randomUpgrade(random: Random, tokens: Tokens): string {
  const token = random.pick(Object.values(tokens));
  const { path } = random.pick(paths);
  const version = random.chance(0.95) ? '13' : random.pick(['8', '0', 'x']);
  const key = random.chance(0.95) ? 'dGhlIHNhbXBsZSBub25jZQ==' : random.pick(['', 'x', '='.repeat(24)]);
  const more = random.pick([
    `Authorization: Bearer ${token}`,
    `Authorization: Bearer ${token}`,
    `Sec-WebSocket-Protocol: bearer.${token}`,
    'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits',
    'Origin: http://evil.example',
    'X: y',
  ]);
  const head = [`GET ${path}${random.pick(['', '', '?since=0', '?nonsense=1', '?min_severity=low'])} HTTP/1.1`];
  head.push('Host: x', 'Connection: Upgrade', 'Upgrade: websocket', `Sec-WebSocket-Version: ${version}`);
  return [...head, `Sec-WebSocket-Key: ${key}`, more, '\r\n'].join('\r\n');
}

/** Returns client frames (RFC 6455, section 5), valid and invalid, each as bytes for the connection. */
export function randomFrames(random: Random, tokens: Tokens, seen: SeenIds): Buffer[] {
  const frame = (payload: Buffer, shape: Shape) => frameOf(random, payload, shape);
  return random.times(12, () => {
    const payload = Buffer.from(randomMessage(random, tokens, seen));
    if (random.chance(0.7)) return frame(payload, {});
    return random.pick<() => Buffer>([
      () => frame(payload, { masked: false }),
      () => frame(payload, { opcode: random.below(16) }),
      () => frame(payload, { rsv: 1 + random.below(7) }),
      () => frame(payload, { fin: false }),
      () => Buffer.concat([frame(payload.subarray(0, 5), { fin: false }), frame(payload.subarray(5), { opcode: 0 })]),
      () => Buffer.concat([frame(payload.subarray(0, 5), { fin: false }), frame(payload, { opcode: 9 })]),
      () => frame(payload, { opcode: 0 }),
      () => frame(payload, { opcode: 2 }),
      () => frame(random.bytes(200), { opcode: 9 }),
      () => frame(random.bytes(200), {}),
      () => frame(Buffer.from([random.below(256), random.below(256)]), { opcode: 8 }),
      () => frame(Buffer.alloc(1), { opcode: 8 }),
      () => frame(Buffer.alloc(random.pick([4000, 40_000, 400_000]), '{"type":'), {}),
      () => frame(payload, { claimed: random.pick([2 ** 31, 2 ** 40, 2 ** 53]) }),
      () => random.mutate(frame(payload, {})),
    ])();
  });
}

function randomMessage(random: Random, tokens: Tokens, seen: SeenIds): string {
  const [type, schema] = random.pick(Object.entries<TSchema>(clientMessages));
  if (type === 'auth' && random.chance(0.7)) return JSON.stringify({ type, token: random.pick(Object.values(tokens)) });
  const text = JSON.stringify(generate(schema, random, seen, 40)) ?? '';
  return random.chance(0.1) ? random.mutate(Buffer.from(text)).toString('latin1') : text;
}

interface Shape {
  readonly fin?: boolean;
  readonly rsv?: number;
  readonly opcode?: number;
  readonly masked?: boolean;
  /** A length that differs from the payload's. */
  readonly claimed?: number;
}

function frameOf(
  random: Random,
  payload: Buffer,
  { fin = true, rsv = 0, opcode = 1, masked = true, claimed }: Shape,
): Buffer {
  const length = claimed ?? payload.length;
  const size = length < 126 ? 0 : length < 2 ** 16 ? 2 : 8;
  const head = Buffer.alloc(2 + size);
  head[0] = (fin ? 128 : 0) | (rsv << 4) | opcode;
  head[1] = (masked ? 128 : 0) | (size === 0 ? length : size === 2 ? 126 : 127);
  if (size === 2) head.writeUInt16BE(length, 2);
  if (size === 8) head.writeBigUInt64BE(BigInt(length), 2);
  if (!masked) return Buffer.concat([head, payload]);
  const key = random.bytes(4);
  return Buffer.concat([head, key, payload.map((byte, at) => byte ^ key[at % 4]!)]);
}

/** Returns texts and close codes in the bytes that the service sent after its 101 response. */
export function readFrames(bytes: Buffer): { readonly texts: string[]; readonly closed: number | undefined } {
  const texts: string[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
    const short = bytes[at + 1]! & 127;
    const size = short < 126 ? 0 : short === 126 ? 2 : 8;
    if (at + 2 + size > bytes.length) break;
    const length = size === 0 ? short : size === 2 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    const from = at + 2 + size;
    if (from + length > bytes.length) break;
    const opcode = bytes[at]! & 15;
    if (opcode === 8) return { texts, closed: length >= 2 ? bytes.readUInt16BE(from) : 1005 };
    if (opcode === 1) texts.push(bytes.toString('utf8', from, from + length));
    at = from + length;
  }
  return { texts, closed: undefined };
}
