import { createHash } from 'node:crypto';
import { parseJson } from '../../contract/json-text.ts';
import { intelFormats } from '../../contract/vocabulary.ts';
import { formatOf, type IntelFormat, parseIntel } from '../../detect/intel/parse-intel.ts';
import { ServiceError } from '../../errors.ts';
import { addressRanges } from '../../events/ip.ts';
import { limits } from '../../limits.ts';
import type { IntelContent } from '../../store/intel-row.ts';
import type { ListPage, ListQuery, StoreReader } from '../../store/store.ts';

/** The body of a request, as bytes of its own. */
export interface IntelBody {
  readonly bytes: ArrayBuffer;
  /** What `network.home` says. */
  readonly home: readonly string[];
}

/** A body of JSON: what it names, and the rest of it, which nobody has checked. */
export interface ReadIntel {
  readonly rest: unknown;
  /** Absent where it has none; why all of it is refused. */
  readonly content?: IntelContent | { readonly fault: string };
}

/** What is done of lists of known-bad addresses in the analytics pool: a large one takes seconds to read. */
export function intelTasks(reader: Pick<StoreReader, 'listIntel' | 'listIndicators' | 'intelSeed'>) {
  return {
    /** INVALID_REQUEST for what is no JSON; PAYLOAD_TOO_LARGE where all but the content is more than others may send. */
    readIntel: ({ bytes, home }: IntelBody): ReadIntel => {
      const body = parseJson(new Uint8Array(bytes));
      if (!isObject(body)) return { rest: Array.isArray(body) ? [] : body };
      const { content, ...rest } = body;
      if (JSON.stringify(rest).length > limits.maxJsonBodyBytes)
        throw new ServiceError('PAYLOAD_TOO_LARGE', 'the body is too large without its content', {
          max_bytes: limits.maxJsonBodyBytes,
        });
      if (content === undefined) return { rest };
      return { rest, content: contentOf(content, rest.format, { home, seed: reader.intelSeed() }) };
    },
    listIntel: (query: ListQuery): ListPage => reader.listIntel(query, Date.now()),
    listIndicators: ({ id, query }: { id: string; query: ListQuery }): ListPage | undefined =>
      reader.listIndicators(id, query),
  };
}

export type IntelTasks = ReturnType<typeof intelTasks>;

interface Terms {
  readonly home: readonly string[];
  readonly seed: number;
}

function contentOf(
  content: unknown,
  wanted: unknown,
  { home, seed }: Terms,
): NonNullable<ReadIntel['content']> {
  if (typeof content !== 'string' && !isObject(content)) return { fault: 'must be text or a STIX bundle' };
  const format = isFormat(wanted) ? wanted : formatOf(content);
  const ranges = home.flatMap((block) => addressRanges(block) ?? []);
  const parsed = parseIntel(content, format, { home: ranges, seed });
  if ('fault' in parsed) return parsed;
  const [first] = parsed.rejected;
  if (parsed.indicators === 0 && first !== undefined) {
    const where = first.line === undefined ? `object ${first.object}` : `line ${first.line}`;
    return { fault: `names nothing that can be looked for; ${where}: ${first.reason}` };
  }
  return {
    ...parsed,
    format,
    sha256: sha256(typeof content === 'string' ? content : JSON.stringify(content)),
  };
}

const isFormat = (value: unknown): value is IntelFormat =>
  (intelFormats as readonly unknown[]).includes(value);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
