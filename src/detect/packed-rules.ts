import { deserialize, serialize } from 'node:v8';
import type { LinkedCorrelation } from './sigma/correlation/linked.ts';
import type { SigmaDocument } from './sigma/document.ts';

/**
 * Documents as threads share them: parsed, and not copied with each task that names them. What they mean (matchers,
 * functions) is made in each thread.
 */
export function packDocuments(documents: readonly SigmaDocument[]): SharedArrayBuffer {
  const bytes = serialize(documents);
  const shared = new SharedArrayBuffer(bytes.byteLength);
  new Uint8Array(shared).set(bytes);
  return shared;
}

/** @param packed - by `packDocuments` of the same program */
export function unpackDocuments(packed: SharedArrayBuffer): readonly SigmaDocument[] {
  return deserialize(Buffer.from(new Uint8Array(packed))) as readonly SigmaDocument[];
}

/** Correlations as the store keeps them beside their state. */
export function packCorrelations(correlations: readonly LinkedCorrelation[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(serialize(correlations));
}

/** @param packed - by `packCorrelations` of the same version of the program */
export function unpackCorrelations(packed: Uint8Array): readonly LinkedCorrelation[] {
  return deserialize(packed) as readonly LinkedCorrelation[];
}
