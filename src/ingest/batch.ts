import type { IngestAnswer } from '../contract/resources/ingest.ts';
import { BlockBuilder } from '../events/block-builder.ts';
import type { RecordOf } from '../events/columns.ts';
import type { CorrelationFact } from '../events/correlation-fact.ts';
import type { Finding } from '../events/finding.ts';
import type { DnsRecord, NetworkRecord, Table } from '../events/records.ts';
import type { Sighting } from '../inventory/sighting.ts';
import { type LimitName, limits } from '../limits.ts';
import { type Rejection, reject } from './rejection.ts';
import { RuleMatches } from './rule-matches.ts';
import { Sightings, type Told } from './sightings.ts';

/** The records of one body. Plain data. */
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
  readonly answer: IngestAnswer;
  /** Limits for which something was left out. */
  readonly reached: readonly LimitName[];
}

/**
 * What one body becomes: blocks of events, findings that point into them, what it tells of hosts, and the count of what
 * happened.
 */
export class Batch {
  readonly #network: BlockSeries<'network'>;
  readonly #dns: BlockSeries<'dns'>;
  readonly #blocks: (ArrayBuffer | undefined)[] = [];
  readonly #findings: Finding[] = [];
  readonly #sightings = new Sightings();
  /** What rules find in the record that is read. */
  readonly matches = new RuleMatches(this.#findings);
  readonly #errors: IngestAnswer['errors'] = [];
  #accepted = 0;
  #rejected = 0;
  #ignored = 0;

  constructor(receivedAt: number) {
    this.#network = new BlockSeries('network', receivedAt, this.#blocks);
    this.#dns = new BlockSeries('dns', receivedAt, this.#blocks);
  }

  addNetwork(record: NetworkRecord): void {
    this.#at(this.#network, this.#network.add(record));
    this.#accepted++;
  }

  addDns(record: DnsRecord): void {
    this.#at(this.#dns, this.#dns.add(record));
    this.#accepted++;
  }

  /** One record of a sensor that is a finding, and an event too where it has both addresses. */
  addFinding(finding: Finding, record: NetworkRecord | undefined): void {
    if (record === undefined) this.#findings.push(finding);
    else {
      const event = this.#at(this.#network, this.#network.add(record));
      this.#findings.push({ ...finding, event });
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
    this.matches.event = undefined;
  }

  ignore(): void {
    this.#ignored++;
  }

  reject(line: number, { field, reason }: Rejection): void {
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
      reached: this.#reached(),
      answer: {
        accepted: this.#accepted,
        rejected: this.#rejected,
        ignored: this.#ignored,
        duplicates: 0,
        errors: this.#errors,
      },
    };
  }

  #reached(): LimitName[] {
    const { findings, facts } = this.matches.overflowed;
    return [
      ...(this.#sightings.overflowed ? (['maxBodySightings'] as const) : []),
      ...(findings ? (['maxBodyFindings'] as const) : []),
      ...(facts ? (['maxBodyFacts'] as const) : []),
    ];
  }

  /** The record that is read has become this row. */
  #at({ slot }: { readonly slot: number }, row: number): { readonly block: number; readonly row: number } {
    const event = { block: slot, row };
    this.matches.event = event;
    return event;
  }
}

/**
 * Blocks of one table, each of at most `limits.maxBlockRows`. A block's place in the batch is taken with its first
 * row, so that findings can name it before it is finished and whatever the other table adds meanwhile.
 */
class BlockSeries<T extends Table> {
  readonly #builder: BlockBuilder<T>;
  readonly #blocks: (ArrayBuffer | undefined)[];
  /** Place of the block in work. */
  slot = -1;

  constructor(table: T, receivedAt: number, blocks: (ArrayBuffer | undefined)[]) {
    this.#builder = new BlockBuilder(table, receivedAt);
    this.#blocks = blocks;
  }

  add(record: RecordOf<T>): number {
    if (this.#builder.rows >= limits.maxBlockRows) this.finish();
    if (this.#builder.rows === 0) this.slot = this.#blocks.push(undefined) - 1;
    return this.#builder.add(record);
  }

  finish(): void {
    if (this.#builder.rows > 0) this.#blocks[this.slot] = this.#builder.finish();
  }
}
