import type { Static } from './common.ts';
import { count, hex32, hex64, list, optional, ordinal, part, shape, text, timestamp, uuid } from './fields.ts';
import { JsonWebKey, ProofBundle } from './transparency.ts';

/** The signed statement of the service about one ingest body. */
export const ReceiptStatement = shape('ReceiptStatement', {
  id: uuid('Identifier of the receipt (UUIDv7).'),
  sha256: hex32('SHA-256 of the HTTP body as sent, before any decompression.'),
  bytes: count('Length of the HTTP body in bytes.'),
  accepted: count('Number of records stored; they were on disk before the receipt was issued.'),
  rejected: count('Number of invalid records, which are not stored.'),
  ignored: count('Number of records of kinds that are not stored.'),
  duplicates: count('Number of records rejected because the sensor has already sent their explicit id.'),
  sensor: part('The authenticated sender.', {
    id: uuid('Identifier of the principal.'),
    name: text('Name of the principal.'),
  }),
  received_at: timestamp('Time at which the service received the body.'),
});
export type ReceiptStatement = Static<typeof ReceiptStatement>;

/** A receipt with the offline proofs that exist so far. */
export const Receipt = shape('Receipt', {
  receipt: ReceiptStatement,
  key_id: optional(
    uuid('Identifier of the event-signing key. Absent together with signature while the log cannot sign.'),
  ),
  signature: optional(hex64('Ed25519 signature over candor-receipt/v1, a line feed, and the JCS form of receipt.')),
  keys: list(JsonWebKey, 'The key with identifier key_id.'),
  batch: optional(
    part('Position of the receipt in the entry that logs it; absent until it is logged.', {
      entry_id: uuid('Identifier of the ingest.receipted entry.'),
      leaf_index: count('Index of the receipt among the receipts of the entry.'),
      tree_size: ordinal('Number of receipts in the entry.'),
      audit_path: list(
        hex32('A node.'),
        'Siblings from the receipt to receipts_root of the entry (RFC 6962, section 2.1.1).',
      ),
    }),
  ),
  proof: optional(ProofBundle),
});
export type Receipt = Static<typeof Receipt>;
