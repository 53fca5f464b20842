import type { IsHome } from '../../net/home-networks.ts';
import { addressBytes } from '../../net/ip.ts';
import type { PublicHost } from '../../store/store.ts';
import type { EventBlock } from '../format/block.ts';
import type { EventStore } from './event-store.ts';

/** Number of newest events to read. This takes about 5 ms, and there are at most twice as many addresses. */
const sample = 10_000;
/** Minimum number of events. Among fewer events, one conversation may dominate. */
const least = 1000;

/**
 * Finds an address outside of the home networks that takes part in most of the newest connections without a home
 * address. Such an address means that a sensor watches a host that `network.home` does not include. A resolver on the
 * Internet that home hosts query is not found, because its connections have a home address.
 */
export class PublicHostSearch {
  readonly #events: Pick<EventStore, 'rows' | 'next' | 'firstStored'>;
  readonly #isHome: IsHome;
  #found: PublicHost | undefined;
  /** The sequence after the last event that was read. */
  #end = 0;

  constructor(events: Pick<EventStore, 'rows' | 'next' | 'firstStored'>, isHome: IsHome) {
    this.#events = events;
    this.#isHome = isHome;
  }

  /**
   * Returns the result of the latest search, and searches again first if there are enough new events. Returns
   * undefined if the search found no address.
   */
  found(): PublicHost | undefined {
    const end = this.#events.next('network');
    const from = Math.max(this.#events.firstStored('network'), end - sample);
    if (end - from < least || end - this.#end < least) return this.#found;
    this.#end = end;
    this.#found = this.#search(from, end);
    return this.#found;
  }

  #search(from: number, end: number): PublicHost | undefined {
    const met = new Map<string, number>();
    let rows = 0;
    for (const { block, first, end: last } of this.#events.rows('network', from, end)) {
      rows += last - first;
      this.#count(block, first, last, met);
    }
    const [ip, most] = [...met].reduce((one, other) => (other[1] > one[1] ? other : one), ['', 0]);
    return most * 2 > rows ? { ip, share: most / rows } : undefined;
  }

  #count(block: EventBlock, from: number, to: number, met: Map<string, number>): void {
    const ends = [block.addresses('src_ip'), block.addresses('dst_ip')];
    const home = ends.map(() => new Map<number, boolean>());
    const isAway = (end: number, code: number) => {
      let isHome = home[end]!.get(code);
      if (isHome === undefined) {
        isHome = this.#isHome(addressBytes(ends[end]!.list.text(code - 1))!);
        home[end]!.set(code, isHome);
      }
      return !isHome;
    };
    for (let row = from; row < to; row++) {
      const codes = ends.map((column) => column.code(row));
      if (!codes.every((code, end) => code > 0 && isAway(end, code))) continue;
      const [src, dst] = codes.map((code, end) => ends[end]!.list.text(code - 1));
      for (const ip of new Set([src!, dst!])) met.set(ip, (met.get(ip) ?? 0) + 1);
    }
  }
}
