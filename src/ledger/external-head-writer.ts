import { Anchor, type ObservedAnchor } from './anchor.ts';
import type { UntrustedLogError } from './distrust.ts';
import { type Clock, milliseconds } from './heads.ts';
import type { LedgerHooks } from './hooks.ts';
import { type Journal, type JournalReading, noJournal } from './journal.ts';
import type { LedgerHealth } from './ledger.ts';
import type { OpenFindings } from './open-findings.ts';
import type { ExternalRecords } from './startup.ts';
import type { SignedHead } from './storage/storage.ts';

export interface ExternalHeadWriterParts {
  readonly anchorPath: string;
  readonly anchor: ObservedAnchor;
  readonly journal: Journal;
  /** Reason why the journal could not be read at start-up; undefined if it was read. */
  readonly journalUnread: string | undefined;
  readonly findings: OpenFindings;
  readonly hooks: LedgerHooks;
  readonly clock: Clock;
  /** The effect of a lost anchor on appends, for the text of the finding. */
  readonly whileLost: string;
  readJournal(): Promise<JournalReading>;
  /** Compares these records with the log. @throws UntrustedLogError if they contradict the log */
  compare(records: ExternalRecords): void;
  onAnchorLost(): void;
  onAnchorBack(): void;
  onDistrust(reason: UntrustedLogError): void;
}

type JournalEvent = 'initialised' | 'start' | 'day';

/**
 * Manages the heads outside the database, in anchor and journal, and the findings about their volumes. While the anchor
 * is lost, nothing is appended. A lost journal is only reported, and the pending line is written when the journal is
 * back.
 */
export class ExternalHeadWriter {
  readonly #parts: ExternalHeadWriterParts;
  readonly #anchor: Anchor;
  #isAnchorLost = false;
  /** The pending journal line. */
  #event: JournalEvent | undefined;
  #day = '';
  #unread: boolean;

  constructor(parts: ExternalHeadWriterParts) {
    const { anchorPath: path, anchor, hooks, compare } = parts;
    this.#parts = parts;
    this.#unread = parts.journalUnread !== undefined;
    this.#anchor = new Anchor({
      ...{ path, hooks, exists: anchor.kind !== 'missing' && anchor.kind !== 'unavailable' },
      compare: (found) => {
        compare({ anchor: found, anchorPath: path, journal: noJournal });
        if (found.kind === 'missing' && anchor.kind === 'unavailable')
          parts.findings.raise('anchor_missing', `the volume of the anchor is back, but ${path} is missing`);
      },
      onLost: (why) => this.#lost(why),
      onBack: () => this.#back(),
      onDistrust: (reason) => parts.onDistrust(reason),
    });
  }

  get isAnchorLost(): boolean {
    return this.#isAnchorLost;
  }

  /** Starts writing heads of a healthy log to the anchor. */
  begin(head: SignedHead | undefined): void {
    const { anchor } = this.#parts;
    if (anchor.kind === 'unavailable') this.#anchor.lose(anchor.why);
    if (head !== undefined) this.#anchor.schedule(head);
  }

  schedule(head: SignedHead): void {
    this.#anchor.schedule(head);
  }

  /** Retries a lost anchor; writes the daily line, or a line that could not be written. */
  async tick(head: SignedHead | undefined, health: LedgerHealth): Promise<void> {
    if (this.#isAnchorLost) await this.#anchor.flush();
    // Tests for a different day, not a later one, so that a clock set back by a year does not stop the journal for a
    // year.
    if (this.#event === undefined && dayOf(this.#parts.clock()) !== this.#day) this.#event = 'day';
    await this.#writeLine(head, health);
  }

  async record(event: JournalEvent, head: SignedHead | undefined, health: LedgerHealth): Promise<void> {
    this.#event = event;
    await this.#writeLine(head, health);
  }

  close(): Promise<void> {
    return this.#anchor.close();
  }

  async #writeLine(head: SignedHead | undefined, health: LedgerHealth): Promise<void> {
    const event = this.#event;
    const { journal, clock, findings } = this.#parts;
    if (event === undefined) return;
    try {
      if (this.#unread) await this.#readLate(health);
      const now = clock();
      const codes = findings.list().map(({ code }) => code);
      await journal.write({ at: new Date(milliseconds(now)), event, head, health, findings: codes });
      this.#event = undefined;
      this.#day = dayOf(now);
      findings.clear('journal_unavailable');
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      findings.raise('journal_unavailable', `${why}; appends continue, and the line is written later`);
    }
  }

  /** Compares a journal that could not be read at start-up with the log before writing to it. */
  async #readLate(health: LedgerHealth): Promise<void> {
    const reading = await this.#parts.readJournal();
    this.#unread = false;
    if (health.state !== 'ok' && health.fault !== 'clock') return;
    const { compare, onDistrust, anchorPath } = this.#parts;
    try {
      compare({ anchor: { kind: 'missing' }, anchorPath, journal: reading });
    } catch (error) {
      onDistrust(error as UntrustedLogError);
      throw error;
    }
  }

  #lost(why: string): void {
    this.#parts.findings.raise('anchor_unavailable', `${why}; ${this.#parts.whileLost}`);
    if (this.#isAnchorLost) return;
    this.#isAnchorLost = true;
    this.#parts.onAnchorLost();
  }

  #back(): void {
    this.#parts.findings.clear('anchor_unavailable');
    this.#isAnchorLost = false;
    this.#parts.onAnchorBack();
  }
}

function dayOf(ns: bigint): string {
  return new Date(milliseconds(ns)).toISOString().slice(0, 10);
}
