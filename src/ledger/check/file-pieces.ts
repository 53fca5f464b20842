import { closeSync, constants, openSync, readSync } from 'node:fs';

/** Bytes that are cached: 16 MB. Adjacent rows of a table are usually close together in the file. */
const cachedBytes = 2 ** 24;

/** Bytes per read, for scattered rows. */
export const scatteredPieceBytes = 2 ** 14;
/** Bytes per read, for a whole file. */
export const wholePieceBytes = 2 ** 18;

/** Options for reading a file. */
export interface Reading {
  /** Bytes per read. Default: `scatteredPieceBytes`. */
  readonly pieceBytes?: number;
  /**
   * Bypasses the system's page cache if the file system supports it (O_DIRECT), so that the disk's content is checked
   * and large files do not evict other data. Reading 10 GB takes 2 s of processor time with the bypass, and up to 25 s
   * without it. Default: false.
   */
  readonly isDirect?: boolean;
}

interface Piece {
  length: number;
  readonly bytes: Buffer;
}

/** Random access to a file by reads of large pieces. Owns a descriptor and a cache of 16 MB. */
export class FilePieces {
  readonly #path: string;
  readonly #size: number;
  readonly #pieceBytes: number;
  /** Pieces by their number in the file, most recently used last. */
  readonly #pieces = new Map<number, Piece>();
  #last: { readonly at: number; readonly piece: Piece } | undefined;
  #file: number;
  #isDirect: boolean;

  /** Opens the file. @throws the system's error */
  constructor(path: string, size: number, { pieceBytes = scatteredPieceBytes, isDirect = false }: Reading = {}) {
    this.#path = path;
    this.#size = size;
    this.#isDirect = isDirect;
    this.#file = isDirect ? this.#openDirect() : openSync(path, 'r');
    this.#pieceBytes = pieceBytes;
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Copies `length` bytes from `position`. Returns why they cannot be read; undefined on success. */
  copy(position: number, into: Buffer, length: number): string | undefined {
    for (let done = 0; done < length; ) {
      const at = Math.floor((position + done) / this.#pieceBytes);
      const piece = this.#piece(at);
      if (typeof piece === 'string') return piece;
      const from = position + done - at * this.#pieceBytes;
      const part = Math.min(length - done, piece.length - from);
      if (part <= 0) return 'it is beyond the end of the file';
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
    if (this.#pieces.size < cachedBytes / this.#pieceBytes) return undefined;
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

/** Returns page-aligned memory, which direct reads need. V8 maps a resizable buffer as whole pages. */
function pageAligned(length: number): Buffer {
  return Buffer.from(new ArrayBuffer(length, { maxByteLength: length }));
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
