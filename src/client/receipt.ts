import { receiptBytes } from '../contract/receipt-bytes.ts';
import type { ReceiptStatement } from '../contract/resources/receipt.ts';
import { fromBase64 } from '../tlog/base64.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { verifyInclusion } from '../tlog/proof.ts';
import { type Hash, leafHash } from '../tlog/tree.ts';
import { verifyEd25519 } from './ed25519.ts';
import { type Exact, hex, members, parseExact, safeInteger, string, uuidPattern } from './exact-json.ts';
import { AuditFault, catchFault, orFault, unwrap } from './fault.ts';
import { type KeySet, type LogKey, readKeySet, receiptSigner } from './key-set.ts';
import { sha256 } from './sha256.ts';
import { type Bundle, readBundle, readPath, type VerifiedEntry, verifyBundle } from './verify.ts';

/** A receipt with its signature, keys and proof. */
export interface ReceiptFile {
  readonly receipt: ReceiptStatement;
  readonly keyId: string | undefined;
  readonly signature: Uint8Array | undefined;
  /** The keys in the file, including those of the proof. */
  readonly keys: KeySet;
  readonly batch:
    | {
        readonly entryId: string;
        readonly leafIndex: number;
        readonly treeSize: number;
        readonly path: readonly Hash[];
      }
    | undefined;
  readonly proof: Bundle | undefined;
}

export interface VerifiedReceipt {
  readonly receipt: ReceiptStatement;
  /** The key that signed the receipt; undefined if only the log covers it. */
  readonly key: LogKey | undefined;
  /** The entry that covers the receipt; undefined if the file has no proof. */
  readonly logged: VerifiedEntry | undefined;
}

/**
 * Returns whether a text is a receipt: the value of the header Candor-Receipt, its JSON, or a response of
 * `GET /api/v1/receipts/…`.
 */
export function looksLikeReceipt(text: string): boolean {
  return members(receiptMembers(text)?.receipt) !== undefined;
}

export function parseReceipt(text: string): ReceiptFile | AuditFault {
  return catchFault(() => readReceipt(text));
}

function readReceipt(text: string): ReceiptFile {
  const fields = receiptMembers(text);
  const receipt = readStatement(fields?.receipt);
  if (fields === undefined || receipt === undefined)
    throw malformed('receipt: must have id, sha256, bytes, sensor, received_at and four counts');
  const keyId = string(fields.key_id);
  const signature = hex(fields.signature, 64);
  if ((keyId === undefined) !== (signature === undefined) || (fields.signature && signature === undefined))
    throw malformed('key_id and signature (64 bytes in hex) must be given together');
  const batch = readBatch(fields.batch);
  const proof = fields.proof === undefined ? undefined : unwrap(readBundle(fields.proof));
  const own = fields.keys === undefined ? new Map<string, LogKey>() : unwrap(readKeySet(fields.keys));
  return { receipt, keyId, signature, keys: new Map([...own, ...(proof?.keys ?? [])]), batch, proof };
}

/**
 * Verifies the signature, if present, and, if there is a proof, that the entry in the log covers the receipt. A receipt
 * with neither signature nor proof is rejected.
 *
 * @param keys - used instead of the keys in the file
 */
export function verifyReceipt(file: ReceiptFile, keys: KeySet = file.keys): VerifiedReceipt | AuditFault {
  const { receipt } = file;
  const logged = verifyLogged(file, keys);
  if (logged instanceof AuditFault) return logged;
  const key = verifySignature(file, keys);
  // A receipt that the log covers is valid under a revoked key too, because it was signed before it was logged.
  if (key instanceof AuditFault && (key.code !== 'KEY_REVOKED' || logged === undefined)) return key;
  if (key === undefined && logged === undefined)
    return new AuditFault('UNSIGNED_RECEIPT', `fetch it again later: GET /api/v1/receipts/${receipt.id}`);
  return { receipt, key: key instanceof AuditFault ? undefined : key, logged };
}

/** Checks that the receipt is for this HTTP body, as it was sent. */
export function verifyReceiptBody(
  { sha256: expected, bytes }: ReceiptStatement,
  body: Uint8Array,
): AuditFault | undefined {
  if (body.length === bytes && bytesToHex(sha256(body)) === expected) return undefined;
  return new AuditFault(
    'WRONG_BODY',
    `the receipt is for ${bytes} bytes with SHA-256 ${expected}; the body has ${body.length} with ${bytesToHex(sha256(body))}`,
  );
}

function verifySignature({ receipt, keyId, signature }: ReceiptFile, keys: KeySet): LogKey | AuditFault | undefined {
  if (keyId === undefined || signature === undefined) return undefined;
  const key = receiptSigner(keys, keyId);
  if (key instanceof AuditFault) return key;
  if (verifyEd25519(key.publicKey, receiptBytes(receipt), signature)) return key;
  return new AuditFault('BAD_RECEIPT_SIGNATURE', `receipt ${receipt.id} is not signed by key ${key.kid}`);
}

function verifyLogged({ receipt, batch, proof }: ReceiptFile, keys: KeySet): VerifiedEntry | AuditFault | undefined {
  if (batch === undefined || proof === undefined) return undefined;
  const logged = verifyBundle({ ...proof, keys });
  if (logged instanceof AuditFault) return logged;
  const { id, kind } = logged.entry;
  const data = members((logged.entry as { data?: Exact }).data);
  const root = hex(data?.receipts_root, 32);
  if (id !== batch.entryId || kind !== 'ingest.receipted' || root === undefined || data?.count !== batch.treeSize)
    return new AuditFault('NOT_INCLUDED', `entry ${id} (${kind}) does not cover the receipt`);
  return orFault('NOT_INCLUDED', `receipt ${receipt.id} is not covered by entry ${id}`, () => {
    const leaf = leafHash(sha256, receiptBytes(receipt));
    const { leafIndex, treeSize, path } = batch;
    verifyInclusion(sha256, { leafIndex, treeSize, leafHash: leaf, path, root });
    return logged;
  });
}

type Fields = Readonly<Record<string, Exact | undefined>>;

/** Returns the members of the object with `receipt`, for each of the three forms; undefined for any other text. */
function receiptMembers(text: string): Fields | undefined {
  const fields = members(parseExact(text) ?? parseExact(fromHeader(text.trim()) ?? ''));
  return members(members(fields?.data)?.attributes) ?? fields;
}

function fromHeader(text: string): string | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  const plain = text.replaceAll('-', '+').replaceAll('_', '/');
  const bytes = fromBase64(plain.padEnd(Math.ceil(plain.length / 4) * 4, '='));
  return bytes && new TextDecoder().decode(bytes);
}

function readStatement(json: Exact | undefined): ReceiptStatement | undefined {
  const fields = members(json);
  const sensor = members(fields?.sensor);
  const id = string(fields?.id);
  const counts = ['bytes', 'accepted', 'rejected', 'ignored', 'duplicates'].map((name) => safeInteger(fields?.[name]));
  const [bytes, accepted, rejected, ignored, duplicates] = counts;
  const [sensorId, name] = [string(sensor?.id), string(sensor?.name)];
  const received_at = string(fields?.received_at);
  const digest = hex(fields?.sha256, 32);
  if (id === undefined || !uuidPattern.test(id) || digest === undefined || received_at === undefined) return undefined;
  if (sensorId === undefined || !name?.isWellFormed() || !sensorId.isWellFormed()) return undefined;
  if (bytes === undefined || accepted === undefined || rejected === undefined) return undefined;
  if (ignored === undefined || duplicates === undefined || !received_at.isWellFormed()) return undefined;
  const stored = { accepted, rejected, ignored, duplicates };
  return { id, sha256: bytesToHex(digest), bytes, ...stored, sensor: { id: sensorId, name }, received_at };
}

function readBatch(json: Exact | undefined): ReceiptFile['batch'] {
  if (json === undefined) return undefined;
  const fields = members(json);
  const entryId = string(fields?.entry_id);
  const leafIndex = safeInteger(fields?.leaf_index);
  const treeSize = safeInteger(fields?.tree_size);
  const path = unwrap(readPath(fields?.audit_path), malformed);
  if (entryId === undefined || leafIndex === undefined || treeSize === undefined)
    throw malformed('batch lacks entry_id, leaf_index or tree_size');
  return { entryId, leafIndex, treeSize, path };
}

function malformed(reason: string): AuditFault {
  return new AuditFault('MALFORMED_RECEIPT', `the receipt is malformed: ${reason}`);
}
