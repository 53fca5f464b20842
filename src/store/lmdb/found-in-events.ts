import type { Finding } from '../../events/finding.ts';
import { limits } from '../../limits.ts';
import type { AlertMerge } from './alert-merge.ts';
import { atLeast } from './alerts.ts';
import type { InventoryPart } from './inventory/parts.ts';
import type { Outbox } from './outbox.ts';
import { entryCount, lastSequence, type Tables } from './tables.ts';

/** A finding that is not merged into an alert yet. */
export interface FoundInEvents {
  readonly finding: Finding;
  /** Ids of the events that show it. */
  readonly events: readonly string[];
}

interface FindingsOptions {
  readonly tables: Pick<Tables, 'waitingFindings'>;
  readonly outbox: Pick<Outbox, 'hasRoom'>;
  readonly newMerge: () => AlertMerge;
}

/** Deferred findings that are raised in one transaction. */
const raisedAtOnce = 100;

/**
 * Findings of the projections of stored events. They are raised in the transaction that commits the position
 * of these events: after a crash or an aborted transaction none is raised twice or lost. Findings that must
 * be logged while the log accepts nothing wait in a table.
 */
export class FindingsInEvents implements InventoryPart {
  readonly #options: FindingsOptions;
  #found: FoundInEvents[] = [];

  constructor(options: FindingsOptions) {
    this.#options = options;
  }

  get dirty(): number {
    return this.#found.length;
  }

  /** So many findings wait that no events may be accepted that could add more. */
  get isFull(): boolean {
    return entryCount(this.#options.tables.waitingFindings) >= limits.maxWaitingFindings;
  }

  add(finding: Finding, events: readonly string[]): void {
    this.#found.push({ finding, events });
  }

  /** Runs before assets are written, because alerts change them. */
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
