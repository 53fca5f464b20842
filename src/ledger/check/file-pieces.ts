import { closeSync, constants, openSync, readSync } from 'node:fs';

/** Bytes that are kept: 16 MB. Neighbours in a table are mostly neighbours in the file. */
const keptBytes = 2 ** 24;

/** Bytes that are read at once: of rows that lie here and there, and of a whole file. */
export const scatteredPieceBytes = 2 ** 14;
export const wholePieceBytes = 2 ** 18;

/** How a file is read. */
export interface Reading {
  /** Default: `scatteredPieceBytes`. */
  readonly pieceBytes?: number;
  /**
   * Past the system's cache where the file system can do so (O_DIRECT): what is checked is what the disk holds, and a file
   * of many gigabytes doesn't push out what others have in memory. 10 GB take 2 s of processor time then, where making room
   * for them in the cache takes up to 25. Default: false.
   */
  readonly isDirect?: boolean;
}

interface Piece {
  length: number;
  readonly bytes: Buffer;
}

/** Random access to a file by reads of large pieces. Owner of a descriptor and of a cache of 16 MB. */
export class FilePieces {
  readonly #path: string;
  readonly #size: number;
  readonly #pieceBytes: number;
  /** By number of the piece in the file, the one that was used last at the end. */
  readonly #pieces = new Map<number, Piece>();
  #last: { readonly at: number; readonly piece: Piece } | undefined;
  #file: number;
  #isDirect: boolean;

  /** @throws the system's error */
  constructor(
    path: string,
    size: number,
    { pieceBytes = scatteredPieceBytes, isDirect = false }: Reading = {},
  ) {
    this.#path = path;
    this.#size = size;
    this.#isDirect = isDirect;
    this.#file = isDirect ? this.#openDirect() : openSync(path, 'r');
    this.#pieceBytes = pieceBytes;
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Copies `length` bytes from `position` on. Returns why they can't be read; undefined when they were. */
  copy(position: number, into: Buffer, length: number): string | undefined {
    for (let done = 0; done < length; ) {
      const at = Math.floor((position + done) / this.#pieceBytes);
      const piece = this.#piece(at);
      if (typeof piece === 'string') return piece;
      const from = position + done - at * this.#pieceBytes;
      const part = Math.min(length - done, piece.length - from);
      if (part <= 0) return 'it lies beyond the end of the file';
      piece.bytes.copy(into, done, from, from + part);
      done += part;
    }
    return undefined;
  }

  #piece(at: number): Piece | string {
    if (this.#last?.at === at) return this.#last.piece;
    let piece = this.#pieces.get(at);
    if (piece === undefined) {
      piece = this.#takeOldest() ?? { length: 0, bytes: pageAligned(this.#pieceBytes) };
      try {
        piece.length = this.#read(piece.bytes, at * this.#pieceBytes);
      } catch (error) {
        return `the disk cannot read it (${codeOf(error)})`;
      }
    } else this.#pieces.delete(at);
    this.#pieces.set(at, piece);
    this.#last = { at, piece };
    return piece;
  }

  #takeOldest(): Piece | undefined {
    if (this.#pieces.size < keptBytes / this.#pieceBytes) return undefined;
    this.#last = undefined;
    for (const [at, piece] of this.#pieces) {
      this.#pieces.delete(at);
      return piece;
    }
    return undefined;
  }

  #read(into: Buffer, position: number): number {
    const wanted = Math.min(into.length, this.#size - position);
    for (let done = 0; done < wanted; ) {
      const length = this.#readSome(into, done, position + done);
      if (length === 0) return done;
      done += length;
    }
    return Math.max(0, wanted);
  }

  #readSome(into: Buffer, offset: number, position: number): number {
    try {
      return readSync(this.#file, into, offset, into.length - offset, position);
    } catch (error) {
      if (!this.#isDirect || codeOf(error) !== 'EINVAL') throw error;
      closeSync(this.#file);
      this.#file = this.#openCached();
      return readSync(this.#file, into, offset, into.length - offset, position);
    }
  }

  #openDirect(): number {
    try {
      return openSync(this.#path, constants.O_RDONLY | (constants.O_DIRECT ?? 0));
    } catch (error) {
      if (codeOf(error) !== 'EINVAL') throw error;
      return this.#openCached();
    }
  }

  #openCached(): number {
    this.#isDirect = false;
    return openSync(this.#path, 'r');
  }
}

/** Direct reads want memory that begins with a page. V8 maps a buffer that can be resized as whole pages. */
function pageAligned(length: number): Buffer {
  return Buffer.from(new ArrayBuffer(length, { maxByteLength: length }));
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
