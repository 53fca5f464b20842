import { bytesToHex } from '../../tlog/hex.ts';
import { verifyHead } from '../heads.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { DamagedError, type LedgerStorage, type SignedHead } from '../storage/storage.ts';

/** Heads cached as verified: eight pages of the history, 2 MB. */
const maxCached = 8192;

/**
 * Verifies the signature of each head before it is returned (0.1 ms). A cached head is not verified again.
 */
export class VerifiedHeads {
  readonly #verify: (head: SignedHead) => boolean;
  readonly #cached = new Set<string>();

  /** @param verify - whether a tree-head key of this log made the signature */
  constructor(verify: (head: SignedHead) => boolean) {
    this.#verify = verify;
  }

  /** Returns the head. @throws DamagedError */
  checked(head: SignedHead): SignedHead {
    const name = `${head.size} ${head.timestampNs} ${head.keyId} ${bytesToHex(head.root)} ${bytesToHex(head.signature)}`;
    if (this.#cached.has(name)) return head;
    if (!this.#verify(head)) throw new DamagedError(badSignature(head));
    if (this.#cached.size >= maxCached) this.#cached.delete(this.#cached.values().next().value!);
    this.#cached.add(name);
    return head;
  }
}

export function badSignature({ size, timestampNs }: SignedHead): string {
  return `the head of ${size} leaves signed at ${timestampNs} ns has no valid signature`;
}

interface SignedLog {
  readonly keys: KeyRing;
  readonly storage: LedgerStorage;
  readonly latest: SignedHead | undefined;
}

/**
 * Returns whether a key of this log signed the head. If keys are lost, the log is degraded for that reason, and heads
 * with an unknown signer are served without this check.
 */
export function isSigned(head: SignedHead, log: SignedLog): boolean {
  return verifyHead(head, log.keys) || (log.keys.get(head.keyId) === undefined && areKeysLost(log));
}

/**
 * Returns whether a missing key file explains the unknown signer of the latest head: there is no active tree-head key,
 * or the previous head names the same signer. Otherwise the key id of the head is damaged.
 */
function areKeysLost({ keys, storage: { history }, latest }: SignedLog): boolean {
  if (latest === undefined || keys.get(latest.keyId) !== undefined) return false;
  if (keys.lost.includes('transparency-sth')) return true;
  const [before, last] = history.from(Math.max(0, history.count - 2), 2);
  return last !== undefined && before?.keyId === latest.keyId;
}
