import type { IngestAnswer } from '../contract/resources/ingest.ts';
import { BlockBuilder } from '../events/block-builder.ts';
import type { RecordOf } from '../events/columns.ts';
import type { CorrelationFact } from '../events/correlation-fact.ts';
import type { Finding } from '../events/finding.ts';
import type { DnsRecord, EventSource, NetworkRecord, Table } from '../events/records.ts';
import type { Sighting } from '../inventory/sighting.ts';
import { type LimitName, limits } from '../limits.ts';
import { type Rejection, reject } from './rejection.ts';
import { RuleMatches } from './rule-matches.ts';
import { complete, type Said } from './said.ts';
import { Sightings, type Told } from './sightings.ts';

/** The records of one body, or of several that came at one time. Plain data. */
export interface ParsedBatch {
  /** Of either table, at most `limits.maxBlockRows` rows each; each an own buffer. */
  readonly blocks: ArrayBuffer[];
  /** `event` points into `blocks`. */
  readonly findings: Finding[];
  /** What records that are no events tell of hosts, each thing once; at most `limits.maxBodySightings`. */
  readonly sightings: Sighting[];
  /** What matches of rules tell correlations; `event` points into `blocks`. */
  readonly facts: CorrelationFact[];
  /** How often each rule matched. */
  readonly hits: readonly (readonly [rule: string, times: number])[];
  /** Limits for which something was left out. */
  readonly reached: readonly LimitName[];
}

/** Rows [from, to) of one of a batch's blocks. */
export type RowRange = readonly [block: number, from: number, to: number];

/** What became of one body's records. Plain data. */
export interface BodyRows {
  /** Of duplicates nothing is known yet. */
  readonly answer: IngestAnswer;
  /** The rows that its events became. */
  readonly rows: readonly RowRange[];
}

/**
 * What bodies become, one after the other: blocks of events, findings that point into them, what they tell of hosts, and
 * the count of what happened, for each body.
 */
export class Batch {
  readonly #network: BlockSeries<'network'>;
  readonly #dns: BlockSeries<'dns'>;
  readonly #blocks: (ArrayBuffer | undefined)[] = [];
  readonly #findings: Finding[] = [];
  readonly #sightings = new Sightings();
  /** What rules find in the record that is read. */
  readonly matches = new RuleMatches(this.#findings);
  #errors: IngestAnswer['errors'] = [];
  #said: Said | undefined;
  #accepted = 0;
  #rejected = 0;
  #ignored = 0;
  /** The format that the record came in, where it is another than that of who reads it. */
  source: EventSource | undefined;
  /** Why the record that is read is refused. */
  refused: Rejection | undefined;

  constructor() {
    this.#network = new BlockSeries('network', this.#blocks);
    this.#dns = new BlockSeries('dns', this.#blocks);
  }

  /**
   * The records of a body follow.
   *
   * @param receivedAt - epoch milliseconds
   * @param said - what is known of the record that is read from what it came in; filled anew for each
   */
  beginBody(receivedAt: number, said?: Said): void {
    this.#said = said;
    this.#network.beginBody(receivedAt);
    this.#dns.beginBody(receivedAt);
    this.#errors = [];
    this.#accepted = 0;
    this.#rejected = 0;
    this.#ignored = 0;
  }

  endBody(): BodyRows {
    return {
      answer: {
        accepted: this.#accepted,
        rejected: this.#rejected,
        ignored: this.#ignored,
        duplicates: 0,
        errors: this.#errors,
      },
      rows: [...this.#network.ranges, ...this.#dns.ranges],
    };
  }

  get accepted(): number {
    return this.#accepted;
  }

  addNetwork(record: NetworkRecord): void {
    if (this.#said !== undefined) complete(record, this.#said);
    if (this.source !== undefined) record.source = this.source;
    this.#at(this.#network, this.#network.add(record));
    this.#accepted++;
  }

  addDns(record: DnsRecord): void {
    if (this.#said !== undefined) complete(record, this.#said);
    if (this.source !== undefined) record.source = this.source;
    this.#at(this.#dns, this.#dns.add(record));
    this.#accepted++;
  }

  /** One record of a sensor that is a finding, and an event too where it has both addresses. */
  addFinding(finding: Finding, record: NetworkRecord | undefined): void {
    if (record === undefined) this.#findings.push(finding);
    else {
      if (this.#said !== undefined) complete(record, this.#said);
      if (this.source !== undefined) record.source = this.source;
      const row = this.#network.add(record);
      this.#at(this.#network, row);
      this.#findings.push({ ...finding, event: { block: this.#network.slot, row } });
    }
    this.#accepted++;
  }

  /** A record that tells of a host, and is no event. A body with too many different ones has the rest refused. */
  sight(told: Told, at: number): void {
    if (!this.#sightings.add(told, at))
      reject('line', `is one of more than ${limits.maxBodySightings} different sightings in one body`);
    this.#accepted++;
  }

  /** What a record that counts otherwise tells of a host as well; passed over where there are too many different ones. */
  alsoSight(told: Told, at: number): void {
    this.#sightings.add(told, at);
  }

  /** Another record is read. */
  begin(): void {
    this.matches.row = -1;
    this.refused = undefined;
  }

  ignore(): void {
    this.#ignored++;
  }

  reject(line: number, refused: Rejection): void {
    const { field, reason } = refused;
    this.refused = refused;
    if (this.#rejected++ < limits.maxReportedErrors) {
      this.#errors.push({ line, code: 'INVALID_REQUEST', field, reason });
    }
  }

  finish(): ParsedBatch {
    this.#network.finish();
    this.#dns.finish();
    return {
      blocks: this.#blocks.filter((block) => block !== undefined),
      findings: this.#findings,
      sightings: this.#sightings.list(),
      facts: this.matches.facts,
      hits: this.matches.hits(),
      reached: this.reached,
    };
  }

  get reached(): readonly LimitName[] {
    const { findings, facts } = this.matches.overflowed;
    return [
      ...(this.#sightings.overflowed ? (['maxBodySightings'] as const) : []),
      ...(findings ? (['maxBodyFindings'] as const) : []),
      ...(facts ? (['maxBodyFacts'] as const) : []),
    ];
  }

  /** The record that is read has become this row. */
  #at({ slot }: { readonly slot: number }, row: number): void {
    this.matches.block = slot;
    this.matches.row = row;
  }
}

/**
 * Blocks of one table, each of at most `limits.maxBlockRows`. A block's place in the batch is taken with its first
 * row, so that findings can name it before it is finished and whatever the other table adds meanwhile.
 */
class BlockSeries<T extends Table> {
  readonly #table: T;
  #receivedAt = 0;
  readonly #blocks: (ArrayBuffer | undefined)[];
  #builder: BlockBuilder<T> | undefined;
  /** Place of the block in work. */
  slot = -1;
  /** Of the body that is read. */
  ranges: [block: number, from: number, to: number][] = [];

  constructor(table: T, blocks: (ArrayBuffer | undefined)[]) {
    this.#table = table;
    this.#blocks = blocks;
  }

  beginBody(receivedAt: number): void {
    this.#receivedAt = receivedAt;
    if (this.#builder !== undefined) this.#builder.receivedAt = receivedAt;
    this.ranges = [];
  }

  add(record: RecordOf<T>): number {
    this.#builder ??= takeBuilder(this.#table, this.#receivedAt);
    if (this.#builder.rows >= limits.maxBlockRows) this.#write(this.#builder);
    if (this.#builder.rows === 0) this.slot = this.#blocks.push(undefined) - 1;
    const row = this.#builder.add(record);
    const range = this.ranges.at(-1);
    if (range?.[0] === this.slot) range[2] = row + 1;
    else this.ranges.push([this.slot, row, row + 1]);
    return row;
  }

  /** After it there are no more records. */
  finish(): void {
    if (this.#builder === undefined) return;
    if (this.#builder.rows > 0) this.#write(this.#builder);
    idle[this.#table] = this.#builder as never;
    this.#builder = undefined;
  }

  #write(builder: BlockBuilder<T>): void {
    this.#blocks[this.slot] = builder.finish();
  }
}

/** Builders of this thread between two bodies, as their arrays are 2 MB each. One that a body took and broke off is lost. */
const idle: { [T in Table]: BlockBuilder<T> | undefined } = { network: undefined, dns: undefined };

function takeBuilder<T extends Table>(table: T, receivedAt: number): BlockBuilder<T> {
  const builder = idle[table] as BlockBuilder<T> | undefined;
  if (builder === undefined) return new BlockBuilder(table, receivedAt);
  idle[table] = undefined;
  builder.receivedAt = receivedAt;
  return builder;
}
