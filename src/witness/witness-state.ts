import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type DataFolder, lockFolder } from '../data-folder.ts';
import { replaceFile } from '../durable-file.ts';
import { limits } from '../limits.ts';
import { sha256 } from '../sha256.ts';
import { parseCheckpoint } from '../tlog/checkpoint.ts';
import { decodeCosignature } from '../tlog/cosignature.ts';
import { TlogError } from '../tlog/fault.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { noteSignatureBy, parseNote } from '../tlog/note.ts';
import type { Hash } from '../tlog/tree.ts';
import { strictUtf8 } from './utf8.ts';
import { verifyNative } from './verify.ts';
import { openWitnessKey, readIfThere, type WitnessKey, WitnessStateError } from './witness-key.ts';

/** What a witness cosigned last for a log. */
export interface Kept {
  readonly size: number;
  readonly root: Hash;
  /** Of the cosignature, seconds since 1970. */
  readonly timeS: number;
  /** The checkpoint with the log's signatures and the witness's. */
  readonly note: string;
}

const suffix = '.checkpoint';
const evidenceSuffix = '.evidence.json';
const refusedSuffix = '.refused.note';
const keyFileName = 'key.json';

/** By what a log's files and addresses go: lowercase hex SHA-256 of its origin. */
export function originHash(origin: string): string {
  return bytesToHex(sha256(new TextEncoder().encode(origin)));
}

/**
 * The memory of a witness, a folder that one process has at a time:
 *
 *     key.json                      the private key
 *     <origin hash>.checkpoint      for each log, the note that was cosigned last
 *     <origin hash>.<id>.evidence.json   that a log contradicted itself: never overwritten, a bounded number of each log
 *     <origin hash>.<time>-<id>.refused.note   signed by the log and not cosigned: convicts nobody alone
 *     lock
 *
 * Key and memory lie together, because the key's promise is only as good as the memory: whoever loses one must give
 * up the other. A file that says less than what was cosigned, as after putting back an old copy, can't be recognised.
 */
export class WitnessState {
  readonly key: WitnessKey;
  readonly #folder: DataFolder;
  /** By origin hash. */
  readonly #kept: Map<string, Kept>;
  /** Names of files. */
  readonly #evidence: Set<string>;
  /** Names of files, the oldest first. */
  #refused: readonly string[];

  private constructor(
    folder: DataFolder,
    key: WitnessKey,
    kept: Map<string, Kept>,
    names: readonly string[],
  ) {
    this.#folder = folder;
    this.#evidence = new Set(names.filter((file) => file.endsWith(evidenceSuffix)));
    this.#refused = names.filter((file) => file.endsWith(refusedSuffix)).sort();
    this.key = key;
    this.#kept = kept;
  }

  /**
   * Takes the folder and reads all of it. `name` is needed for a new one.
   *
   * @throws WitnessStateError for a file that isn't what was written there, since what the witness doesn't know it
   * could contradict; Error when another process has the folder.
   */
  static async open(path: string, name: string | undefined): Promise<WitnessState> {
    const folder = lockFolder(path, { name: 'state folder', instead: 'choose another' });
    try {
      const names = await readdir(path);
      const files = names.filter((file) => file.endsWith(suffix));
      const keyFile = join(path, keyFileName);
      if (files.length > 0 && !names.includes(keyFileName)) {
        throw new WitnessStateError(
          `${keyFile} is lost: put it back, or begin a new witness in another folder`,
        );
      }
      const key = await openWitnessKey(keyFile, name);
      const kept = new Map<string, Kept>();
      for (const file of files) {
        kept.set(
          file.slice(0, -suffix.length),
          parseKept(join(path, file), await readFile(join(path, file)), key),
        );
      }
      return new WitnessState(folder, key, kept, names);
    } catch (error) {
      folder.release();
      throw error;
    }
  }

  /** The key alone, which another process may be using; made, as by `open`, where there is none. */
  static async readKey(path: string, name: string | undefined): Promise<WitnessKey> {
    const file = join(path, keyFileName);
    if ((await readIfThere(file)) !== undefined) return openWitnessKey(file, name);
    const state = await WitnessState.open(path, name);
    state.release();
    return state.key;
  }

  /** Undefined for a log that nothing was cosigned of. */
  kept(hash: string): Kept | undefined {
    return this.#kept.get(hash);
  }

  /** Resolves when it is on disk; a note of it that was refused before is no longer kept then. If it rejects, what was kept before still holds here. */
  async keep(hash: string, kept: Kept): Promise<void> {
    await replaceFile(join(this.#folder.path, hash + suffix), kept.note, { mode: 0o644 });
    this.#kept.set(hash, kept);
    const isRefused = `-${idOf(parseNote(kept.note).text)}${refusedSuffix}`;
    await this.#removeRefused(this.#refusedOf(hash).filter((name) => name.endsWith(isRefused)));
  }

  /** Paths of all evidence, of any log. */
  get evidence(): string[] {
    return [...this.#evidence].map((name) => join(this.#folder.path, name));
  }

  /**
   * Keeps evidence against the log with this origin hash, once for the same two checkpoints. Resolves with its path
   * when it is on disk; with undefined where `limits.maxWitnessEvidence` files of this log are kept already.
   */
  async keepEvidence(hash: string, texts: readonly string[], evidence: string): Promise<string | undefined> {
    const name = `${hash}.${idOf(texts.join('\n'))}${evidenceSuffix}`;
    const path = join(this.#folder.path, name);
    if (this.#evidence.has(name)) return path;
    const ofLog = [...this.#evidence].filter((file) => file.startsWith(hash));
    if (ofLog.length >= limits.maxWitnessEvidence) return undefined;
    await replaceFile(path, evidence, { mode: 0o644 });
    this.#evidence.add(name);
    return path;
  }

  /** Paths of all refused checkpoints, of any log. */
  get refused(): string[] {
    return this.#refused.map((name) => join(this.#folder.path, name));
  }

  /**
   * Keeps a checkpoint that the log signed and the witness refused, once. Of more than `limits.maxWitnessRefused` the
   * first half and the latest ones stay, so that a flood of them hides neither.
   */
  async keepRefused(hash: string, note: string, nowMs: number): Promise<void> {
    const end = `-${idOf(parseNote(note).text)}${refusedSuffix}`;
    const ofLog = this.#refusedOf(hash);
    if (ofLog.some((name) => name.endsWith(end))) return;
    const name = `${hash}.${String(nowMs).padStart(15, '0')}${end}`;
    await replaceFile(join(this.#folder.path, name), note, { mode: 0o644 });
    this.#refused = [...this.#refused, name].sort();
    const half = limits.maxWitnessRefused / 2;
    await this.#removeRefused(ofLog.slice(half, Math.max(half, ofLog.length + 1 - half)));
  }

  #refusedOf(hash: string): string[] {
    return this.#refused.filter((name) => name.startsWith(hash));
  }

  async #removeRefused(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    this.#refused = this.#refused.filter((name) => !names.includes(name));
    for (const name of names) await rm(join(this.#folder.path, name), { force: true });
  }

  release(): void {
    this.#folder.release();
  }
}

function idOf(text: string): string {
  return bytesToHex(sha256(new TextEncoder().encode(text))).slice(0, 16);
}

function parseKept(path: string, bytes: Uint8Array, key: WitnessKey): Kept {
  const damaged = (what: string) =>
    new WitnessStateError(
      `${path} is damaged (${what}): a witness that forgot what it cosigned could contradict it; ` +
        'put the file back, or begin a new witness in another folder',
    );
  const text = strictUtf8(bytes);
  if (text === undefined) throw damaged('no UTF-8');
  try {
    const note = parseNote(text);
    const { origin, size, root } = parseCheckpoint(note.text);
    const own = noteSignatureBy(note, key.public, verifyNative);
    if (own === undefined) throw damaged('not cosigned by this witness');
    if (!path.endsWith(originHash(origin) + suffix)) throw damaged('of another log');
    return { size, root, timeS: decodeCosignature(own.signature).timeS, note: text };
  } catch (error) {
    if (error instanceof TlogError) throw damaged(error.message);
    throw error;
  }
}
