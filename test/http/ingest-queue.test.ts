import { expect, test } from 'vitest';
import { IngestQueue } from '../../src/http/ingest-queue.ts';
import { goesTogether, type ParsedGroups, parseBodies } from '../../src/ingest/parse-bodies.ts';
import type { IngestInput } from '../../src/ingest/parse-body.ts';
import { limits } from '../../src/limits.ts';
import { detectors } from '../ingest/ingesting.ts';

const line =
  '{"ts":1767000000.5,"uid":"C1","id.orig_h":"10.0.0.1","id.orig_p":1,"id.resp_h":"192.0.2.1","id.resp_p":443,"proto":"tcp","conn_state":"SF"}';

function input(lines = 1): IngestInput {
  const bytes = new Uint8Array(Buffer.from(`${line}\n`.repeat(lines)));
  const base = { mediaType: 'ndjson', receivedAt: 0, home: [], digest: false } as const;
  return { pieces: [bytes.buffer], length: bytes.length, ...base };
}

/** A pool whose threads end their tasks when they are told to. */
function threads(count: number) {
  const tasks: { readonly sizes: number[]; readonly end: (error?: Error) => void }[] = [];
  const parse = (bodies: readonly IngestInput[]) =>
    new Promise<ParsedGroups>((resolve, reject) => {
      const end = (error?: Error) => (error ? reject(error) : resolve(parseBodies(bodies, detectors)));
      tasks.push({ sizes: bodies.map(({ length }) => length / (line.length + 1)), end });
    });
  const queue = new IngestQueue(count, parse, goesTogether);
  return { queue, tasks };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a body that finds a thread free goes there at once, alone; the others gather for the next', async () => {
  const { queue, tasks } = threads(2);
  const answers = [1, 2, 3, 4, 5].map((lines) => queue.add(input(lines)));
  expect(tasks.map(({ sizes }) => sizes)).toEqual([[1], [2]]);
  expect(queue.pending).toBe(5);
  tasks[1]!.end();
  await settled();
  expect(tasks.map(({ sizes }) => sizes)).toEqual([[1], [2], [3, 4, 5]]);
  tasks[0]!.end();
  tasks[2]!.end();
  const bodies = await Promise.all(answers);
  expect(bodies.map(({ body }) => body.answer.accepted)).toEqual([1, 2, 3, 4, 5]);
  expect(new Set(bodies.slice(2).map(({ group }) => group)).size).toBe(1);
  expect(queue.pending).toBe(0);
});

test('no more gather than go together, and a large one goes alone', async () => {
  const { queue, tasks } = threads(1);
  const third = Math.ceil(limits.maxGroupedBytes / 3 / line.length);
  const answers = [1, third, third, third, 10 * third, 1, 1].map((lines) => queue.add(input(lines)));
  for (let task = 0; task < 5; task++) {
    tasks[task]!.end();
    await settled();
  }
  expect(tasks.map(({ sizes }) => sizes)).toEqual([[1], [third, third], [third], [10 * third], [1, 1]]);
  await Promise.all(answers);
});

test('what was compressed, or is not to be with others, waits for nobody behind it', async () => {
  const { queue, tasks } = threads(1);
  const compressed = { ...input(9), encoding: 'gzip' } as const;
  const bodies = [input(1), input(2), compressed, input(3), input(4), { ...input(5), alone: true }, input(6)];
  const answers = Promise.allSettled(bodies.map((body) => queue.add(body)));
  for (let task = 0; task < 6; task++) {
    tasks[task]!.end();
    await settled();
  }
  expect(tasks.map(({ sizes }) => sizes)).toEqual([[1], [2], [9], [3, 4], [5], [6]]);
  await answers;
});

test('a task that fails fails its bodies, and the next go on', async () => {
  const { queue, tasks } = threads(1);
  const answers = [queue.add(input()), queue.add(input()), queue.add(input())];
  tasks[0]!.end();
  await settled();
  tasks[1]!.end(new Error('the thread died'));
  const outcomes = await Promise.allSettled(answers);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  const next = queue.add(input());
  tasks[2]!.end();
  expect((await next).body.answer.accepted).toBe(1);
});

test('one sensor takes half of the queue at most', async () => {
  const { queue, tasks } = threads(1);
  const by = (sensorId: string): IngestInput => ({ ...input(), sensorId });
  const answers = Array.from({ length: limits.maxQueuedBodies / 2 + 1 }, () => queue.add(by('a')));
  await expect(queue.add(by('a'))).rejects.toMatchObject({ code: 'OVERLOADED' });
  answers.push(queue.add(by('b')));
  for (let task = 0; task < tasks.length; task++) {
    tasks[task]!.end();
    await settled();
  }
  answers.push(queue.add(by('a')));
  tasks.at(-1)!.end();
  expect(await Promise.all(answers)).toHaveLength(limits.maxQueuedBodies / 2 + 3);
});

test('past the limit a body is refused, and stays whole', async () => {
  const { queue, tasks } = threads(1);
  const answers = Array.from({ length: limits.maxQueuedBodies + 1 }, () => queue.add(input()));
  const refused = input();
  await expect(queue.add(refused)).rejects.toMatchObject({ code: 'OVERLOADED' });
  expect(refused.pieces[0]!.detached).toBe(false);
  for (let task = 0; task < tasks.length; task++) {
    tasks[task]!.end();
    await settled();
  }
  expect(await Promise.all(answers)).toHaveLength(limits.maxQueuedBodies + 1);
});
