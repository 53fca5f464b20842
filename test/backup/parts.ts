import { join } from 'node:path';
import { BackupFolder, type BackupsOptions } from '../../src/backup/backups.ts';
import { verifyCopy } from '../../src/backup/verify.ts';
import { takeDataFolder } from '../../src/files/data-folder.ts';
import { type LedgerOptions, openLedger } from '../../src/ledger/open.ts';
import { OutboxPump } from '../../src/ledger/outbox-pump.ts';
import { readLogPositions } from '../../src/store/log-positions.ts';
import { openReader } from '../../src/store/reader.ts';
import { openStore } from '../../src/store/writer.ts';

export interface PartsOptions {
  readonly ledger?: Partial<LedgerOptions>;
  readonly backups?: Partial<BackupsOptions>;
}

/** Starts the store, the log and the outbox pump of a data folder: a service without its HTTP interface. */
export async function startParts(dataDir: string, { ledger: options = {}, backups: changes = {} }: PartsOptions = {}) {
  const folder = takeDataFolder(dataDir);
  const ledger = await openLedger({ dataDir, logPositions: () => readLogPositions(dataDir), ...options });
  const store = openStore({ dataDir, alertWindowMs: 3_600_000, receiptIntervalMs: 1 });
  const reader = openReader(dataDir);
  const pump = new OutboxPump({
    source: store,
    ledger,
    onRetry: (error) => findings.push(`retry: ${String(error)}`),
    onRefused: (_, error) => findings.push(`refused: ${String(error)}`),
  });
  const findings: string[] = [];
  const backups = new BackupFolder({
    dir: join(dataDir, 'backups'),
    dataDir,
    store,
    ledger,
    verify: (copy) => verifyCopy(copy),
    productVersion: '0.0.0-test',
    now: Date.now,
    onFinding: (message, error) => findings.push(error === undefined ? message : `${message}: ${String(error)}`),
    ...changes,
  });
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await backups.close();
    await pump.idle();
    await pump.close();
    reader.close();
    await store.close();
    await ledger.close();
    folder.release();
  };
  return { dataDir, ledger, store, reader, pump, backups, findings, close };
}

export type Parts = Awaited<ReturnType<typeof startParts>>;
