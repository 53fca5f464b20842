import type { LiveMessage } from './channel.ts';

/** A message whose text is created when it is first read. It is never created if no reader has room for the message. */
export class LazyMessage implements LiveMessage {
  readonly seq: number;
  readonly #write: () => string;
  #json: string | undefined;

  constructor(seq: number, write: () => string) {
    this.seq = seq;
    this.#write = write;
  }

  get json(): string {
    this.#json ??= this.#write();
    return this.#json;
  }
}
