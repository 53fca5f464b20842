import { connectionStates } from '../../contract/vocabulary.ts';
import { isIcmp } from '../../events/connection-state.ts';
import type { EventBlock } from '../../events/format/block.ts';
import type { TextList } from '../../events/format/column-readers.ts';
import { linkBytes } from '../../events/plausible-bytes.ts';
import { writeCodes, writeNumbers } from '../../inventory/model/columns.ts';
import type { FlowConsumer, FlowFact } from '../../inventory/model/seen.ts';
import { limits } from '../../limits.ts';
import { registeredDomain } from '../../net/registered-domain.ts';
import { addClients, type ClientCount, noneEstimated } from '../../sketch/client-count.ts';
import type { KeyedHash } from './keyed-hash.ts';
import { startOf, widthMs } from './levels.ts';
import { type Counter, counterAt, type DistinctCounter, type Fineness, Rollup, type Top } from './rollup.ts';
import { Sums } from './sums.ts';

/**
 * Maximum number of cached names, which is enough for an hour in a large network. The cache is cleared when it
 * is full.
 */
const maxRemembered = 16_384;
/** Maximum length of a domain in DNS. */
const maxLength = 255;

/** Caches the domains of names, because looking up a domain takes 1 µs. */
class Domains {
  readonly #remembered = new Map<string, string>();

  /**
   * Returns the registered domain; if the name has no registered domain, the name itself in lower case and
   * without a final dot. Cuts the result to 255 characters.
   */
  of(query: string): string {
    const known = this.#remembered.get(query);
    if (known !== undefined) return known;
    const name = (query.length > 1 && query.endsWith('.') ? query.slice(0, -1) : query).toLowerCase();
    const domain = registeredDomain(name) ?? name;
    const kept = domain.length > maxLength ? domain.slice(0, maxLength).toWellFormed() : domain;
    if (this.#remembered.size >= maxRemembered) this.#remembered.clear();
    if (query.length <= maxLength) this.#remembered.set(query, kept);
    return kept;
  }
}

const { network_events, bytes, rejected_connections, dns_events, nxdomain } = counterAt;
/** The response code NXDOMAIN, for names that do not exist (RFC 1035, section 4.1.1). */
const nameError = 3;
const refused = connectionStates.indexOf('refused');

/**
 * Precision of buckets before they are merged into the levels. It is higher than the precision of the levels,
 * so that merging loses little.
 */
export const cellFineness: Fineness = { hashes: 1024, entries: 128, bytes: linkBytes(widthMs.hour) };

/** A bucket in which events are summed: a minute, or an hour if minutes of that time are no longer stored. */
export interface Cell {
  readonly level: 'minute' | 'hour';
  readonly start: number;
  readonly rollup: Rollup;
}

/**
 * Sums events by their start, or by their time of receipt if the receipt is earlier, because a sensor's clock
 * may be ahead. Events older than the oldest stored bucket are left out.
 *
 * Rows are read column by column and counted by the codes of their block; name texts are created only for
 * entries that are stored.
 */
export class EventFold implements FlowConsumer {
  readonly #hash: KeyedHash;
  readonly #now: () => number;
  /** Cells by start. Keys of hours have half a millisecond added, so that they differ from keys of minutes. */
  readonly #cells = new Map<number, Cell>();
  #size = 0;
  /** Time of receipt of the newest event; 0 before the first event. */
  #received = 0;

  #block: EventBlock | undefined;
  #from = 0;
  #row = 0;
  readonly #bytes = new Float64Array(limits.maxBlockRows);
  readonly #times = new Float64Array(limits.maxBlockRows);
  readonly #receipts = new Float64Array(limits.maxBlockRows);
  readonly #numbers = new Float64Array(limits.maxBlockRows);
  readonly #codes = new Uint16Array(limits.maxBlockRows);
  readonly #others = new Uint16Array(limits.maxBlockRows);
  /** Index in `#open` of each row's cell; −1 for rows without a cell. */
  readonly #places = new Int32Array(limits.maxBlockRows);
  #open: Cell[] = [];
  readonly #sums = new Sums();
  readonly #domains = new Domains();

  /** @param now - returns epoch milliseconds */
  constructor(hash: KeyedHash, now: () => number) {
    this.#hash = hash;
    this.#now = now;
  }

  /** Cells in no particular order. */
  get cells(): Iterable<Cell> {
    return this.#cells.values();
  }

  get isEmpty(): boolean {
    return this.#cells.size === 0;
  }

  /** Approximate memory use, in list entries of about 100 bytes. */
  get size(): number {
    return this.#size;
  }

  get received(): number {
    return this.#received;
  }

  clear(): void {
    this.#cells.clear();
    this.#size = 0;
    this.#received = 0;
  }

  /** Adds `by` to a counter, in the bucket that contains the time. */
  count(counter: Counter, timeMs: number, by: number): void {
    this.#cellAt(timeMs, this.#floors())?.rollup.add(counter, by);
  }

  begin(block: EventBlock, from: number): void {
    this.#block = block;
    this.#from = from;
    this.#row = from;
  }

  flow(fact: Readonly<FlowFact>): void {
    this.#bytes[this.#row++] = fact.bytes;
  }

  end(): void {
    const block = this.#block!;
    this.#block = undefined;
    const from = this.#from;
    const to = this.#row;
    this.#place(block, from, to);
    this.#countFlows(block, from, to);
    const srcs = block.addresses('src_ip');
    this.#addUp(writeCodes(srcs, from, to, this.#codes), from, to);
    this.#keepTop('talkers', (code) => srcs.list.text(code - 1));
    this.#keepDistinct('sources', (code) => this.#hash.address(srcs.list, code - 1));
    const dsts = block.addresses('dst_ip');
    this.#addUp(writeCodes(dsts, from, to, this.#codes), from, to);
    this.#keepTop('destinations', (code) => dsts.list.text(code - 1));
    this.#keepDistinct('destinations', (code) => this.#hash.address(dsts.list, code - 1));
    this.#addUpServices(block, from, to);
    this.#close();
  }

  /** Adds rows [from, to) of a block of DNS events. */
  dns(block: EventBlock, from: number, to: number): void {
    this.#place(block, from, to);
    const codes = writeNumbers(block.numbers('rcode'), from, to, this.#numbers);
    for (let row = from; row < to; row++) {
      const cell = this.#open[this.#places[row]!];
      if (cell === undefined) continue;
      cell.rollup.counts[dns_events]!++;
      if (codes[row] === nameError) cell.rollup.counts[nxdomain]!++;
    }
    const queries = block.texts('query');
    const { domains, of } = this.#domainsOf(queries.list);
    const names = writeCodes(queries, from, to, this.#codes);
    const sums = this.#sums;
    sums.clear();
    for (let row = from; row < to; row++) {
      const place = this.#places[row]!;
      if (place >= 0 && names[row] !== 0) sums.add(place, of(names[row]! - 1), 0);
    }
    this.#keepTop('domains', (domain) => domains[domain]!);
    this.#keepDistinct('domains', (domain) => this.#hash.text(domains[domain]!));
    this.#close();
  }

  /** Determines the cell of each row. */
  #place(block: EventBlock, from: number, to: number): void {
    const times = writeNumbers(block.numbers('timestamp'), from, to, this.#times);
    const receipts = writeNumbers(block.numbers('received_at'), from, to, this.#receipts);
    const floors = this.#floors();
    const places = new Map<Cell, number>();
    this.#open = [];
    let start = Number.NaN;
    let end = Number.NaN;
    let place = -1;
    for (let row = from; row < to; row++) {
      const receipt = receipts[row]!;
      if (receipt > this.#received) this.#received = receipt;
      const time = receipt < times[row]! ? receipt : times[row]!;
      if (!(time >= start && time < end)) {
        const cell = this.#cellAt(time, floors);
        if (cell === undefined) {
          this.#places[row] = -1;
          continue;
        }
        start = cell.start;
        end = start + widthMs[cell.level];
        place = places.get(cell) ?? this.#open.length;
        if (place === this.#open.length) {
          places.set(cell, place);
          this.#open.push(cell);
          this.#size -= cell.rollup.size;
        }
      }
      this.#places[row] = place;
    }
  }

  #countFlows(block: EventBlock, from: number, to: number): void {
    const states = writeNumbers(block.numbers('state'), from, to, this.#numbers);
    for (let row = from; row < to; row++) {
      const cell = this.#open[this.#places[row]!];
      if (cell === undefined) continue;
      const { counts } = cell.rollup;
      counts[network_events]!++;
      counts[bytes]! += this.#bytes[row]!;
      if (states[row] === refused) counts[rejected_connections]!++;
    }
    for (const { rollup } of this.#open) rollup.limitBytes();
  }

  #addUp(codes: Uint16Array, from: number, to: number): void {
    const sums = this.#sums;
    const places = this.#places;
    sums.clear();
    for (let row = from; row < to; row++) {
      const place = places[row]!;
      if (place >= 0) sums.add(place, codes[row]!, this.#bytes[row]!);
    }
  }

  #addUpServices(block: EventBlock, from: number, to: number): void {
    const { list } = block.texts('transport');
    const ports = writeNumbers(block.numbers('dst_port'), from, to, this.#numbers);
    const transports = writeCodes(block.texts('transport'), from, to, this.#others);
    const names = transportNames(list);
    const codes = names.map((name) => 1 + names.indexOf(name));
    const hasPorts = names.map((name) => !isIcmp(name));
    const sums = this.#sums;
    sums.clear();
    for (let row = from; row < to; row++) {
      const place = this.#places[row]!;
      if (place < 0) continue;
      const transport = transports[row]! - 1;
      const port = ports[row]!;
      const code = codes[transport]! * portNumbers + (port >= 0 && hasPorts[transport] ? port + 1 : 0);
      sums.add(place, code, this.#bytes[row]!);
    }
    this.#keepTop('services', (code) => serviceName(names, code));
  }

  #keepTop(top: Top, nameOf: (code: number) => string): void {
    const sums = this.#sums;
    const name = (number: number) => nameOf(sums.pairs.b[number]!);
    sums.eachBucket(this.#open.length, (place, numbers) => {
      this.#open[place]!.rollup.top[top].add(sums, numbers, name);
    });
  }

  #keepDistinct(of: DistinctCounter, hashOf: (code: number) => number): void {
    const { b } = this.#sums.pairs;
    this.#sums.eachBucket(this.#open.length, (place, numbers) => {
      const { distinct, fineness } = this.#open[place]!.rollup;
      const hashes = new Uint32Array(numbers.length);
      for (let i = 0; i < numbers.length; i++) hashes[i] = hashOf(b[numbers[i]!]!);
      distinct[of] = addHashes(distinct[of], hashes, fineness.hashes);
    });
  }

  /**
   * Returns the domains of a block's names in order of appearance, and a function that returns the index of a name's
   * domain.
   */
  #domainsOf(list: TextList): { domains: string[]; of(name: number): number } {
    const domains: string[] = [];
    const numbers = new Map<string, number>();
    const known = new Int32Array(list.length).fill(-1);
    const of = (name: number): number => {
      const before = known[name]!;
      if (before >= 0) return before;
      const domain = this.#domains.of(list.text(name));
      let number = numbers.get(domain);
      if (number === undefined) {
        number = domains.push(domain) - 1;
        numbers.set(domain, number);
      }
      known[name] = number;
      return number;
    };
    return { domains, of };
  }

  #close(): void {
    for (const { rollup } of this.#open) this.#size += rollup.size;
    this.#open = [];
  }

  #floors(): Floors {
    const now = this.#now();
    return {
      minutes: startOf('minute', now - limits.rollupMinutesMs),
      hours: startOf('hour', now - limits.rollupHoursMs),
    };
  }

  #cellAt(timeMs: number, { minutes, hours }: Floors): Cell | undefined {
    if (!(timeMs >= hours)) return undefined;
    const level = timeMs >= minutes ? 'minute' : 'hour';
    const start = startOf(level, timeMs);
    const key = level === 'minute' ? start : start + 0.5;
    let cell = this.#cells.get(key);
    if (cell === undefined) {
      cell = { level, start, rollup: new Rollup(cellFineness) };
      this.#cells.set(key, cell);
    }
    return cell;
  }
}

/** The earliest minute and the earliest hour that are still stored. */
interface Floors {
  readonly minutes: number;
  readonly hours: number;
}

/** Number of port values: 0 to 65535, and one value for no port. */
const portNumbers = 65_537;

/** Returns the names of a block's transports, cut to the maximum length, because a sensor may send any text. */
const transportNames = (list: TextList): string[] =>
  Array.from({ length: list.length }, (_, i) => list.text(i).slice(0, limits.maxTransportLength).toWellFormed());

/** Returns a name such as `tcp/443`, or the transport alone if there is no port. */
function serviceName(transports: readonly string[], code: number): string {
  const transport = transports[Math.floor(code / portNumbers) - 1]!;
  const port = (code % portNumbers) - 1;
  return port < 0 ? transport : `${transport}/${port}`;
}

/** Adds hashes, which may be in any order. Skips sorting if the number of hashes will be estimated. */
function addHashes(count: ClientCount, hashes: Uint32Array, exact: number): ClientCount {
  if (count instanceof Uint8Array) return addClients(count, hashes);
  if (hashes.length > exact) return addClients(addClients(noneEstimated(), hashes), count);
  hashes.sort();
  let length = 0;
  for (let i = 0; i < hashes.length; i++) if (i === 0 || hashes[i] !== hashes[i - 1]) hashes[length++] = hashes[i]!;
  return addClients(count, length === hashes.length ? hashes : hashes.slice(0, length), exact);
}
