import { packDerived } from '../events/derived-data.ts';
import { mergeHeaders, type TsvHeader } from '../events/tsv-headers.ts';
import { limits } from '../limits.ts';
import type { IngestBatch } from '../store/store.ts';
import { Batch, type ParsedBatch } from './batch.ts';
import type { Detectors } from './detectors.ts';
import { type IngestInput, parseBody, type ReadBody, readBody, withBytes } from './parse-body.ts';

/** Bodies that share blocks, and are stored together or not at all. Plain data. */
export interface ParsedGroup
  extends Pick<IngestBatch, 'derived'>,
    Pick<ParsedBatch, 'blocks' | 'hits' | 'slow' | 'reached'> {
  readonly bodies: readonly ReadBody[];
}

/** The group of a body and the index of the body in the group; or the reason why the body was refused. */
export type ParsedPlace = { readonly group: number; readonly body: number } | { readonly error: unknown };

/** The results of several bodies. */
export interface ParsedGroups {
  readonly groups: readonly ParsedGroup[];
  /** Places of the bodies, in order. */
  readonly places: readonly ParsedPlace[];
}

/**
 * Parses several waiting bodies, each as `parseBody` does. Small bodies share blocks, up to `limits.maxGroupedBytes` of
 * inflated bytes, so that many bodies cost little more than their records. If a body fails, the other bodies of its
 * group are read again without it. Some bodies are never grouped: bodies with a digest (which identifies retries), with
 * a receipt or with `alone`, and compressed bodies (whose inflated size is unknown).
 */
export function parseBodies(inputs: readonly IngestInput[], detectors: Detectors): ParsedGroups {
  const grouping = new Grouping(inputs, detectors);
  for (let at = 0; at < inputs.length; at++) grouping.read(at);
  return grouping.finish();
}

/** Returns whether a body may share a batch. Uses only properties that are available before the body is read. */
export function goesTogether(input: IngestInput): boolean {
  const { digest, receipt, alone, encoding = 'identity', length } = input;
  return !digest && receipt !== true && alone !== true && encoding === 'identity' && length <= limits.maxGroupedBytes;
}

class Grouping {
  readonly #inputs: readonly IngestInput[];
  readonly #detectors: Detectors;
  readonly #groups: ParsedGroup[] = [];
  readonly #places: ParsedPlace[] = [];
  /** The batch of the current group. */
  #batch = new Batch();
  /** Indexes of the group's inputs. */
  #members: number[] = [];
  #bodies: ReadBody[] = [];
  #bytes = 0;
  /** Zeek TSV headers by sensor, as of the last body. */
  readonly #headers = new Map<string | undefined, readonly TsvHeader[]>();

  constructor(inputs: readonly IngestInput[], detectors: Detectors) {
    this.#inputs = inputs;
    this.#detectors = detectors;
  }

  read(at: number): void {
    const input = this.#inputs[at]!;
    try {
      const isShared = goesTogether(input) && withBytes(input, (bytes) => this.#share(at, bytes));
      if (!isShared) this.#alone(at);
    } catch (error) {
      this.#places[at] = { error };
    }
  }

  finish(): ParsedGroups {
    this.#close();
    return { groups: this.#groups, places: this.#places };
  }

  /** Adds a body to the current group; returns false if the body must be alone. */
  #share(at: number, bytes: Buffer): boolean {
    if (this.#bytes + bytes.length > limits.maxGroupedBytes) this.#close();
    try {
      this.#add(at, bytes);
    } catch (error) {
      this.#readAgain();
      throw error;
    }
    // A limit caused data to be left out, but the body that reached the limit is unknown.
    if (this.#batch.reached.length === 0 || this.#members.length === 1) return true;
    this.#members.pop();
    this.#readAgain();
    return false;
  }

  #add(at: number, bytes: Buffer): void {
    const body = readBody(bytes, this.#input(at), this.#batch, this.#detectors);
    this.#learn(at, body);
    this.#members.push(at);
    this.#bodies.push(body);
    this.#bytes += bytes.length;
  }

  #alone(at: number): void {
    const { blocks, findings, sightings, namedHosts, facts, hits, slow, reached, ...body } = parseBody(
      this.#input(at),
      this.#detectors,
    );
    this.#learn(at, body);
    this.#places[at] = { group: this.#groups.length, body: 0 };
    this.#groups.push(groupOf([body], { blocks, findings, sightings, namedHosts, facts, hits, slow, reached }));
  }

  #input(at: number): IngestInput {
    const input = this.#inputs[at]!;
    const headers = this.#headers.get(input.sensorId);
    return headers === undefined ? input : { ...input, headers };
  }

  #learn(at: number, { headers }: ReadBody): void {
    if (headers === undefined) return;
    const { sensorId, headers: before = [] } = this.#input(at);
    this.#headers.set(sensorId, mergeHeaders(before, headers));
  }

  /**
   * Removes the data of the last body, which failed or reached a limit: reads the earlier bodies of the group once
   * more, and closes the group.
   */
  #readAgain(): void {
    const members = this.#members;
    this.#batch.finish();
    this.#begin();
    for (const at of members) withBytes(this.#inputs[at]!, (bytes) => this.#add(at, bytes));
    this.#close();
  }

  #close(): void {
    const batch = this.#batch.finish();
    if (this.#members.length > 0) {
      for (const [body, at] of this.#members.entries()) this.#places[at] = { group: this.#groups.length, body };
      this.#groups.push(groupOf(this.#bodies, batch));
    }
    this.#begin();
  }

  #begin(): void {
    this.#batch = new Batch();
    this.#members = [];
    this.#bodies = [];
    this.#bytes = 0;
  }
}

function groupOf(bodies: readonly ReadBody[], batch: ParsedBatch): ParsedGroup {
  const { blocks, hits, slow, reached } = batch;
  return { blocks, ...packDerived(batch), bodies, hits, slow, reached };
}
