import type { CorrelationFact } from '../events/correlation-fact.ts';
import type { Finding } from '../events/finding.ts';
import { unpackRules } from './packed-rules.ts';
import { endsOf } from './record-ends.ts';
import type { CompiledRule } from './sigma/compiled-rule.ts';
import { correlationInput } from './sigma/correlation/correlation-input.ts';
import type { JsonObject, RecordKind } from './sigma/record.ts';
import { compileRules, type RuleSet } from './sigma/rule-set.ts';
import { findingOf } from './sigma-finding.ts';

/** Rules as a task names them. */
export interface PackedRules {
  readonly version: number;
  /** With what their placeholders stand for, by `packRules`. */
  readonly documents: SharedArrayBuffer;
}

/** What takes what rules find in a record. */
export interface RuleSink {
  /** The event that the record has become. */
  readonly event: Finding['event'];
  /** A rule matched, whether it raises an alert of its own or not. */
  hit(rule: string): void;
  find(finding: Finding): void;
  tell(fact: CorrelationFact): void;
}

/** Rules as one thread asks them, compiled once for each version that it is given. */
export class RecordRules {
  #version = 0;
  #set: RuleSet;
  #matched: CompiledRule[] = [];
  readonly #found = (rule: CompiledRule): void => void this.#matched.push(rule);

  constructor(set: RuleSet = compileRules([])) {
    this.#set = set;
  }

  /** The same rules, of this version. Versions grow, so that none comes back. */
  at({ version, documents }: PackedRules): this {
    if (version !== this.#version) {
      const parts = unpackRules(documents);
      this.#set = compileRules(parts.documents, { placeholders: parts.placeholders });
      this.#version = version;
    }
    return this;
  }

  /**
   * Asks all rules about a record as it came.
   *
   * @param timeOf - when it happened, epoch milliseconds; called where something matched
   */
  ask(kind: RecordKind, record: JsonObject, timeOf: () => number, sink: RuleSink): void {
    this.#set.match(kind, record, this.#found);
    if (this.#matched.length === 0) return;
    const matched = this.#matched;
    this.#matched = [];
    const timestamp = timeOf();
    const ends = endsOf(this.#set, kind, record);
    const { event } = sink;
    const read = (field: string): unknown => this.#set.reader(kind, field)(record);
    for (const rule of matched) {
      sink.hit(rule.id);
      if (!rule.silent) sink.find(findingOf(rule, ends, timestamp, event, read));
      for (const feed of rule.feeds) {
        const { event: _, ...input } = correlationInput(feed, read, timestamp);
        sink.tell({ ...input, ends, ...(event === undefined ? {} : { event }) });
      }
    }
  }
}
