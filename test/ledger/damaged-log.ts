import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, openDatabase, type RootDatabase } from '../../src/database/lmdb.ts';
import { fromJson } from '../../src/ledger/heads.ts';
import { openLedger } from '../../src/ledger/open.ts';
import type { SignedHead } from '../../src/ledger/storage/storage.ts';
import { encodeHead } from '../../src/tlog/head.ts';
import { uuidToBytes } from '../../src/uuid.ts';
import { cloneFolder } from '../files/copy-folder.ts';
import { entries, folder } from './fixture.ts';

export const pageBytes = 4096;

/** A closed log and its known content. */
export interface KnownLog {
  readonly dataDir: string;
  readonly canonical: readonly Buffer[];
  /** The head after each batch. */
  readonly heads: readonly SignedHead[];
}

/** Creates a log that grows in these steps, and removes it after the test. */
export function logOf(...sizes: readonly number[]): Promise<KnownLog> {
  return logIn(folder(), ...sizes);
}

export async function logIn(dataDir: string, ...sizes: readonly number[]): Promise<KnownLog> {
  const ledger = await openLedger({ dataDir });
  const heads: SignedHead[] = [];
  let size = 0;
  for (const next of sizes) {
    await ledger.append(entries(size, next));
    heads.push(fromJson(await ledger.head()));
    size = next;
  }
  const canonical: Buffer[] = [];
  for (let i = 0; i < size; i++) canonical.push(Buffer.from((await ledger.leaf({ leaf_index: i })).canonical));
  await ledger.close();
  return { dataDir, canonical, heads };
}

/** Copies the log to another folder, removed after the test. */
export function copyOf(log: KnownLog): KnownLog {
  const dataDir = folder();
  cloneFolder(log.dataDir, dataDir);
  return { ...log, dataDir };
}

export const fileOf = ({ dataDir }: Pick<KnownLog, 'dataDir'>): string => join(dataDir, 'ledger.mdb');

export function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** Changes bytes of the file. */
export function scribble(log: Pick<KnownLog, 'dataDir'>, change: (bytes: Buffer) => void): void {
  const bytes = readFileSync(fileOf(log));
  change(bytes);
  writeFileSync(fileOf(log), bytes);
}

/** Flips a bit `at` bytes after the start of each occurrence of these bytes in the file. */
export function flipIn(log: Pick<KnownLog, 'dataDir'>, wanted: Uint8Array, at: number): void {
  scribble(log, (bytes) => {
    for (let from = bytes.indexOf(wanted); from >= 0; from = bytes.indexOf(wanted, from + 1)) bytes[from + at]! ^= 1;
  });
}

/**
 * Flips bits like `flipIn`, but in the file under a running service, as a failing disk does: LMDB maps the file and
 * sees the change immediately. Returns a function that reverts the change.
 */
export function flipInPlace(log: Pick<KnownLog, 'dataDir'>, wanted: Uint8Array, at: number): () => void {
  const bytes = readFileSync(fileOf(log));
  const places: number[] = [];
  for (let from = bytes.indexOf(wanted); from >= 0; from = bytes.indexOf(wanted, from + 1)) places.push(from + at);
  const write = (mask: number): void => {
    const file = openSync(fileOf(log), 'r+');
    for (const place of places) writeSync(file, Uint8Array.of(bytes[place]! ^ mask), 0, 1, place);
    closeSync(file);
  };
  write(1);
  return () => write(0);
}

export function cut(log: Pick<KnownLog, 'dataDir'>, pages: number): void {
  truncateSync(fileOf(log), pages * pageBytes);
}

/** Changes rows through LMDB, as another program would. */
export async function tamper(
  log: Pick<KnownLog, 'dataDir'>,
  name: string,
  change: (table: Database, root: RootDatabase) => void,
): Promise<void> {
  const root = openDatabase(fileOf(log), { maxDbs: 16 });
  const table = root.openDB({
    name,
    encoding: 'binary',
    ...(name === 'ids' ? { keyEncoding: 'binary' as const } : {}),
  });
  root.transactionSync(() => change(table, root));
  await root.close();
}

/** Returns a row of the table `heads`. */
export function headRow(head: SignedHead): Buffer {
  return Buffer.concat([encodeHead(head), head.signature, uuidToBytes(head.keyId)]);
}

/**
 * Returns how many leaves can be recovered, computed from all entries and heads: the leaves of the largest
 * head whose bytes are in the file or in `beside`, and for which the file has the bytes of every earlier
 * entry.
 */
export function recoverable(log: KnownLog, beside: readonly SignedHead[]): number {
  const bytes = readFileSync(fileOf(log));
  const missing = log.canonical.findIndex((entry) => !bytes.includes(entry));
  const readable = missing < 0 ? log.canonical.length : missing;
  const sizes = log.heads
    .filter((head) => beside.includes(head) || bytes.includes(headRow(head)))
    .map(({ size }) => size)
    .filter((size) => size <= readable);
  return Math.max(0, ...sizes);
}
