import { type Severity, severities } from '../../contract/vocabulary.ts';
import { ipv4Of, parseAddress } from '../../net/ip.ts';
import type { IntelIndex } from './intel-index.ts';
import { asciiName } from './read-value.ts';

/** A match of an address or name. */
export interface IntelHit {
  readonly list_id: string;
  readonly list_name: string;
  /** The matching value in the list: the address itself or a block, the name itself or a parent domain. */
  readonly indicator: string;
  readonly severity: Severity;
  /** The confidence of the indicator, otherwise of its list; 0–1. */
  readonly confidence?: number;
  /** End of validity, epoch milliseconds. */
  readonly valid_until?: number;
  /** Label in the list. */
  readonly label?: string;
  /** True if the list names only a URL of this host. */
  readonly page: boolean;
}

/** A list that is searched. */
export interface MatchedList {
  readonly id: string;
  readonly name: string;
  readonly severity: Severity;
  /** Confidence, 0–1. */
  readonly confidence?: number;
  /** Clock time at which the list expires, epoch milliseconds. */
  readonly expires?: number;
  /** Expiry of indicators without their own end of validity, in event time, epoch milliseconds. */
  readonly until?: number;
  readonly index: IntelIndex;
}

/**
 * Matches known-bad addresses and names. An indicator matches events whose time is within its validity, regardless of
 * when the events are processed. A list matches until it expires by the clock. If several lists match, the list with
 * the highest severity is reported, then the list with the highest confidence, then the oldest list. Within a list, the
 * most specific indicator is reported.
 *
 * Without a match, looking up an IPv4 address takes 0.1 µs per list, and looking up a name takes 1 µs plus 0.2 µs per
 * list.
 */
export class IntelMatcher {
  readonly #now: () => number;
  #lists: readonly MatchedList[] = [];
  #version = 0;

  /** @param now - returns the clock time in epoch milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Increases with each change of the lists; cached results of earlier versions are then invalid. */
  get version(): number {
    return this.#version;
  }

  /** True if there are no lists. */
  get isEmpty(): boolean {
    return this.#lists.length === 0;
  }

  /** Total bytes of all indexes. */
  get bytes(): number {
    return this.#lists.reduce((sum, { index }) => sum + index.bytes, 0);
  }

  /** Returns the index of a list. */
  indexOf(id: string): IntelIndex | undefined {
    return this.#lists.find((list) => list.id === id)?.index;
  }

  /** Adds a list, or replaces the list with the same id. */
  use(list: MatchedList): void {
    const others = this.#lists.filter(({ id }) => id !== list.id);
    this.#lists = [...others, list].sort(inOrder);
    this.#version++;
  }

  drop(id: string): void {
    this.#lists = this.#lists.filter((list) => list.id !== id);
    this.#version++;
  }

  /**
   * @param time - event time, epoch milliseconds
   * @returns undefined without a match, and for invalid addresses
   */
  addressHit(text: string, time: number): IntelHit | undefined {
    if (this.#lists.length === 0 || !parseAddress(text, scratch)) return undefined;
    const word = ipv4Of(scratch);
    return this.#find(time, (index, good) => (word >= 0 ? index.findIpv4(word, good) : index.findIpv6(scratch, good)));
  }

  /**
   * Looks up a name in any spelling, with or without a final dot.
   *
   * @param time - event time, epoch milliseconds
   */
  domainHit(name: string, time: number): IntelHit | undefined {
    const plain = this.#lists.length === 0 ? undefined : plainName(name);
    if (plain === undefined) return undefined;
    return this.#find(time, (index, good) => index.findName(plain, good));
  }

  /** Returns true if a list contains the address, regardless of the indicator's validity. */
  namesAddress(text: string): boolean {
    if (!parseAddress(text, scratch)) return false;
    const word = ipv4Of(scratch);
    return this.#lists.some(({ index }) =>
      word >= 0 ? index.findIpv4(word, always) >= 0 : index.findIpv6(scratch, always) >= 0,
    );
  }

  /** Returns true if a list contains the name, regardless of the indicator's validity. */
  namesDomain(name: string): boolean {
    const plain = plainName(name);
    return plain !== undefined && this.#lists.some(({ index }) => index.findName(plain, always) >= 0);
  }

  #find(time: number, look: (index: IntelIndex, good: (place: number) => boolean) => number): IntelHit | undefined {
    const now = this.#now();
    for (const list of this.#lists) {
      const { index, expires = Number.POSITIVE_INFINITY } = list;
      if (expires <= now) continue;
      const place = look(index, (at) => {
        const from = index.from(at) * 1000;
        return from <= time && time < (untilOf(list, at) ?? Number.POSITIVE_INFINITY);
      });
      if (place >= 0) return hitOf(list, place);
    }
    return undefined;
  }
}

/** Returns a name in the spelling of lists; undefined for invalid names. */
function plainName(name: string): string | undefined {
  if (name.length > longestName) return undefined;
  const spelled = asciiName(name)?.toLowerCase();
  return spelled?.endsWith('.') ? spelled.slice(0, -1) : spelled;
}

const always = () => true;
const scratch = new Uint8Array(16);
/** Length of the longest name: 255 octets (RFC 1035, section 2.3.4), all of them escaped. */
const longestName = 1024;

function untilOf({ index, until }: MatchedList, place: number): number | undefined {
  const own = index.until(place);
  return own === 0 ? until : own * 1000;
}

function hitOf(list: MatchedList, place: number): IntelHit {
  const { text, exact, confidence, label } = list.index.at(place);
  const until = untilOf(list, place);
  const sure = confidence === undefined ? list.confidence : confidence / 100;
  return {
    list_id: list.id,
    list_name: list.name,
    indicator: text,
    severity: list.severity,
    ...(sure === undefined ? {} : { confidence: sure }),
    ...(until === undefined ? {} : { valid_until: until }),
    ...(label === undefined ? {} : { label }),
    page: exact,
  };
}

function inOrder(a: MatchedList, b: MatchedList): number {
  const bySeverity = severities.indexOf(b.severity) - severities.indexOf(a.severity);
  return bySeverity || (b.confidence ?? 0) - (a.confidence ?? 0) || (a.id < b.id ? -1 : 1);
}
