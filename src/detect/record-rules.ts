import type { CorrelationFact, MatchEnds } from '../events/correlation-fact.ts';
import type { Finding } from '../events/finding.ts';
import type { RuleSink } from '../events/rule-sink.ts';
import { limits } from '../limits.ts';
import { unpackRules } from './packed-rules.ts';
import { endsReader } from './record-ends.ts';
import { correlationInput } from './sigma/correlation/correlation-input.ts';
import type { Feed } from './sigma/correlation/linked.ts';
import type { Accessor, JsonObject, RecordKind } from './sigma/record.ts';
import { type CompiledRule, compileRules, type RuleSet } from './sigma/rule-set.ts';
import { type FindingOf, findingOf } from './sigma-finding.ts';

/**
 * The rules of a task. A thread that has another version of the rules compiles this version from the documents.
 */
export interface PackedRules {
  readonly version: number;
  /** The rules and the values of placeholders, packed by `packRules`; shared between threads and not transferred. */
  readonly documents: SharedArrayBuffer;
}

/** Number of records of which one is timed; a power of two. */
const timedEvery = 64;

/** The rules of one thread. Each version of the rules is compiled once. */
export class RecordRules {
  #version = 0;
  #set: RuleSet;
  /** Creators of findings, by kind of record; valid for the current rules. */
  readonly #kinds = new Map<RecordKind, KindFindings>();
  /** The rules that matched the record. Only the first `#count` entries are valid. */
  readonly #matched: CompiledRule[] = [];
  #count = 0;
  #asked = 0;
  readonly #found = (rule: CompiledRule): void => {
    this.#matched[this.#count++] = rule;
  };

  constructor(set: RuleSet = compileRules([])) {
    this.#set = set;
  }

  /** Switches to another version of the rules. Versions increase and are never reused. */
  at({ version, documents }: PackedRules): this {
    if (version !== this.#version) {
      const parts = unpackRules(documents);
      this.#set = compileRules(parts.documents, { placeholders: parts.placeholders });
      this.#kinds.clear();
      this.#matched.length = 0;
      this.#version = version;
    }
    return this;
  }

  /**
   * Evaluates all rules on a record as received.
   *
   * @param timeOf - returns the event time, epoch milliseconds; called if a rule matches
   */
  ask(kind: RecordKind, record: JsonObject, timeOf: () => number, sink: RuleSink): void {
    this.#count = 0;
    const isTimed = (++this.#asked & (timedEvery - 1)) === 0;
    const began = isTimed ? performance.now() : 0;
    this.#set.match(kind, record, this.#found);
    if (isTimed && performance.now() - began > limits.slowRuleMs) this.#tellSlow(kind, record, sink);
    if (this.#count > 0) this.#tell(kind, record, timeOf(), sink);
  }

  /** Reports a rule as slow only if all measurements are slow, because the thread may have been interrupted. */
  #tellSlow(kind: RecordKind, record: JsonObject, sink: RuleSink): void {
    const measured = [1, 2, 3].map(() => this.#set.slowest(kind, record));
    const [fastest] = measured.toSorted((a, b) => (a?.ms ?? 0) - (b?.ms ?? 0));
    if (fastest !== undefined && fastest.ms > limits.slowRuleMs) sink.slow(fastest.rule.id, fastest.ms);
  }

  #tell(kind: RecordKind, record: JsonObject, timestamp: number, sink: RuleSink): void {
    const findings = this.#findingsOf(kind);
    const ends = findings.ends(record);
    const { event } = sink;
    for (let at = 0; at < this.#count; at++) {
      const rule = this.#matched[at]!;
      sink.hit(rule.id);
      if (!rule.silent) sink.find(findings.of(rule)(record, ends, timestamp, event));
      for (const feed of rule.feeds) sink.tell(findings.fact(feed, record, ends, timestamp, event));
    }
  }

  #findingsOf(kind: RecordKind): KindFindings {
    const known = this.#kinds.get(kind);
    if (known !== undefined) return known;
    const findings = new KindFindings(this.#set, kind);
    this.#kinds.set(kind, findings);
    return findings;
  }
}

/**
 * Creates findings of rules in records of one kind. Its caches are bounded by the number of rules and of
 * their fields.
 */
class KindFindings {
  readonly ends: (record: JsonObject) => MatchEnds;
  readonly #set: RuleSet;
  readonly #kind: RecordKind;
  readonly #findings = new Map<CompiledRule, FindingOf>();
  readonly #readers = new Map<string, Accessor>();

  constructor(set: RuleSet, kind: RecordKind) {
    this.#set = set;
    this.#kind = kind;
    this.ends = endsReader(set, kind);
  }

  of(rule: CompiledRule): FindingOf {
    const known = this.#findings.get(rule);
    if (known !== undefined) return known;
    const finding = findingOf(rule, (field) => this.#reader(field));
    this.#findings.set(rule, finding);
    return finding;
  }

  fact(feed: Feed, record: JsonObject, ends: MatchEnds, timestamp: number, event: Finding['event']): CorrelationFact {
    const read = (field: string): unknown => this.#reader(field)(record);
    const { correlation, rule, group, value, carried } = correlationInput(feed, read, timestamp);
    const fact = { correlation, rule, timestamp, group, value, carried, ends };
    return event === undefined ? fact : { ...fact, event };
  }

  #reader(field: string): Accessor {
    const known = this.#readers.get(field);
    if (known !== undefined) return known;
    const read = this.#set.reader(this.#kind, field);
    this.#readers.set(field, read);
    return read;
  }
}
