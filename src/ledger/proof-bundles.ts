import { ServiceError } from '../errors.ts';
import type { LeafQuery, Ledger, LogReader, LogView, ProofBundle } from './ledger.ts';

export interface ProofBundlesParts {
  readonly reader: Pick<LogReader, 'bundle'>;
  readonly ledger: Pick<Ledger, 'checkpoint'>;
  /** Returns the checkpoint that the service publishes. Throws UNAVAILABLE or LOG_EMPTY. */
  published(): Promise<string>;
}

/** How long a published checkpoint is cached, in milliseconds. */
const cacheMs = 1000;

/**
 * Builds proof bundles in the log reader's thread. The published checkpoint is cached for a second. A new checkpoint is
 * requested from the ledger's thread only if the cached checkpoint does not cover the leaf. Bundles therefore hardly
 * slow appends.
 */
export class ProofBundles {
  readonly #parts: ProofBundlesParts;
  #published: string | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: ProofBundlesParts) {
    this.#parts = parts;
  }

  /**
   * Returns the leaf with its proofs against the latest head of the view and against a checkpoint. Throws the
   * same errors as `inclusion`.
   */
  async get(view: LogView, leaf: LeafQuery): Promise<ProofBundle> {
    const { reader, ledger } = this.#parts;
    if (performance.now() - this.#fetchedAt > cacheMs) await this.#fetch();
    const bundle = await reader.bundle(view, leaf, { published: this.#published });
    if (bundle.checkpoint !== undefined) return bundle;
    await this.#fetch();
    const signed = await noteOf(ledger.checkpoint(view));
    return reader.bundle(view, leaf, { published: this.#published, signed });
  }

  async #fetch(): Promise<void> {
    this.#fetchedAt = performance.now();
    this.#published = await noteOf(this.#parts.published());
  }
}

/** Returns the note; undefined if the log is empty or degraded, or has no quorum of witnesses yet. */
async function noteOf(note: Promise<string>): Promise<string | undefined> {
  try {
    return await note;
  } catch (error) {
    if (error instanceof ServiceError && (error.code === 'UNAVAILABLE' || error.code === 'LOG_EMPTY')) return undefined;
    throw error;
  }
}
