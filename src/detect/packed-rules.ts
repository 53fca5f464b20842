import { deserialize, serialize } from 'node:v8';
import type { LinkedCorrelation } from './sigma/correlation/linked.ts';
import type { SigmaDocument } from './sigma/document.ts';
import type { Placeholders } from './sigma/item.ts';

/** All that rules are compiled of: the same gives the same rules in every thread. */
export interface RuleParts {
  readonly documents: readonly SigmaDocument[];
  readonly placeholders: Placeholders;
}

/**
 * Rules as threads share them: parsed, and not copied with each task that names them. What they mean (matchers,
 * functions) is made in each thread.
 */
export function packRules({ documents, placeholders }: RuleParts): SharedArrayBuffer {
  const bytes = serialize({ documents, placeholders });
  const shared = new SharedArrayBuffer(bytes.byteLength);
  new Uint8Array(shared).set(bytes);
  return shared;
}

/** @param packed - by `packRules` of the same program */
export function unpackRules(packed: SharedArrayBuffer): RuleParts {
  return deserialize(Buffer.from(new Uint8Array(packed))) as RuleParts;
}

/** Correlations as the store keeps them beside their state. */
export function packCorrelations(correlations: readonly LinkedCorrelation[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(serialize(correlations));
}

/** @param packed - by `packCorrelations` of the same version of the program */
export function unpackCorrelations(packed: Uint8Array): readonly LinkedCorrelation[] {
  return deserialize(packed) as readonly LinkedCorrelation[];
}
