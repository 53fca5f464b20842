import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { LogKey } from '../../src/client/key-set.ts';
import type { SignedHead } from '../../src/client/tree-head.ts';
import { encodeHead, type TreeHead } from '../../src/tlog/head.ts';

export interface TestKey {
  readonly key: LogKey;
  readonly secret: KeyObject;
}

/** Returns a tree-head key pair that belongs to no log. */
export function keyPairOf(kid: string, about: Partial<LogKey> = {}): TestKey {
  const { privateKey: secret, publicKey } = generateKeyPairSync('ed25519');
  const x = publicKey.export({ format: 'jwk' }).x!;
  const raw = Uint8Array.from(Buffer.from(x, 'base64url'));
  const usual = { purpose: 'transparency-sth', state: 'active', fromSize: 0, toSize: undefined };
  return { key: { kid, x, publicKey: raw, ...usual, ...about }, secret };
}

export function signedHead({ key, secret }: TestKey, { size, root, timestampNs }: TreeHead): SignedHead {
  const unsigned = { size, root, timestampNs };
  const signature = Uint8Array.from(sign(null, encodeHead(unsigned), secret));
  return { ...unsigned, signature, signerKeyId: key.kid };
}
