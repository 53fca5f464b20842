import { type Static, Type } from 'typebox';
import { oneOf } from './common.ts';
import {
  anyObject,
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

/** What this service logs, and nothing else. */
export const entryKinds = [
  'alert.raised',
  'principal.provisioned',
  'principal.status_changed',
  'principal.role_changed',
  'token.issued',
  'token.revoked',
  'policy.reloaded',
  'policy.rule_edited',
  'detection.reloaded',
  'key.rotated',
  'key.revoked',
  'key.retired',
  'backup.created',
  'backup.restored',
  'verdict.overridden',
] as const;

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

/** The head as JSON text, its integers in exact digits for readers that have 64-bit integers. */
export function writeTreeHead(head: SignedTreeHead): string {
  const { tree_size, root_hash, timestamp_ns, signature, signer_key_id } = head;
  const texts = JSON.stringify({ signature, signer_key_id });
  return `{"tree_size":${tree_size},"root_hash":"${root_hash}","timestamp_ns":${BigInt(timestamp_ns)},${texts.slice(1)}`;
}

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

export const LogEntry = shape('LogEntry', {
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
});
export type LogEntry = Static<typeof LogEntry>;

export const Leaf = shape('Leaf', {
  leaf_index: count('Position in the log.'),
  leaf_hash: hex32('SHA-256(0x00 ‖ canonical bytes).'),
  canonical: text('Base64 of the exact bytes that were hashed: the JCS form of the entry.'),
  entry: LogEntry,
});
export type Leaf = Static<typeof Leaf>;

/** RFC 8037 OKP keys; `svc_*` are ours. */
export const JsonWebKey = shape('JsonWebKey', {
  kty: oneOf(['OKP']),
  crv: oneOf(['Ed25519']),
  x: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'Public key, base64url.' }),
  kid: uuid('Names the key.'),
  use: oneOf(['sig']),
  alg: oneOf(['EdDSA']),
  svc_purpose: oneOf(['transparency-sth', 'event-signing', 'access-token', 'checkpoint', 'witness'], {
    description: 'The one thing that it signs.',
  }),
  svc_state: oneOf(['pending', 'active', 'retired', 'revoked']),
  svc_from_size: optional(count('Tree size from which it signs.')),
  svc_to_size: optional(count('Tree size up to which it signed.')),
  svc_not_before: optional(timestamp('From when on it signs.')),
  svc_not_after: optional(timestamp('Up to when it signed.')),
});
export type JsonWebKey = Static<typeof JsonWebKey>;

export const JsonWebKeySet = shape('JsonWebKeySet', {
  keys: list(JsonWebKey, 'Every public key ever used.'),
});
export type JsonWebKeySet = Static<typeof JsonWebKeySet>;
