import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limits } from '../../src/limits.ts';
import { AgentError, frameLength, readIdentities, readSignature, signRequest } from '../../src/ssh-agent/wire.ts';

const string = (bytes: Uint8Array | string) => {
  const content = Buffer.from(bytes as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
};
const count = (value: number) => string(Buffer.alloc(value)).subarray(0, 4);
const key = (algorithm: string, bytes: number) =>
  string(Buffer.concat([string(algorithm), string(Buffer.alloc(bytes, 7))]));
const identity = (algorithm: string, bytes: number, comment: string) =>
  Buffer.concat([key(algorithm, bytes), string(comment)]);
const rejects = (read: () => unknown) => {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(AgentError);
  }
};

test('a signature request is encoded as in the draft', () => {
  const publicKey = new Uint8Array(32).fill(7);
  const request = Buffer.from(signRequest(publicKey, Uint8Array.of(1, 2, 3)));
  expect(request.readUInt32BE(0)).toBe(request.length - 4);
  expect(frameLength(request)).toBe(request.length);
  expect(request.subarray(4)).toEqual(
    Buffer.concat([Buffer.of(13), key('ssh-ed25519', 32), string(Buffer.of(1, 2, 3)), Buffer.alloc(4)]),
  );
});

test('the list of keys has only plain Ed25519 keys, in order', () => {
  const listed = Buffer.concat([
    Buffer.of(12),
    count(4),
    identity('ssh-ed25519', 32, 'one'),
    identity('sk-ssh-ed25519@openssh.com', 32, 'token'),
    identity('ssh-ed25519', 31, 'short'),
    identity('ssh-ed25519', 32, 'two'),
  ]);
  expect(readIdentities(listed).map(({ comment }) => comment)).toEqual(['one', 'two']);
  expect(() => readIdentities(Buffer.concat([listed, Buffer.of(0)]))).toThrow('after its message');
  expect(() => readIdentities(listed.subarray(0, -1))).toThrow('truncated message');
});

test('more keys and larger frames than the limits are rejected', () => {
  const many = Buffer.concat([Buffer.of(12), Buffer.from([0, 0, 8, 1])]);
  expect(() => readIdentities(many)).toThrow(`the limit is ${limits.maxAgentIdentities}`);
  expect(() => frameLength(Buffer.from([0xff, 0xff, 0xff, 0xff]))).toThrow('a frame of 4294967295 bytes');
  expect(() => frameLength(Buffer.alloc(4))).toThrow('a frame of 0 bytes');
  expect(frameLength(Buffer.alloc(3))).toBeUndefined();
});

test('arbitrary bytes cause no error other than an AgentError', () => {
  const type = fc.constantFrom(5, 12, 14, 0, 255);
  fc.assert(
    fc.property(type, fc.uint8Array({ maxLength: 200 }), (first, rest) => {
      const body = Uint8Array.of(first, ...rest);
      rejects(() => readIdentities(body));
      rejects(() => readSignature(body));
    }),
  );
});
