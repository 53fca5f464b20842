import type { Finding } from '../../events/finding.ts';
import { limits } from '../../limits.ts';
import type { AlertMerge } from './alert-merge.ts';
import { atLeast } from './alerts.ts';
import type { InventoryPart } from './inventory/parts.ts';
import type { Outbox } from './outbox.ts';
import { entryCount, lastSequence, type Tables } from './tables.ts';

/** A finding on its way to an alert. */
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

/** Findings that waited for the log and are raised in one transaction. */
const raisedAtOnce = 100;

/**
 * What is found as stored events are counted. It is raised in the transaction that commits the position up to which they
 * were: after a crash or an undone transaction nothing is raised twice or lost. What must be logged while the log takes
 * nothing waits in a table.
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

  /** So much waits that no more events are to come that could add to it. */
  get isFull(): boolean {
    return entryCount(this.#options.tables.waitingFindings) >= limits.maxWaitingFindings;
  }

  add(finding: Finding, events: readonly string[]): void {
    this.#found.push({ finding, events });
  }

  /** Before assets are: alerts change what is known of them. */
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

  /** Some of those that waited, once there is room. */
  #taken(): FoundInEvents[] {
    const { outbox, tables } = this.#options;
    const { waitingFindings } = tables;
    if (!outbox.hasRoom || entryCount(waitingFindings) === 0) return [];
    const waiting = [...waitingFindings.getRange({ limit: raisedAtOnce })];
    for (const { key } of waiting) waitingFindings.removeSync(key);
    return waiting.map(({ value }) => value);
  }
}
