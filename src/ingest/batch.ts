import type { IngestAnswer } from '../contract/resources/ingest.ts';
import { BlockBuilder } from '../events/block-builder.ts';
import { hasImplausibleBytes } from '../events/carried.ts';
import type { RecordOf } from '../events/columns.ts';
import type { Contact } from '../events/contact.ts';
import type { CorrelationFact } from '../events/correlation-fact.ts';
import type { Finding } from '../events/finding.ts';
import type { DnsRecord, EventSource, NetworkRecord, Table } from '../events/records.ts';
import type { Sighting } from '../inventory/sighting.ts';
import { type LimitName, limits } from '../limits.ts';
import { Contacts } from './contacts.ts';
import { type Rejection, reject } from './rejection.ts';
import { RuleMatches } from './rule-matches.ts';
import { complete, type Said } from './said.ts';
import { Sightings, type Told } from './sightings.ts';
import { type UnstoredRecords, UnstoredTally } from './unstored.ts';

/** The records of one body, or of several that came at one time. Plain data. */
export interface ParsedBatch {
  /** Of either table, at most `limits.maxBlockRows` rows each; each an own buffer. */
  readonly blocks: ArrayBuffer[];
  /** `event` points into `blocks`. */
  readonly findings: Finding[];
  /** What records that are no events tell of hosts, each thing once; at most `limits.maxBodySightings`. */
  readonly sightings: Sighting[];
  /** Hosts that records name that are no events; at most `limits.maxBodySightings`. */
  readonly contacts: Contact[];
  /** What matches of rules tell correlations; `event` points into `blocks`. */
  readonly facts: CorrelationFact[];
  /** How often each rule matched. */
  readonly hits: readonly (readonly [rule: string, times: number])[];
  /** Rules that took longer than `limits.slowRuleMs` for a record. */
  readonly slow: readonly (readonly [rule: string, ms: number])[];
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
  /** Records that are not stored, by reason. */
  readonly unstored: readonly UnstoredRecords[];
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
  readonly #contacts = new Contacts();
  /** What rules find in the record that is read. */
  readonly matches = new RuleMatches(this.#findings);
  #errors: IngestAnswer['errors'] = [];
  #said: Said | undefined;
  /** The sensor of the body that is read, and the place of its first finding. */
  #sensorId: string | undefined;
  #firstFinding = 0;
  #accepted = 0;
  #rejected = 0;
  #ignored = 0;
  #unstored = new UnstoredTally();
  #hasImplausibleBytes = false;
  #isIgnored = false;
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
   * @param sensorId - the principal that sent it
   * @param said - what is known of the record that is read from what it came in; filled anew for each
   */
  beginBody(receivedAt: number, sensorId?: string, said?: Said): void {
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

  addNetwork(record: NetworkRecord): void {
    this.#addNetworkRow(record);
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
      const row = this.#addNetworkRow(record);
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

  /** A record that is no event names a host. */
  meet(contact: Contact): void {
    this.#contacts.add(this.#sensorId === undefined ? contact : { ...contact, sensor: this.#sensorId });
  }

  /** Another record is read. */
  begin(): void {
    this.matches.row = -1;
    this.refused = undefined;
    this.#isIgnored = false;
  }

  ignore(): void {
    this.#ignored++;
    this.#isIgnored = true;
  }

  /** The kind of the record that is read, where it was ignored. */
  nameIgnored(kind: string): void {
    if (this.#isIgnored) this.#unstored.count('ignored', kind);
  }

  /** @param text - what was read, where there is any */
  reject(line: number, refused: Rejection, text?: () => string): void {
    const { field, reason } = refused;
    this.refused = refused;
    // A reader may find an error after it ignored the record, which counts once.
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
      contacts: this.#contacts.list(),
      facts: this.matches.facts,
      hits: this.matches.hits(),
      slow: this.matches.slowRules(),
      reached: this.reached,
    };
  }

  get reached(): readonly LimitName[] {
    const { findings, facts } = this.matches.overflowed;
    return [
      ...(this.#sightings.overflowed || this.#contacts.overflowed ? (['maxBodySightings'] as const) : []),
      ...(findings ? (['maxBodyFindings'] as const) : []),
      ...(this.#hasImplausibleBytes ? (['maxLinkBytesPerMs'] as const) : []),
      ...(facts ? (['maxBodyFacts'] as const) : []),
    ];
  }

  /** Findings of the body rest on its sensor. */
  #nameSensor(): void {
    if (this.#sensorId === undefined) return;
    const sensors = [this.#sensorId];
    for (let i = this.#firstFinding; i < this.#findings.length; i++)
      this.#findings[i] = { ...this.#findings[i]!, sensors };
    this.matches.nameSensor(this.#sensorId);
  }

  #addNetworkRow(record: NetworkRecord): number {
    if (this.#said !== undefined) complete(record, this.#said);
    if (this.source !== undefined) record.source = this.source;
    this.#hasImplausibleBytes ||= hasImplausibleBytes(record, this.#network.receivedAt);
    const row = this.#network.add(record);
    this.#at(this.#network, row);
    return row;
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
  receivedAt = 0;
  #sensorId: string | undefined;
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

  /** After it there are no more records. */
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

/** Builders of this thread between two bodies, as their arrays are 2 MB each. One that a body took and broke off is lost. */
const idle: { [T in Table]: BlockBuilder<T> | undefined } = { network: undefined, dns: undefined };

function takeBuilder<T extends Table>(table: T): BlockBuilder<T> {
  const builder = idle[table] as BlockBuilder<T> | undefined;
  idle[table] = undefined;
  return builder ?? new BlockBuilder(table, 0);
}
