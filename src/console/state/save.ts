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
          'It is more than this browser can keep in memory. Filter more, or fetch it by a command.',
        );
      chunks.push(chunk);
    },
    async finish() {
      download(name, new Blob(chunks));
    },
    async abort() {
      chunks = [];
    },
  };
}

function download(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The download has its own hold on the bytes once it has begun.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Saves a text that is there as a file, among the downloads. */
export function saveText(name: string, text: string, type = 'application/json'): void {
  download(name, new Blob([text], { type }));
}

/** How much of a file is written. */
export interface Written {
  readonly bytes: number;
  /** Line ends: of NDJSON, items. */
  readonly lines: number;
}

/** The bytes of a file, once they begin to come; given up with the signal. */
export type Fetched = (signal: AbortSignal) => Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;

/**
 * Asks where to, fetches, and writes to the end.
 *
 * @returns what was written; undefined where the person changed their mind
 * @throws what opening, fetching or writing fails with, when nothing is left of the file; CANCELLED with the signal
 */
export async function saveAs(
  name: string,
  fetched: Fetched,
  {
    signal,
    onProgress,
    open = openFile,
  }: { signal: AbortSignal; onProgress: (written: Written) => void; open?: typeof openFile },
): Promise<Written | undefined> {
  const sink = await open(name);
  if (sink === undefined) return undefined;
  let written: Written = { bytes: 0, lines: 0 };
  try {
    onProgress(written);
    if (signal.aborted) throw new ServiceError('CANCELLED', `${name} was given up`);
    for await (const chunk of await fetched(signal)) {
      await sink.write(chunk);
      written = { bytes: written.bytes + chunk.length, lines: written.lines + lineEnds(chunk) };
      onProgress(written);
    }
    await sink.finish();
    return written;
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
