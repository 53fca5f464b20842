import { constants, existsSync, statSync } from 'node:fs';
import { access, mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readAnchor } from './anchor.ts';
import { DurableLedger, type LedgerOptions } from './durable-ledger.ts';
import { milliseconds } from './heads.ts';
import { Journal } from './journal.ts';
import { KeyRing } from './keys.ts';
import type { LedgerHealth } from './ledger.ts';
import { LmdbStorage } from './lmdb-store.ts';
import { corrupt, Distrust, lost, type Recovered, recover } from './startup.ts';
import { DamagedError, type LedgerStorage } from './storage.ts';

export type { DurableLedger, LedgerOptions };

/** Opens the log in a data folder, or begins one in an empty folder. */
export async function openLedger(options: LedgerOptions): Promise<DurableLedger> {
  const { dataDir, clock = systemClock } = options;
  const anchorPath = options.anchorPath ?? join(dataDir, 'anchor.json');
  const keysFolder = join(dataDir, 'keys');
  const journal = new Journal(join(dataDir, 'journal.ndjson'));
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await checkAnchorFolder(anchorPath);

  let storage: LedgerStorage | undefined;
  let keys = new KeyRing();
  let recovered: Recovered | undefined;
  let health: LedgerHealth = { state: 'ok' };
  let event: 'initialised' | 'start' = 'start';
  try {
    storage = await openStorage(dataDir, anchorPath);
    keys = await KeyRing.load(keysFolder);
    if (keys.damaged.length > 0) throw keysDamaged(keys.damaged);
    if (storage.state !== 'ready') {
      // A crash between these steps: the next start goes on here, with the keys that are there already.
      storage.setState('initialising');
      await keys.create(keysFolder, milliseconds(clock()));
      storage.setState('ready');
      event = 'initialised';
    }
    if (keys.missing().length > 0) throw keysLost(keys.missing());
    const witnesses = {
      anchor: await readAnchor(anchorPath),
      anchorPath,
      journal: await journal.largestHead(),
    };
    recovered = recover(storage, keys, witnesses);
  } catch (error) {
    if (!(error instanceof Distrust)) throw error;
    health = { state: 'degraded', fault: error.fault, advice: error.advice };
    // Everything but the log goes on: people must be able to sign in and see what is wrong.
    if (storage === undefined) keys = await KeyRing.load(keysFolder);
    keys.createEphemeralAccessKey(milliseconds(clock()));
  }
  const ledger = new DurableLedger(options, { storage, keys, recovered, health, journal, anchorPath, clock });
  await ledger.begin(event);
  return ledger;
}

/** ledger.mdb, unless the folder shows that there was one. */
async function openStorage(dataDir: string, anchorPath: string): Promise<LedgerStorage> {
  const path = join(dataDir, 'ledger.mdb');
  const traces = await tracesOfLog(dataDir, anchorPath);
  if (!hasContent(path) && traces.length > 0) throw lost(traces);
  const storage = openFile(path);
  if (stateOf(storage) === 'new' && traces.length > 0) {
    await storage.close();
    throw lost(traces);
  }
  return storage;
}

function openFile(path: string): LmdbStorage {
  try {
    return new LmdbStorage(path);
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw error; // no permission, no such device: not the file's fault
    throw corrupt(`ledger.mdb cannot be opened (${error instanceof Error ? error.message : String(error)})`);
  }
}

function stateOf(storage: LedgerStorage): LedgerStorage['state'] {
  try {
    return storage.state;
  } catch (error) {
    if (error instanceof DamagedError) throw corrupt(error.message);
    throw error;
  }
}

async function tracesOfLog(dataDir: string, anchorPath: string): Promise<string[]> {
  const names = ['journal.ndjson', 'siem.mdb'].filter((name) => existsSync(join(dataDir, name)));
  if (existsSync(anchorPath)) names.unshift('an anchor');
  const keys = await readdir(join(dataDir, 'keys')).catch(() => []);
  return keys.some((name) => name.endsWith('.json')) ? [...names, 'keys'] : names;
}

/** Better now than at the first append: a volume that isn't mounted must not be found out by losing the anchor. */
async function checkAnchorFolder(anchorPath: string): Promise<void> {
  try {
    await access(dirname(anchorPath), constants.W_OK);
  } catch {
    throw new Error(`the folder of the anchor ${anchorPath} is missing or cannot be written to`);
  }
}

function hasContent(path: string): boolean {
  return existsSync(path) && statSync(path).size > 0;
}

function keysDamaged(files: readonly string[]): Distrust {
  return new Distrust('corrupt', `Key files are damaged: ${files.join('; ')}. Put them back from a backup.`);
}

function keysLost(purposes: readonly string[]): Distrust {
  return new Distrust(
    'lost',
    `The folder keys has no active key for ${purposes.join(', ')}. Stop the service and put the key files back from a ` +
      'backup.',
  );
}

function systemClock(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}
