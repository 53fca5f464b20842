import { expect, it } from 'vitest';
import type { ErrorCode } from '../../src/errors.ts';
import { SingleFlight, type TopologyGateParts } from '../../src/http/single-flight.ts';
import { type LimitName, limits } from '../../src/limits.ts';
import type { TopologyQuery } from '../../src/store/store.ts';

const query = (limit: number): TopologyQuery => ({ group_by: 'host', depth: 1, limit });
const code = (wanted: ErrorCode) => expect.objectContaining({ code: wanted });

/** Returns a SingleFlight in front of a pool whose graphs the test completes. */
function opened() {
  const begun: { readonly limit: number; readonly answer: PromiseWithResolvers<string> }[] = [];
  const reached: LimitName[] = [];
  const state = { seq: 1 };
  const run = (_: string, input: TopologyQuery): Promise<string> => {
    const answer = Promise.withResolvers<string>();
    begun.push({ limit: input.limit, answer });
    return answer.promise;
  };
  const flight = new SingleFlight({
    queries: { run: run as TopologyGateParts['queries']['run'] },
    head: () => state.seq,
    limitReached: (limit) => reached.push(limit),
  });
  const made = async (text: string) => {
    begun.at(-1)!.answer.resolve(text);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { flight, begun, reached, state, made };
}

it('SingleFlight requests one graph at a time, in the order of the requests', async () => {
  const { flight, begun, made } = opened();
  const answers = [1, 2, 3].map((limit) => flight.ask(query(limit), `viewer ${limit}`));
  for (const limit of [1, 2, 3]) {
    expect(begun.map((one) => one.limit)).toEqual([1, 2, 3].slice(0, limit));
    await made(`graph ${limit}`);
  }
  expect(await Promise.all(answers)).toEqual(['graph 1', 'graph 2', 'graph 3']);
});

it('SingleFlight shares one graph among identical requests while its sequence is the newest', async () => {
  const { flight, begun, state, made } = opened();
  const early = ['a', 'b', 'c'].map((principal) => flight.ask(query(1), principal));
  state.seq = 2;
  const late = ['a', 'b', 'c'].map((principal) => flight.ask(query(1), principal));
  await made('of 1');
  expect(await Promise.all(early)).toEqual(['of 1', 'of 1', 'of 1']);
  await made('of 2');
  expect(await Promise.all(late)).toEqual(['of 2', 'of 2', 'of 2']);
  expect(begun.length).toBe(2);
});

it('SingleFlight refuses a caller with many waiting requests, and all callers beyond a total limit', async () => {
  const { flight, reached } = opened();
  const most = limits.maxWaitingTopologiesPerPrincipal;
  for (let n = 0; n <= most; n++) void flight.ask(query(n + 1), 'greedy');
  await expect(flight.ask(query(most + 2), 'greedy')).rejects.toEqual(code('RATE_LIMITED'));
  expect(reached).toEqual(['maxWaitingTopologiesPerPrincipal']);
  void flight.ask(query(most + 1), 'greedy');
  for (let n = most; n < limits.maxWaitingTopologies; n++) void flight.ask(query(100 + n), `viewer ${n}`);
  await expect(flight.ask(query(99), 'late')).rejects.toEqual(code('OVERLOADED'));
  expect(reached.at(-1)).toBe('maxWaitingTopologies');
});

it('SingleFlight drops waiting requests without callers, and finishes a running request', async () => {
  const { flight, begun, made } = opened();
  const [first, second] = [new AbortController(), new AbortController()];
  const running = flight.ask(query(1), 'a', first.signal);
  const waiting = flight.ask(query(2), 'a', second.signal);
  const last = flight.ask(query(3), 'a');
  first.abort();
  second.abort();
  await expect(running).rejects.toEqual(code('CANCELLED'));
  await expect(waiting).rejects.toEqual(code('CANCELLED'));
  expect(begun.length).toBe(1);
  await made('graph 1');
  await made('graph 3');
  expect(await last).toBe('graph 3');
  expect(begun.map(({ limit }) => limit)).toEqual([1, 3]);
  await expect(flight.ask(query(4), 'a', first.signal)).rejects.toEqual(code('CANCELLED'));
});

it('SingleFlight continues after a failure', async () => {
  const { flight, begun, made } = opened();
  const failing = flight.ask(query(1), 'a');
  const next = flight.ask(query(2), 'a');
  begun[0]!.answer.reject(new Error('a bug'));
  await expect(failing).rejects.toThrow('a bug');
  await new Promise((resolve) => setImmediate(resolve));
  await made('graph 2');
  expect(await next).toBe('graph 2');
});
