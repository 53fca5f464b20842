import type { SignedTreeHead } from '../contract/resources/transparency.ts';
import { encodeHead, headFromJson, headToJson, signatureBytes, timestampStepNs } from '../tlog/head.ts';
import { hexToBytes } from '../tlog/hex.ts';
import type { Hash } from '../tlog/tree.ts';
import type { HeadJudge } from './journal.ts';
import type { KeyRing, SigningKey } from './keys/key-ring.ts';
import type { SignedHead } from './storage/storage.ts';

/** Returns the Unix time in nanoseconds. It may jump; timestamps of heads strictly increase nevertheless. */
export type Clock = () => bigint;

/** Returns the timestamp of a head: a multiple of 1024 ns, later than the previous head even if the clock is behind. */
export function nextTimestamp(nowNs: bigint, last: bigint | undefined): bigint {
  const now = nowNs - (nowNs % timestampStepNs);
  return last !== undefined && now <= last ? last + timestampStepNs : now;
}

export function signHead(size: number, root: Hash, timestampNs: bigint, key: SigningKey): SignedHead {
  const head = { size, root, timestampNs };
  return { ...head, signature: key.sign(encodeHead(head)), keyId: key.kid };
}

/** Returns whether a tree-head key of this log signed the head. The key may have been retired or revoked since. */
export function verifyHead(head: SignedHead, keys: KeyRing): boolean {
  return keys.verify(head.keyId, 'transparency-sth', encodeHead(head), head.signature);
}

/**
 * Returns the functions that decide which heads in a journal are accepted, for a log with these keys whose latest head
 * is `latest`.
 */
export function headJudge(keys: KeyRing, latest?: SignedHead) {
  return {
    isSigned: (head) => verifyHead(head, keys),
    isCurrent: (head) => keys.get(head.keyId)?.file.svc_life === keys.life,
    latest,
  } satisfies HeadJudge;
}

/**
 * Returns the judge for a log that is not running. Until the current life has an entry in the log, heads of the
 * previous life are current too.
 */
export function offlineJudge(keys: KeyRing) {
  const { isUnlogged } = keys;
  const { isSigned, isCurrent } = headJudge(keys);
  return { isSigned, isCurrent: (head) => isUnlogged || isCurrent(head) } satisfies HeadJudge;
}

export function toJson(head: SignedHead): SignedTreeHead {
  return headToJson(head, head.signature, head.keyId);
}

/** Parses a head. @throws TlogError when the JSON is not a valid head */
export function fromJson(json: SignedTreeHead): SignedHead {
  return {
    ...headFromJson(json),
    signature: hexToBytes(json.signature, signatureBytes),
    keyId: String(json.signer_key_id),
  };
}

/** Converts nanoseconds to whole milliseconds. */
export function milliseconds(ns: bigint): number {
  return Number(ns / 1_000_000n);
}
