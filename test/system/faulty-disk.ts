/**
 * A disk that is slow or fails for one process, while a test requires it: controls faulty-disk.c through a
 * shared file.
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Positions of the words in the control file, which holds the state of the disk. */
const words = {
  writeUs: 0,
  flushUs: 1,
  failingWrites: 2,
  failingSmallWrites: 3,
  failingFlushes: 4,
  flushes: 5,
  calls: 6,
  failingCall: 7,
  failingOn: 8,
} as const;

const source = new URL('faulty-disk.c', import.meta.url).pathname;

const compile = (library: string): void => {
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'], { stdio: 'ignore' });
};

/** Returns false without Linux, a C compiler and its header files. */
export function maySpoilDisks(): boolean {
  if (process.platform !== 'linux') return false;
  const folder = mkdtempSync(join(tmpdir(), 'candor-disk-'));
  try {
    compile(join(folder, 'faulty-disk.so'));
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export class FaultyDisk {
  /** A data folder on the disk. */
  readonly dataDir: string;
  /** The environment of a process that uses this disk. */
  readonly env: Readonly<Record<string, string>>;
  readonly #folder: string;
  readonly #control: number;

  /**
   * @param files - prefix of the names of files in the data folder that are on the disk; default: all files
   */
  constructor(files = '') {
    this.#folder = mkdtempSync(join(realpathSync(tmpdir()), 'candor-disk-'));
    const library = join(this.#folder, 'faulty-disk.so');
    compile(library);
    this.dataDir = join(this.#folder, 'data');
    mkdirSync(this.dataDir, { mode: 0o700 });
    const control = join(this.#folder, 'control');
    writeFileSync(control, new Uint8Array(4 * Object.keys(words).length));
    this.#control = openSync(control, 'r+');
    this.env = {
      LD_PRELOAD: library,
      FAULTY_DISK_CONTROL: control,
      FAULTY_DISK_FILES: join(this.dataDir, files),
    };
  }

  /**
   * Returns the environment of a process that uses this disk for other files.
   *
   * @param files - prefix of the names of files in the data folder that are on the disk
   */
  envFor(files: string): Readonly<Record<string, string>> {
    return { ...this.env, FAULTY_DISK_FILES: join(this.dataDir, files) };
  }

  /** Delays each later write and each later flush by these times. */
  slow(ms: { readonly write: number; readonly flush: number }): void {
    this.#set(words.writeUs, ms.write * 1000);
    this.#set(words.flushUs, ms.flush * 1000);
  }

  quick(): void {
    this.slow({ write: 0, flush: 0 });
  }

  /**
   * Makes this number of the next writes of pages, of smaller writes (LMDB's meta pages), or of flushes fail
   * with EIO.
   */
  fail(what: { readonly writes?: number; readonly smallWrites?: number; readonly flushes?: number }): void {
    this.#set(words.failingWrites, what.writes ?? 0);
    this.#set(words.failingSmallWrites, what.smallWrites ?? 0);
    this.#set(words.failingFlushes, what.flushes ?? 0);
  }

  /** Makes the `call`-th following write or flush fail with EIO; with `staysBroken`, also all later calls. */
  failAt(call: number, { staysBroken = false } = {}): void {
    this.#set(words.calls, 0);
    this.#set(words.failingOn, Number(staysBroken));
    this.#set(words.failingCall, call);
  }

  repair(): void {
    this.fail({});
    this.failAt(0);
  }

  /** Number of writes and flushes since `failAt`. */
  get calls(): number {
    return this.#get(words.calls);
  }

  /** Number of failures that have not happened yet. */
  get failing(): number {
    const { failingWrites, failingSmallWrites, failingFlushes } = words;
    return this.#get(failingWrites) + this.#get(failingSmallWrites) + this.#get(failingFlushes);
  }

  /** Number of requested flushes. */
  get flushes(): number {
    return this.#get(words.flushes);
  }

  remove(): void {
    closeSync(this.#control);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #set(word: number, value: number): void {
    const bytes = new Uint8Array(new Int32Array([value]).buffer);
    writeSync(this.#control, bytes, 0, 4, word * 4);
  }

  #get(word: number): number {
    const value = new Int32Array(1);
    readSync(this.#control, new Uint8Array(value.buffer), 0, 4, word * 4);
    return value[0]!;
  }
}
