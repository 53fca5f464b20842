import { deserialize, serialize } from 'node:v8';
import type { LinkedCorrelation } from './sigma/correlation/linked.ts';
import type { SigmaDocument } from './sigma/document.ts';
import type { Placeholders } from './sigma/item.ts';

/** The input of rule compilation. Equal input gives equal rules in every thread. */
export interface RuleParts {
  readonly documents: readonly SigmaDocument[];
  readonly placeholders: Placeholders;
}

/**
 * Packs parsed rules into memory that threads share, so that tasks need no copies. Each thread compiles the rules,
 * because functions cannot be shared.
 */
export function packRules({ documents, placeholders }: RuleParts): SharedArrayBuffer {
  const bytes = serialize({ documents, placeholders });
  const shared = new SharedArrayBuffer(bytes.byteLength);
  new Uint8Array(shared).set(bytes);
  return shared;
}

/** @param packed - made by `packRules` of the same program */
export function unpackRules(packed: SharedArrayBuffer): RuleParts {
  return deserialize(Buffer.from(new Uint8Array(packed))) as RuleParts;
}

/** Packs correlations, which the store saves with their state. */
export function packCorrelations(correlations: readonly LinkedCorrelation[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(serialize(correlations));
}

/** @param packed - made by `packCorrelations` of the same version of the program */
export function unpackCorrelations(packed: Uint8Array): readonly LinkedCorrelation[] {
  return deserialize(packed) as readonly LinkedCorrelation[];
}
