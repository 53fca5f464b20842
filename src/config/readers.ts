import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { isMapping } from './mapping.ts';

/** A value that a setting cannot take. `message` completes the sentence "came …, wanted …". */
export class Unwanted extends Error {
  /** The item of a list or an object that is wrong; undefined where it is all of the value. */
  readonly item: UnwantedItem | undefined;

  constructor(wanted: string, item?: UnwantedItem) {
    super(wanted);
    this.item = item;
  }
}

interface UnwantedItem {
  /** Its place, or its name; of an item within it, as `name.3`. */
  readonly index: number | string;
  readonly raw: unknown;
}

/** Reads the values of a setting. What comes out of `read` may go in again, and comes out as it was. */
export interface Reader<T> {
  /** JSON Schema (2020-12) of its values; where it is wider than `read`, `read` decides. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** @throws Unwanted */
  read(raw: unknown): T;
  /** The value that a text of the environment stands for; the text itself where it stands for none. */
  fromText(text: string): unknown;
}

const asText = (text: string): unknown => text;

/** The same reader, for a setting that may be absent. */
export function optional<T>(reader: Reader<T>): Reader<T | undefined> {
  return reader;
}

/** Lengths in code points, as JSON Schema counts them. */
export function text(least: number, most: number): Reader<string> {
  return textLike(
    { minLength: least, maxLength: most },
    `a text of ${least} to ${most} characters`,
    (raw) => {
      const length = raw.length > 2 * most ? raw.length : [...raw].length;
      return length >= least && length <= most;
    },
  );
}

/** A file or folder; made absolute from the folder that the service was started in. */
export function path(): Reader<string> {
  const reader = textLike(
    { minLength: 1, maxLength: maxPathBytes, pattern: '^[^\\u0000]+$' },
    'a path',
    (raw) => raw.length > 0 && !raw.includes('\0') && Buffer.byteLength(resolve(raw)) <= maxPathBytes,
  );
  return { ...reader, read: (raw) => resolve(reader.read(raw)) };
}

/** PATH_MAX of Linux, with its zero byte. */
const maxPathBytes = 4095;

export function integer(least: number, most: number): Reader<number> {
  return {
    schema: { type: 'integer', minimum: least, maximum: most },
    read(raw) {
      if (typeof raw === 'number' && Number.isSafeInteger(raw) && raw >= least && raw <= most) return raw + 0;
      throw new Unwanted(`an integer from ${least} to ${most}`);
    },
    fromText: (raw) => (/^(0|[1-9][0-9]*)$/.test(raw) ? Number(raw) : raw),
  };
}

/** For settings of which 0 means something else than little. */
export function zeroOr(least: number, most: number): Reader<number> {
  const { read, fromText } = integer(least, most);
  return {
    schema: { type: 'integer', minimum: 0, maximum: most },
    read(raw) {
      if (raw === 0) return 0;
      try {
        return read(raw);
      } catch (error) {
        throw error instanceof Unwanted ? new Unwanted(`0, or ${error.message}`) : error;
      }
    },
    fromText,
  };
}

const booleans: Readonly<Record<string, boolean>> = { true: true, 1: true, false: false, 0: false };

export const bool: Reader<boolean> = {
  schema: { type: 'boolean' },
  read(raw) {
    if (typeof raw === 'boolean') return raw;
    throw new Unwanted('true or false');
  },
  fromText: (raw) => (Object.hasOwn(booleans, raw) ? booleans[raw] : raw),
};

export function oneOf<const T extends readonly string[]>(values: T): Reader<T[number]> {
  return {
    schema: { type: 'string', enum: [...values] },
    read(raw) {
      if (values.includes(raw as string)) return raw as T[number];
      throw new Unwanted(`one of ${values.join(', ')}`);
    },
    fromText: asText,
  };
}

/** `off`, `auto` for the one that the search path has, or the absolute path of a program. */
export const program: Reader<string> = textLike(
  { minLength: 1, maxLength: maxPathBytes, pattern: '^(off|auto|/[^\\u0000]*)$' },
  'off, auto or an absolute path',
  (raw) =>
    raw === 'off' ||
    raw === 'auto' ||
    (raw.startsWith('/') && !raw.includes('\0') && Buffer.byteLength(raw) <= maxPathBytes),
);

/** A list in the file, comma-separated text in the environment. At most 1000 items: it is matched per event. */
export function list(item: Reader<string>): Reader<readonly string[]> {
  return {
    schema: { type: 'array', items: item.schema, maxItems: 1000 },
    read(raw) {
      if (!Array.isArray(raw) || raw.length > 1000) throw new Unwanted('a list of at most 1000 items');
      return raw.map((one: unknown, index) => {
        try {
          return item.read(one);
        } catch (error) {
          throw error instanceof Unwanted ? new Unwanted(error.message, { index, raw: one }) : error;
        }
      });
    },
    fromText: (raw) => raw.split(',').map((part) => part.trim()),
  };
}

/** Lists by their names: an object in the file, the same as JSON in the environment. */
export function namedLists(
  item: Reader<string>,
  { maxLists, maxItems }: { readonly maxLists: number; readonly maxItems: number },
): Reader<Readonly<Record<string, readonly string[]>>> {
  const named = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
  const lists = list(item);
  const wanted = `an object of at most ${maxLists} lists, such as {"admin_hosts": ["10.0.0.5"]}`;
  return {
    schema: {
      type: 'object',
      propertyNames: { pattern: named.source },
      additionalProperties: lists.schema,
      maxProperties: maxLists,
    },
    read(raw) {
      if (!isMapping(raw) || Object.keys(raw).length > maxLists) throw new Unwanted(wanted);
      const read = Object.entries(raw).map(([name, items]) => {
        if (!named.test(name))
          throw new Unwanted('a name of at most 64 letters, digits, _, - and ., which begins with a letter', {
            index: name,
            raw: name,
          });
        try {
          return [name, lists.read(items)] as const;
        } catch (error) {
          if (!(error instanceof Unwanted)) throw error;
          const { item: inner } = error;
          const index = inner === undefined ? name : `${name}.${inner.index}`;
          throw new Unwanted(error.message, { index, raw: inner === undefined ? items : inner.raw });
        }
      });
      if (read.reduce((sum, [, items]) => sum + items.length, 0) > maxItems)
        throw new Unwanted(`at most ${maxItems} items in all lists together`);
      return Object.fromEntries(read);
    },
    fromText(raw) {
      try {
        return JSON.parse(raw);
      } catch {
        return raw;
      }
    },
  };
}

/** An address, or a host name of RFC 1123, section 2.1. */
export const host: Reader<string> = textLike(
  { minLength: 1, maxLength: 253 },
  'an address or a host name',
  (raw) =>
    raw.length <= 253 &&
    (isIP(raw) !== 0 ||
      /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i.test(raw)),
);

/** `10.0.0.0/8`, `fc00::/7`; a bare address means itself alone. */
export const cidr: Reader<string> = {
  schema: { type: 'string', format: 'network' },
  read(raw) {
    const [address = '', prefix, ...rest] = typeof raw === 'string' ? raw.split('/') : [];
    const bits = isIP(address) === 4 ? 32 : 128;
    const length = prefix === undefined ? bits : /^(0|[1-9][0-9]*)$/.test(prefix) ? Number(prefix) : -1;
    if (isIP(address) === 0 || address.includes('%') || length < 0 || length > bits || rest.length > 0) {
      throw new Unwanted('CIDR blocks such as 10.0.0.0/8 or fc00::/7');
    }
    return `${address}/${length}`;
  },
  fromText: asText,
};

/** C2SP signed-note: a key name is not empty and has neither spaces nor plus signs. */
export const keyName: Reader<string> = textLike(
  { minLength: 1, maxLength: 255, pattern: '^[^\\s+\\p{Cc}]+$' },
  'a name of at most 255 characters without spaces and plus signs',
  (raw) => raw.length <= 255 && /^[^\s+\p{Cc}]+$/u.test(raw),
);

/** A recipient as age-keygen prints it. Its checksum is looked at when the service starts. */
export const ageRecipient: Reader<string> = textLike(
  { maxLength: 4096, pattern: '^age1[0-9a-z]+$' },
  'recipients that begin with age1, as age-keygen prints them',
  (raw) => raw.length <= 4096 && /^age1[0-9a-z]+$/.test(raw),
);

/** A key of an ssh-agent and what it signs: the fingerprint is what `ssh-add -l` prints. */
export const agentKey: Reader<string> = textLike(
  { maxLength: 100, pattern: '^(transparency-sth|event-signing|checkpoint)=SHA256:[A-Za-z0-9+/]{43}$' },
  'purpose=SHA256:fingerprint, such as checkpoint=SHA256:… with the fingerprint that ssh-add -l prints',
  (raw) => /^(transparency-sth|event-signing|checkpoint)=SHA256:[A-Za-z0-9+/]{43}$/.test(raw),
);

/** RFC 6454, section 6.2, as browsers send it. */
export const origin: Reader<string> = textLike(
  { maxLength: 300, pattern: '^(\\*|[a-z][a-z0-9+.-]*://[^/?#]+)$' },
  'origins such as https://console.example.org, or *',
  (raw) => raw === '*' || (raw.length <= 300 && URL.canParse(raw) && new URL(raw).origin === raw),
);

/**
 * Base URL of a service that is asked: https, or http to this machine. No user, query or fragment: where it goes is all
 * that it says. A final slash is taken away.
 */
export const serviceUrl: Reader<string> = {
  schema: { type: 'string', maxLength: 2000, pattern: '^https?://[^?#@]+$' },
  read(raw) {
    const url = typeof raw === 'string' && raw.length <= 2000 && URL.canParse(raw) ? new URL(raw) : undefined;
    const isLocal =
      url !== undefined &&
      (url.hostname === 'localhost' || url.hostname === '[::1]' || /^127(\.\d+){3}$/.test(url.hostname));
    if (
      url === undefined ||
      !(url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)) ||
      /[?#@\s]/.test(raw as string)
    ) {
      throw new Unwanted('an https URL, or an http URL of this machine, without user, query and fragment');
    }
    return url.href.replace(/\/+$/, '');
  },
  fromText: asText,
};

/** URL of a service whose answers are signed, so that http is as good as https. No user, query or fragment. */
export const httpUrl: Reader<string> = textLike(
  { minLength: 8, maxLength: 2000, pattern: '^https?://[^?#@\\s]+$' },
  'an http or https URL without user, query and fragment',
  (raw) => /^https?:\/\/[^?#@\s]+$/.test(raw) && URL.canParse(raw),
);

/** What may stand in a header (RFC 9110, section 5.5) without spaces. */
export const bearer: Reader<string> = textLike(
  { minLength: 1, maxLength: 4096, pattern: '^[\\x21-\\x7e]+$' },
  'at most 4096 printable ASCII characters without spaces',
  (raw) => raw.length <= 4096 && /^[\x21-\x7e]+$/.test(raw),
);

/** Only well-formed Unicode passes: anything else would be another text once it was written to a file. */
function textLike(
  schema: Readonly<Record<string, unknown>>,
  wanted: string,
  test: (raw: string) => boolean,
): Reader<string> {
  return {
    schema: { type: 'string', ...schema },
    read(raw) {
      if (typeof raw === 'string' && raw.isWellFormed() && test(raw)) return raw;
      throw new Unwanted(wanted);
    },
    fromText: asText,
  };
}
