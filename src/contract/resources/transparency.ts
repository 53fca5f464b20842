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
 * A signed tree head in the specification's shape. `timestamp_ns` is a multiple of 1024 below 2^63, so a double
 * holds it exactly; but printing that double gives other digits, so a head is written by `writeTreeHead` only.
 */
export const SignedTreeHead = shape('SignedTreeHead', {
  tree_size: ordinal('Leaves covered.'),
  root_hash: hex32('Merkle root over the leaves (RFC 6962, section 2.1).'),
  timestamp_ns: Type.Integer({
    minimum: 0,
    multipleOf: 1024,
    description: 'Unix time in nanoseconds, a multiple of 1024; strictly grows from head to head.',
  }),
  signature: hex64('Ed25519 over u64be tree_size ‖ root_hash ‖ u64be timestamp_ns (48 bytes).'),
  signer_key_id: uuid('Key in /.well-known/jwks.json with svc_purpose transparency-sth.'),
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

/** What the data is, for each kind of `entryData`; entries of other kinds may hold anything. */
const dataByKind = [
  ...entryKinds.map((kind) =>
    Type.Object({ kind: oneOf([kind]), data: Type.Union([entryData[kind], LongEntryData]) }),
  ),
  { type: 'object', properties: { kind: { type: 'string', not: { enum: [...entryKinds] } } } },
];

export const LogEntry = Type.Object(
  {
    id: uuid('Id of the entry; appending is idempotent by it.'),
    kind: Type.String({
      pattern: '^[a-z_]+(\\.[a-z_]+)+$',
      description: `What happened: ${entryKinds.join(', ')}; a newer log may have more.`,
    }),
    occurred_at: timestamp('When it happened.'),
    actor: text('Who caused it: the id of a principal, or system.'),
    subject: part({ type: text('Kind of resource.'), id: text('Its identifier.') }, 'What it happened to.'),
    data: anyObject('What is recorded of it, by kind.'),
    key_id: uuid('Event signing key, in /.well-known/jwks.json.'),
    signature: hex64('Ed25519 over the JCS form (RFC 8785) of the entry without this field.'),
  },
  { title: 'LogEntry', additionalProperties: false, anyOf: dataByKind },
);
export type LogEntry = Static<typeof LogEntry>;

export const Leaf = shape('Leaf', {
  leaf_index: count('Position in the log.'),
  leaf_hash: hex32('SHA-256(0x00 ‖ canonical bytes).'),
  canonical: text('Base64 of the exact bytes that were hashed: the JCS form of the entry.'),
  entry: LogEntry,
});
export type Leaf = Static<typeof Leaf>;

/** Names a head in a list: an idle log signs one size several times. */
export const treeHeadId = Type.String({
  pattern: '^[1-9][0-9]*-[1-9][0-9]*$',
  description: 'tree_size and timestamp_ns, joined by a dash.',
});

/** RFC 8037 OKP keys; `svc_*` are ours. */
export const JsonWebKey = shape('JsonWebKey', {
  kty: oneOf(['OKP']),
  crv: oneOf(['Ed25519']),
  x: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'Public key, base64url.' }),
  kid: uuid('Names the key.'),
  use: oneOf(['sig']),
  alg: oneOf(['EdDSA']),
  svc_purpose: oneOf(keyPurposes, {
    description: 'The one thing that it signs.',
  }),
  svc_state: oneOf(keyStates),
  svc_from_size: optional(
    count('Heads of trees from this size on are signed by it, or entries from this index on.'),
  ),
  svc_to_size: optional(
    count('Heads up to this size were signed by it, inclusive, or entries below this index.'),
  ),
  svc_not_before: optional(timestamp('From when on it signs.')),
  svc_not_after: optional(timestamp('Up to when it signed.')),
  svc_revoked_at: optional(timestamp('When it was revoked.')),
  svc_life: optional(
    Type.String({
      pattern: '^[0-9a-f]{8}$',
      description:
        'Life of the log in which the key signs (see log.life_started); absent for the first life.',
    }),
  ),
  svc_origin: optional(
    text('Of a checkpoint key: the name under which it signs notes, which is the name of the log.'),
  ),
});
export type JsonWebKey = Static<typeof JsonWebKey>;

export const JsonWebKeySet = shape('JsonWebKeySet', {
  keys: list(
    JsonWebKey,
    'Active and pending keys, the signer of the current head, and of each purpose the keys that ended last. ' +
      'All others: GET /api/transparency/keys.',
  ),
});
export type JsonWebKeySet = Static<typeof JsonWebKeySet>;

const path = (description: string) => list(hex32('A node.'), description);

const Timestamps = part(
  {
    not_before: list(
      part(
        {
          leaf_index: count(
            'Position of the entry of kind checkpoint.timestamped, below that of the bundle.',
          ),
          canonical: text('Base64 of its exact bytes, which hold the token.'),
          audit_path: path('Siblings from that leaf to the root of the head.'),
        },
        'A timestamp that was in the log before the entry.',
      ),
      'The last timestamp of each authority before the entry: the entry was logged after these times.',
    ),
    not_after: list(
      part(
        {
          authority: text('URL of the authority.'),
          gen_time: timestamp('The time that the authority signed.'),
          checkpoint: text('The note whose SHA-256 is timestamped.'),
          token: text('TimeStampToken of RFC 3161 in DER, as base64.'),
          audit_path: path('Siblings from the entry to the root of that checkpoint.'),
        },
        'A timestamp over a checkpoint that has the entry.',
      ),
      'The first such timestamp of each authority: the entry was logged before these times.',
    ),
  },
  'RFC 3161 timestamps around the entry; the lists are empty where there are none.',
);

/** Proves offline that an entry is in the log. */
export const ProofBundle = shape('ProofBundle', {
  leaf_index: count('Position in the log.'),
  leaf_hash: hex32('SHA-256(0x00 ‖ canonical bytes).'),
  canonical: text('Base64 of the exact bytes that were hashed: the JCS form of the entry.'),
  tree_size: ordinal('That of the head.'),
  audit_path: path('Siblings from the leaf to the root of the head (RFC 6962, section 2.1.1).'),
  head: SignedTreeHead,
  keys: list(JsonWebKey, 'The keys that signed head, entry and checkpoint.'),
  tlog_proof: optional(
    text(
      'C2SP tlog-proof: the inclusion proof under a checkpoint with its cosignatures. Absent while the log is degraded and no published checkpoint covers the entry.',
    ),
  ),
  checkpoint_published: optional(
    flag(
      'Whether that checkpoint is the one of /checkpoint. Otherwise that one does not cover the entry yet, and this one is signed by the log alone.',
    ),
  ),
  checkpoint_consistency: optional(
    path(
      'From the tree of the checkpoint to that of the head (RFC 6962, section 2.1.2); empty for one size.',
    ),
  ),
  timestamps: optional(Timestamps),
});
export type ProofBundle = Static<typeof ProofBundle>;
