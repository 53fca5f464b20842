import { type Static, Type } from 'typebox';
import { entryKinds, keyPurposes, keyStates } from '../vocabulary.ts';
import { oneOf } from './common.ts';
import {
  anyObject,
  count,
  flag,
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
import { entryData, LongEntryData } from './log-entry-data.ts';

/**
 * A signed tree head in the format of the specification. `timestamp_ns` is a multiple of 1024 below 2^63, so
 * a double holds it exactly; but printing that double gives other digits, so heads must be serialised with
 * `writeTreeHead`.
 */
export const SignedTreeHead = shape('SignedTreeHead', {
  tree_size: ordinal('Number of leaves in the tree.'),
  root_hash: hex32('Merkle root over the leaves (RFC 6962, section 2.1).'),
  timestamp_ns: Type.Integer({
    minimum: 0,
    multipleOf: 1024,
    description: 'Unix time in nanoseconds, a multiple of 1024; strictly increasing from head to head.',
  }),
  signature: hex64('Ed25519 signature over u64be tree_size ‖ root_hash ‖ u64be timestamp_ns (48 bytes).'),
  signer_key_id: uuid('Identifier of the key in /.well-known/jwks.json with svc_purpose transparency-sth.'),
});
export type SignedTreeHead = Static<typeof SignedTreeHead>;

export const InclusionProof = shape('InclusionProof', {
  tree_size: ordinal('Size n of the tree for which the proof is made.'),
  leaf_index: count('Position m of the leaf.'),
  audit_path: list(hex32('A node.'), 'Siblings from the leaf to the root (RFC 6962, section 2.1.1).'),
});
export type InclusionProof = Static<typeof InclusionProof>;

export const ConsistencyProof = shape('ConsistencyProof', {
  tree_size: ordinal('Equals second_size.'),
  first_size: ordinal('Earlier size m.'),
  second_size: ordinal('Later size n.'),
  audit_path: list(hex32('A node.'), 'Consistency path (RFC 6962, section 2.1.2).'),
});
export type ConsistencyProof = Static<typeof ConsistencyProof>;

/** Schema of the data by kind of entry; entries of unknown kinds may have any data. */
const dataByKind = [
  ...entryKinds.map((kind) => Type.Object({ kind: oneOf([kind]), data: Type.Union([entryData[kind], LongEntryData]) })),
  { type: 'object', properties: { kind: { type: 'string', not: { enum: [...entryKinds] } } } },
];

export const LogEntry = Type.Object(
  {
    id: uuid('Identifier of the entry, which makes appending idempotent.'),
    kind: Type.String({
      pattern: '^[a-z_]+(\\.[a-z_]+)+$',
      description: `Kind of entry: ${entryKinds.join(', ')}; newer versions may add kinds.`,
    }),
    occurred_at: timestamp('Time of the event.'),
    actor: text('Identifier of the principal that caused the event, or system.'),
    subject: part('Resource concerned.', {
      type: text('Type of the resource.'),
      id: text('Identifier of the resource.'),
    }),
    data: anyObject('Recorded data, which depends on the kind.'),
    key_id: uuid('Identifier of the event-signing key in /.well-known/jwks.json.'),
    signature: hex64('Ed25519 signature over the JCS form (RFC 8785) of the entry without this field.'),
  },
  { title: 'LogEntry', additionalProperties: false, anyOf: dataByKind },
);
export type LogEntry = Static<typeof LogEntry>;

export const Leaf = shape('Leaf', {
  leaf_index: count('Leaf index in the log.'),
  leaf_hash: hex32('SHA-256(0x00 ‖ canonical bytes).'),
  canonical: text('Base64 of the exact bytes that were hashed: the JCS form of the entry.'),
  entry: LogEntry,
});
export type Leaf = Static<typeof Leaf>;

/**
 * Identifies a head in a list. The size alone is not unique, because an idle log signs the same size several
 * times.
 */
export const treeHeadId = Type.String({
  pattern: '^[1-9][0-9]*-[1-9][0-9]*$',
  description: 'tree_size and timestamp_ns, joined by a dash.',
});

/** A public key in the key set: an OKP key of RFC 8037. Members `svc_*` are extensions of Candor. */
export const JsonWebKey = shape('JsonWebKey', {
  kty: oneOf(['OKP']),
  crv: oneOf(['Ed25519']),
  x: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'Public key, base64url.' }),
  kid: uuid('Identifier of the key.'),
  use: oneOf(['sig']),
  alg: oneOf(['EdDSA']),
  svc_purpose: oneOf(keyPurposes, 'Purpose of the key: what it signs.'),
  svc_state: oneOf(keyStates),
  svc_from_size: optional(
    count('First tree size, or for an event-signing key the first leaf index, that the key signs.'),
  ),
  svc_to_size: optional(
    count('Last tree size that the key signed, or for an event-signing key the leaf index after its last entry.'),
  ),
  svc_not_before: optional(timestamp('Time at which the key started to sign.')),
  svc_not_after: optional(timestamp('Time at which the key stopped signing.')),
  svc_revoked_at: optional(timestamp('Time at which the key was revoked.')),
  svc_life: optional(
    Type.String({
      pattern: '^[0-9a-f]{8}$',
      description: 'Life of the log in which the key signs (see log.life_started); absent for the first life.',
    }),
  ),
  svc_origin: optional(text('Name in the signed notes of a checkpoint key, which is the origin of the log.')),
});
export type JsonWebKey = Static<typeof JsonWebKey>;

export const JsonWebKeySet = shape('JsonWebKeySet', {
  keys: list(
    JsonWebKey,
    'Active and pending keys, the signer of the current head, and the most recently ended keys of each purpose. ' +
      'GET /api/transparency/keys lists all keys.',
  ),
});
export type JsonWebKeySet = Static<typeof JsonWebKeySet>;

const path = (description: string) => list(hex32('A node.'), description);

const Timestamps = part('RFC 3161 timestamps before and after the entry; a list may be empty.', {
  not_before: list(
    part('A timestamp that was in the log before the entry.', {
      leaf_index: count('Leaf index of the checkpoint.timestamped entry, which is lower than that of the bundle.'),
      canonical: text('Base64 of the exact bytes of that entry, which contain the token.'),
      audit_path: path('Siblings from that leaf to the root of the head.'),
    }),
    'Last timestamp of each authority before the entry. The entry was logged after these times.',
  ),
  not_after: list(
    part('A timestamp of a checkpoint that covers the entry.', {
      authority: text('URL of the authority.'),
      gen_time: timestamp('The time that the authority signed.'),
      checkpoint: text('The signed note whose SHA-256 is timestamped.'),
      token: text('TimeStampToken of RFC 3161 in DER, as base64.'),
      audit_path: path('Siblings from the entry to the root of that checkpoint.'),
    }),
    'First timestamp of each authority for a checkpoint that covers the entry. The entry was logged before these times.',
  ),
});

/** A proof that an entry is in the log, for offline verification. */
export const ProofBundle = shape('ProofBundle', {
  leaf_index: count('Leaf index in the log.'),
  leaf_hash: hex32('SHA-256(0x00 ‖ canonical bytes).'),
  canonical: text('Base64 of the exact bytes that were hashed: the JCS form of the entry.'),
  tree_size: ordinal('Tree size of the head.'),
  audit_path: path('Siblings from the leaf to the root of the head (RFC 6962, section 2.1.1).'),
  head: SignedTreeHead,
  keys: list(JsonWebKey, 'Keys that signed the head, the entry and the checkpoint.'),
  tlog_proof: optional(
    text(
      'C2SP tlog-proof: the inclusion proof for a checkpoint with its cosignatures. Absent while the log is degraded and no published checkpoint covers the entry.',
    ),
  ),
  checkpoint_published: optional(
    flag(
      'Whether the checkpoint in tlog_proof is the published one (/checkpoint). If false, the published checkpoint does not cover the entry yet, and the one in tlog_proof is signed only by the log.',
    ),
  ),
  checkpoint_consistency: optional(
    path(
      'Consistency proof from the tree of the checkpoint to that of the head (RFC 6962, section 2.1.2); empty if the sizes are equal.',
    ),
  ),
  timestamps: optional(Timestamps),
});
export type ProofBundle = Static<typeof ProofBundle>;
