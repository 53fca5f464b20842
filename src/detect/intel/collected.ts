import type { AddressRange } from '../../events/ip.ts';
import { limits } from '../../limits.ts';
import type { Indicator, IndicatorTerms, Rejected } from './indicator.ts';
import { readValue } from './read-value.ts';

/** What is taken and what is rejected of one list. */
export class Collected {
  /** By kind and text. */
  readonly #taken = new Map<string, Indicator>();
  readonly #rejected: Rejected[] = [];
  readonly #home: readonly AddressRange[];
  #rejectedTotal = 0;
  #values = 0;
  #tooMany = false;

  /** @param home - networks that are our own */
  constructor(home: readonly AddressRange[]) {
    this.#home = home;
  }

  get indicators(): IterableIterator<Indicator> {
    return this.#taken.values();
  }

  get size(): number {
    return this.#taken.size;
  }

  /** The first of what was rejected. */
  get rejected(): readonly Rejected[] {
    return this.#rejected;
  }

  get rejectedTotal(): number {
    return this.#rejectedTotal;
  }

  /** Why nothing more is taken: there is more than may be; undefined while there is not. */
  get excess(): string | undefined {
    if (this.#tooMany)
      return `names more than the ${limits.maxIntelIndicatorsPerList} that one list may have`;
    if (this.#values > limits.maxIntelValuesPerList)
      return `has more than ${limits.maxIntelValuesPerList} values, with those that repeat others or are not taken`;
    return undefined;
  }

  get isFull(): boolean {
    return this.#tooMany || this.#values > limits.maxIntelValuesPerList;
  }

  /** Takes what a text names, or rejects it. */
  add(value: string, terms: IndicatorTerms, place: Pick<Rejected, 'line' | 'object'>): void {
    if (this.isFull) return;
    const read = readValue(value, this.#home);
    if ('reason' in read) return this.reject(value, read.reason, place);
    const key = `${read.kind} ${read.text}`;
    const before = this.#taken.get(key);
    if (before !== undefined) this.#taken.set(key, either(before, { ...read, ...terms }));
    else if (this.#taken.size < limits.maxIntelIndicatorsPerList) this.#taken.set(key, { ...read, ...terms });
    else this.#tooMany = true;
    this.#values++;
  }

  reject(value: string, reason: string, place: Pick<Rejected, 'line' | 'object'>): void {
    this.#rejectedTotal++;
    this.#values++;
    if (this.#rejected.length < limits.maxIntelRejected)
      this.#rejected.push({ ...place, value: shown(value), reason });
  }
}

/** What a list says twice holds as long as either says. */
function either(a: Indicator, b: Indicator): Indicator {
  const { from: _, until: __, confidence: ___, label: ____, ...value } = a;
  const from = a.from === undefined || b.from === undefined ? undefined : Math.min(a.from, b.from);
  const until = a.until === undefined || b.until === undefined ? undefined : Math.max(a.until, b.until);
  const confidences = [a.confidence, b.confidence].filter((one) => one !== undefined);
  const label = a.label ?? b.label;
  return {
    ...(value.kind === 'domain' && b.kind === 'domain' ? { ...value, exact: value.exact && b.exact } : value),
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
    ...(confidences.length === 0 ? {} : { confidence: Math.max(...confidences) }),
    ...(label === undefined ? {} : { label }),
  };
}

/** A text of the list, fit to be shown. */
export function shown(text: string): string {
  return text
    .slice(0, limits.maxIntelTextLength)
    .replaceAll(/\p{Cc}/gu, ' ')
    .toWellFormed();
}
