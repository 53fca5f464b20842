import { bytesToHex } from '../../tlog/hex.ts';
import { verifyHead } from '../heads.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { DamagedError, type LedgerStorage, type SignedHead } from '../storage/storage.ts';

/** Heads remembered as verified: eight pages of the history, 2 MB. */
const remembered = 8192;

/** Verifies the signature of each head before it leaves: 0.1 ms, once for each as long as it is remembered. */
export class VerifiedHeads {
  readonly #verify: (head: SignedHead) => boolean;
  readonly #known = new Set<string>();

  /** @param verify - whether a tree-head key of this log made the signature */
  constructor(verify: (head: SignedHead) => boolean) {
    this.#verify = verify;
  }

  /** Returns the head. @throws DamagedError */
  checked(head: SignedHead): SignedHead {
    const name = `${head.size} ${head.timestampNs} ${head.keyId} ${bytesToHex(head.root)} ${bytesToHex(head.signature)}`;
    if (this.#known.has(name)) return head;
    if (!this.#verify(head)) throw new DamagedError(badSignature(head));
    if (this.#known.size >= remembered) this.#known.delete(this.#known.values().next().value!);
    this.#known.add(name);
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
 * Whether a key of this log signed the head. Where keys are lost, the log is degraded for that reason, and heads whose
 * signer is unknown are served without a check.
 */
export function isSigned(head: SignedHead, log: SignedLog): boolean {
  return verifyHead(head, log.keys) || (log.keys.get(head.keyId) === undefined && areKeysLost(log));
}

/**
 * Whether a missing key file explains that the signer of the latest head is unknown: there is no active tree-head key,
 * or the head before names the same signer. Otherwise the key id of the head is damaged.
 */
function areKeysLost({ keys, storage: { history }, latest }: SignedLog): boolean {
  if (latest === undefined || keys.get(latest.keyId) !== undefined) return false;
  if (keys.lost.includes('transparency-sth')) return true;
  const [before, last] = history.from(Math.max(0, history.count - 2), 2);
  return last !== undefined && before?.keyId === latest.keyId;
}
