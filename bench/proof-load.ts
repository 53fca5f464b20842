/**
 * Requests proofs over keep-alive connections, one request at a time on each: as fast as they are answered, or at a
 * limited rate. Runs in a separate process, so that its CPU time is separate from the service's:
 *
 *     node proof-load.ts <port> <kind> <tree size> <connections> <seconds> [<requests a second>]
 *
 * Prints one line of JSON: {requests, seconds, p50Ms, p99Ms, failures}.
 */
import { connect, type Socket } from 'node:net';

const [port = '', kind = 'inclusion', sizeText = '', connections = '32', seconds = '5', perSecond] =
  process.argv.slice(2);
const size = Number(sizeText);
const times: number[] = [];
let failures = 0;

/** Returns the path of a different proof for each call, from the whole log. */
function target(): string {
  const at = 1 + Math.floor(Math.random() * (size - 1));
  return kind === 'consistency'
    ? `/api/transparency/consistency?first=${at}&second=${size}`
    : `/api/transparency/inclusion?leaf_index=${at}&tree_size=${size}`;
}

/** Returns the due time of the next request, by the rate that all callers share. */
function dueAt(): number {
  return perSecond === undefined ? 0 : start + (times.length / Number(perSecond)) * 1000;
}

/** One caller. Responses are small: head and body nearly always arrive in one piece. */
class Caller {
  readonly #socket: Socket;
  readonly #until: number;
  #received = '';
  #asked = 0;

  constructor(until: number, done: () => void) {
    this.#until = until;
    this.#socket = connect(Number(port), '127.0.0.1', () => this.#ask());
    this.#socket.setNoDelay(true).setEncoding('latin1');
    this.#socket.on('data', (text: string) => this.#take(text));
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => done());
  }

  #ask(): void {
    this.#asked = performance.now();
    if (this.#asked >= this.#until) {
      this.#socket.destroy();
      return;
    }
    this.#socket.write(`GET ${target()} HTTP/1.1\r\nHost: log\r\n\r\n`);
  }

  #take(text: string): void {
    this.#received += text;
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(this.#received.slice(0, end))?.[1]);
    if (this.#received.length < end + 4 + length) return;
    if (!this.#received.startsWith('HTTP/1.1 200')) failures++;
    this.#received = '';
    times.push(performance.now() - this.#asked);
    const waitMs = dueAt() - performance.now();
    if (waitMs > 1) setTimeout(() => this.#ask(), waitMs);
    else this.#ask();
  }
}

const start = performance.now();
const until = start + Number(seconds) * 1000;
await Promise.all(
  Array.from({ length: Number(connections) }, () => new Promise<void>((done) => new Caller(until, done))),
);
const elapsed = (performance.now() - start) / 1000;
times.sort((a, b) => a - b);
const quantile = (q: number) => times[Math.floor(times.length * q)] ?? Number.NaN;
console.log(
  JSON.stringify({
    requests: times.length,
    seconds: elapsed,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    failures,
  }),
);
