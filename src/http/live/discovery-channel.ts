import type { Scan } from '../../contract/resources/scan.ts';
import type { ScanUpdate } from '../../store/store.ts';
import { type FilterMatcher, LazyMessage, type LiveBatch, type LiveMessage } from './channel.ts';

/** A change of a scan, as a batch. */
export class LiveScan implements LiveBatch<FilterMatcher<Scan>> {
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

  match({ wanted }: FilterMatcher<Scan>): LiveMessage[] {
    return wanted(this.#scan) ? [this.#asMessage()] : [];
  }

  #asMessage(): LiveMessage {
    const { id, ...attributes } = this.#scan;
    this.#message ??= new LazyMessage(this.lastSeq, () => JSON.stringify({ id, type: 'scan', attributes }));
    return this.#message;
  }
}

/** Approximate memory of a scan: a dozen attributes and a few targets. */
const scanBytes = 2048;
