import { type LimitName, limits } from '../../limits.ts';
import type { WebSocket } from '../uws.ts';
import type { Wire } from './session.ts';

/** Maximum bytes of the reason in a close frame (RFC 6455, section 5.5). */
const maxReasonBytes = 123;

/** A uWebSockets.js socket, which must not be used after it has closed. */
export class UwsWire<T> implements Wire {
  readonly #ws: WebSocket<T>;
  readonly #limitReached: (limit: LimitName) => void;
  #state: 'open' | 'closing' | 'gone' = 'open';
  #end: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(ws: WebSocket<T>, limitReached: (limit: LimitName) => void) {
    this.#ws = ws;
    this.#limitReached = limitReached;
  }

  backlogBytes(): number {
    return this.#state === 'gone' ? 0 : this.#ws.getBufferedAmount();
  }

  send(text: string): void {
    if (this.#state !== 'open' || this.#ws.send(text) !== dropped) return;
    // Closes the socket, because the client could not know which messages it missed.
    this.#limitReached('maxSocketBacklogBytes');
    this.#state = 'closing';
    setImmediate(() => this.#cut());
  }

  cork(write: () => void): void {
    if (this.#state === 'open') this.#ws.cork(write);
  }

  /**
   * Stops sending and closes the socket. A slow reader gets limited time to read up to the close frame;
   * uWebSockets.js itself would keep the unread bytes without a time limit.
   */
  close(code: number, reason: string): void {
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    this.#end = () => this.#ws.end(code, shortened(reason));
    if (this.#ws.getBufferedAmount() === 0) return this.#end();
    this.#timer = setTimeout(() => {
      this.#limitReached('socketCloseGraceMs');
      this.#cut();
    }, limits.socketCloseGraceMs);
  }

  drained(): void {
    if (this.#state === 'closing' && this.#ws.getBufferedAmount() === 0) this.#end?.();
  }

  gone(): void {
    this.#state = 'gone';
    clearTimeout(this.#timer);
  }

  #cut(): void {
    if (this.#state !== 'gone') this.#ws.close();
  }
}

/** The result of `send` if the socket's buffer was full and the message was dropped. */
const dropped = 2;

function shortened(reason: string): string {
  const bytes = Buffer.from(reason);
  if (bytes.byteLength <= maxReasonBytes) return reason;
  // Cuts between characters: a truncated last character decodes to U+FFFD, which is removed.
  return bytes.toString('utf8', 0, maxReasonBytes - 2).replace(/\uFFFD+$/, '');
}
