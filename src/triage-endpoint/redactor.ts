import type { IsHome } from '../events/home-networks.ts';
import { addressBytes } from '../events/ip.ts';

/**
 * What is replaced in texts, one after the other: a name may have an address in it. Names are known by their form, with a dot in them: more is
 * taken for a name than is one, which costs the model a word.
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
 * Replaces what tells of us by placeholders, HOST-1 for the first address and so on, the same wherever it stands in one
 * question; and puts it back into what was answered. Addresses that are not ours stay: they are what is asked about.
 *
 * Texts are bounded by whoever gives them.
 */
export class Redactor {
  readonly #isHome: IsHome;
  readonly #enabled: boolean;
  readonly #names: RegExp | undefined;
  readonly #placeholders = new Map<string, string>();
  readonly #originals = new Map<string, string>();
  readonly #numbers = new Map<Kind, number>();

  /** @param names - of our hosts, that have no form by which they are known; shorter ones than 3 letters are left out */
  constructor(enabled: boolean, isHome: IsHome, names: readonly string[] = []) {
    this.#enabled = enabled;
    this.#isHome = isHome;
    const known = [...new Set(names)].filter((name) => name.length >= 3).sort((a, b) => b.length - a.length);
    if (known.length > 0)
      this.#names = new RegExp(
        `(?<![\\p{L}\\p{N}])(?:${known.map(escaped).join('|')})(?![\\p{L}\\p{N}])`,
        'giu',
      );
  }

  /** A text with all that tells of us replaced. */
  text(text: string): string {
    if (!this.#enabled) return text;
    // What stands for something already is not looked at again: it lies between these, which the text has none of.
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
      replace(pattern, (found) =>
        kind === 'ADDRESS' ? this.#addressIn(found) : this.#placeholder(kind, found),
      );
    if (this.#names !== undefined) replace(this.#names, (found) => this.#placeholder('NAME', found));
    return redacted.replaceAll(/[\ue000\ue001]/g, '');
  }

  /** An address of ours, or one that is not. */
  address(ip: string): string {
    return (this.#enabled ? this.#addressIn(ip) : undefined) ?? ip;
  }

  domain(name: string): string {
    return this.#enabled ? this.#placeholder('DOMAIN', name) : name;
  }

  /** With what the placeholders stand for. */
  restore(text: string): string {
    return text.replaceAll(
      /\b[A-Z]{3,6}-\d{1,4}\b/g,
      (placeholder) => this.#originals.get(placeholder) ?? placeholder,
    );
  }

  #addressIn(text: string): string | undefined {
    // What follows an address in a sentence may be a colon.
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
