import { expect, test } from 'vitest';
import { lineEnds, type Sink, save } from '../../../src/console/state/save.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const streamOf = (...texts: string[]) =>
  new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const text of texts) controller.enqueue(bytes(text));
      controller.close();
    },
  });

function recorded(): Sink & { readonly told: string[] } {
  const told: string[] = [];
  return {
    told,
    write: async (chunk) => void told.push(new TextDecoder().decode(chunk)),
    finish: async () => void told.push('finished'),
    abort: async () => void told.push('aborted'),
  };
}

test('a stream is written to its end, and what was written is told', async () => {
  const sink = recorded();
  const progress: [number, number][] = [];
  await save(streamOf('a\nb', '\n', 'c\n'), sink, (...now) => progress.push(now));
  expect(sink.told).toEqual(['a\nb', '\n', 'c\n', 'finished']);
  expect(progress).toEqual([
    [3, 1],
    [4, 2],
    [6, 3],
  ]);
});

test('nothing is left of a file that breaks off', async () => {
  const sink = recorded();
  const broken = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(bytes('a\n')),
    pull: (controller) => controller.error(new Error('lost')),
  });
  await expect(save(broken, sink, () => undefined)).rejects.toThrow('lost');
  expect(sink.told.at(-1)).toBe('aborted');
});

test('line ends are counted', () => {
  expect(lineEnds(bytes(''))).toBe(0);
  expect(lineEnds(bytes('\na\n\nb'))).toBe(3);
});
