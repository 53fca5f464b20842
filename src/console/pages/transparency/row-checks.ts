import type { ListItem } from '../../../client/client.ts';
import { sha256 } from '../../../client/sha256.ts';
import {
  AuditFault,
  type KeySet,
  type LogKey,
  type SignedHead,
  verifyEntry,
  verifyHead,
} from '../../../client/verifier.ts';
import { fromBase64 } from '../../../tlog/base64.ts';
import { TlogError } from '../../../tlog/fault.ts';
import { headFromJson } from '../../../tlog/head.ts';
import { bytesToHex, hexToBytes } from '../../../tlog/hex.ts';
import { leafHash } from '../../../tlog/tree.ts';

export type HeadRow = ListItem<'listTreeHeads'>;
export type EntryRow = ListItem<'listEntries'>;

/** Returns the head of a row. Its timestamp is a multiple of 1024 ns, which a JSON number holds exactly. */
export function headOf({ attributes }: HeadRow): SignedHead | AuditFault {
  try {
    return {
      ...headFromJson(attributes),
      signature: hexToBytes(attributes.signature, 64),
      signerKeyId: attributes.signer_key_id,
    };
  } catch (error) {
    if (error instanceof TlogError) return new AuditFault('MALFORMED_HEAD', error.message);
    throw error;
  }
}

/** Verifies that a key of the set signed the head of a row. */
export const checkHeadRow = memoized((row: HeadRow, keys: KeySet): LogKey | AuditFault => {
  const head = headOf(row);
  return head instanceof AuditFault ? head : verifyHead(head, keys);
});

/** Verifies that the bytes of a row match its hash and are signed by an event-signing key of the set. */
export const checkEntryRow = memoized((row: EntryRow, keys: KeySet): LogKey | AuditFault => {
  const canonical = bytesOf(row);
  if (canonical instanceof AuditFault) return canonical;
  const { leaf_index: leafIndex, leaf_hash: expected } = row.attributes;
  if (bytesToHex(leafHash(sha256, canonical)) !== expected)
    return new AuditFault('MALFORMED_LEAF', `leaf ${leafIndex} does not match its hash ${expected}`);
  const signed = verifyEntry({ leafIndex, canonical }, keys);
  return signed instanceof AuditFault ? signed : signed.key;
});

/** Returns the exact bytes of an entry. */
export function bytesOf({ attributes }: EntryRow): Uint8Array | AuditFault {
  return (
    fromBase64(attributes.canonical) ??
    new AuditFault('MALFORMED_LEAF', `leaf ${attributes.leaf_index} is not valid base64`)
  );
}

/** Caches results, because a verification takes a few milliseconds, and rows are drawn many times. */
function memoized<Row extends object>(
  check: (row: Row, keys: KeySet) => LogKey | AuditFault,
): (row: Row, keys: KeySet) => LogKey | AuditFault {
  const known = new WeakMap<Row, { keys: KeySet; result: LogKey | AuditFault }>();
  return (row, keys) => {
    const before = known.get(row);
    if (before?.keys === keys) return before.result;
    const result = check(row, keys);
    known.set(row, { keys, result });
    return result;
  };
}
