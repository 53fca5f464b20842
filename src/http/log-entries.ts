import { type ErrorCode, ServiceError } from '../errors.ts';
import type { StoredLeaf } from '../ledger/ledger.ts';

/** Kinds of the entries that tell which key signs when. */
export const keyHistoryKinds: readonly string[] = [
  'key.rotated',
  'key.retired',
  'key.revoked',
  'log.life_started',
];

/** Entries about keys are public: auditors follow the keys of the log with them. */
export const isPublicKind = (kind: string): boolean =>
  kind.startsWith('key.') || keyHistoryKinds.includes(kind);

/** The members of a leaf as JSON. `entry` is spliced in as it was hashed, so that no number in it is printed anew. */
export function writeLeaf({ leaf_index, leaf_hash, canonical }: StoredLeaf): string {
  const bytes = bufferOf(canonical);
  const head = JSON.stringify({ leaf_index, leaf_hash, canonical: bytes.toString('base64') });
  return `${head.slice(0, -1)},"entry":${bytes.toString('utf8')}}`;
}

/** The same as an item of a list. */
export const leafItem = (leaf: StoredLeaf): string =>
  `{"id":${JSON.stringify(entryOf(leaf).id)},"type":"log_entry","attributes":${writeLeaf(leaf)}}`;

export function entryOf(leaf: StoredLeaf): { readonly id: string; readonly kind: string } {
  return JSON.parse(bufferOf(leaf.canonical).toString('utf8'));
}

/** The bytes of a leaf without a copy. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/**
 * What shows one leaf, to those who may see it. Who is refused is told just that, unless the leaf is a public one:
 * neither whether there is such a leaf nor what it is.
 *
 * @param refusal - what these credentials are refused with; undefined where they suffice
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
