import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { parseEvidence, writeEvidence } from '../client/evidence.ts';
import { AuditFault } from '../client/fault.ts';
import { type Pin, parsePin, writePin } from '../client/pin.ts';
import { flushFolder } from '../files/durable-file.ts';
import { ifPresent } from '../files/if-present.ts';
import { CommandError, exitCodes } from '../service/exit-codes.ts';
import { orThrow } from './output.ts';

/**
 * Returns the default path of the pin: one file per log, in the user's state folder (XDG Base Directory Specification).
 */
export function defaultPinFile(url: string): string {
  const folder = process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state');
  return join(folder, 'candor', `${new URL(url).host.replaceAll(/[^a-zA-Z0-9.-]/g, '_')}.pin.json`);
}

/** Loads the pin; undefined if the file doesn't exist. An unreadable pin is an error, never treated as missing. */
export async function loadPin(path: string): Promise<Pin | undefined> {
  const text = await ifPresent(readFile(path, 'utf8')).catch((error: Error) => {
    throw new CommandError(`cannot read the pin file: ${error.message}`);
  });
  return text === undefined ? undefined : orThrow(parsePin(text));
}

/**
 * Replaces the pin atomically: writes a temporary file, flushes and renames it, and flushes the folder.
 * Returns false if the pin on disk is no longer `before`: an update by a concurrent audit is not overwritten.
 */
export async function savePin(path: string, pin: Pin, before: Pin | undefined): Promise<boolean> {
  await mkdir(dirname(resolve(path)), { recursive: true });
  const current = await loadPin(path);
  if ((current && writePin(current)) !== (before && writePin(before))) return false;
  const temporary = `${path}.${process.pid}.new`;
  try {
    await writeNew(temporary, writePin(pin));
    await rename(temporary, path);
    await flushFolder(dirname(resolve(path)));
    return true;
  } catch (error) {
    await rm(temporary, { force: true });
    throw new CommandError(`cannot write the pin file: ${(error as Error).message}`);
  }
}

/**
 * Saves evidence next to the pin under a unique name; existing files are never overwritten. If the evidence can't be
 * saved, the error contains the evidence, and the exit code is that of misbehaviour.
 */
export async function saveEvidence(pinFile: string, evidence: string, now: number): Promise<string> {
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, '-');
  for (let n = 1; ; n++) {
    const path = `${pinFile}.evidence-${stamp}${n === 1 ? '' : `-${n}`}.json`;
    try {
      await mkdir(dirname(resolve(path)), { recursive: true });
      await writeNew(path, evidence);
      await flushFolder(dirname(resolve(path)));
      return path;
    } catch (error) {
      const { code, syscall } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST' && syscall === 'open') continue;
      throw new CommandError(
        `the log misbehaves, and the evidence cannot be saved: ${(error as Error).message}\n${evidence}`,
        exitCodes.misbehaviour,
      );
    }
  }
}

/**
 * Minimum time between two saved files with equal evidence that is not conclusive. With --watch, every round finds the
 * same fault.
 */
const sameEvidenceMs = 3_600_000;
/** Number of newest evidence files that are compared. */
const maxCompared = 10;

/**
 * Returns the path of an evidence file next to the pin, with the same content and less than an hour old; undefined
 * without such a file.
 */
export async function recentEvidence(pinFile: string, text: string, now: number): Promise<string | undefined> {
  const wanted = contentOf(text);
  const folder = dirname(resolve(pinFile));
  const prefix = `${basename(pinFile)}.evidence-`;
  const names = await readdir(folder).catch(() => []);
  for (const name of names
    .filter((one) => one.startsWith(prefix))
    .sort()
    .slice(-maxCompared)) {
    const saved = contentOf(await readFile(join(folder, name), 'utf8').catch(() => ''));
    if (saved === undefined || saved.content !== wanted?.content) continue;
    if (now - Date.parse(saved.foundAt) < sameEvidenceMs) return join(dirname(pinFile), name);
  }
  return undefined;
}

/**
 * Returns the time at which the evidence was found, and the content of the evidence without the parts that differ each
 * time: the auditor's times, the message and the corroboration. Returns undefined if the text is not evidence.
 */
function contentOf(text: string): { readonly content: string; readonly foundAt: string } | undefined {
  const evidence = parseEvidence(text);
  if (evidence instanceof AuditFault) return undefined;
  const { foundAt, pinnedAt: _, headSeenAt: __, corroboration: ___, ...rest } = evidence;
  return { content: writeEvidence({ ...rest, foundAt: '', message: '' }), foundAt };
}

/** Saves a copy of the pin that is about to be replaced, under a unique name. */
export async function keepPin(path: string, pin: Pin, now: number): Promise<string> {
  const saved = `${path}.before-${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}`;
  try {
    await writeNew(saved, writePin(pin));
    await flushFolder(dirname(resolve(saved)));
    return saved;
  } catch (error) {
    throw new CommandError(`cannot save the previous pin: ${(error as Error).message}`);
  }
}

/** Writes and flushes a new file. An existing file is an error. */
function writeNew(path: string, text: string): Promise<void> {
  return writeFile(path, text, { flag: 'wx', mode: 0o644, flush: true });
}
