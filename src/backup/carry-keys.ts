import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../durable-file.ts';
import { ended, type KeyFile, KeyFileError, parseKeyFile } from '../ledger/keys/key-file.ts';
import { namesIn } from './files.ts';
import type { Mark } from './mark.ts';

/**
 * What the replaced log knew of keys that the backup doesn't know. Outsiders hold heads and entries that these keys
 * signed, and must be able to verify them for ever; and a key that was revoked stays so.
 *
 * | the replaced folder has | becomes |
 * |---|---|
 * | a key that the backup hasn't | its public half, retired; it covers sizes up to the replaced head's |
 * | the same, revoked | its public half, revoked |
 * | a revoked key that is good in the backup | revoked: a backup must not bring back a key that others hold |
 * | the key that signs in place of such a one | itself: it signs on, from the restored size |
 *
 * A crash in between: the next run writes the same files again.
 */
export async function carryKeys(
  from: string,
  to: string,
  mark: Pick<Mark, 'sth' | 'replaced' | 'started_at'>,
): Promise<void> {
  const replaced = [...(await keysIn(from)).values()];
  const restored = await keysIn(to);
  if (!replaced.some(({ kid }) => restored.has(kid))) return; // another log: its keys are none of this one's
  const toRevoke = replaced.filter(({ kid, svc_state }) => {
    const own = restored.get(kid)?.svc_state;
    return svc_state === 'revoked' && own !== undefined && own !== 'revoked';
  });
  const bereft = new Set(
    toRevoke.filter(({ kid }) => restored.get(kid)?.svc_state === 'active').map((file) => file.svc_purpose),
  );
  for (const file of replaced.filter(({ kid }) => !restored.has(kid))) {
    const signsOn = file.svc_state === 'active' && bereft.has(file.svc_purpose);
    const size = signsOn ? mark.sth?.tree_size : mark.replaced?.tree_size;
    await write(
      to,
      signsOn ? fromSize(file, size ?? 0) : publicHalf(file, size, Date.parse(mark.started_at)),
    );
  }
  // Last: as long as they are good, a run that goes on sees who is to sign in their place.
  for (const file of toRevoke) await write(to, file);
}

/** Entries that told of a key's retirement are those of the lost log; that a key was revoked, this one must tell, too. */
function publicHalf(file: KeyFile, size: number | undefined, timeMs: number): KeyFile {
  if (file.svc_state === 'revoked') return file;
  const { svc_entries: _told, ...rest } = file;
  return file.svc_state === 'retired' ? rest : ended(rest, { state: 'retired' }, size, timeMs);
}

function fromSize(file: KeyFile, size: number): KeyFile {
  return file.svc_from_size === undefined || file.svc_from_size <= size
    ? file
    : { ...file, svc_from_size: size };
}

/** By kid. What is no key file is left where it lies. */
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
