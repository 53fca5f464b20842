/**
 * The process that sends load to the service. The two processes share only the processor. Follows one plan at a time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { random } from '../../scripts/traffic/random.ts';
import { quantile } from '../result.ts';
import { type Answer, Connection } from './connection.ts';
import { formatOf, linesOf } from './formats.ts';
import { sendLines } from './lines.ts';
import type { MovingBodies } from './moving.ts';
import type { Plan, Report } from './plan.ts';

/** Lines are created before the load begins, and then sent repeatedly with new times and identifiers. */
const madeLines = { least: 24_000, most: 60_000, bodies: 12 };

class Load {
  readonly #plan: Plan;
  readonly #bodies: MovingBodies;
  readonly #head: string;
  readonly #isTaken: (answer: string) => boolean;
  readonly #connections: Connection[] = [];
  readonly #times: number[] = [];
  readonly #late: number[] = [];
  #refused = 0;
  #sent = 0;

  constructor(plan: Plan, bodies: MovingBodies) {
    const { path, contentType, scheme = 'Bearer', isTaken } = formatOf(plan.format);
    this.#plan = plan;
    this.#bodies = bodies;
    this.#isTaken = isTaken;
    this.#head = `POST ${path} HTTP/1.1\r\nHost: candor\r\nAuthorization: ${scheme} ${plan.token}\r\nContent-Type: ${contentType}\r\n`;
  }

  async run(): Promise<Report> {
    const before = process.cpuUsage();
    const began = performance.now();
    try {
      if (this.#plan.requestsPerS === undefined) await this.#oneAfterTheOther(began);
      else await this.#atPace(began, this.#plan.requestsPerS);
    } finally {
      for (const connection of this.#connections) connection.close();
    }
    const { user, system } = process.cpuUsage(before);
    const times = Float64Array.from(this.#times).sort();
    return {
      requests: times.length,
      events: times.length * this.#plan.linesPerBody,
      refused: this.#refused,
      elapsedS: (performance.now() - began) / 1000,
      p50Ms: quantile(times, 0.5),
      p99Ms: quantile(times, 0.99),
      maxMs: times.at(-1) ?? Number.NaN,
      lateP99Ms: quantile(Float64Array.from(this.#late).sort(), 0.99),
      cpuS: (user + system) / 1e6,
    };
  }

  async #oneAfterTheOther(began: number): Promise<void> {
    const end = began + this.#plan.seconds * 1000;
    const { requests = Number.POSITIVE_INFINITY } = this.#plan;
    const sender = async () => {
      const connection = this.#connect();
      while (performance.now() < end && this.#sent++ < requests) {
        const body = this.#nextBody();
        const first = performance.now();
        for (;;) {
          const answer = await connection.post(this.#head, body);
          if (this.#isAcknowledged(answer)) {
            this.#times.push(performance.now() - first);
            break;
          }
          if (performance.now() >= end) break;
          await sleep((answer.retryAfterS ?? 1) * 1000);
        }
      }
    };
    await Promise.all(Array.from({ length: this.#plan.connections }, sender));
  }

  async #atPace(began: number, perS: number): Promise<void> {
    const rng = random(11);
    const { seconds, requests = Number.POSITIVE_INFINITY } = this.#plan;
    const idle: Connection[] = [];
    const waiting: ((connection: Connection) => void)[] = [];
    const connection = async (): Promise<Connection> => {
      const free = idle.pop();
      if (free !== undefined) return free;
      if (this.#connections.length < this.#plan.connections) return this.#connect();
      return new Promise((resolve) => waiting.push(resolve));
    };
    const send = async (dueAt: number, body: Buffer) => {
      const taken = await connection();
      this.#late.push(performance.now() - dueAt);
      const isAcknowledged = this.#isAcknowledged(await taken.post(this.#head, body));
      if (isAcknowledged) this.#times.push(performance.now() - dueAt);
      const next = waiting.shift();
      if (next === undefined) idle.push(taken);
      else next(taken);
    };
    const underWay: Promise<void>[] = [];
    let dueAt = began;
    let isFailed = false;
    while (!isFailed && this.#sent++ < requests && dueAt <= began + seconds * 1000) {
      const body = this.#nextBody();
      const leftMs = dueAt - performance.now();
      if (leftMs > 0) await sleep(leftMs);
      const one = send(dueAt, body);
      one.catch(() => {
        isFailed = true;
      });
      underWay.push(one);
      dueAt += rng.exponential(1000 / perS);
    }
    await Promise.all(underWay);
  }

  /**
   * Returns a copy of the next body: more bodies may be open than there are buffers, and a refused body is sent again
   * unchanged.
   */
  #nextBody(): Buffer {
    return Buffer.from(this.#bodies.next());
  }

  #connect(): Connection {
    const connection = new Connection(Number(new URL(this.#plan.url).port));
    this.#connections.push(connection);
    return connection;
  }

  /** Returns false for a refusal (429, 503), and counts it. @throws Error for any other failure */
  #isAcknowledged({ status, body }: Answer): boolean {
    if (status === 429 || status === 503) {
      this.#refused++;
      return false;
    }
    if (status !== 200 || !this.#isTaken(body)) throw new Error(`${status} ${body.slice(0, 500)}`);
    return true;
  }
}

/** Bodies of earlier plans. Later plans of the same kind continue with them. */
const made = new Map<string, MovingBodies>();

function bodiesFor({ format, linesPerBody, ...plan }: Plan): MovingBodies {
  const { least, most, bodies } = madeLines;
  const { lines = Math.max(least, Math.min(most, bodies * linesPerBody)) } = plan;
  const key = `${format} ${linesPerBody} ${lines}`;
  const its = made.get(key) ?? formatOf(format).bodies(linesOf(format, lines), linesPerBody);
  made.set(key, its);
  return its;
}

process.on('message', async (plan: Plan) => {
  try {
    const bodies = bodiesFor(plan);
    const report = plan.url.startsWith('tcp:') ? sendLines(plan, bodies) : new Load(plan, bodies).run();
    process.send?.({ report: await report });
  } catch (error) {
    process.send?.({ error: String(error) });
  }
});
// Exit, because the parent process has ended.
process.on('disconnect', () => process.exit(0));
