import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SignedTreeHead } from '../contract/resources/transparency.ts';
import type { Table } from '../events/records.ts';
import { fsck } from '../ledger/check/fsck.ts';
import { treeDamage } from '../ledger/check/tree-damage.ts';
import { toJson } from '../ledger/heads.ts';
import { LmdbStorage } from '../ledger/storage/lmdb-store.ts';
import { Nodes } from '../ledger/storage/nodes.ts';
import { inspectStore, type LoggedAlert } from '../store/inspect.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { DamagedBackupError } from './backup-error.ts';
import { filesOf, hashFile } from './files.ts';
import { type BackupFile, requiredFiles } from './manifest.ts';

/** Contents of a verified copy of the data folder. */
export interface Verified {
  readonly files: readonly BackupFile[];
  /** The last head of the log; absent for an empty log. */
  readonly sth?: SignedTreeHead;
  readonly events: Readonly<Record<Table, number>>;
  readonly alerts: number;
}

/**
 * Verifies a copy as read from disk: recomputes the tree from the entries, reads every row of siem.mdb, and compares
 * the log with siem.mdb, so that no critical event is missing from both. The manifest's hashes are computed from the
 * files that were verified.
 *
 * `stopped` is called repeatedly, and throws if the result is no longer needed.
 *
 * @throws DamagedBackupError with the defect of the copy
 */
export async function verifyCopy(folder: string, stopped: () => void = () => undefined): Promise<Verified> {
  const names = await filesOf(folder);
  const missing = requiredFiles.filter((name) => !names.includes(name));
  if (missing.length > 0) throw new DamagedBackupError(`the copy has no ${missing.join(', ')}`);
  try {
    const log = await fsck({ dataDir: folder, onProgress: stopped });
    // Other findings concern files that monitor the log, such as a journal line truncated by a crash.
    if (log.isDamaged || log.isRolledBack || log.counts.key_damaged !== undefined)
      throw new DamagedBackupError(`the copy of the log failed verification: ${describeFindings(log.findings)}`);
    const contents = await compare(folder, log.size, stopped);
    const files: BackupFile[] = [];
    for (const name of names) files.push(await hashFile(folder, name, stopped));
    return {
      files,
      ...(log.head === undefined ? {} : { sth: toJson(log.head) }),
      events: contents.events,
      alerts: contents.alerts,
    };
  } finally {
    // Removes LMDB's reader tables, which have no meaning in a copy.
    for (const name of ['ledger.mdb', 'siem.mdb']) await rm(join(folder, `${name}-lock`), { force: true });
  }
}

/** Maximum number of findings in an error message. */
const maxReported = 5;

function describeFindings(findings: readonly { readonly code: string; readonly message: string }[]): string {
  const few = findings.slice(0, maxReported).map(({ code, message }) => `${code}: ${message}`);
  return [...few, ...(findings.length > maxReported ? [`and ${findings.length - maxReported} more`] : [])].join('; ');
}

/**
 * Checks that the entry of each alert that must be logged is in the log at its recorded position, or in the
 * outbox.
 */
async function compare(folder: string, logSize: number, stopped: () => void) {
  const storage = new LmdbStorage(join(folder, 'ledger.mdb'));
  const nodes = new Nodes(storage);
  const leafAt = (index: number) => bytesToHex(nodes.hashAt({ level: 0, index }, logSize));
  let first: string | undefined;
  const check = ({ id, place, waits }: LoggedAlert): void => {
    stopped();
    if (first !== undefined) return;
    if (place === undefined) {
      if (!waits) first = `alert ${id} must be logged, but is in neither the outbox nor the log`;
    } else if (place.leaf_index >= logSize) {
      first = `alert ${id} is recorded as leaf ${place.leaf_index}, but the log has ${logSize}`;
    } else if (leafAt(place.leaf_index) !== place.leaf_hash) {
      first = `alert ${id} is recorded as leaf ${place.leaf_index}, which is a different entry`;
    }
  };
  try {
    const [broken] = treeDamage(join(folder, 'siem.mdb'));
    if (broken !== undefined) throw new Error(broken);
    const contents = await inspectStore(folder, check);
    if (first !== undefined) throw new DamagedBackupError(`the copies are inconsistent: ${first}`);
    return contents;
  } catch (error) {
    if (error instanceof DamagedBackupError) throw error;
    throw new DamagedBackupError(`the copy of siem.mdb failed verification: ${(error as Error).message}`);
  } finally {
    await storage.close();
  }
}
