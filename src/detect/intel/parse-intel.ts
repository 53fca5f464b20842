import type { intelFormats } from '../../contract/vocabulary.ts';
import type { AddressRange } from '../../events/ip.ts';
import { Collected } from './collected.ts';
import { type Ends, endsOf } from './ends.ts';
import type { Rejected } from './indicator.ts';
import { encodeIndicators } from './intel-index.ts';
import { parseLines } from './parse-lines.ts';
import { parseStix } from './parse-stix.ts';

export type IntelFormat = (typeof intelFormats)[number];

/** What a list says, ready to be looked up. */
export interface ParsedIntel {
  /** By `encodeIndicators`. */
  readonly index: ArrayBuffer;
  readonly indicators: number;
  /** Of those that have an end of their own. */
  readonly ends: Ends;
  /** Those that have none. */
  readonly endless: number;
  /** The first limits.maxIntelRejected. */
  readonly rejected: readonly Rejected[];
  readonly rejectedTotal: number;
}

interface Terms {
  /** Networks that are our own. */
  readonly home: readonly AddressRange[];
  /** 32 bits that nobody who writes lists or sends events knows, the same for all lists. */
  readonly seed: number;
}

/**
 * Reads a list. Whatever it holds, nothing throws; `fault` is why all of it is refused.
 *
 * @param content - text of the format; a STIX bundle may be parsed already
 */
export function parseIntel(
  content: unknown,
  format: IntelFormat,
  { home, seed }: Terms,
): ParsedIntel | { readonly fault: string } {
  const collected = new Collected(home);
  const fault = parsers[format](content, collected);
  if (fault !== undefined) return { fault };
  if (collected.excess !== undefined) return { fault: collected.excess };
  const indicators = [...collected.indicators];
  const ends = indicators.flatMap(({ until }) => (until === undefined ? [] : [until]));
  return {
    index: encodeIndicators(indicators, seed),
    indicators: indicators.length,
    ends: endsOf(ends),
    endless: indicators.length - ends.length,
    rejected: collected.rejected,
    rejectedTotal: collected.rejectedTotal,
  };
}

type Parser = (content: unknown, into: Collected) => string | undefined;

const parsers: Readonly<Record<IntelFormat, Parser>> = {
  lines(content, into) {
    if (typeof content !== 'string') return 'must be text, of plain lines';
    parseLines(content, into);
    return undefined;
  },
  stix(content, into) {
    if (typeof content !== 'string') return parseStix(content, into);
    try {
      return parseStix(JSON.parse(content), into);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return 'is no JSON';
    }
  },
};

/** How a content is written that nobody said it of. */
export function formatOf(content: unknown): IntelFormat {
  return typeof content === 'string' && !/^\s*\{/.test(content) ? 'lines' : 'stix';
}
