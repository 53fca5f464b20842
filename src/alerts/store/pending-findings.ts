import { entryCount, lastSequence } from '../../database/rows.ts';
import type { Finding } from '../../events/finding.ts';
import { limits } from '../../limits.ts';
import type { Delta } from '../../projections/delta.ts';
import type { Projection } from '../../projections/inventory-engine.ts';
import type { Outbox } from '../../store/outbox.ts';
import type { AlertDeduplicator } from './alert-deduplicator.ts';
import { atLeast } from './alerts.ts';
import type { AlertTables } from './tables.ts';

/** A finding that has not been merged into an alert yet. */
export interface FoundInEvents {
  readonly finding: Finding;
  /** Ids of the events that show the finding. */
  readonly events: readonly string[];
}

/** Receives findings of projections, with the ids of the events that show them. */
export interface FindingSink {
  add(finding: Finding, events: readonly string[]): void;
}

interface FindingsOptions {
  readonly tables: Pick<AlertTables, 'waitingFindings'>;
  readonly outbox: Pick<Outbox, 'hasRoom'>;
  readonly newMerge: () => AlertDeduplicator;
}

/** Maximum number of deferred findings raised in one transaction. */
const raisedAtOnce = 100;

/**
 * Findings of the projections of stored events. Findings are raised in the transaction that commits the
 * position of these events, so a crash or an aborted transaction neither loses nor duplicates findings.
 * Findings that must be logged while the log accepts no entries wait in a table.
 */
export class PendingFindings implements Projection {
  readonly #options: FindingsOptions;
  #found: FoundInEvents[] = [];

  constructor(options: FindingsOptions) {
    this.#options = options;
  }

  get dirty(): number {
    return this.#found.length;
  }

  /** Whether the limit of waiting findings is reached, so that no further events may be accepted. */
  get isFull(): boolean {
    return entryCount(this.#options.tables.waitingFindings) >= limits.maxWaitingFindings;
  }

  take({ findings }: Pick<Delta, 'findings'>): void {
    for (const found of findings) this.#found.push(found);
  }

  /** Raises findings. Must run before assets are written, because alerts change assets. */
  write(): void {
    const { outbox, newMerge, tables } = this.#options;
    const found = [...this.#found, ...this.#taken()];
    this.#found = [];
    if (found.length === 0) return;
    const merge = newMerge();
    for (const one of found.sort((a, b) => a.finding.timestamp - b.finding.timestamp)) {
      if (outbox.hasRoom || !atLeast(one.finding.severity, 'high')) merge.add(one.finding, one.events);
      else tables.waitingFindings.putSync(lastSequence(tables.waitingFindings) + 1, one);
    }
    merge.finish();
  }

  forget(): void {
    this.#found = [];
  }

  /** Removes and returns some of the waiting findings, once there is room. */
  #taken(): FoundInEvents[] {
    const { outbox, tables } = this.#options;
    const { waitingFindings } = tables;
    if (!outbox.hasRoom || entryCount(waitingFindings) === 0) return [];
    const waiting = [...waitingFindings.getRange({ limit: raisedAtOnce })];
    for (const { key } of waiting) waitingFindings.removeSync(key);
    return waiting.map(({ value }) => value);
  }
}
