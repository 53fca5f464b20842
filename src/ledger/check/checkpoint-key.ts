import { importPublicKey, verifyEd25519 } from '../../crypto/ed25519.ts';
import { sha256 } from '../../crypto/sha256.ts';
import { caught } from '../../errors.ts';
import { TlogError } from '../../tlog/fault.ts';
import { noteKeyId, parseNote, signatureTypes } from '../../tlog/note.ts';
import type { KeyFile } from '../keys/key-file.ts';
import type { KeyHistory } from './key-history.ts';

export interface CheckpointKeyEvidence {
  /** All key files of the folder. */
  readonly files: readonly KeyFile[];
  readonly history: KeyHistory;
  /** kid of the checkpoint key recorded in ledger.mdb, which was active at the last start. */
  readonly recorded: string | undefined;
  /** The checkpoint stored in ledger.mdb. */
  readonly kept: string | undefined;
  /** kid of the key that signed the last head. */
  readonly lastSigner: string | undefined;
}

/**
 * Verdict on the active checkpoint key. `right`: the key is valid. `open`: unknown, because no key is active or the
 * entry of a new life is not logged yet. `replaced`: the key is not valid.
 */
export type CheckpointKeyVerdict =
  | { readonly kind: 'right'; readonly kid: string }
  | { readonly kind: 'open' }
  | { readonly kind: 'replaced'; readonly why: string };

/**
 * Compares the active checkpoint key with the records about it. The key is stable: it changes only with a
 * revocation (`key.revoked` names the next key) and with a new life (`log.life_started` names it).
 */
export function judgeCheckpointKey({
  files,
  history,
  recorded,
  kept,
  lastSigner,
}: CheckpointKeyEvidence): CheckpointKeyVerdict {
  const keys = files.filter((file) => file.svc_purpose === 'checkpoint');
  const active = keys.filter((file) => file.svc_state === 'active');
  const [key] = active;
  if (key === undefined) return { kind: 'open' };
  const kid = active.find((file) => history.replaced.get(file.kid) === undefined)?.kid ?? key.kid;
  const other = active.find((file) => file.kid !== kid && history.replaced.get(file.kid) !== kid);
  if (other !== undefined) return replaced(`the folder keys has two active checkpoint keys, ${kid} and ${other.kid}`);
  if (kept !== undefined && !isSignedByOne(kept, keys))
    return replaced('the checkpoint in ledger.mdb is not signed by any key in the folder keys');
  const first = recorded ?? firstOf(keys, history);
  const starts = first === undefined ? history.begun : new Set([first, ...history.begun]);
  if ([...starts].some((from) => leadsTo(from, kid, history))) return { kind: 'right', kid };
  // A new life retires all keys. The entry that names the new keys is logged only after a new key has signed a head.
  const isRetired = keys.some((file) => file.kid === first && file.svc_state === 'retired');
  const isOldHead = !files.some((file) => file.svc_state === 'active' && file.kid === lastSigner);
  if (isRetired && isOldHead) return { kind: 'open' };
  return replaced(`checkpoint key ${kid} is active, but no entry in the log records that it replaced ${first}`);
}

/**
 * Returns the checkpoint key that did not replace another key, for logs without a record; undefined without such a key.
 */
function firstOf(keys: readonly KeyFile[], { replaced }: KeyHistory): string | undefined {
  const successors = new Set(replaced.values());
  return keys.toSorted((a, b) => (a.kid < b.kid ? -1 : 1)).find((file) => !successors.has(file.kid))?.kid;
}

function leadsTo(from: string, to: string, { replaced }: KeyHistory): boolean {
  const passed = new Set<string>();
  for (let kid: string | undefined = from; kid !== undefined && !passed.has(kid); kid = replaced.get(kid)) {
    if (kid === to) return true;
    passed.add(kid);
  }
  return false;
}

/**
 * Returns whether one of the keys made the log's own signature on a note. A note without the log's signature proves
 * nothing and is accepted.
 */
function isSignedByOne(note: string, keys: readonly KeyFile[]): boolean {
  // Another check reports a text that is not a note.
  return caught(TlogError, true, () => {
    const { text, signatures } = parseNote(note);
    const origin = text.split('\n', 1)[0];
    const own = signatures.filter(({ name }) => name === origin);
    return (
      own.length === 0 ||
      own.some(({ name, keyId, signature }) =>
        keys.some(({ x }) => {
          const raw = new Uint8Array(Buffer.from(x, 'base64url'));
          const key = importPublicKey(raw);
          if (key === undefined || noteKeyId(sha256, name, signatureTypes.ed25519, raw) !== keyId) return false;
          return verifyEd25519(key, new TextEncoder().encode(text), signature);
        }),
      )
    );
  });
}

function replaced(why: string): CheckpointKeyVerdict {
  return { kind: 'replaced', why };
}
