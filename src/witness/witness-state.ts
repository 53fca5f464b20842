import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { verifyNative } from '../crypto/ed25519.ts';
import { sha256 } from '../crypto/sha256.ts';
import { type DataFolder, lockFolder } from '../files/data-folder.ts';
import { replaceFile } from '../files/durable-file.ts';
import { ifPresent } from '../files/if-present.ts';
import { limits } from '../limits.ts';
import { parseCheckpoint } from '../tlog/checkpoint.ts';
import { decodeCosignature } from '../tlog/cosignature.ts';
import { TlogError } from '../tlog/fault.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { noteSignatureBy, parseNote } from '../tlog/note.ts';
import type { Hash } from '../tlog/tree.ts';
import { strictUtf8 } from './utf8.ts';
import { openWitnessKey, type WitnessKey, WitnessStateError } from './witness-key.ts';

/** The last checkpoint of a log that the witness cosigned. */
export interface LastCosigned {
  readonly size: number;
  readonly root: Hash;
  /** Time of the cosignature in seconds since 1970. */
  readonly timeS: number;
  /** The checkpoint with the signatures of log and witness. */
  readonly note: string;
}

const suffix = '.checkpoint';
const evidenceSuffix = '.evidence.json';
const rejectedSuffix = '.rejected.note';
const keyFileName = 'key.json';

/** Returns the identifier of a log in file names and URLs: lowercase hex SHA-256 of its origin. */
export function originHash(origin: string): string {
  return bytesToHex(sha256(new TextEncoder().encode(origin)));
}

/**
 * The state folder of a witness, locked by one process at a time:
 *
 *     key.json                      the private key
 *     <origin hash>.checkpoint      for each log, the last cosigned note
 *     <origin hash>.<id>.evidence.json   contradiction by a log: never overwritten, limited in number per log
 *     <origin hash>.<time>-<id>.rejected.note   signed by the log but not cosigned: does not convict alone
 *     lock
 *
 * Key and checkpoints are in one folder, because the key's guarantee depends on the checkpoints. If either is lost, the
 * other must be abandoned. A restored older copy of a file can't be detected.
 */
export class WitnessState {
  readonly key: WitnessKey;
  readonly #folder: DataFolder;
  /** The last cosigned checkpoint of each log, by origin hash. */
  readonly #latest: Map<string, LastCosigned>;
  /** Names of the evidence files. */
  readonly #evidence: Set<string>;
  /** Names of the files of rejected checkpoints; for each log, the oldest first. */
  #rejected: readonly string[];

  private constructor(
    folder: DataFolder,
    key: WitnessKey,
    latest: Map<string, LastCosigned>,
    names: readonly string[],
  ) {
    this.#folder = folder;
    this.#evidence = new Set(names.filter((file) => file.endsWith(evidenceSuffix)));
    this.#rejected = names.filter((file) => file.endsWith(rejectedSuffix)).sort();
    this.key = key;
    this.#latest = latest;
  }

  /**
   * Locks the folder and reads its files. `name` is required for a new folder.
   *
   * @throws WitnessStateError if a file is damaged, because the witness could contradict a checkpoint that it cannot
   * read; Error if another process holds the folder
   */
  static async open(path: string, name: string | undefined): Promise<WitnessState> {
    const folder = lockFolder(path, { name: 'state folder', instead: 'choose another' });
    try {
      const names = await readdir(path);
      const files = names.filter((file) => file.endsWith(suffix));
      const keyFile = join(path, keyFileName);
      if (files.length > 0 && !names.includes(keyFileName)) {
        throw new WitnessStateError(`${keyFile} is missing; restore it, or create a new witness in another folder`);
      }
      const key = await openWitnessKey(keyFile, name);
      const latest = new Map<string, LastCosigned>();
      for (const file of files) {
        latest.set(
          file.slice(0, -suffix.length),
          parseCosigned(join(path, file), await readFile(join(path, file)), key),
        );
      }
      return new WitnessState(folder, key, latest, names);
    } catch (error) {
      folder.release();
      throw error;
    }
  }

  /**
   * Reads the key without locking the folder, because another process may hold it. If there is no key,
   * creates one as `open` does.
   */
  static async readKey(path: string, name: string | undefined): Promise<WitnessKey> {
    const file = join(path, keyFileName);
    if ((await ifPresent(readFile(file))) !== undefined) return openWitnessKey(file, name);
    const state = await WitnessState.open(path, name);
    state.release();
    return state.key;
  }

  /** Returns the last cosigned checkpoint; undefined if no checkpoint of this log was cosigned. */
  latest(hash: string): LastCosigned | undefined {
    return this.#latest.get(hash);
  }

  /**
   * Stores a checkpoint and resolves once it is on disk; the same checkpoint is then removed from the rejected
   * checkpoints. If storing fails, the previous checkpoint stays in effect.
   */
  async store(hash: string, latest: LastCosigned): Promise<void> {
    await replaceFile(join(this.#folder.path, hash + suffix), latest.note, { mode: 0o644 });
    this.#latest.set(hash, latest);
    const end = rejectedEnd(latest.note);
    await this.#removeRejected(this.#rejectedOf(hash).filter((name) => name.endsWith(end)));
  }

  /** Paths of the evidence files of all logs. */
  get evidence(): string[] {
    return [...this.#evidence].map((name) => join(this.#folder.path, name));
  }

  /**
   * Stores evidence against the log with this origin hash, once per pair of checkpoints. Resolves with the path of the
   * evidence once it is on disk, or with undefined if `limits.maxWitnessEvidence` files of this log exist.
   */
  async storeEvidence(hash: string, texts: readonly string[], evidence: string): Promise<string | undefined> {
    const name = `${hash}.${idOf(texts.join('\n'))}${evidenceSuffix}`;
    const path = join(this.#folder.path, name);
    if (this.#evidence.has(name)) return path;
    const ofLog = [...this.#evidence].filter((file) => file.startsWith(hash));
    if (ofLog.length >= limits.maxWitnessEvidence) return undefined;
    await replaceFile(path, evidence, { mode: 0o644 });
    this.#evidence.add(name);
    return path;
  }

  /** Paths of the rejected checkpoints of all logs. */
  get rejected(): string[] {
    return this.#rejected.map((name) => join(this.#folder.path, name));
  }

  /**
   * Stores a checkpoint that the log signed and the witness rejected, once. Above `limits.maxWitnessRejected` for a
   * log, the first half and the latest checkpoints remain, so that a flood can hide neither.
   */
  async storeRejected(hash: string, note: string, nowMs: number): Promise<void> {
    const end = rejectedEnd(note);
    const ofLog = this.#rejectedOf(hash);
    if (ofLog.some((name) => name.endsWith(end))) return;
    const name = `${hash}.${String(nowMs).padStart(15, '0')}${end}`;
    await replaceFile(join(this.#folder.path, name), note, { mode: 0o644 });
    this.#rejected = [...this.#rejected, name].sort();
    const half = limits.maxWitnessRejected / 2;
    await this.#removeRejected(ofLog.slice(half, Math.max(half, ofLog.length + 1 - half)));
  }

  #rejectedOf(hash: string): string[] {
    return this.#rejected.filter((name) => name.startsWith(hash));
  }

  async #removeRejected(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    this.#rejected = this.#rejected.filter((name) => !names.includes(name));
    for (const name of names) await rm(join(this.#folder.path, name), { force: true });
  }

  release(): void {
    this.#folder.release();
  }
}

function idOf(text: string): string {
  return bytesToHex(sha256(new TextEncoder().encode(text))).slice(0, 16);
}

/** Returns the suffix of the file name of a rejected checkpoint. */
function rejectedEnd(note: string): string {
  return `-${idOf(parseNote(note).text)}${rejectedSuffix}`;
}

function parseCosigned(path: string, bytes: Uint8Array, key: WitnessKey): LastCosigned {
  const damaged = (problem: string) =>
    new WitnessStateError(
      `${path} is damaged (${problem}): without it the witness could contradict an earlier cosignature; ` +
        'restore the file, or create a new witness in another folder',
    );
  const text = strictUtf8(bytes);
  if (text === undefined) throw damaged('not valid UTF-8');
  try {
    const note = parseNote(text);
    const { origin, size, root } = parseCheckpoint(note.text);
    const own = noteSignatureBy(note, key.public, verifyNative);
    if (own === undefined) throw damaged('not cosigned by this witness');
    if (!path.endsWith(originHash(origin) + suffix)) throw damaged('belongs to another log');
    return { size, root, timeS: decodeCosignature(own.signature).timeS, note: text };
  } catch (error) {
    if (error instanceof TlogError) throw damaged(error.message);
    throw error;
  }
}
