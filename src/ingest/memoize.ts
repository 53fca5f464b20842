import { detachString } from '../events/format/text-span.ts';

const most = 256;
/** Texts whose results are cached. Other texts seldom recur. */
const usual = /^[ -~]{0,64}$/;

/**
 * Caches the results of a function of texts, for functions that are called with few different texts. A lookup
 * takes 20 ns. Exceptions, and results for long or non-ASCII texts, are not cached. The cache is cleared when
 * it contains `most` results.
 */
export function memoize<T>(of: (text: string) => T): (text: string) => T {
  const results = new Map<string, T>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    if (!usual.test(text)) return of(text);
    const own = detachString(text);
    const result = of(own);
    if (results.size === most) results.clear();
    results.set(own, result);
    return result;
  };
}
