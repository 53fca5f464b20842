import type { ParsedFilter } from '../../contract/query.ts';
import type { Scan } from '../../contract/resources/scan.ts';
import type { ScanUpdate } from '../../store/store.ts';
import type { Channel, LiveBatch, LiveMessage, ReplayPart } from './channel.ts';

type ScanPredicate = (scan: Scan) => boolean;

interface ScanMatcher {
  readonly filter: ParsedFilter;
  readonly wanted: ScanPredicate;
}

/** Reads the newest state of scans that changed past a sequence, in the analytics pool. */
export type ReplayScans = (
  query: { since: number; filter: ParsedFilter; limit: number },
  signal: AbortSignal,
) => Promise<ReplayPart>;

/** `discovery`: every change of a scan's status and progress, as the whole resource. */
export function discoveryChannel(
  head: () => number,
  compileFilter: (filter: ParsedFilter) => ScanPredicate,
  replayScans: ReplayScans,
): Channel<ScanMatcher> {
  return {
    head,
    compile: (filter) => ({ filter, wanted: compileFilter(filter) }),
    // One scan runs at a time: asking every subscription costs less than finding which to ask.
    lookup: () => undefined,
    replay: ({ filter }, since, limit, signal) => replayScans({ since, filter, limit }, signal),
  };
}

/** One change of one scan. */
export class LiveScan implements LiveBatch<ScanMatcher> {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly rows = 1;
  readonly bytes = scanBytes;
  readonly #scan: ScanUpdate['scan'];
  #message: LiveMessage | undefined;

  constructor({ seq, scan }: ScanUpdate) {
    this.firstSeq = seq;
    this.lastSeq = seq;
    this.#scan = scan;
  }

  values(): Iterable<never> {
    return [];
  }

  forgetTexts(): void {
    this.#message = undefined;
  }

  match({ wanted }: ScanMatcher): LiveMessage[] {
    return wanted(this.#scan) ? [this.#asMessage()] : [];
  }

  #asMessage(): LiveMessage {
    const { id, ...attributes } = this.#scan;
    this.#message ??= { seq: this.lastSeq, json: JSON.stringify({ id, type: 'scan', attributes }) };
    return this.#message;
  }
}

/** What a scan takes in memory, roughly: a dozen attributes, and a few targets. */
const scanBytes = 2048;
