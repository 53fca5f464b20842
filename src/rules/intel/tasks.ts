import { createHash } from 'node:crypto';
import { isObject } from '../../contract/json-object.ts';
import { parseJson } from '../../contract/json-text.ts';
import { intelFormats } from '../../contract/vocabulary.ts';
import { formatOf, type IntelFormat, parseIntel } from '../../detect/intel/parse-intel.ts';
import type { IntelContent } from '../../detect/store/intel/intel-row.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { addressRanges } from '../../net/ip.ts';
import type { ListPage, ListQuery, StoreReader } from '../../store/store.ts';

/** The body of a request, in a separate buffer. */
export interface IntelBody {
  readonly bytes: ArrayBuffer;
  /** The value of `network.home`. */
  readonly home: readonly string[];
}

/** A JSON body: its content, and the other members, which are not validated. */
export interface ReadIntel {
  readonly rest: unknown;
  /**
   * The parsed content; absent if the body has no content. `fault` is the reason for rejecting the whole
   * content.
   */
  readonly content?: IntelContent | { readonly fault: string };
}

/** Tasks of the analytics pool for threat intelligence lists. Parsing a large list takes seconds. */
export function intelTasks(reader: Pick<StoreReader, 'listIntel' | 'listIndicators' | 'intelSeed'>) {
  return {
    /**
     * Reads the body. Throws INVALID_REQUEST for invalid JSON, and PAYLOAD_TOO_LARGE if the body without its `content`
     * field exceeds the limit for other bodies.
     */
    readIntel: ({ bytes, home }: IntelBody): ReadIntel => {
      const body = parseJson(new Uint8Array(bytes));
      if (!isObject(body)) return { rest: Array.isArray(body) ? [] : body };
      const { content, ...rest } = body;
      if (JSON.stringify(rest).length > limits.maxJsonBodyBytes)
        throw new ServiceError(
          'PAYLOAD_TOO_LARGE',
          `the body without content must have at most ${limits.maxJsonBodyBytes} bytes`,
          {
            max_bytes: limits.maxJsonBodyBytes,
          },
        );
      if (content === undefined) return { rest };
      return { rest, content: contentOf(content, rest.format, { home, seed: reader.intelSeed() }) };
    },
    listIntel: (query: ListQuery): ListPage => reader.listIntel(query, Date.now()),
    listIndicators: ({ id, query }: { id: string; query: ListQuery }): ListPage | undefined =>
      reader.listIndicators(id, query),
  };
}

export type IntelTasks = ReturnType<typeof intelTasks>;

interface ParseOptions {
  readonly home: readonly string[];
  readonly seed: number;
}

function contentOf(content: unknown, wanted: unknown, { home, seed }: ParseOptions): NonNullable<ReadIntel['content']> {
  if (typeof content !== 'string' && !isObject(content)) return { fault: 'must be text or a STIX bundle' };
  const format = isFormat(wanted) ? wanted : formatOf(content);
  const ranges = home.flatMap((block) => addressRanges(block) ?? []);
  const parsed = parseIntel(content, format, { home: ranges, seed });
  if ('fault' in parsed) return parsed;
  const [first] = parsed.rejected;
  if (parsed.indicators === 0 && first !== undefined) {
    const where = first.line === undefined ? `object ${first.object}` : `line ${first.line}`;
    return { fault: `contains no usable indicators; ${where}: ${first.reason}` };
  }
  return {
    ...parsed,
    format,
    sha256: sha256(typeof content === 'string' ? content : JSON.stringify(content)),
  };
}

const isFormat = (value: unknown): value is IntelFormat => (intelFormats as readonly unknown[]).includes(value);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
