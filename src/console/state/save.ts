import { ServiceError } from '../../errors.ts';

/** The destination of a download: a file on disk, or memory until the download is complete. */
export interface Sink {
  write(chunk: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Completes the file. */
  finish(): Promise<void>;
  /** Discards the incomplete file. */
  abort(): Promise<void>;
}

/** Maximum download size in bytes for browsers that cannot write files. */
export const maxBlobBytes = 256 * 2 ** 20;

interface SavePicker {
  showSaveFilePicker(options: { suggestedName: string }): Promise<FileSystemFileHandle>;
}

/** Returns whether this browser can write a file while receiving it. */
export const writesFiles = (): boolean => 'showSaveFilePicker' in window;

/**
 * Asks the user for a file and opens it. In a browser that cannot write files, holds the bytes in memory and downloads
 * them at the end.
 *
 * @returns undefined if the user cancelled
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
          'The file is too large for this browser’s memory. Narrow the filters or use the command line.',
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
  // Once the download has begun, the browser holds the bytes itself.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Saves a text as a file in the downloads folder. */
export function saveText(name: string, text: string, type = 'application/json'): void {
  download(name, new Blob([text], { type }));
}

/** Progress of a download. */
export interface Written {
  readonly bytes: number;
  /** Number of line endings; for NDJSON, the number of items. */
  readonly lines: number;
}

/** Starts a request and resolves to the bytes of its response. The signal aborts the request. */
export type Fetched = (signal: AbortSignal) => Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;

/**
 * Asks the user for a file, fetches the bytes and writes them.
 *
 * @returns the written amount; undefined if the user cancelled
 * @throws the error of opening, fetching or writing, after removing the file; CANCELLED when the signal aborts
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
    if (signal.aborted) throw new ServiceError('CANCELLED', `${name} was cancelled`);
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
