import type { IngestAnswer } from '../contract/resources/ingest.ts';
import type { CorrelationFact } from '../events/correlation-fact.ts';
import type { NamedHost } from '../events/derived-data.ts';
import type { Finding } from '../events/finding.ts';
import { BlockBuilder } from '../events/format/block-builder.ts';
import type { RecordOf } from '../events/format/columns.ts';
import { hasImplausibleBytes } from '../events/plausible-bytes.ts';
import type { DnsRecord, EventSource, NetworkRecord, Table, WithSpans } from '../events/records.ts';
import type { Sighting } from '../inventory/model/sighting.ts';
import { type LimitName, limits } from '../limits.ts';
import { NamedHosts } from './named-hosts.ts';
import { complete, type EnvelopeContext } from './parse-context.ts';
import { type Rejection, reject } from './rejection.ts';
import { RuleMatches } from './rule-matches.ts';
import { Sightings, type Told } from './sightings.ts';
import { type UnstoredRecords, UnstoredTally } from './unstored.ts';

/** The records of one body, or of several bodies read together. Plain data. */
export interface ParsedBatch {
  /** Blocks of both tables, with at most `limits.maxBlockRows` rows each. Each block has a separate buffer. */
  readonly blocks: ArrayBuffer[];
  /** Findings, whose `event` refers to a row in `blocks`. */
  readonly findings: Finding[];
  /**
   * Facts about hosts, from records that are not events, without duplicates: at most `limits.maxBodySightings`.
   */
  readonly sightings: Sighting[];
  /** Hosts named in the HTTP, TLS and QUIC data of the records: at most `limits.maxBodySightings`. */
  readonly namedHosts: NamedHost[];
  /** Rule matches for correlations, whose `event` refers to a row in `blocks`. */
  readonly facts: CorrelationFact[];
  /** Number of matches by rule. */
  readonly hits: readonly (readonly [rule: string, times: number])[];
  /** Rules that took longer than `limits.slowRuleMs` for a record. */
  readonly slow: readonly (readonly [rule: string, ms: number])[];
  /** Limits that caused data to be left out. */
  readonly reached: readonly LimitName[];
}

/** The rows [from, to) of a block in a batch. */
export type RowRange = readonly [block: number, from: number, to: number];

/** The result of one body's records. Plain data. */
export interface BodyRows {
  /** The response to the request. Duplicates are not counted, because only the commit determines them. */
  readonly answer: IngestAnswer;
  /** The rows of the body's events. */
  readonly rows: readonly RowRange[];
  /** Records that are not stored, by reason. */
  readonly unstored: readonly UnstoredRecords[];
}

/**
 * Collects the records of bodies, one body after the other: blocks of events, findings that refer to these
 * blocks, facts about hosts, and counts for each body.
 */
export class Batch {
  readonly #network: BlockSeries<'network'>;
  readonly #dns: BlockSeries<'dns'>;
  readonly #blocks: (ArrayBuffer | undefined)[] = [];
  readonly #findings: Finding[] = [];
  readonly #sightings = new Sightings();
  readonly #namedHosts = new NamedHosts();
  /** Matches of rules in the current record. */
  readonly matches = new RuleMatches(this.#findings);
  #errors: IngestAnswer['errors'] = [];
  #said: EnvelopeContext | undefined;
  /** The principal that sent the current body. */
  #sensorId: string | undefined;
  /** Index of the first finding of the current body. */
  #firstFinding = 0;
  #accepted = 0;
  #rejected = 0;
  #ignored = 0;
  #unstored = new UnstoredTally();
  #hasImplausibleBytes = false;
  #isIgnored = false;
  /** The format of the current record, if it differs from the reader's format. */
  source: EventSource | undefined;
  /** The reason why the current record is rejected. */
  refused: Rejection | undefined;

  constructor() {
    this.#network = new BlockSeries('network', this.#blocks);
    this.#dns = new BlockSeries('dns', this.#blocks);
  }

  /**
   * Begins a body.
   *
   * @param receivedAt - epoch milliseconds
   * @param sensorId - the principal that sent the body
   * @param said - envelope data of the current record; filled again for each record
   */
  beginBody(receivedAt: number, sensorId?: string, said?: EnvelopeContext): void {
    this.#said = said;
    this.#sensorId = sensorId;
    this.#firstFinding = this.#findings.length;
    this.#network.beginBody(receivedAt, sensorId);
    this.#dns.beginBody(receivedAt, sensorId);
    this.#errors = [];
    this.#accepted = 0;
    this.#rejected = 0;
    this.#ignored = 0;
    this.#unstored = new UnstoredTally();
  }

  endBody(): BodyRows {
    this.#nameSensor();
    return {
      answer: {
        accepted: this.#accepted,
        rejected: this.#rejected,
        ignored: this.#ignored,
        duplicates: 0,
        errors: this.#errors,
      },
      unstored: this.#unstored.list,
      rows: [...this.#network.ranges, ...this.#dns.ranges],
    };
  }

  get accepted(): number {
    return this.#accepted;
  }

  addNetwork(record: WithSpans<NetworkRecord>): void {
    this.#addNetworkRow(record);
    this.#accepted++;
  }

  addDns(record: WithSpans<DnsRecord>): void {
    if (this.#said !== undefined) complete(record, this.#said);
    if (this.source !== undefined) record.source = this.source;
    this.#at(this.#dns, this.#dns.add(record));
    this.#accepted++;
  }

  /** Adds a finding of a sensor, and an event if the record has both addresses. */
  addFinding(finding: Finding, record: WithSpans<NetworkRecord> | undefined): void {
    if (record === undefined) this.#findings.push(finding);
    else {
      const row = this.#addNetworkRow(record);
      this.#findings.push({ ...finding, event: { block: this.#network.slot, row } });
    }
    this.#accepted++;
  }

  /**
   * Adds a fact about a host from a record that is not an event. Rejects the record if the body has too many
   * different facts.
   */
  sight(told: Told, at: number): void {
    if (!this.#sightings.add(told, at))
      reject('line', `is beyond the limit of ${limits.maxBodySightings} different sightings in one body`);
    this.#accepted++;
  }

  /**
   * Adds a fact about a host from a record that other calls count as accepted or ignored. Drops the fact if there are
   * too many different facts.
   */
  alsoSight(told: Told, at: number): void {
    this.#sightings.add(told, at);
  }

  /** Adds a host that the HTTP, TLS or QUIC data of a record names. */
  addNamedHost(host: NamedHost): void {
    this.#namedHosts.add(this.#sensorId === undefined ? host : { ...host, sensor: this.#sensorId });
  }

  /** Begins a record. */
  begin(): void {
    this.matches.row = -1;
    this.refused = undefined;
    this.#isIgnored = false;
  }

  ignore(): void {
    this.#ignored++;
    this.#isIgnored = true;
  }

  /** Counts the current record under its kind if it was ignored. */
  nameIgnored(kind: string): void {
    if (this.#isIgnored) this.#unstored.count('ignored', kind);
  }

  /**
   * Rejects a record.
   *
   * @param text - returns the text of the record, if available
   */
  reject(line: number, refused: Rejection, text?: () => string): void {
    const { field, reason } = refused;
    this.refused = refused;
    // A reader may find an error after it ignored the record, but the record must be counted only once.
    if (this.#isIgnored) this.#ignored--;
    this.#isIgnored = false;
    this.#unstored.reject(refused, line, text);
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
      namedHosts: this.#namedHosts.list(),
      facts: this.matches.facts,
      hits: this.matches.hits(),
      slow: this.matches.slowRules(),
      reached: this.reached,
    };
  }

  get reached(): readonly LimitName[] {
    const { findings, facts } = this.matches.overflowed;
    return [
      ...(this.#sightings.overflowed || this.#namedHosts.overflowed ? (['maxBodySightings'] as const) : []),
      ...(findings ? (['maxBodyFindings'] as const) : []),
      ...(this.#hasImplausibleBytes ? (['maxLinkBytesPerMs'] as const) : []),
      ...(facts ? (['maxBodyFacts'] as const) : []),
    ];
  }

  /** Sets the sensor of the body's findings. */
  #nameSensor(): void {
    if (this.#sensorId === undefined) return;
    const sensors = [this.#sensorId];
    for (let i = this.#firstFinding; i < this.#findings.length; i++)
      this.#findings[i] = { ...this.#findings[i]!, sensors };
    this.matches.nameSensor(this.#sensorId);
  }

  #addNetworkRow(record: WithSpans<NetworkRecord>): number {
    if (this.#said !== undefined) complete(record, this.#said);
    if (this.source !== undefined) record.source = this.source;
    this.#hasImplausibleBytes ||= hasImplausibleBytes(record, this.#network.receivedAt);
    const row = this.#network.add(record);
    this.#at(this.#network, row);
    return row;
  }

  /** Sets the row of the current record. */
  #at({ slot }: { readonly slot: number }, row: number): void {
    this.matches.block = slot;
    this.matches.row = row;
  }
}

/**
 * Blocks of one table, each with at most `limits.maxBlockRows` rows. A block gets its index in the batch
 * together with its first row, so that findings can refer to the block before it is finished.
 */
class BlockSeries<T extends Table> {
  readonly #table: T;
  receivedAt = 0;
  #sensorId: string | undefined;
  readonly #blocks: (ArrayBuffer | undefined)[];
  #builder: BlockBuilder<T> | undefined;
  /** Index of the current block. */
  slot = -1;
  /** Rows of the current body. */
  ranges: [block: number, from: number, to: number][] = [];

  constructor(table: T, blocks: (ArrayBuffer | undefined)[]) {
    this.#table = table;
    this.#blocks = blocks;
  }

  beginBody(receivedAt: number, sensorId: string | undefined): void {
    this.receivedAt = receivedAt;
    this.#sensorId = sensorId;
    if (this.#builder !== undefined) this.#beginIn(this.#builder);
    this.ranges = [];
  }

  add(record: RecordOf<T>): number {
    const builder = this.#builder ?? this.#takeBuilder();
    if (builder.rows >= limits.maxBlockRows) this.#write(builder);
    if (builder.rows === 0) this.slot = this.#blocks.push(undefined) - 1;
    const row = builder.add(record);
    const range = this.ranges.at(-1);
    if (range?.[0] === this.slot) range[2] = row + 1;
    else this.ranges.push([this.slot, row, row + 1]);
    return row;
  }

  /** Writes the last block. No records may be added afterwards. */
  finish(): void {
    if (this.#builder === undefined) return;
    if (this.#builder.rows > 0) this.#write(this.#builder);
    idle[this.#table] = this.#builder as never;
    this.#builder = undefined;
  }

  #takeBuilder(): BlockBuilder<T> {
    const builder = takeBuilder(this.#table);
    this.#builder = builder;
    this.#beginIn(builder);
    return builder;
  }

  #beginIn(builder: BlockBuilder<T>): void {
    builder.receivedAt = this.receivedAt;
    builder.sensorId = this.#sensorId;
  }

  #write(builder: BlockBuilder<T>): void {
    this.#blocks[this.slot] = builder.finish();
  }
}

/**
 * Unused builders of this thread, kept between bodies because the arrays of a builder take 2 MB. If a body
 * fails, its builders are not reused.
 */
const idle: { [T in Table]: BlockBuilder<T> | undefined } = { network: undefined, dns: undefined };

function takeBuilder<T extends Table>(table: T): BlockBuilder<T> {
  const builder = idle[table] as BlockBuilder<T> | undefined;
  idle[table] = undefined;
  return builder ?? new BlockBuilder(table, 0);
}
