import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Budget } from '../../src/admission/budget.ts';
import { IncomingBody } from '../../src/http/bodies.ts';
import { send } from '../../src/http/send.ts';
import type { HttpResponse } from '../../src/http/uws.ts';
import { type LimitName, limits } from '../../src/limits.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A response as uWebSockets.js passes it, but without a socket. */
class Line {
  closed = false;
  written = 0;
  receive: (chunk: ArrayBuffer, isLast: boolean) => void = () => undefined;
  writable: (offset: number) => boolean = () => true;
  readonly #room: number;

  constructor(room = 0) {
    this.#room = room;
  }

  onData(handler: Line['receive']): this {
    this.receive = handler;
    return this;
  }
  close(): this {
    this.closed = true;
    return this;
  }
  cork(write: () => void): this {
    write();
    return this;
  }
  writeStatus(): this {
    return this;
  }
  writeHeader(): this {
    return this;
  }
  tryEnd(bytes: Uint8Array, total: number): [boolean, boolean] {
    this.written += Math.min(this.#room, bytes.byteLength);
    return [this.written === total, this.written === total];
  }
  getWriteOffset(): number {
    return this.written;
  }
  onWritable(handler: Line['writable']): this {
    this.writable = handler;
    return this;
  }
}

test('the service ends the connection of a body that is incomplete at the deadline, even if bytes arrive steadily', async () => {
  const line = new Line();
  const reached: LimitName[] = [];
  const budget = new Budget(100);
  const terms = {
    maxBytes: 100,
    budget,
    tooLong: 'maxBodyBytes',
    overloaded: 'maxIngestInFlightBytes',
  } as const;
  const body = new IncomingBody(line, 50, terms, (limit) => reached.push(limit));
  const accepted = body.accept();
  for (let n = 0; n < 12; n++) {
    line.receive(new ArrayBuffer(1), false);
    vi.advanceTimersByTime(limits.bodyTimeoutMs / 12);
  }
  expect([line.closed, reached]).toEqual([true, ['bodyTimeoutMs']]);
  body.abort();
  await expect(accepted).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(budget.used).toBe(0);
});

test('the body of an unauthenticated caller has a shorter deadline', async () => {
  const line = new Line();
  const reached: LimitName[] = [];
  const budget = new Budget(100);
  const terms = {
    maxBytes: 100,
    budget,
    tooLong: 'maxBodyBytes',
    overloaded: 'maxIngestInFlightBytes',
  } as const;
  const body = new IncomingBody(line, 50, terms, (limit) => reached.push(limit));
  body.hurry();
  const accepted = body.accept();
  line.receive(new ArrayBuffer(1), false);
  vi.advanceTimersByTime(limits.bodyTimeoutWithoutIdentityMs);
  expect([line.closed, reached]).toEqual([true, ['bodyTimeoutWithoutIdentityMs']]);
  body.abort();
  await expect(accepted).rejects.toMatchObject({ code: 'CANCELLED' });
});

test('a complete body clears its deadline', async () => {
  const line = new Line();
  const budget = new Budget(100);
  const terms = {
    maxBytes: 100,
    budget,
    tooLong: 'maxBodyBytes',
    overloaded: 'maxIngestInFlightBytes',
  } as const;
  const body = new IncomingBody(line, 2, terms, () => undefined);
  line.receive(new ArrayBuffer(2), true);
  expect((await body.accept()).bytes.byteLength).toBe(2);
  vi.advanceTimersByTime(2 * limits.bodyTimeoutMs);
  expect(line.closed).toBe(false);
});

test('the service ends the connection of a response that is not fully read at the deadline, even if the client reads steadily', () => {
  const line = new Line(1);
  const unsent = new Budget(1000);
  const reached: LimitName[] = [];
  let done = 0;
  const rendered = { status: 200, headers: [], body: 'x'.repeat(100) };
  const options = {
    headOnly: false,
    cut: false,
    unsent,
    limitReached: (limit: LimitName) => reached.push(limit),
  };
  const sending = send(line as unknown as HttpResponse, rendered, [], options, () => done++);
  expect(unsent.used).toBe(99);
  for (let n = 0; n < 12; n++) {
    line.writable(line.written);
    vi.advanceTimersByTime(limits.replyTimeoutMs / 12);
  }
  expect([line.closed, reached, done, sending.done]).toEqual([true, ['replyTimeoutMs'], 0, false]);
  sending.abort();
  expect(unsent.used).toBe(0);
});
