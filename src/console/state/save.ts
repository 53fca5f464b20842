import { ServiceError } from '../../errors.ts';

/** Where a file is written as it comes, or kept in memory until it is whole. */
export interface Sink {
  write(chunk: Uint8Array<ArrayBuffer>): Promise<void>;
  /** It is whole. */
  finish(): Promise<void>;
  /** It will not be: what there is of it is thrown away. */
  abort(): Promise<void>;
}

/** What a browser without a way to write files may keep in memory, in bytes. */
export const maxBlobBytes = 256 * 2 ** 20;

interface SavePicker {
  showSaveFilePicker(options: { suggestedName: string }): Promise<FileSystemFileHandle>;
}

/** Whether this browser can write a file while it is being received. */
export const writesFiles = (): boolean => 'showSaveFilePicker' in window;

/**
 * Asks where to, and opens it.
 *
 * @returns undefined where the person changed their mind
 */
export async function openFile(name: string): Promise<Sink | undefined> {
  if (!writesFiles()) return inMemory(name);
  let handle: FileSystemFileHandle;
  try {
    handle = await (window as unknown as SavePicker).showSaveFilePicker({ suggestedName: name });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return undefined;
    throw error;
  }
  const file = await handle.createWritable();
  return { write: (chunk) => file.write(chunk), finish: () => file.close(), abort: () => file.abort() };
}

function inMemory(name: string): Sink {
  let chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  return {
    async write(chunk) {
      size += chunk.length;
      if (size > maxBlobBytes)
        throw new ServiceError(
          'PAYLOAD_TOO_LARGE',
          'It is more than this browser can keep in memory. Filter more, or use the command.',
        );
      chunks.push(chunk);
    },
    async finish() {
      const url = URL.createObjectURL(new Blob(chunks));
      const link = document.createElement('a');
      link.href = url;
      link.download = name;
      link.click();
      // The download has its own hold on the bytes once it has begun.
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
    },
    async abort() {
      chunks = [];
    },
  };
}

/**
 * Writes a stream to its end.
 *
 * @param onProgress - bytes and line ends so far
 * @throws what reading or writing fails with, when nothing is left of the file
 */
export async function save(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  sink: Sink,
  onProgress: (bytes: number, lines: number) => void,
): Promise<void> {
  let bytes = 0;
  let lines = 0;
  try {
    for await (const chunk of body) {
      await sink.write(chunk);
      bytes += chunk.length;
      lines += lineEnds(chunk);
      onProgress(bytes, lines);
    }
    await sink.finish();
  } catch (error) {
    await sink.abort().catch(() => undefined);
    throw error;
  }
}

const lineFeed = 10;

export function lineEnds(chunk: Uint8Array): number {
  let count = 0;
  for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) count += 1;
  return count;
}
