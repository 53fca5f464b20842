import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parseEvidence, writeEvidence } from '../client/evidence.ts';
import { Fault } from '../client/fault.ts';
import { type Pin, parsePin, writePin } from '../client/pin.ts';
import { CommandError, exitCodes } from './exit-codes.ts';
import { orThrow } from './output.ts';

/** One file a log, under the user's state folder (XDG Base Directory Specification). */
export function defaultPinFile(url: string): string {
  const folder = process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state');
  return join(folder, 'candor', `${new URL(url).host.replaceAll(/[^a-zA-Z0-9.-]/g, '_')}.pin.json`);
}

/** Undefined where there is no pin yet. A pin that can't be read is never taken for none. */
export async function loadPin(path: string): Promise<Pin | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CommandError(`the pin file can not be read: ${(error as Error).message}`);
  }
  return orThrow(parsePin(text));
}

/**
 * After any crash the old or the new pin is there, whole: written beside it, flushed, renamed, the folder flushed.
 * False where the pin is no longer `before`, which was loaded: what another audit moved meanwhile isn't moved back.
 */
export async function savePin(path: string, pin: Pin, before: Pin | undefined): Promise<boolean> {
  await mkdir(dirname(resolve(path)), { recursive: true });
  const there = await loadPin(path);
  if ((there && writePin(there)) !== (before && writePin(before))) return false;
  const beside = `${path}.${process.pid}.new`;
  try {
    await writeNew(beside, writePin(pin));
    await rename(beside, path);
    await flushFolder(path);
    return true;
  } catch (error) {
    await rm(beside, { force: true });
    throw new CommandError(`the pin file can not be written: ${(error as Error).message}`);
  }
}

/**
 * Keeps evidence beside the pin, under a name of its own; nothing is ever overwritten. Where it can't be kept, the
 * command ends as it does with misbehaviour all the same, and tells it all.
 */
export async function saveEvidence(pinFile: string, evidence: string, now: number): Promise<string> {
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, '-');
  for (let n = 1; ; n++) {
    const path = `${pinFile}.evidence-${stamp}${n === 1 ? '' : `-${n}`}.json`;
    try {
      await mkdir(dirname(resolve(path)), { recursive: true });
      await writeNew(path, evidence);
      await flushFolder(path);
      return path;
    } catch (error) {
      const { code, syscall } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST' && syscall === 'open') continue;
      throw new CommandError(
        `the log misbehaves, and the evidence can not be written: ${(error as Error).message}\n${evidence}`,
        exitCodes.misbehaviour,
      );
    }
  }
}

/** A watcher finds the same fault in each round: the same evidence that does not convict is kept once an hour. */
const sameEvidenceMs = 3_600_000;
/** The newest files that are looked at. */
const lookedAt = 10;

/** A file beside the pin, less than an hour old, that shows the same as this evidence. */
export async function recentEvidence(
  pinFile: string,
  text: string,
  now: number,
): Promise<string | undefined> {
  const shown = contentOf(text);
  const folder = dirname(resolve(pinFile));
  const prefix = `${basename(pinFile)}.evidence-`;
  const names = await readdir(folder).catch(() => []);
  for (const name of names
    .filter((one) => one.startsWith(prefix))
    .sort()
    .slice(-lookedAt)) {
    const kept = contentOf(await readFile(join(folder, name), 'utf8').catch(() => ''));
    if (kept === undefined || kept.content !== shown?.content) continue;
    if (now - Date.parse(kept.foundAt) < sameEvidenceMs) return join(dirname(pinFile), name);
  }
  return undefined;
}

/** The evidence without the times of its auditor, and without cosigned checkpoints, which change with each cosignature. */
function contentOf(text: string): { readonly content: string; readonly foundAt: string } | undefined {
  const evidence = parseEvidence(text);
  if (evidence instanceof Fault) return undefined;
  const { foundAt, pinnedAt: _, headSeenAt: __, corroboration: ___, ...rest } = evidence;
  return { content: writeEvidence({ ...rest, foundAt: '', message: '' }), foundAt };
}

/** Keeps the pin that is to be replaced beside it, under a name of its own. */
export async function keepPin(path: string, pin: Pin, now: number): Promise<string> {
  const kept = `${path}.before-${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}`;
  try {
    await writeNew(kept, writePin(pin));
    await flushFolder(kept);
    return kept;
  } catch (error) {
    throw new CommandError(`cannot keep the pin before: ${(error as Error).message}`);
  }
}

async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o644);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function flushFolder(path: string): Promise<void> {
  const folder = await open(dirname(resolve(path)), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
