import { type ErrorCode, ServiceError } from '../errors.ts';
import type { StoredLeaf } from '../ledger/ledger.ts';

/** Kinds of entries about the keys of the log and their validity. */
export const keyHistoryKinds: readonly string[] = ['key.rotated', 'key.retired', 'key.revoked', 'log.life_started'];

/**
 * Returns whether entries of a kind are public. Entries about keys are, because auditors use them to follow
 * the keys of the log.
 */
export const isPublicKind = (kind: string): boolean => kind.startsWith('key.') || keyHistoryKinds.includes(kind);

/**
 * Writes the members of a leaf as JSON. `entry` is inserted as it was hashed, so that no number in it is
 * reformatted.
 */
export function writeLeaf({ leaf_index, leaf_hash, canonical }: StoredLeaf): string {
  const bytes = bufferOf(canonical);
  const head = JSON.stringify({ leaf_index, leaf_hash, canonical: bytes.toString('base64') });
  return `${head.slice(0, -1)},"entry":${bytes.toString('utf8')}}`;
}

/** Writes a leaf as an item of a list. */
export const leafItem = (leaf: StoredLeaf): string =>
  `{"id":${JSON.stringify(entryOf(leaf).id)},"type":"log_entry","attributes":${writeLeaf(leaf)}}`;

export function entryOf(leaf: StoredLeaf): { readonly id: string; readonly kind: string } {
  return JSON.parse(bufferOf(leaf.canonical).toString('utf8'));
}

/** Returns the bytes as a Buffer, without copying. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/**
 * Returns data about one leaf if the caller may see the leaf. Callers without the role receive the refusal unless
 * the leaf is public, so they cannot learn whether a leaf exists.
 *
 * @param refusal - the error for these credentials; undefined if they suffice
 */
export async function readable<T>(
  refusal: ServiceError | undefined,
  read: () => Promise<T>,
  leafOf: (value: T) => StoredLeaf,
): Promise<T> {
  if (refusal === undefined) return read();
  try {
    const value = await read();
    if (isPublicKind(entryOf(leafOf(value)).kind)) return value;
  } catch (error) {
    if (!(error instanceof ServiceError && aboutTheLeaf.has(error.code))) throw error;
  }
  throw refusal;
}

const aboutTheLeaf: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['NOT_FOUND', 'INVALID_REQUEST']);
