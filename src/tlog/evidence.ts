import { toBase64 } from './base64.ts';
import type { Binding } from './binding.ts';
import { bytesToHex } from './hex.ts';
import type { VerifierKey } from './note.ts';

/** Format of the files that `candor verify` reads as evidence: one JSON object. */
export const evidenceFormat = 'candor-evidence/3';

/** Two conflicting checkpoints signed by one log. */
export interface CheckpointFork {
  readonly message: string;
  readonly origin: string;
  /** Time of the finding, ISO 8601, by the finder's clock. */
  readonly foundAt: string;
  /** Complete notes. */
  readonly checkpoints: readonly [string, string];
  /** Shows that the smaller tree is not a prefix of the larger one. Only for different sizes. */
  readonly binding?: Binding;
  /** The log's keys that signed the checkpoints. */
  readonly keys: readonly VerifierKey[];
}

/**
 * Returns a file that proves the contradiction offline. The reader must recognise the keys in the file as the log's
 * keys.
 */
export function writeForkEvidence(fork: CheckpointFork): string {
  const { message, origin, foundAt, checkpoints, binding, keys } = fork;
  const about = { format: evidenceFormat, code: 'FORK', message, log: origin, found_at: foundAt };
  const jwks = keys.map(jwk);
  const trusted = { pinned_keys: jwks, keys: jwks };
  return `${JSON.stringify({ ...about, checkpoints, ...bindingField(binding), ...trusted }, null, 1)}\n`;
}

/** Returns an object with the evidence's member `proof`; an empty object if there is no binding. */
export function bindingField(binding: Binding | undefined) {
  if (binding === undefined) return {};
  const { firstSize, secondSize, firstRoot, path } = binding;
  const sizes = { first_size: firstSize, second_size: secondSize };
  return { proof: { ...sizes, first_root: bytesToHex(firstRoot), audit_path: path.map(bytesToHex) } };
}

function jwk({ name, keyId, publicKey }: VerifierKey) {
  const kid = `${name}+${keyId.toString(16).padStart(8, '0')}`;
  const x = toBase64(publicKey).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  const about = { svc_purpose: 'checkpoint', svc_state: 'active', svc_origin: name };
  return { kty: 'OKP', crv: 'Ed25519', kid, x, ...about };
}
