import type { Evidence } from '../../events/finding.ts';
import { limits } from '../../limits.ts';
import { KeyedHash } from '../../rollups/model/keyed-hash.ts';
import {
  addClients,
  type ClientCount,
  clientsIn,
  decodeClients,
  encodeClients,
  noClients,
} from '../../sketch/client-count.ts';

/** Stored addresses: the first addresses as texts, and a sketch of all addresses. */
interface FoldedEnd {
  readonly names: readonly string[];
  /** Encoded by `encodeClients`; hashes are keyed by the alert's id. */
  readonly count: Buffer;
}

/** The addresses that a summary alert covers. */
export interface FoldedEnds {
  readonly sources: FoldedEnd;
  readonly destinations: FoldedEnd;
}

/** Maximum hashes that are buffered before they are counted together. */
const maxPending = 4096;

class Ends {
  readonly #names: string[];
  readonly #hash: KeyedHash;
  readonly #pending = new Set<number>();
  #count: ClientCount;
  #last: string | undefined;

  constructor(stored: FoldedEnd | undefined, hash: KeyedHash) {
    this.#names = [...(stored?.names ?? [])];
    this.#count = stored === undefined ? noClients : decodeClients(Buffer.from(stored.count));
    this.#hash = hash;
  }

  add(ip: string | undefined): void {
    if (ip === undefined || ip === this.#last) return;
    this.#last = ip;
    if (this.#names.length < limits.maxFoldedNames && !this.#names.includes(ip)) this.#names.push(ip);
    this.#pending.add(this.#hash.text(ip));
    if (this.#pending.size >= maxPending) this.#settle();
  }

  get names(): readonly string[] {
    return this.#names;
  }

  get size(): number {
    this.#settle();
    return clientsIn(this.#count);
  }

  get isExact(): boolean {
    this.#settle();
    return this.#count instanceof Uint32Array;
  }

  stored(): FoldedEnd {
    this.#settle();
    return { names: this.#names, count: encodeClients(this.#count) };
  }

  #settle(): void {
    if (this.#pending.size === 0) return;
    this.#count = addClients(this.#count, Uint32Array.from(this.#pending).sort(), limits.maxFoldedHashes);
    this.#pending.clear();
  }
}

/** Counts the addresses that a summary alert covers, in bounded memory. The count of few addresses is exact. */
export class FoldTally {
  readonly #sources: Ends;
  readonly #destinations: Ends;

  /**
   * @param id - id of the alert; attackers cannot predict the id, and therefore cannot choose addresses that
   * collide
   */
  constructor(id: string, stored?: FoldedEnds) {
    const key = id.replaceAll('-', '');
    const hash = new KeyedHash([Number.parseInt(key.slice(16, 24), 16), Number.parseInt(key.slice(24, 32), 16)]);
    this.#sources = new Ends(stored?.sources, hash);
    this.#destinations = new Ends(stored?.destinations, hash);
  }

  add(source: string | undefined, destination: string | undefined): void {
    this.#sources.add(source);
    this.#destinations.add(destination);
  }

  stored(): FoldedEnds {
    return { sources: this.#sources.stored(), destinations: this.#destinations.stored() };
  }

  /**
   * Returns the alert's evidence: for sources and for destinations, the number of addresses and the first
   * addresses; and whether a number is an estimate (error 1.6 %).
   */
  evidence(): Evidence {
    const [sources, destinations] = [this.#sources, this.#destinations];
    return {
      sources: sources.size,
      destinations: destinations.size,
      estimated: !(sources.isExact && destinations.isExact),
      first_sources: sources.names,
      first_destinations: destinations.names,
    };
  }
}
