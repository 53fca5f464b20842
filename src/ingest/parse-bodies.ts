import { mergeHeaders, type TsvHeader } from '../events/tsv-headers.ts';
import { limits } from '../limits.ts';
import { Batch, type ParsedBatch } from './batch.ts';
import type { Detectors } from './detectors.ts';
import { type IngestInput, parseBody, type ReadBody, readBody, withBytes } from './parse-body.ts';

/** Bodies that share blocks, and are stored together or not at all. */
export interface ParsedGroup extends ParsedBatch {
  readonly bodies: readonly ReadBody[];
}

/** Where a body went: the group, and its place in it; or why it was refused. */
export type ParsedPlace = { readonly group: number; readonly body: number } | { readonly error: unknown };

/** What several bodies became. */
export interface ParsedGroups {
  readonly groups: readonly ParsedGroup[];
  /** Of each body, in their order. */
  readonly places: readonly ParsedPlace[];
}

/**
 * As `parseBody`, of bodies that waited at one time: small ones share blocks, up to `limits.maxGroupedBytes` of them
 * inflated, so that many cost hardly more than their records. A body that fails, for whatever reason, fails alone: those
 * that it shares a batch with are read again. One that has a digest, which tells retries apart, and one that was compressed,
 * which may be of any size, stay alone.
 */
export function parseBodies(inputs: readonly IngestInput[], detectors: Detectors): ParsedGroups {
  const grouping = new Grouping(inputs, detectors);
  for (let at = 0; at < inputs.length; at++) grouping.read(at);
  return grouping.finish();
}

/** Whether a body may share a batch, as far as that is known before it is read. */
export function goesTogether(input: IngestInput): boolean {
  const { digest, receipt, alone, encoding = 'identity', length } = input;
  return (
    !digest &&
    receipt !== true &&
    alone !== true &&
    encoding === 'identity' &&
    length <= limits.maxGroupedBytes
  );
}

class Grouping {
  readonly #inputs: readonly IngestInput[];
  readonly #detectors: Detectors;
  readonly #groups: ParsedGroup[] = [];
  readonly #places: ParsedPlace[] = [];
  /** The group in work: which inputs are in it, and what they came to. */
  #batch = new Batch();
  #members: number[] = [];
  #bodies: ReadBody[] = [];
  #bytes = 0;
  /** Headers of Zeek TSV by sensor, as of the body that was read last. */
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

  /** False for one that must be alone. */
  #share(at: number, bytes: Buffer): boolean {
    if (this.#bytes + bytes.length > limits.maxGroupedBytes) this.#close();
    try {
      this.#add(at, bytes);
    } catch (error) {
      this.#readAgain();
      throw error;
    }
    // What is left out for a limit is the fault of one, and nobody can tell whose.
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
    const { blocks, findings, sightings, contacts, facts, hits, slow, reached, ...body } = parseBody(
      this.#input(at),
      this.#detectors,
    );
    this.#learn(at, body);
    this.#places[at] = { group: this.#groups.length, body: 0 };
    this.#groups.push({ bodies: [body], blocks, findings, sightings, contacts, facts, hits, slow, reached });
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

  /** The batch has something of a body that is not to be in it. Those before are read once more, and no more: it is closed. */
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
      for (const [body, at] of this.#members.entries())
        this.#places[at] = { group: this.#groups.length, body };
      // First what is moved: of a message with very many findings the rest is copied.
      this.#groups.push({ bodies: this.#bodies, ...batch });
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
