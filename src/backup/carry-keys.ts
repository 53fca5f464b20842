import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../files/durable-file.ts';
import { ended, type KeyFile, KeyFileError, parseKeyFile } from '../ledger/keys/key-file.ts';
import { namesIn } from './files.ts';
import type { RestoreMarker } from './restore-marker.ts';

/**
 * Copies the keys of the replaced folder, except keys that are revoked in the restored folder. External parties hold
 * heads and entries signed by these keys and must always be able to verify them. The copied keys never sign again.
 *
 * | key in the replaced folder | copied as |
 * |---|---|
 * | active or pending | its public half, retired; it covers sizes up to the replaced head's |
 * | retired | without the reference to its log entries, otherwise unchanged |
 * | revoked | unchanged |
 *
 * After a crash, the next run writes the same files again.
 */
export async function carryKeys(
  from: string,
  to: string,
  marker: Pick<RestoreMarker, 'replaced' | 'started_at'>,
): Promise<void> {
  const replaced = [...(await keysIn(from)).values()];
  const restored = await keysIn(to);
  if (!replaced.some(({ kid }) => restored.has(kid))) return; // the replaced folder held a different log
  for (const file of replaced) {
    const isRevoked = restored.get(file.kid)?.svc_state === 'revoked';
    if (!isRevoked) await write(to, publicHalf(file, marker));
  }
}

/**
 * Returns the public half of a key. The entry about a retirement is in the lost log, so the reference to it is dropped.
 * A revocation is kept unchanged.
 */
function publicHalf(file: KeyFile, { replaced, started_at }: Pick<RestoreMarker, 'replaced' | 'started_at'>): KeyFile {
  if (file.svc_state === 'revoked') return file;
  const { svc_entries: _, ...rest } = file;
  if (file.svc_state === 'retired') return rest;
  return ended(rest, { state: 'retired' }, replaced?.tree_size, Date.parse(started_at));
}

/** Returns key files by kid, ignoring other files. */
async function keysIn(folder: string): Promise<Map<string, KeyFile>> {
  const files = new Map<string, KeyFile>();
  for (const name of (await namesIn(folder)).filter((one) => one.endsWith('.json')).sort()) {
    try {
      const file = parseKeyFile(await readFile(join(folder, name), 'utf8'));
      if (`${file.kid}.json` === name) files.set(file.kid, file);
    } catch (error) {
      if (!(error instanceof KeyFileError)) throw error;
    }
  }
  return files;
}

function write(folder: string, file: KeyFile): Promise<void> {
  return replaceFile(join(folder, `${file.kid}.json`), `${JSON.stringify(file)}\n`, { mode: 0o600 });
}
