import { ServiceError } from '../errors.ts';
import type { LeafQuery, Ledger, LogReader, LogView, ProofBundle } from './ledger.ts';

export interface ProofBundlesParts {
  readonly reader: Pick<LogReader, 'bundle'>;
  readonly ledger: Pick<Ledger, 'checkpoint'>;
  /** The checkpoint that the service publishes. UNAVAILABLE, LOG_EMPTY */
  published(): Promise<string>;
}

/** A published checkpoint is kept for so long; one that covers the leaf is not fetched again meanwhile. */
const keptMs = 1000;

/**
 * Proof bundles, made by the thread that reads the log. The ledger's thread is asked for a checkpoint at most once a
 * second, and for leaves that no checkpoint covers yet, so that bundles do not slow appends.
 */
export class ProofBundles {
  readonly #parts: ProofBundlesParts;
  #published: string | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: ProofBundlesParts) {
    this.#parts = parts;
  }

  /** The leaf with its proofs against the latest head of the view, and against a checkpoint. Errors as `inclusion`. */
  async get(view: LogView, leaf: LeafQuery): Promise<ProofBundle> {
    const { reader, ledger } = this.#parts;
    if (performance.now() - this.#fetchedAt > keptMs) await this.#fetch();
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

/** Undefined without a note: the log is empty or degraded, or has no quorum of witnesses yet. */
async function noteOf(note: Promise<string>): Promise<string | undefined> {
  try {
    return await note;
  } catch (error) {
    if (error instanceof ServiceError && (error.code === 'UNAVAILABLE' || error.code === 'LOG_EMPTY'))
      return undefined;
    throw error;
  }
}
