import { bytesToHex } from '../../tlog/hex.ts';
import { verifyHead } from '../heads.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { DamagedError, type SignedHead } from '../storage/storage.ts';

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

/**
 * Whether a key of this log signed the head. Where the signer of even the latest head is unknown, the keys are lost:
 * the log is degraded for that reason, and heads whose signer is unknown are served as they are.
 */
export function isSigned(head: SignedHead, keys: KeyRing, latest: SignedHead | undefined): boolean {
  const areLost = latest !== undefined && keys.get(latest.keyId) === undefined;
  return verifyHead(head, keys) || (areLost && keys.get(head.keyId) === undefined);
}
