import { expect, test } from 'vitest';
import { type ParsedGroups, parseBodies } from '../../src/ingest/parse-bodies.ts';
import type { IngestInput } from '../../src/ingest/parse-body.ts';
import { IngestPipeline, type ParsedShare } from '../../src/ingest/pipeline.ts';
import { limits } from '../../src/limits.ts';
import { opened } from '../store/opened.ts';
import { detectors } from './ingesting.ts';

const line =
  '{"ts":1767000000.5,"uid":"C1","id.orig_h":"10.0.0.1","id.orig_p":1,"id.resp_h":"192.0.2.1","id.resp_p":443,"proto":"tcp","conn_state":"SF"}';

function input(lines = 1, text = line): IngestInput {
  const bytes = new Uint8Array(Buffer.from(`${text}\n`.repeat(lines)));
  const base = { mediaType: 'ndjson', receivedAt: 0, home: [], digest: false } as const;
  return { pieces: [bytes.buffer], length: bytes.length, ...base };
}

/** Returns a pipeline to a real store, whose parsing threads finish their tasks on the test's command. */
function threads(count: number, options: Parameters<typeof opened>[0] = {}) {
  const { store } = opened(options);
  const rules = { wereSlow: () => undefined, count: () => undefined };
  const tasks: { readonly sizes: number[]; readonly end: (error?: Error) => void }[] = [];
  const parse = (bodies: readonly IngestInput[]) =>
    new Promise<ParsedGroups>((resolve, reject) => {
      const end = (error?: Error) => (error ? reject(error) : resolve(parseBodies(bodies, detectors)));
      tasks.push({ sizes: bodies.map(({ length }) => length / (line.length + 1)), end });
    });
  const limitReached = () => undefined;
  const stored: number[] = [];
  const onStored = (blocks: readonly { rows: number }[]) => {
    stored.push(blocks.reduce((sum, { rows }) => sum + rows, 0));
  };
  const pipeline = new IngestPipeline({ threads: count, parse, store, rules, limitReached, onStored });
  return { pipeline, tasks, stored };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a body goes alone to an idle thread immediately; later bodies share the next task and its commit', async () => {
  const { pipeline, tasks, stored } = threads(2);
  const answers = [1, 2, 3, 4, 5].map((lines) => pipeline.add(input(lines)));
  expect(tasks.map(({ sizes }) => sizes)).toEqual([[1], [2]]);
  expect(pipeline.pending).toBe(5);
  tasks[1]!.end();
  await settled();
  expect(tasks.map(({ sizes }) => sizes)).toEqual([[1], [2], [3, 4, 5]]);
  tasks[0]!.end();
  tasks[2]!.end();
  const bodies = await Promise.all(answers);
  expect(bodies.map(({ body }) => body.answer.accepted)).toEqual([1, 2, 3, 4, 5]);
  const shares = await Promise.all(bodies.map((body) => body.stored));
  expect(shares.map(({ answer }) => answer.accepted)).toEqual([1, 2, 3, 4, 5]);
  await settled();
  expect(stored.toSorted((a, b) => a - b)).toEqual([1, 2, 12]);
  expect(pipeline.pending).toBe(0);
});

test('stored events are published after the responses to their bodies, in the order of the commits', async () => {
  const { pipeline, tasks, stored } = threads(1);
  const answers = [1, 2, 3].map((lines) => pipeline.add({ ...input(lines), alone: true }));
  const order: string[] = [];
  const answered = answers.map(async (answer) => {
    const { answer: its } = await (await answer).stored;
    order.push(`answered ${its.accepted}, published ${stored.length}`);
  });
  for (let task = 0; task < 3; task++) {
    tasks[task]!.end();
    await answered[task];
    expect(order.at(-1)).toBe(`answered ${task + 1}, published ${task}`);
    await settled();
  }
  expect(stored).toEqual([1, 2, 3]);
});

test('batches are limited in size, and a large body is sent alone', async () => {
  const { pipeline, tasks } = threads(1);
  const third = Math.ceil(limits.maxGroupedBytes / 3 / line.length);
  const answers = [1, third, third, third, 10 * third, 1, 1].map((lines) => pipeline.add(input(lines)));
  for (let task = 0; task < 5; task++) {
    tasks[task]!.end();
    await settled();
  }
  expect(tasks.map(({ sizes }) => sizes)).toEqual([[1], [third, third], [third], [10 * third], [1, 1]]);
  await Promise.all(answers);
});

test('a compressed body, or a body that must not be batched, does not wait for later bodies', async () => {
  const { pipeline, tasks } = threads(1);
  const compressed = { ...input(9), encoding: 'gzip' } as const;
  const bodies = [input(1), input(2), compressed, input(3), input(4), { ...input(5), alone: true }, input(6)];
  const answers = Promise.allSettled(bodies.map((body) => pipeline.add(body)));
  for (let task = 0; task < 6; task++) {
    tasks[task]!.end();
    await settled();
  }
  expect(tasks.map(({ sizes }) => sizes)).toEqual([[1], [2], [9], [3, 4], [5], [6]]);
  await answers;
});

test('a failed task fails its bodies, and later bodies continue', async () => {
  const { pipeline, tasks } = threads(1);
  const answers = [pipeline.add(input()), pipeline.add(input()), pipeline.add(input())];
  tasks[0]!.end();
  await settled();
  tasks[1]!.end(new Error('the thread died'));
  const outcomes = await Promise.allSettled(answers);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  const next = pipeline.add(input());
  tasks[2]!.end();
  expect((await next).body.answer.accepted).toBe(1);
});

test('one sensor uses at most half of the queue', async () => {
  const { pipeline, tasks } = threads(1);
  const by = (sensorId: string): IngestInput => ({ ...input(), sensorId });
  const answers = Array.from({ length: limits.maxQueuedBodies / 2 + 1 }, () => pipeline.add(by('a')));
  await expect(pipeline.add(by('a'))).rejects.toMatchObject({ code: 'OVERLOADED' });
  answers.push(pipeline.add(by('b')));
  for (let task = 0; task < tasks.length; task++) {
    tasks[task]!.end();
    await settled();
  }
  answers.push(pipeline.add(by('a')));
  tasks.at(-1)!.end();
  expect(await Promise.all(answers)).toHaveLength(limits.maxQueuedBodies / 2 + 3);
});

test('a body beyond the limit of queued bodies is rejected, and its buffer stays usable', async () => {
  const { pipeline, tasks } = threads(1);
  const answers = Array.from({ length: limits.maxQueuedBodies + 1 }, () => pipeline.add(input()));
  const refused = input();
  await expect(pipeline.add(refused)).rejects.toMatchObject({ code: 'OVERLOADED' });
  expect(refused.pieces[0]!.detached).toBe(false);
  for (let task = 0; task < tasks.length; task++) {
    tasks[task]!.end();
    await settled();
  }
  expect(await Promise.all(answers)).toHaveLength(limits.maxQueuedBodies + 1);
});

test('after the store rejects a group, the next bodies are stored separately, and only the body at fault is rejected', async () => {
  // The alert must be logged, and the outbox has no room.
  const { pipeline, tasks, stored } = threads(1, { maxOutboxRows: 0 });
  const alert = JSON.stringify({
    timestamp: '2025-11-21T00:00:00Z',
    event_type: 'alert',
    ...{ src_ip: '192.0.2.1', src_port: 443, dest_ip: '10.0.0.1', dest_port: 1, proto: 'TCP' },
    alert: { signature_id: 1, signature: 'x', category: 'x', severity: 1, action: 'allowed' },
  });
  const outcomes = (bodies: readonly Promise<ParsedShare>[]) =>
    Promise.all(
      bodies.map(async (body) =>
        (await body).stored.then(
          ({ answer }) => answer.accepted,
          ({ code }) => code,
        ),
      ),
    );
  const first = [pipeline.add(input(1)), pipeline.add(input(2)), pipeline.add(input(1, alert))];
  for (let task = 0; task < 2; task++) {
    tasks[task]!.end();
    await settled();
  }
  expect(await outcomes(first)).toEqual([1, 'UNAVAILABLE', 'UNAVAILABLE']);
  const again = [pipeline.add(input(2)), pipeline.add(input(1, alert)), pipeline.add(input(4))];
  for (let task = 2; task < 5; task++) {
    tasks[task]!.end();
    await settled();
  }
  expect(tasks.map(({ sizes }) => sizes.map(Math.floor))).toEqual([[1], [2, 1], [2], [1], [4]]);
  expect(await outcomes(again)).toEqual([2, 'UNAVAILABLE', 4]);
  await settled();
  expect(stored).toEqual([1, 2, 4]);
});

test('after the disk is full while a group is stored, the next bodies are stored separately', async () => {
  let free = 2 ** 40;
  const { pipeline, tasks, stored } = threads(1, { freeBytes: () => free });
  const first = [1, 2, 3].map((lines) => pipeline.add(input(lines)));
  tasks[0]!.end();
  expect((await (await first[0]!).stored).answer.accepted).toBe(1);
  free = 0;
  tasks[1]!.end();
  const group = await Promise.all(first.slice(1));
  for (const { stored: share } of group) await expect(share).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  free = 2 ** 40;
  const again = [2, 3, 4].map((lines) => pipeline.add(input(lines)));
  for (let task = 2; task < 5; task++) {
    tasks[task]!.end();
    await settled();
  }
  expect(tasks.map(({ sizes }) => sizes)).toEqual([[1], [2, 3], [2], [3], [4]]);
  const shares = await Promise.all((await Promise.all(again)).map((body) => body.stored));
  expect(shares.map(({ answer }) => answer.accepted)).toEqual([2, 3, 4]);
  await settled();
  expect(stored).toEqual([1, 2, 3, 4]);
});
