import type { Static } from './common.ts';
import {
  count,
  hex32,
  hex64,
  list,
  optional,
  ordinal,
  part,
  shape,
  text,
  timestamp,
  uuid,
} from './fields.ts';
import { JsonWebKey, ProofBundle } from './transparency.ts';

/** The statement of the service about one ingest body. */
export const ReceiptStatement = shape('ReceiptStatement', {
  id: uuid('Id of the receipt (UUIDv7).'),
  sha256: hex32('SHA-256 of the HTTP body as sent, before any decompression.'),
  bytes: count('Length of that body in bytes.'),
  accepted: count('Records stored; on disk before the receipt was given.'),
  rejected: count('Bad records, left out.'),
  ignored: count('Records of kinds that are not stored.'),
  duplicates: count('Records refused because the sensor sent their explicit id before.'),
  sensor: part({ id: uuid('Its principal.'), name: text('Its name.') }, 'The authenticated sender.'),
  received_at: timestamp('When the service received the body.'),
});
export type ReceiptStatement = Static<typeof ReceiptStatement>;

/** A receipt with all that verifies it offline, as far as it exists yet. */
export const Receipt = shape('Receipt', {
  receipt: ReceiptStatement,
  key_id: optional(uuid('Event signing key. Absent, with signature, while the log can not sign.')),
  signature: optional(
    hex64("Ed25519 over the receipt's bytes: candor-receipt/v1, a line feed, and the JCS form of receipt."),
  ),
  keys: list(JsonWebKey, 'The key of key_id.'),
  batch: optional(
    part(
      {
        entry_id: uuid('The entry of kind ingest.receipted.'),
        leaf_index: count('Position of the receipt among those of the entry.'),
        tree_size: ordinal('Receipts of the entry: its count.'),
        audit_path: list(
          hex32('A node.'),
          'Siblings from the receipt to receipts_root of the entry (RFC 6962, section 2.1.1).',
        ),
      },
      'The place in the entry that logs the receipt; absent until there is one.',
    ),
  ),
  proof: optional(ProofBundle),
});
export type Receipt = Static<typeof Receipt>;
