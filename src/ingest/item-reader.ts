import type { Batch } from './batch.ts';
import type { JsonObject } from './fields.ts';
import type { EnvelopeContext } from './parse-context.ts';
import type { RecordReader } from './record-reader.ts';
import { Rejection } from './rejection.ts';

/** The data that the envelope of a record contains. */
export type Envelope = Partial<Readonly<EnvelopeContext>>;

/**
 * Outcome of a record: stored (unless its explicit id is a duplicate), ignored because of its kind, or
 * rejected.
 */
export type ItemOutcome = 'created' | 'ignored' | Rejection;

/** Reads the items of one body, in order. Each item is read immediately, and its outcome is returned. */
export class ItemReader {
  readonly #reader: RecordReader;
  readonly #batch: Batch;
  readonly #said: EnvelopeContext;
  /** Number of items so far. */
  count = 0;

  /** @param said - the object from which `batch` and `reader` read the envelope data of a record */
  constructor(reader: RecordReader, batch: Batch, said: EnvelopeContext) {
    this.#reader = reader;
    this.#batch = batch;
    this.#said = said;
  }

  /** Reads a record from the bytes [start, end) of the body, which is the fastest way. */
  bytes(start: number, end: number, envelope?: Envelope): ItemOutcome {
    const before = this.#begin(envelope);
    this.#reader.read(start, end, this.count);
    return this.#outcome(before);
  }

  /** Reads a record from JSON text, or from a parsed object. */
  value(value: string | JsonObject, envelope?: Envelope): ItemOutcome {
    const before = this.#begin(envelope);
    this.#reader.readValue(value, this.count);
    return this.#outcome(before);
  }

  /** Rejects an item that cannot be a record. */
  refuse(field: string, reason: string): Rejection {
    this.#begin(undefined);
    this.#reader.refuse(new Rejection(field, reason), this.count);
    return this.#batch.refused!;
  }

  /** The row of the last item; undefined if no row was stored for the item. */
  get place(): { readonly block: number; readonly row: number } | undefined {
    const { block, row } = this.#batch.matches;
    return row < 0 ? undefined : { block, row };
  }

  #begin(envelope: Envelope | undefined): number {
    this.count++;
    this.#said.id = envelope?.id;
    this.#said.sensor = envelope?.sensor;
    this.#said.at = envelope?.at;
    return this.#batch.accepted;
  }

  #outcome(before: number): ItemOutcome {
    return this.#batch.refused ?? (this.#batch.accepted > before ? 'created' : 'ignored');
  }
}
