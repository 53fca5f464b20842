import { afterEach, describe, expect, test } from 'vitest';
import { RequestRate } from '../../src/admission/request-rate.ts';
import { data } from '../../src/http/reply.ts';
import { type LimitName, limits } from '../../src/limits.ts';
import { bodyOf, eventually, get, serve, stopAll } from './serve.ts';

afterEach(stopAll);

function rateOf(options: Partial<ConstructorParameters<typeof RequestRate>[0]>) {
  const reached: LimitName[] = [];
  const limitReached = (limit: LimitName) => void reached.push(limit);
  return { rate: new RequestRate({ perAddress: 0, perPrincipal: 0, limitReached, ...options }), reached };
}

/** Returns how many of `n` consecutive calls are admitted. */
function letIn(n: number, ask: () => unknown): number {
  let count = 0;
  for (let i = 0; i < n; i++) {
    try {
      ask();
      count++;
    } catch (error) {
      expect(error).toMatchObject({ code: 'RATE_LIMITED' });
    }
  }
  return count;
}

describe('requests from one address', () => {
  test("are admitted in a burst of two seconds' worth, then at the rate; refused requests do not count", () => {
    const { rate, reached } = rateOf({ perAddress: 10 });
    expect(letIn(100, () => rate.fromAddress('192.0.2.1', 5000))).toBe(20);
    expect(letIn(100, () => rate.fromAddress('192.0.2.1', 5100))).toBe(1);
    expect(letIn(100, () => rate.fromAddress('192.0.2.1', 6100))).toBe(10);
    expect(letIn(100, () => rate.fromAddress('192.0.2.1', 60_000))).toBe(20);
    expect(new Set(reached)).toEqual(new Set(['maxRequestsPerSPerAddress']));
    expect(reached.length).toBe(400 - 51);
  });

  test.each([60_000, 6000, 5001])('are admitted at the same rate after the clock was set back from %i', (from) => {
    const { rate } = rateOf({ perAddress: 10 });
    expect(letIn(15, () => rate.fromAddress('192.0.2.1', from))).toBe(15);
    expect(letIn(100, () => rate.fromAddress('192.0.2.1', 5000))).toBe(5);
    expect(letIn(100, () => rate.fromAddress('192.0.2.1', 5100))).toBe(1);
    expect(letIn(100, () => rate.fromAddress('192.0.2.1', 6100))).toBe(10);
  });

  test('do not affect other addresses; an IPv6 /64 counts as one address', () => {
    const { rate } = rateOf({ perAddress: 1 });
    letIn(100, () => rate.fromAddress('2001:db8:0:1::1', 0));
    expect(letIn(1, () => rate.fromAddress('2001:db8:0:1:ffff::2', 0))).toBe(0);
    expect(letIn(1, () => rate.fromAddress('2001:db8:0:2::1', 0))).toBe(1);
    expect(letIn(1, () => rate.fromAddress('192.0.2.1', 0))).toBe(1);
  });

  test('are refused with the number of seconds to wait', () => {
    const { rate } = rateOf({ perAddress: 0.2 });
    rate.fromAddress('192.0.2.1', 0);
    expect(() => rate.fromAddress('192.0.2.1', 1000)).toThrow(
      expect.objectContaining({ details: { retry_after_s: 4 } }),
    );
  });

  test('are not limited if the limit is 0', () => {
    const { rate } = rateOf({});
    expect(letIn(100_000, () => rate.fromAddress('192.0.2.1', 0))).toBe(100_000);
  });
});

describe('requests of one principal', () => {
  test('have a limit of requests in progress, and each completed request makes room', () => {
    const { rate, reached } = rateOf({ inWorkPerPrincipal: 2 });
    const first = rate.byPrincipal('p', 0);
    rate.byPrincipal('p', 0);
    expect(() => rate.byPrincipal('p', 0)).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }));
    rate.byPrincipal('other', 0);
    first();
    rate.byPrincipal('p', 0);
    expect(reached).toEqual(['maxRequestsInFlightPerPrincipal']);
  });
});

describe('requests without an identity', () => {
  test('have a limit of requests in progress per address or /64, and in total; each completed request makes room', () => {
    const { rate, reached } = rateOf({ inWorkPerAddress: 2, inWorkWithoutIdentity: 3 });
    const first = rate.withoutIdentity('2001:db8:0:1::1');
    expect(rate.withoutIdentity('2001:db8:0:1::2')).toBeDefined();
    expect(rate.withoutIdentity('2001:db8:0:1:ffff::3')).toBeUndefined();
    const other = rate.withoutIdentity('192.0.2.1');
    expect(rate.withoutIdentity('192.0.2.2')).toBeUndefined();
    expect(reached).toEqual(['maxRequestsInFlightPerAddress', 'maxRequestsInFlightWithoutIdentity']);
    first?.();
    expect(rate.withoutIdentity('2001:db8:0:1::3')).toBeDefined();
    other?.();
    expect(rate.withoutIdentity('192.0.2.2')).toBeDefined();
  });

  test('have a limit of incomplete bodies per address', () => {
    const { rate, reached } = rateOf({ waitingPerAddress: 2 });
    const first = rate.waitsForBody('2001:db8:0:1::1');
    expect(rate.waitsForBody('2001:db8:0:1::2')).toBeDefined();
    expect(rate.waitsForBody('2001:db8:0:1::3')).toBeUndefined();
    expect(rate.waitsForBody('2001:db8:0:2::1')).toBeDefined();
    first?.();
    expect(rate.waitsForBody('2001:db8:0:1::3')).toBeDefined();
    expect(reached).toEqual(['maxWaitingBodiesPerAddress']);
  });

  test('have default limits that leave a principal its share of all requests', () => {
    const { maxRequestsInFlight, maxRequestsInFlightPerPrincipal: one } = limits;
    expect(limits.maxRequestsInFlightWithoutIdentity + one).toBeLessThan(maxRequestsInFlight);
    expect(limits.maxRequestsInFlightPerAddress * limits.maxPublicJsonBodyBytes).toBeLessThan(
      limits.maxPublicJsonInFlightBytes,
    );
    expect(16 * limits.maxWaitingBodiesPerAddress).toBe(limits.maxRequestsInFlightWithoutIdentity);
    expect(4 * limits.maxJsonInFlightBytesPerPrincipal).toBe(limits.maxJsonInFlightBytes);
    expect(limits.maxJsonBodyBytes).toBeLessThan(limits.maxJsonInFlightBytesPerPrincipal);
  });
});

describe('over HTTP', () => {
  const limitReached = () => undefined;

  test('a refusal is 429 with Retry-After on any path, and is counted', async () => {
    const reached: LimitName[] = [];
    const rate = new RequestRate({
      perAddress: 1,
      perPrincipal: 0,
      limitReached: (limit) => reached.push(limit),
    });
    const { url } = await serve([get('/ok', () => data('fine'))], { rate });
    const answers = [];
    for (const path of ['/ok', '/nothing', '/ok', '/nothing']) answers.push(await fetch(url + path));
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 429, 429]);
    expect(answers[2]!.headers.get('retry-after')).toMatch(/^[12]$/);
    const { error } = await bodyOf(answers[2]!);
    expect(error).toMatchObject({ code: 'RATE_LIMITED' });
    expect(error?.details?.retry_after_s).toBe(Number(answers[2]!.headers.get('retry-after')));
    expect(reached).toEqual(['maxRequestsPerSPerAddress', 'maxRequestsPerSPerAddress']);
  });

  test('one principal cannot use all slots, and regains its slots when its clients disconnect', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = {
      ...get('/slow', async () => {
        await held;
        return data('done');
      }),
      access: ['viewer'] as const,
    };
    const quick = { ...get('/quick', () => data('quick')), access: ['viewer'] as const };
    const rate = new RequestRate({ perAddress: 0, perPrincipal: 0, inWorkPerPrincipal: 2, limitReached });
    const authenticate = ({ authorization }: { readonly authorization: string | undefined }) => ({
      principal: { id: authorization ?? '', name: 'n' },
      roles: ['viewer' as const],
      jti: 'j',
    });
    const { server, url } = await serve([slow, quick], { rate, authenticate });
    const ask = (path: string, who: string, signal?: AbortSignal) =>
      fetch(url + path, { headers: { authorization: who }, signal: signal ?? null });
    const leaving = new AbortController();
    const waiting = [ask('/slow', 'a'), ask('/slow', 'a', leaving.signal)];
    waiting[1]!.catch(() => undefined);
    await eventually(() => server.inFlight === 2);
    expect((await ask('/quick', 'a')).status).toBe(429);
    expect((await ask('/quick', 'b')).status).toBe(200);
    leaving.abort();
    await eventually(() => server.inFlight === 1);
    expect((await ask('/quick', 'a')).status).toBe(200);
    release();
    expect((await waiting[0])?.status).toBe(200);
  });
});
