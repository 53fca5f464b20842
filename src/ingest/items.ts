import type { Batch } from './batch.ts';
import type { JsonObject } from './fields.ts';
import type { RecordReader } from './record-reader.ts';
import { Rejection } from './rejection.ts';
import type { Said } from './said.ts';

/** What an envelope says of the record in it. */
export type Envelope = Partial<Readonly<Said>>;

/** Stored, unless its explicit id came before; of a kind that is not stored; or refused. */
export type Outcome = 'created' | 'ignored' | Rejection;

/** The items of one body, in order. Each is read at once, and its outcome returned. */
export class Items {
  readonly #reader: RecordReader;
  readonly #batch: Batch;
  readonly #said: Said;
  /** How many there were. */
  count = 0;

  /** @param said - what `batch` and `reader` complete records with */
  constructor(reader: RecordReader, batch: Batch, said: Said) {
    this.#reader = reader;
    this.#batch = batch;
    this.#said = said;
  }

  /** A record as the bytes [start, end) of the body: the quickest way. */
  bytes(start: number, end: number, envelope?: Envelope): Outcome {
    const before = this.#begin(envelope);
    this.#reader.read(start, end, this.count);
    return this.#outcome(before);
  }

  /** A record as JSON text, or as what that says. */
  value(value: string | JsonObject, envelope?: Envelope): Outcome {
    const before = this.#begin(envelope);
    this.#reader.readValue(value, this.count);
    return this.#outcome(before);
  }

  /** An item that cannot be a record. */
  refuse(field: string, reason: string): Rejection {
    this.#begin(undefined);
    this.#reader.refuse(new Rejection(field, reason), this.count);
    return this.#batch.refused!;
  }

  /** The row that the last item became; undefined where it became none. */
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

  #outcome(before: number): Outcome {
    return this.#batch.refused ?? (this.#batch.accepted > before ? 'created' : 'ignored');
  }
}
