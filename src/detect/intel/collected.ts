import { limits } from '../../limits.ts';
import type { AddressRange } from '../../net/ip.ts';
import type { Indicator, IndicatorOptions, Rejected } from './indicator.ts';
import { readValue } from './read-value.ts';

/** Collects the accepted indicators and the rejected values of one list. */
export class Collected {
  /** Indicators by kind and text. */
  readonly #taken = new Map<string, Indicator>();
  readonly #rejected: Rejected[] = [];
  readonly #home: readonly AddressRange[];
  #rejectedTotal = 0;
  #values = 0;
  #tooMany = false;

  /** @param home - the home networks */
  constructor(home: readonly AddressRange[]) {
    this.#home = home;
  }

  get indicators(): IterableIterator<Indicator> {
    return this.#taken.values();
  }

  get size(): number {
    return this.#taken.size;
  }

  /** The first rejected values, up to limits.maxIntelRejected. */
  get rejected(): readonly Rejected[] {
    return this.#rejected;
  }

  get rejectedTotal(): number {
    return this.#rejectedTotal;
  }

  /** Returns why the list exceeds a limit; undefined if it does not. */
  get excess(): string | undefined {
    if (this.#tooMany) return `has more than ${limits.maxIntelIndicatorsPerList} indicators, the maximum of a list`;
    if (this.#values > limits.maxIntelValuesPerList)
      return `has more than ${limits.maxIntelValuesPerList} values, including duplicates and rejected values`;
    return undefined;
  }

  get isFull(): boolean {
    return this.#tooMany || this.#values > limits.maxIntelValuesPerList;
  }

  /** Adds the indicator in a text, or rejects the text. */
  add(value: string, options: IndicatorOptions, place: Pick<Rejected, 'line' | 'object'>): void {
    if (this.isFull) return;
    const read = readValue(value, this.#home);
    if ('reason' in read) return this.reject(value, read.reason, place);
    const key = `${read.kind} ${read.text}`;
    const before = this.#taken.get(key);
    if (before !== undefined) this.#taken.set(key, either(before, { ...read, ...options }));
    else if (this.#taken.size < limits.maxIntelIndicatorsPerList) this.#taken.set(key, { ...read, ...options });
    else this.#tooMany = true;
    this.#values++;
  }

  reject(value: string, reason: string, place: Pick<Rejected, 'line' | 'object'>): void {
    this.#rejectedTotal++;
    this.#values++;
    if (this.#rejected.length < limits.maxIntelRejected) this.#rejected.push({ ...place, value: shown(value), reason });
  }
}

/** Merges two entries of one indicator. The result is valid from the earlier start to the later end. */
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

/** Truncates a text of the list, and replaces characters that are not safe to display. */
export function shown(text: string): string {
  return text
    .slice(0, limits.maxIntelTextLength)
    .replaceAll(/\p{Cc}/gu, ' ')
    .toWellFormed();
}
