import type { intelFormats } from '../../contract/vocabulary.ts';
import type { AddressRange } from '../../net/ip.ts';
import { Collected } from './collected.ts';
import { type ExpiryTimes, expiryTimesOf } from './expiry-times.ts';
import type { Rejected } from './indicator.ts';
import { encodeIndicators } from './intel-index.ts';
import { parseLines } from './parse-lines.ts';
import { parseStix } from './parse-stix.ts';

export type IntelFormat = (typeof intelFormats)[number];

/** A parsed list, ready for look-ups. */
export interface ParsedIntel {
  /** The indicators, encoded by `encodeIndicators`. */
  readonly index: ArrayBuffer;
  readonly indicators: number;
  /** Expiry times of the indicators that expire. */
  readonly ends: ExpiryTimes;
  /** Number of indicators that do not expire. */
  readonly endless: number;
  /** The first rejected values, up to limits.maxIntelRejected. */
  readonly rejected: readonly Rejected[];
  readonly rejectedTotal: number;
}

interface ParseOptions {
  /** The home networks. */
  readonly home: readonly AddressRange[];
  /** 32 random bits, equal for all lists, and unknown to authors of lists and events. */
  readonly seed: number;
}

/**
 * Reads a list. Never throws for invalid content; `fault` is the reason why the whole list is refused.
 *
 * @param content - text of the format; a STIX bundle may already be parsed
 */
export function parseIntel(
  content: unknown,
  format: IntelFormat,
  { home, seed }: ParseOptions,
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
    ends: expiryTimesOf(ends),
    endless: indicators.length - ends.length,
    rejected: collected.rejected,
    rejectedTotal: collected.rejectedTotal,
  };
}

type Parser = (content: unknown, into: Collected) => string | undefined;

const parsers: Readonly<Record<IntelFormat, Parser>> = {
  lines(content, into) {
    if (typeof content !== 'string') return 'must be plain text';
    parseLines(content, into);
    return undefined;
  },
  stix(content, into) {
    if (typeof content !== 'string') return parseStix(content, into);
    try {
      return parseStix(JSON.parse(content), into);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return 'is not valid JSON';
    }
  },
};

/** Detects the format of content for which no format is declared. */
export function formatOf(content: unknown): IntelFormat {
  return typeof content === 'string' && !/^\s*\{/.test(content) ? 'lines' : 'stix';
}
