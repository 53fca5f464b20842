import { ownText } from '../events/own-text.ts';

const most = 256;
/** Other texts seldom recur. */
const usual = /^[ -~]{0,64}$/;

/**
 * A function of texts, with its results kept for the next time: a lookup of 20 ns, for those of few different texts.
 * What throws is not kept, nor what is asked of long texts and other than ASCII; with `most` of them it begins anew.
 */
export function remembered<T>(of: (text: string) => T): (text: string) => T {
  const results = new Map<string, T>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    if (!usual.test(text)) return of(text);
    const own = ownText(text);
    const result = of(own);
    if (results.size === most) results.clear();
    results.set(own, result);
    return result;
  };
}
