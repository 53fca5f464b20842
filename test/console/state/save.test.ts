import { describe, expect, test } from 'vitest';
import { lineEnds, type Sink, saveAs } from '../../../src/console/state/save.ts';

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

const { signal } = new AbortController();

test('saving writes a stream to its end and reports progress', async () => {
  const sink = recorded();
  const progress: unknown[] = [];
  const saved = await saveAs('a', async () => streamOf('a\nb', '\n', 'c\n'), {
    signal,
    onProgress: ({ bytes, lines }) => progress.push([bytes, lines]),
    open: async () => sink,
  });
  expect(sink.told).toEqual(['a\nb', '\n', 'c\n', 'finished']);
  expect(progress).toEqual([
    [0, 0],
    [3, 1],
    [4, 2],
    [6, 3],
  ]);
  expect(saved).toEqual({ bytes: 6, lines: 3 });
});

test('saving fetches nothing if no file is chosen', async () => {
  let asked = false;
  const fetched = async () => {
    asked = true;
    return streamOf('a');
  };
  const options = { signal, onProgress: () => undefined, open: async () => undefined };
  expect(await saveAs('a', fetched, options)).toBeUndefined();
  expect(asked).toBe(false);
});

describe('saving discards a file', () => {
  const broken = async () =>
    new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => controller.enqueue(bytes('a\n')),
      pull: (controller) => controller.error(new Error('lost')),
    });
  const refused = () => Promise.reject(new Error('refused'));

  test.each([
    ['is cut off', broken, 'lost'],
    ['cannot be fetched', refused, 'refused'],
  ])('that %s', async (_, fetched, message) => {
    const sink = recorded();
    const options = { signal, onProgress: () => undefined, open: async () => sink };
    await expect(saveAs('a', fetched, options)).rejects.toThrow(message);
    expect(sink.told.at(-1)).toBe('aborted');
    expect(sink.told).not.toContain('finished');
  });

  test('that was cancelled during the file dialog', async () => {
    const sink = recorded();
    const controller = new AbortController();
    const open = async () => {
      controller.abort();
      return sink;
    };
    const options = { signal: controller.signal, onProgress: () => undefined, open };
    const saved = saveAs('a', async () => streamOf('a'), options);
    await expect(saved).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(sink.told).toEqual(['aborted']);
  });
});

test('saving counts line endings', () => {
  expect(lineEnds(bytes(''))).toBe(0);
  expect(lineEnds(bytes('\na\n\nb'))).toBe(3);
});
