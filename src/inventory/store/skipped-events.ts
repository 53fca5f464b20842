import { isDamage, type Rows } from '../../database/rows.ts';
import { ServiceError } from '../../errors.ts';
import type { EventBlock } from '../../events/format/block.ts';
import type { Table } from '../../events/records.ts';
import type { EventStore } from '../../events/store/event-store.ts';
import type { Sighting } from '../model/sighting.ts';
import type { SkippedEvent } from './tables.ts';

export type SkippedEvents = Rows<SkippedEvent, [Table, number]>;

/** The rows [first, end) of a block. */
export interface RowsOfBlock {
  readonly block: EventBlock;
  readonly first: number;
  readonly end: number;
}

/** The input whose processing failed. */
export interface Input {
  /** Events that were processed together: their sequences [from, to). */
  readonly rows?: { readonly table: Table; readonly from: number; readonly to: number };
  readonly sighting?: Sighting;
}

/**
 * Signals that processing failed because of a bug, not because of damaged data or a full disk. The transaction
 * must be aborted, because a part of the changes may be in memory.
 */
export class ProjectionError extends Error {
  override readonly name = 'ProjectionError';
  /** Empty if the error cannot be attributed to an event or a sighting. */
  readonly input: Input;

  constructor(cause: unknown, input: Input) {
    super(cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause), { cause });
    this.input = input;
    if (cause instanceof Error && cause.stack !== undefined) this.stack = cause.stack;
  }
}

/** Runs a step of processing. Wraps errors in a ProjectionError, except errors of the store. */
export function guarded<T>(process: () => T, input: Input = {}): T {
  try {
    return process();
  } catch (error) {
    if (error instanceof ProjectionError || error instanceof ServiceError || isDamage(error) || isOfDatabase(error))
      throw error;
    throw new ProjectionError(error, input);
  }
}

/** Errors of LMDB have numeric codes. */
function isOfDatabase(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'number';
}

/** Yields stored events as `EventStore.rows` does, without events whose sequence is in `skipped` (ascending). */
export function* projectedRows(
  events: Pick<EventStore, 'rows'>,
  skipped: readonly number[],
  table: Table,
  from: number,
  to: number,
): Generator<RowsOfBlock> {
  let next = from;
  for (const seq of [...skipped, to]) {
    if (seq < next) continue;
    yield* events.rows(table, next, Math.min(seq, to));
    next = seq + 1;
    if (seq >= to) return;
  }
}

/** Returns the sequences of the skipped events of a table, ascending. */
export function skippedIn(skipped: SkippedEvents, table: Table): readonly number[] {
  const range = skipped.getRange({ start: [table, 0], end: [table, Number.POSITIVE_INFINITY] });
  return Array.from(range, ({ key: [, seq] }) => seq);
}
