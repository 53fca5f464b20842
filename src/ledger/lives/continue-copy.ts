import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { uuid7 } from '../../uuid.ts';
import { knownLife, lastHeadIn, previousOf } from '../check/known-life.ts';
import type { LedgerOptions } from '../durable-ledger.ts';
import { milliseconds } from '../heads.ts';
import { Journal } from '../journal.ts';
import type { LifeStart } from '../keys/key-file.ts';
import { KeyRing } from '../keys/key-ring.ts';
import { openAgent } from '../keys/open-agent.ts';
import { startLife } from '../keys/start-life.ts';
import type { LedgerStatus } from '../ledger.ts';
import { openLedger } from '../open.ts';
import type { SignedHead } from '../storage/storage.ts';
import { recordInstance } from './instance.ts';
import { StoreAge } from './store-age.ts';

/** Thrown if there is no log to continue. The message is addressed to the operator. */
export class NoLogError extends Error {
  override readonly name = 'NoLogError';
}

type Folder = Pick<
  LedgerOptions,
  'dataDir' | 'anchorPath' | 'keyPassphrase' | 'agent' | 'origin' | 'logPositions' | 'clock'
>;

/** Returns the start of a life at the current time. */
export function lifeStartOf(
  reason: LifeStart['reason'],
  { clock }: Pick<LedgerOptions, 'clock'>,
  previous: Pick<LifeStart, 'previous'>,
): LifeStart {
  const nowMs = clock === undefined ? Date.now() : milliseconds(clock());
  return { reason, entry_id: uuid7(nowMs), at: new Date(nowMs).toISOString(), ...previous };
}

/**
 * Continues a copy of a data folder as a separate life, because the original may run again. After a crash between the
 * key change and the entry, the next start logs the life.
 *
 * @throws NoLogError
 */
export async function continueCopy(folder: Folder): Promise<LedgerStatus> {
  const { dataDir, anchorPath = join(dataDir, 'anchor.json') } = folder;
  const head = requireLog(dataDir);
  const keys = KeyRing.load(join(dataDir, 'keys'));
  await keys.unlock(folder.keyPassphrase);
  const agent = await openAgent(dataDir, folder.agent, keys, () => undefined);
  const start = lifeStartOf('copied', folder, previousOf(await knownLife(dataDir, anchorPath)));
  await startLife(keys, { start, origin: folder.origin, fromSize: head?.size ?? 0 });
  await agent?.close();
  await recordInstance(dataDir);
  return openAndClose(folder);
}

/** Opens the log once, so that the entry of a life that already has its keys is appended. */
export async function openAndClose(folder: Folder): Promise<LedgerStatus> {
  const ledger = await openLedger(folder);
  try {
    return await ledger.status();
  } finally {
    await ledger.close();
  }
}

/**
 * Records that the folder was moved and the original no longer exists: the life continues here, and the journal gets a
 * line about the move.
 *
 * @throws NoLogError
 */
export async function recordMove({ dataDir, clock }: Folder): Promise<void> {
  const head = requireLog(dataDir);
  await recordInstance(dataDir);
  const at = clock === undefined ? new Date() : new Date(milliseconds(clock()));
  const line = { event: 'moved', at, head, health: { state: 'ok' } } as const;
  await new Journal(join(dataDir, 'journal.ndjson')).write(line);
}

/**
 * Accepts that siem.mdb is an older copy, and continues the log with it.
 *
 * @throws NoLogError
 */
export async function acceptOlderStore({ dataDir }: Folder): Promise<void> {
  const head = requireLog(dataDir);
  await new StoreAge(dataDir).accept(head?.size ?? 0);
}

function requireLog(dataDir: string): SignedHead | undefined {
  const path = join(dataDir, 'ledger.mdb');
  if (!existsSync(path)) throw new NoLogError(`there is no ledger.mdb in ${dataDir}`);
  return lastHeadIn(path);
}
