/** A disk that is slow, or fails, for one process and as long as a test wants: what faulty-disk.c does, by the word. */
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

/** Words of the file that says how the disk is. */
const words = {
  writeUs: 0,
  flushUs: 1,
  failingWrites: 2,
  failingSmallWrites: 3,
  failingFlushes: 4,
  flushes: 5,
} as const;

const source = new URL('faulty-disk.c', import.meta.url).pathname;

const compile = (library: string): void => {
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'], { stdio: 'ignore' });
};

/** False where there is no C compiler, no header files for it, or another system than Linux. */
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
  /** A folder on it, for a service's data. */
  readonly dataDir: string;
  /** For the process that is to have this disk. */
  readonly env: Readonly<Record<string, string>>;
  readonly #folder: string;
  readonly #control: number;

  /** @param files - which files of the data folder are on it, by the beginning of their names; default: all of them */
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

  /** Each write and each flush takes so much longer, from now on. */
  slow(ms: { readonly write: number; readonly flush: number }): void {
    this.#set(words.writeUs, ms.write * 1000);
    this.#set(words.flushUs, ms.flush * 1000);
  }

  quick(): void {
    this.slow({ write: 0, flush: 0 });
  }

  /** The next so many writes of pages, or of less (of LMDB, its meta pages), or flushes, fail with EIO. */
  fail(what: { readonly writes?: number; readonly smallWrites?: number; readonly flushes?: number }): void {
    this.#set(words.failingWrites, what.writes ?? 0);
    this.#set(words.failingSmallWrites, what.smallWrites ?? 0);
    this.#set(words.failingFlushes, what.flushes ?? 0);
  }

  /** Failures that are yet to come. */
  get failing(): number {
    const { failingWrites, failingSmallWrites, failingFlushes } = words;
    return this.#get(failingWrites) + this.#get(failingSmallWrites) + this.#get(failingFlushes);
  }

  /** Flushes that were asked for so far. */
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
