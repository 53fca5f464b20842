import { expect, test } from 'vitest';
import { AuditFault, type KeySet, parseKeySet, verifyCheckpoint } from '../../../src/client/verifier.ts';
import { cosignedBy, otherSigners } from '../../../src/console/pages/transparency/cosigned.ts';
import { signatureTypes } from '../../../src/tlog/note.ts';
import { cosignature } from '../../witness/rogue-witness.ts';
import { keyPair, TestLog } from '../../witness/test-log.ts';

const log = new TestLog('log.example/a');
const witness = keyPair('witness.example/w', signatureTypes.cosignature);
const other = keyPair('other.example/w', signatureTypes.cosignature);
const atMs = 1_800_000_000_000;

function must<T>(value: T | AuditFault): T {
  if (value instanceof AuditFault) throw new Error(`${value.code}: ${value.message}`);
  return value;
}

/** The key set of the log, as published by the service. */
const keys: KeySet = must(
  parseKeySet(
    JSON.stringify({
      keys: [
        {
          kty: 'OKP',
          crv: 'Ed25519',
          x: Buffer.from(log.key.public.publicKey).toString('base64url'),
          kid: '01a20203-1c05-78cf-b312-9c658ebdd8c9',
          use: 'sig',
          alg: 'EdDSA',
          svc_purpose: 'checkpoint',
          svc_state: 'active',
          svc_origin: log.origin,
          svc_from_size: 0,
        },
      ],
    }),
  ),
);

const bare = log.note(5);
const checkpointOf = (note: string) => must(verifyCheckpoint(note, keys));

test('a cosignature counts for the witness with the matching key, and has a time', () => {
  const checkpoint = checkpointOf(bare + cosignature(bare, witness, atMs));
  expect(cosignedBy(checkpoint, keys, witness.vkey)).toEqual({ kind: 'verified', atMs });
  expect(cosignedBy(checkpoint, keys, other.vkey)).toEqual({ kind: 'missing' });
});

test("a signature in a witness's name by a different key does not count", () => {
  const impostor = keyPair(witness.public.name, signatureTypes.cosignature);
  const checkpoint = checkpointOf(bare + cosignature(bare, impostor, atMs));
  expect(cosignedBy(checkpoint, keys, witness.vkey)).toEqual({ kind: 'missing' });
});

test('a cosignature of another checkpoint, and an invalid key, are rejected', () => {
  const moved = checkpointOf(bare + cosignature(log.note(4), witness, atMs));
  const codes = [witness.vkey, 'no key'].map((vkey) => {
    const cosigned = cosignedBy(moved, keys, vkey);
    return cosigned.kind === 'refused' ? cosigned.fault.code : cosigned.kind;
  });
  expect(codes).toEqual(['BAD_COSIGNATURE', 'MALFORMED_KEYS']);
});

test('other signers are listed once, without the log and known witnesses', () => {
  const twice = [witness, other, other].map((key) => cosignature(bare, key, atMs)).join('');
  const note = { note: bare + twice, origin: log.origin };
  expect(otherSigners(note, [])).toEqual([witness.public.name, other.public.name]);
  expect(otherSigners(note, [witness.public.name])).toEqual([other.public.name]);
});
