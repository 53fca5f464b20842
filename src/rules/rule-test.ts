import { unpackRules } from '../detect/packed-rules.ts';
import { RecordRules } from '../detect/record-rules.ts';
import type { CorrelationInput } from '../detect/sigma/correlation/correlation-input.ts';
import { Correlator } from '../detect/sigma/correlation/correlator.ts';
import type { Fired } from '../detect/sigma/correlation/fired.ts';
import { keyOf, type Named } from '../detect/sigma/correlation/references.ts';
import type { Problem, SigmaDocument } from '../detect/sigma/document.ts';
import { parseSigma } from '../detect/sigma/parse-document.ts';
import type { RecordKind } from '../detect/sigma/record.ts';
import { compileRules, type RuleSet } from '../detect/sigma/rule-set.ts';
import { correlationFinding } from '../detect/sigma-finding.ts';
import { ServiceError } from '../errors.ts';
import type { Finding } from '../events/finding.ts';
import type { EventBlock } from '../events/format/block.ts';
import { tables } from '../events/format/columns.ts';
import { readEvent, resourceTypes, rowId } from '../events/resource.ts';
import type { RuleSink } from '../events/rule-sink.ts';
import { limits } from '../limits.ts';
import type { StoreReader } from '../store/store.ts';

/** The input of a test. */
export interface TestQuery {
  /** The documents of one text. */
  readonly source: string;
  /** The documents in effect, for correlations, filters and placeholders, as written by `packRules`. */
  readonly documents: SharedArrayBuffer;
  /** Start of the time range, epoch milliseconds. */
  readonly from: number;
  /** End of the time range, exclusive. */
  readonly to: number;
  readonly now: number;
}

/** A finding of the tested rules. */
export interface TestMatch extends Omit<Finding, 'event'> {
  /** Ids of the stored events of the finding. */
  readonly event_ids: readonly string[];
}

/** The limit that ended a test: number of events, or time. */
export type CutShort = 'events' | 'time';

export type RuleTest =
  /** The result for an invalid text. */
  | { readonly problems: readonly Problem[] }
  | {
      readonly problems: readonly [];
      /** Number of stored events in the range that were examined, newest first. */
      readonly lookedAt: number;
      /**
       * The limit that stopped the test before the whole range was examined; undefined if no limit stopped the test.
       */
      readonly cutShort: CutShort | undefined;
      readonly matched: number;
      /** The newest matches, at most `limits.maxRuleTestMatches`. */
      readonly matches: readonly TestMatch[];
      /** Whether stored events can match. Only connections and DNS events are stored. */
      readonly answerable: boolean;
      /** Kinds of record that the rules need and that are not stored, in the order of their names. */
      readonly notStored: readonly RecordKind[];
    };

/**
 * Tests rules on stored events, which have the form of Candor's own records. An event takes 10 µs. Filters in
 * effect are applied, except filters that the text also contains. Uses at most `limits.ruleTestMs` of the
 * thread, shared evenly by the kinds of events and the correlations, and examines at least one event of each
 * kind.
 *
 * @param cancelled - checked regularly; after it returns true, the test ends with CANCELLED
 * @param clock - CPU time of the thread in milliseconds
 */
export function testRules(
  reader: Pick<StoreReader, 'blocks'>,
  query: TestQuery,
  cancelled: () => boolean = () => false,
  clock: () => number = threadTime,
): RuleTest {
  const end = clock() + limits.ruleTestMs;
  const parsed = parseSigma(query.source);
  if (parsed.problems.length > 0) return { problems: parsed.problems };
  const { documents: inEffect, placeholders } = unpackRules(query.documents);
  const others = namedBy(parsed.documents, inEffect);
  const set = compileRules([...others, ...parsed.documents, ...filtersOf(inEffect, parsed.documents)], {
    placeholders,
    maxCost: limits.maxRuleCost,
  });
  const tried = new Set(parsed.documents);
  const refused = set.refused.filter(({ document }) => tried.has(document));
  if (refused.length > 0) return { problems: refused.flatMap(({ problems }) => problems) };
  const trial = new Trial(set, new Set(parsed.documents.flatMap(keysOf)));
  const asked = tables.filter((table) => set.kinds.has(`candor.${resourceTypes[table]}`));
  let shares = asked.length + (set.correlations.length > 0 ? 1 : 0);
  const isOver = (): (() => boolean) => {
    const now = clock();
    const endOfShare = now + (end - now) / shares--;
    return () => {
      if (cancelled()) throw new ServiceError('CANCELLED', 'testRules: the caller disconnected');
      return clock() >= endOfShare;
    };
  };
  for (const table of asked)
    trial.look(reader.blocks(table, query.from, query.to), `candor.${resourceTypes[table]}`, query, isOver());
  const found = trial.finish(query.now, isOver());
  return { problems: [], answerable: asked.length > 0, notStored: notStoredOf(set), ...found };
}

function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Numbers of events, and of inputs of correlations, between two checks of the clock. */
const lookEvery = { events: 16, inputs: 1000 } as const;

/** Kinds of record that are stored, each with the kind under which it is stored. */
const storedAs: ReadonlyMap<RecordKind, RecordKind> = new Map([
  ['zeek.conn', 'candor.network_event'],
  ['zeek.open_conn', 'candor.network_event'],
  ['zeek.conn_long', 'candor.network_event'],
  ['suricata.flow', 'candor.network_event'],
  ['ecs.connection', 'candor.network_event'],
  ['zeek.dns', 'candor.dns_event'],
  ['suricata.dns', 'candor.dns_event'],
  ['ecs.dns', 'candor.dns_event'],
]);

/**
 * Returns the kinds that are not stored. Stored events can match a rule if the stored form has the fields that
 * the rule uses, and the log source of the rule includes the events.
 */
function notStoredOf({ rules }: RuleSet): RecordKind[] {
  const kinds = rules.flatMap((rule) =>
    rule.kinds.filter((kind) => !kind.startsWith('candor.') && !rule.kinds.includes(storedAs.get(kind) ?? '')),
  );
  return [...new Set(kinds)].toSorted();
}

/**
 * Returns the filters in effect, except filters that the tested text also contains. Filters that refer to none
 * of the tested rules are not an error here.
 */
function filtersOf(inEffect: readonly SigmaDocument[], tried: readonly SigmaDocument[]): readonly SigmaDocument[] {
  const own = new Set(tried.map(({ id }) => id).filter((id) => id !== undefined));
  return inEffect.filter(({ kind, id }) => kind === 'filter' && (id === undefined || !own.has(id)));
}

const keysOf = (document: SigmaDocument): string[] => (document.kind === 'filter' ? [] : [keyOf(document)]);

/** Returns the documents to which the given documents refer, directly or indirectly. */
function namedBy(documents: readonly SigmaDocument[], known: readonly SigmaDocument[]): readonly SigmaDocument[] {
  const own = new Set(documents.flatMap(keysOf));
  const found = new Set<SigmaDocument>();
  for (let asking: readonly SigmaDocument[] = documents; asking.length > 0; ) {
    const names = new Set(asking.flatMap((one) => (one.kind === 'correlation' ? one.rules : [])));
    asking = known.filter(
      (one): one is Named =>
        one.kind !== 'filter' &&
        !found.has(one) &&
        !own.has(keyOf(one)) &&
        [one.id, one.name].some((name) => name !== undefined && names.has(name)),
    );
    for (const one of asking) found.add(one);
  }
  return [...found];
}

/** A test that collects a limited number of findings. */
class Trial implements RuleSink {
  readonly event = undefined;
  readonly #set: RuleSet;
  readonly #rules: RecordRules;
  /** Keys of the tested rules. Other rules only create inputs of correlations. */
  readonly #tried: ReadonlySet<string>;
  #inputs: CorrelationInput[] = [];
  #matches: TestMatch[] = [];
  #matched = 0;
  #lookedAt = 0;
  #cutShort: CutShort | undefined;
  /** The id of the event being examined. */
  #id = '';

  constructor(set: RuleSet, tried: ReadonlySet<string>) {
    this.#set = set;
    this.#rules = new RecordRules(set);
    this.#tried = tried;
  }

  look(blocks: Iterable<EventBlock>, kind: string, { from, to }: TestQuery, isOver: () => boolean): void {
    let looked = 0;
    for (const block of blocks) {
      if (looked + block.rows > limits.maxRuleTestEvents) {
        this.#cutShort ??= 'events';
        return;
      }
      const times = block.numbers('timestamp');
      // Rows are visited from the last, because most blocks are in order of time, and the newest events are
      // reported first.
      for (let row = block.rows - 1; row >= 0; row--) {
        const time = times.at(row);
        if (time < from || time >= to) continue;
        if (looked % lookEvery.events === 1 && isOver()) {
          this.#cutShort = 'time';
          return;
        }
        looked++;
        this.#lookedAt++;
        this.#id = rowId(block, row);
        const { attributes } = readEvent(block, row);
        this.#rules.ask(kind, attributes, () => time, this);
      }
    }
  }

  hit(): void {}

  slow(): void {}

  find({ event: _, ...finding }: Finding): void {
    if (this.#tried.has(finding.rule_id)) this.#keep({ ...finding, event_ids: [this.#id] });
  }

  tell({ event: _, ...input }: Parameters<RuleSink['tell']>[0]): void {
    if (this.#inputs.length < limits.maxRuleTestEvents) this.#inputs.push({ ...input, event: this.#id });
    else this.#cutShort ??= 'events';
  }

  finish(now: number, isOver: () => boolean) {
    const correlator = new Correlator(this.#set.correlations);
    const byKey = new Map(this.#set.correlations.map((one) => [one.key, one]));
    const inputs = this.#inputs.sort((a, b) => a.timestamp - b.timestamp);
    /** Episodes in their latest reported state. */
    const episodes = new Map<string, TestMatch>();
    const report = (some: readonly Fired[]) => {
      for (const fired of some) {
        const linked = byKey.get(fired.correlation);
        if (linked === undefined || !this.#tried.has(linked.key)) continue;
        const { event: _, ...finding } = correlationFinding(linked, { ...fired, how: 'begins' });
        const name = `${finding.rule_id} ${finding.began} ${finding.group}`;
        episodes.set(name, { ...finding, event_ids: fired.events });
      }
    };
    for (let at = 0; at < inputs.length; at += lookEvery.inputs) {
      if (at > 0 && isOver()) {
        this.#cutShort = 'time';
        break;
      }
      report(correlator.take(inputs.slice(at, at + lookEvery.inputs), now));
    }
    report(correlator.refresh());
    for (const match of episodes.values()) this.#keep(match);
    this.#matches = this.#newest();
    return {
      lookedAt: this.#lookedAt,
      cutShort: this.#cutShort,
      matched: this.#matched,
      matches: this.#matches,
    };
  }

  #keep(match: TestMatch): void {
    this.#matched++;
    this.#matches.push(match);
    if (this.#matches.length >= 2 * limits.maxRuleTestMatches) this.#matches = this.#newest();
  }

  #newest(): TestMatch[] {
    return this.#matches.sort((a, b) => b.timestamp - a.timestamp).slice(0, limits.maxRuleTestMatches);
  }
}
