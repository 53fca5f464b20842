import { isIP } from 'node:net';
import { resolve } from 'node:path';

/** An invalid value of a setting. `message` completes the sentence "got …, expected …". */
export class InvalidSetting extends Error {
  /** The invalid item of a list or an object; undefined if the whole value is invalid. */
  readonly item: UnwantedItem | undefined;

  constructor(wanted: string, item?: UnwantedItem) {
    super(wanted);
    this.item = item;
  }
}

interface UnwantedItem {
  /** Index or name of the item; for an item within it, a path like `name.3`. */
  readonly index: number | string;
  readonly raw: unknown;
}

/** Reads the values of a setting. `read` returns its own results unchanged. */
export interface Reader<T> {
  /** JSON Schema (2020-12) of the values. If the schema accepts a value that `read` rejects, `read` decides. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Reads a value. @throws InvalidSetting */
  read(raw: unknown): T;
  /** Converts the text of an environment variable to a value; returns the text itself if that fails. */
  fromText(text: string): unknown;
}

const asText = (text: string): unknown => text;

/** Returns the same reader, for an optional setting. */
export function optional<T>(reader: Reader<T>): Reader<T | undefined> {
  return reader;
}

/** Returns a reader of texts. Lengths are in code points, as in JSON Schema. */
export function text(least: number, most: number): Reader<string> {
  return textLike({ minLength: least, maxLength: most }, `a text of ${least} to ${most} characters`, (raw) => {
    const length = raw.length > 2 * most ? raw.length : [...raw].length;
    return length >= least && length <= most;
  });
}

/**
 * Returns a reader of the path of a file or folder. A relative path is resolved from the working folder at the start of
 * the service.
 */
export function path(): Reader<string> {
  const reader = textLike(
    { minLength: 1, maxLength: maxPathBytes, pattern: '^[^\\u0000]+$' },
    `a path of at most ${maxPathBytes} bytes`,
    (raw) => raw.length > 0 && !raw.includes('\0') && Buffer.byteLength(resolve(raw)) <= maxPathBytes,
  );
  return { ...reader, read: (raw) => resolve(reader.read(raw)) };
}

/** PATH_MAX of Linux (4096), without the terminating zero byte. */
const maxPathBytes = 4095;

export function integer(least: number, most: number): Reader<number> {
  return {
    schema: { type: 'integer', minimum: least, maximum: most },
    read(raw) {
      if (typeof raw === 'number' && Number.isSafeInteger(raw) && raw >= least && raw <= most) return raw + 0;
      throw new InvalidSetting(`an integer from ${least} to ${most}`);
    },
    fromText: (raw) => (/^(0|[1-9][0-9]*)$/.test(raw) ? Number(raw) : raw),
  };
}

/** Returns a reader for settings in which 0 has a special meaning. */
export function zeroOr(least: number, most: number): Reader<number> {
  const { read, fromText } = integer(least, most);
  return {
    schema: { type: 'integer', minimum: 0, maximum: most },
    read(raw) {
      if (raw === 0) return 0;
      try {
        return read(raw);
      } catch (error) {
        throw error instanceof InvalidSetting ? new InvalidSetting(`0, or ${error.message}`) : error;
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
    throw new InvalidSetting('true or false');
  },
  fromText: (raw) => (Object.hasOwn(booleans, raw) ? booleans[raw] : raw),
};

export function oneOf<const T extends readonly string[]>(values: T): Reader<T[number]> {
  return {
    schema: { type: 'string', enum: [...values] },
    read(raw) {
      if (values.includes(raw as string)) return raw as T[number];
      throw new InvalidSetting(`one of ${values.join(', ')}`);
    },
    fromText: asText,
  };
}

/** `off`, `auto` for the program in the search path, or the absolute path of a program. */
export const program: Reader<string> = textLike(
  { minLength: 1, maxLength: maxPathBytes, pattern: '^(off|auto|/[^\\u0000]*)$' },
  'off, auto or an absolute path',
  (raw) =>
    raw === 'off' ||
    raw === 'auto' ||
    (raw.startsWith('/') && !raw.includes('\0') && Buffer.byteLength(raw) <= maxPathBytes),
);

/**
 * Returns a reader of a list in the file, or comma-separated text in the environment. A list has at most 1000 items,
 * because it is matched against each event.
 */
export function list(item: Reader<string>): Reader<readonly string[]> {
  return {
    schema: { type: 'array', items: item.schema, maxItems: 1000 },
    read(raw) {
      if (!Array.isArray(raw) || raw.length > 1000) throw new InvalidSetting('a list of at most 1000 items');
      return raw.map((one: unknown, index) => {
        try {
          return item.read(one);
        } catch (error) {
          throw error instanceof InvalidSetting ? new InvalidSetting(error.message, { index, raw: one }) : error;
        }
      });
    },
    fromText: (raw) => raw.split(',').map((part) => part.trim()),
  };
}

/** Returns a reader of lists by name: an object in the file, the same object as JSON in the environment. */
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
      if (!isMapping(raw) || Object.keys(raw).length > maxLists) throw new InvalidSetting(wanted);
      const read = Object.entries(raw).map(([name, items]) => {
        if (!named.test(name))
          throw new InvalidSetting('a name of at most 64 letters, digits, _, - and ., which begins with a letter', {
            index: name,
            raw: name,
          });
        try {
          return [name, lists.read(items)] as const;
        } catch (error) {
          if (!(error instanceof InvalidSetting)) throw error;
          const { item: inner } = error;
          const index = inner === undefined ? name : `${name}.${inner.index}`;
          throw new InvalidSetting(error.message, { index, raw: inner === undefined ? items : inner.raw });
        }
      });
      if (read.reduce((sum, [, items]) => sum + items.length, 0) > maxItems)
        throw new InvalidSetting(`at most ${maxItems} items in all lists together`);
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
    (isIP(raw) !== 0 || /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i.test(raw)),
);

/** A block such as `10.0.0.0/8` or `fc00::/7`; a bare address is a block of one address. */
export const cidr: Reader<string> = {
  schema: { type: 'string', format: 'network' },
  read(raw) {
    const [address = '', prefix, ...rest] = typeof raw === 'string' ? raw.split('/') : [];
    const bits = isIP(address) === 4 ? 32 : 128;
    const length = prefix === undefined ? bits : /^(0|[1-9][0-9]*)$/.test(prefix) ? Number(prefix) : -1;
    if (isIP(address) === 0 || address.includes('%') || length < 0 || length > bits || rest.length > 0) {
      throw new InvalidSetting('CIDR blocks such as 10.0.0.0/8 or fc00::/7');
    }
    return `${address}/${length}`;
  },
  fromText: asText,
};

/** A key name of C2SP signed-note, which is not empty and contains neither spaces nor plus signs. */
export const keyName: Reader<string> = textLike(
  { minLength: 1, maxLength: 255, pattern: '^[^\\s+\\p{Cc}]+$' },
  'a name of at most 255 characters without spaces and plus signs',
  (raw) => raw.length <= 255 && /^[^\s+\p{Cc}]+$/u.test(raw),
);

/** A recipient as age-keygen prints it. Its checksum is verified when the service starts. */
export const ageRecipient: Reader<string> = textLike(
  { maxLength: 4096, pattern: '^age1[0-9a-z]+$' },
  'recipients that begin with age1, as age-keygen prints them',
  (raw) => raw.length <= 4096 && /^age1[0-9a-z]+$/.test(raw),
);

/** A key of an ssh-agent and its purpose: the fingerprint is the one that `ssh-add -l` prints. */
export const agentKey: Reader<string> = textLike(
  { maxLength: 100, pattern: '^(transparency-sth|event-signing|checkpoint)=SHA256:[A-Za-z0-9+/]{43}$' },
  'purpose=SHA256:fingerprint, such as checkpoint=SHA256:… with the fingerprint that ssh-add -l prints',
  (raw) => /^(transparency-sth|event-signing|checkpoint)=SHA256:[A-Za-z0-9+/]{43}$/.test(raw),
);

/** An origin as browsers send it (RFC 6454, section 6.2), or `*`. */
export const origin: Reader<string> = textLike(
  { maxLength: 300, pattern: '^(\\*|[a-z][a-z0-9+.-]*://[^/?#]+)$' },
  'origins such as https://console.example.org, or *',
  (raw) => raw === '*' || (raw.length <= 300 && URL.canParse(raw) && new URL(raw).origin === raw),
);

/**
 * Base URL of a service that receives data, without user, query or fragment: https, or http to this machine. A final
 * slash is removed.
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
      throw new InvalidSetting('an https URL, or an http URL of this machine, without user, query and fragment');
    }
    return url.href.replace(/\/+$/, '');
  },
  fromText: asText,
};

/**
 * URL of a service, without user, query or fragment. The responses of the service are signed, so http is as safe as
 * https.
 */
export const httpUrl: Reader<string> = textLike(
  { minLength: 8, maxLength: 2000, pattern: '^https?://[^?#@\\s]+$' },
  'an http or https URL without user, query and fragment',
  (raw) => /^https?:\/\/[^?#@\s]+$/.test(raw) && URL.canParse(raw),
);

/** A bearer token: characters allowed in a header (RFC 9110, section 5.5), without spaces. */
export const bearer: Reader<string> = textLike(
  { minLength: 1, maxLength: 4096, pattern: '^[\\x21-\\x7e]+$' },
  'at most 4096 printable ASCII characters without spaces',
  (raw) => raw.length <= 4096 && /^[\x21-\x7e]+$/.test(raw),
);

/** Returns a reader of a text. Only well-formed Unicode is accepted: other text would change when written to a file. */
function textLike(
  schema: Readonly<Record<string, unknown>>,
  wanted: string,
  test: (raw: string) => boolean,
): Reader<string> {
  return {
    schema: { type: 'string', ...schema },
    read(raw) {
      if (typeof raw === 'string' && raw.isWellFormed() && test(raw)) return raw;
      throw new InvalidSetting(wanted);
    },
    fromText: asText,
  };
}

/**
 * Returns whether the value is a plain object, unlike the values of YAML's other tags (`!!omap`, `!!binary`).
 */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
