import type { Channel, LiveBatch, LiveMessage, ReplayPart } from '../../../src/http/live/channel.ts';
import type { Wire } from '../../../src/http/live/session.ts';

/** An item of a channel in memory. Sequences start at 1 and have no gaps. */
export interface Item {
  readonly seq: number;
  readonly value: number;
}

/** The values that a subscription wants; all values if empty. */
export type Wanted = ReadonlySet<number>;

const wants = (wanted: Wanted, { value }: Item) => wanted.size === 0 || wanted.has(value);
const asMessage = ({ seq, value }: Item): LiveMessage => ({ seq, json: `{"value":${value}}` });

/** A replay that settles when the test says so. */
interface Read {
  readonly since: number;
  resolve(): void;
  reject(error: Error): void;
}

/** A channel whose commits are in memory; the test controls its replays. */
export class MemoryChannel implements Channel<Wanted> {
  readonly items: Item[] = [];
  /** Sequence of the oldest item that is kept. */
  oldest = 1;
  /** Replays in progress. */
  readonly reads: Read[] = [];
  reading = 0;
  mostReading = 0;
  /** A hook that runs whenever a batch is matched. */
  onMatch = (): void => {};
  /** A hook that runs whenever the text of a message of a batch is read. */
  onText = (): void => {};
  readonly #part: number;

  /** @param part - maximum messages of one replay */
  constructor(part: number) {
    this.#part = part;
  }

  head = (): number => this.items.length;
  compile = (): Wanted => new Set();
  subscriptionKey = (wanted: Wanted) => (wanted.size === 0 ? undefined : { field: 'value', values: [...wanted] });

  commit(values: readonly number[]): MemoryBatch {
    const first = this.items.length + 1;
    const items = values.map((value, n) => ({ seq: first + n, value }));
    this.items.push(...items);
    return new MemoryBatch(items, this);
  }

  replay(wanted: Wanted, since: number, limit: number, signal: AbortSignal): Promise<ReplayPart> {
    this.reading++;
    this.mostReading = Math.max(this.mostReading, this.reading);
    return new Promise<ReplayPart>((resolve, reject) => {
      const read: Read = {
        since,
        resolve: () => {
          const lost = Math.max(0, this.oldest - 1 - since);
          const left = this.items.filter((item) => item.seq > since + lost && wants(wanted, item));
          const messages = left.slice(0, Math.min(limit, this.#part)).map(asMessage);
          const next = left.length > messages.length ? messages.at(-1)!.seq : this.head();
          resolve({ messages, next, lost });
        },
        reject,
      };
      this.reads.push(read);
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    }).finally(() => {
      this.reading--;
    });
  }

  /** Settles the oldest replay in progress. */
  settleOne(): void {
    this.reads.shift()?.resolve();
  }
}

export class MemoryBatch implements LiveBatch<Wanted> {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly rows: number;
  /** Size of a batch; large enough that only a few commits count as recent. */
  readonly bytes = 2 ** 20;
  readonly #items: readonly Item[];
  readonly #hooks: Pick<MemoryChannel, 'onMatch' | 'onText'>;

  constructor(items: readonly Item[], hooks: Pick<MemoryChannel, 'onMatch' | 'onText'>) {
    this.#items = items;
    this.#hooks = hooks;
    this.firstSeq = items[0]!.seq;
    this.lastSeq = items.at(-1)!.seq;
    this.rows = items.length;
  }

  match(wanted: Wanted): LiveMessage[] {
    const hooks = this.#hooks;
    hooks.onMatch();
    return this.#items
      .filter((item) => wants(wanted, item))
      .map(asMessage)
      .map(({ seq, json }) => ({
        seq,
        get json() {
          hooks.onText();
          return json;
        },
      }));
  }

  values(): number[] {
    return this.#items.map(({ value }) => value);
  }

  forgetTexts(): void {}
}

/** A socket whose client reads when the test says so. */
export class MemoryWire implements Wire {
  readonly sent: Record<string, unknown>[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  unread = 0;
  readonly #bytesPerMessage: number;

  /** @param bytesPerMessage - bytes that each message adds to the unread bytes */
  constructor(bytesPerMessage = 0) {
    this.#bytesPerMessage = bytesPerMessage;
  }

  backlogBytes = (): number => this.unread;

  send(text: string): void {
    if (this.closed) throw new Error('sent to a closed socket');
    this.sent.push(JSON.parse(text));
    this.unread += this.#bytesPerMessage;
  }

  cork(write: () => void): void {
    write();
  }

  close(code: number, reason: string): void {
    this.closed = { code, reason };
  }
}

export const turnOfLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
