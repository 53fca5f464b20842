import type { IsHome } from '../../../net/home-networks.ts';
import { addressBytes } from '../../../net/ip.ts';

/**
 * Patterns to replace in texts, in order, because a name may contain an address. Domain names are recognised by a dot,
 * so some other words with a dot are replaced as well. This only hides these words from the model.
 */
const patterns = [
  ['URL', /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>]+/gi],
  ['MAIL', /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})*/g],
  ['USER', /[\w.-]{1,64}\\+[\w.$-]{1,64}/g],
  [
    'DOMAIN',
    /(?<![\p{L}\p{N}_.-])(?:[\p{L}\p{N}_](?:[\p{L}\p{N}_-]{0,61}[\p{L}\p{N}])?\.)+\p{L}[\p{L}\p{N}-]{1,62}(?![\p{L}\p{N}])/giu,
  ],
  ['MAC', /(?<![0-9a-f])[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}(?![0-9a-f])/gi],
  ['ADDRESS', /(?<!\d)\d{1,3}(?:\.\d{1,3}){3}(?!\d)/g],
  ['ADDRESS', /(?<![0-9a-f:])[0-9a-f]{0,4}:[0-9a-f:.]{0,44}[0-9a-f:](?![0-9a-f])/gi],
] as const;

type Kind = Exclude<(typeof patterns)[number][0], 'ADDRESS'> | 'HOST' | 'NAME';

/**
 * Replaces internal addresses, and all names, URLs and MAC addresses, with placeholders (HOST-1 for the first address),
 * consistently within one request. Restores the original texts in the response. External addresses are kept because the
 * verdict depends on them.
 *
 * Callers must bound the length of texts.
 */
export class Redactor {
  readonly #isHome: IsHome;
  readonly #enabled: boolean;
  readonly #names: RegExp | undefined;
  readonly #placeholders = new Map<string, string>();
  readonly #originals = new Map<string, string>();
  readonly #numbers = new Map<Kind, number>();

  /**
   * @param names - names of internal hosts, which no pattern recognises; names shorter than 3 characters are
   * ignored
   */
  constructor(enabled: boolean, isHome: IsHome, names: readonly string[] = []) {
    this.#enabled = enabled;
    this.#isHome = isHome;
    const known = [...new Set(names)].filter((name) => name.length >= 3).sort((a, b) => b.length - a.length);
    if (known.length > 0)
      this.#names = new RegExp(`(?<![\\p{L}\\p{N}])(?:${known.map(escaped).join('|')})(?![\\p{L}\\p{N}])`, 'giu');
  }

  /** Returns a text with internal addresses, names, URLs and MAC addresses replaced. */
  text(text: string): string {
    if (!this.#enabled) return text;
    // Placeholders are enclosed in private-use characters, so that later patterns skip the placeholders. These
    // characters are first removed from the text.
    let redacted = text.replaceAll(/[\ue000\ue001]/g, '');
    const replace = (pattern: RegExp, as: (found: string) => string | undefined) => {
      redacted = redacted.replace(/\ue000[^\ue001]*\ue001|[^\ue000]+/g, (part) =>
        part.startsWith('\ue000')
          ? part
          : part.replace(pattern, (found) => {
              const placeholder = as(found);
              return placeholder === undefined ? found : `\ue000${placeholder}\ue001`;
            }),
      );
    };
    for (const [kind, pattern] of patterns)
      replace(pattern, (found) => (kind === 'ADDRESS' ? this.#addressIn(found) : this.#placeholder(kind, found)));
    if (this.#names !== undefined) replace(this.#names, (found) => this.#placeholder('NAME', found));
    return redacted.replaceAll(/[\ue000\ue001]/g, '');
  }

  /** Replaces an internal address. External addresses are returned unchanged. */
  address(ip: string): string {
    return (this.#enabled ? this.#addressIn(ip) : undefined) ?? ip;
  }

  domain(name: string): string {
    return this.#enabled ? this.#placeholder('DOMAIN', name) : name;
  }

  /** Replaces placeholders with the original texts. */
  restore(text: string): string {
    return text.replaceAll(/\b[A-Z]{3,6}-\d{1,4}\b/g, (placeholder) => this.#originals.get(placeholder) ?? placeholder);
  }

  #addressIn(text: string): string | undefined {
    // The colon after an address may belong to the sentence.
    const bytes = addressBytes(text) ?? addressBytes(text.replace(/:$/, ''));
    return bytes !== undefined && this.#isHome(bytes) ? this.#placeholder('HOST', text) : undefined;
  }

  #placeholder(kind: Kind, original: string): string {
    const key = `${kind} ${original.toLowerCase()}`;
    const known = this.#placeholders.get(key);
    if (known !== undefined) return known;
    const number = (this.#numbers.get(kind) ?? 0) + 1;
    this.#numbers.set(kind, number);
    const placeholder = `${kind}-${number}`;
    this.#placeholders.set(key, placeholder);
    this.#originals.set(placeholder, original);
    return placeholder;
  }
}

const escaped = (name: string): string => name.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
