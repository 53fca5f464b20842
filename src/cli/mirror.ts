import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { audit } from '../client/auditor.ts';
import { type SignedCheckpoint, verifyCheckpoint } from '../client/checkpoint.ts';
import { checkEither } from '../client/consistency.ts';
import type { Evidence } from '../client/evidence.ts';
import { AuditFault } from '../client/fault.ts';
import { faultWithEvidence } from '../client/fault-evidence.ts';
import { type KeySet, writeKeySet } from '../client/key-set.ts';
import { decodeNote, fetchAllKeys } from '../client/latest.ts';
import type { LogSource } from '../client/log-source.ts';
import { canReadEntries, mirrorTree } from '../client/mirror.ts';
import { CommandError, type ExitCode, exitCodes } from '../service/exit-codes.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { FolderFiles } from './mirror-folder.ts';
import { checkpointPolicy, serviceUrl } from './options.ts';
import { cosignerFields } from './output.ts';
import { loadPin, savePin } from './pin-file.ts';
import { reporter } from './progress.ts';
import { emptyReport, faultReport, type Report, saveReportEvidence } from './report.ts';
import { addWatchOptions, runRounds, type WatchOptions } from './watch-options.ts';

interface Options extends WatchOptions {
  readonly to: string;
  readonly recheck?: true;
}

export function mirrorCommand(done: (code: ExitCode) => void): Command {
  const command = new Command('mirror')
    .description('keep a verified copy of a log in a folder that any static file server can serve (C2SP tlog-tiles)')
    .argument('<url>', 'URL of the service', serviceUrl)
    .requiredOption('--to <folder>', 'folder for the copy and the pin of the log')
    .option('--recheck', 'also verify every file in the folder, and fetch damaged and missing files again');
  return addWatchOptions(command).action(async (url: string, options: Options) => done(await run(url, options)));
}

async function run(url: string, options: Options): Promise<ExitCode> {
  try {
    return await runRounds(url, options, (log) => once(log, options));
  } catch (error) {
    if (!isFileError(error)) throw error;
    throw new CommandError(`--to: cannot read or write ${options.to}: ${error.message}`);
  }
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/**
 * Runs one round: audits the log as `candor audit` does, compares it with the folder's checkpoint, and copies missing
 * files. The checkpoint is written last, so that readers, and the next run after a crash, always find a complete log.
 */
async function once(log: LogSource, options: Options): Promise<Report> {
  const root = resolve(options.to);
  const folder = new FolderFiles(root);
  const pinFile = join(root, 'pin.json');
  const pin = await loadPin(pinFile);
  const policy = checkpointPolicy(options) ?? {};
  const now = Date.now();
  const result = await audit(log, pin, { now, checkpoint: policy });
  if (result.status === 'empty') return emptyReport('The log is empty: there is nothing to copy yet.');
  const rejected = async (fault: AuditFault, evidence?: string): Promise<Report> => {
    const about = faultReport(fault, await saveReportEvidence(evidence, pinFile, now), 'folder');
    if (evidence !== undefined) return about;
    const { fingerprint: key } = fault;
    const advice =
      key === undefined
        ? []
        : [`If the operator confirms the key with fingerprint ${key}, mirror the log into a new folder.`];
    return { ...about, lines: ['The folder was not changed.', ...advice] };
  };
  if (result.status === 'fault') return rejected(result.fault, result.evidence);
  const { checkpoint } = result;
  if (checkpoint === undefined) throw new Error('internal error: the audit returned no checkpoint');
  const all = await fetchAllKeys(log);
  if (all instanceof AuditFault) return rejected(all);
  const keys = new Map([...all, ...(pin?.keys ?? []), ...result.keys]);
  const before = await checkpointIn(folder, pin?.keys ?? keys, policy.logKey && { logKey: policy.logKey });
  // The checkpoint was verified with the key of --vkey or, without --vkey, with a pinned key.
  const own = policy.logKey === undefined ? [] : [[checkpoint.key.kid, checkpoint.key] as const];
  const pinnedKeys = new Map([...(pin?.keys ?? []), ...own]);
  const found =
    before && (await compareWithFolder(log, before, checkpoint, { head: result.pin.head, keys, pinnedKeys }));
  if (found !== undefined) return rejected(found.fault, found.evidence);
  const { recheck = false } = options;
  const ahead = before !== undefined && checkpoint.size < before.size ? before : undefined;
  if (ahead !== undefined && !recheck) return report(ahead, 'behind', undefined, root);

  const entries = await canReadEntries(log, checkpoint.size);
  if (entries instanceof AuditFault) return rejected(entries);
  const onProgress = reporter('entries', options.progress);
  const repaired: string[] = [];
  const failed = await mirrorTree(log, folder, ahead ?? checkpoint, {
    from: before?.size ?? 0,
    entries,
    recheck,
    onRepaired: (path) => repaired.push(path),
    ...(onProgress && { onProgress }),
  });
  if (failed !== undefined) return rejected(failed);
  if (ahead !== undefined) {
    await folder.flush();
    return report(ahead, 'rechecked', entries, root, repaired);
  }
  await folder.write('keys.json', writeKeySet(keys.values()));
  if (!(await savePin(pinFile, result.pin, pin))) return once(log, options);
  await folder.flush();
  await folder.write('checkpoint', checkpoint.note);
  await folder.flush();
  await folder.removeSuperseded();
  const status = recheck ? 'rechecked' : before?.size === checkpoint.size ? 'unchanged' : 'extended';
  return report(checkpoint, status, entries, root, repaired);
}

/**
 * Returns the checkpoint in the folder; undefined without a checkpoint. Verifies the signature, because an altered file
 * must not count as evidence against the log.
 */
async function checkpointIn(
  folder: FolderFiles,
  keys: KeySet,
  policy: Parameters<typeof verifyCheckpoint>[2],
): Promise<SignedCheckpoint | undefined> {
  const bytes = await folder.read('checkpoint');
  if (bytes === undefined) return undefined;
  const note = decodeNote(bytes);
  const verified = note instanceof AuditFault ? note : verifyCheckpoint(note, keys, policy);
  if (!(verified instanceof AuditFault)) return verified;
  throw new CommandError(
    `the checkpoint in the folder is not from this log (${verified.message}); mirror into another folder`,
    exitCodes.refused,
  );
}

/**
 * Checks that the checkpoint in the folder and the log's checkpoint belong to one tree; returns undefined if they do.
 */
async function compareWithFolder(
  log: LogSource,
  before: SignedCheckpoint,
  checkpoint: SignedCheckpoint,
  trust: Pick<Evidence, 'head' | 'keys' | 'pinnedKeys'>,
): Promise<{ fault: AuditFault; evidence?: string } | undefined> {
  const found = await checkEither(log, before, checkpoint);
  if (found === undefined || found instanceof AuditFault) return found && { fault: found };
  const { fault, ...details } = found;
  const { code, message } = fault;
  const about = { code, message, log: log.url, foundAt: new Date().toISOString(), ...details };
  return faultWithEvidence({ ...about, ...trust, checkpoints: [before.note, checkpoint.note] }, fault, log);
}

/** Maximum number of repaired files in a report. */
const maxNamed = 20;

const outcomes = {
  extended: 'Copied: every tile was compared with the signed root.',
  unchanged: 'Nothing new.',
  rechecked: 'Rechecked: every file in the folder was compared with the signed root.',
  behind: 'The log serves an older checkpoint than the folder has: nothing was changed.',
} as const;

function report(
  checkpoint: SignedCheckpoint,
  status: keyof typeof outcomes,
  entries: boolean | undefined,
  folder: string,
  repaired: readonly string[] = [],
): Report {
  const { origin, size, root } = checkpoint;
  const lines = [
    `origin       ${origin}`,
    `size         ${size}`,
    `root         ${bytesToHex(root)}`,
    outcomes[status],
    ...repaired.slice(0, maxNamed).map((path) => `Fetched again: ${path}`),
    ...(repaired.length > maxNamed ? [`and ${repaired.length - maxNamed} more files.`] : []),
    ...(entries === false ? ['Hashes only: copying entries requires a token that may read them (--token).'] : []),
  ];
  const fields = {
    status,
    origin,
    tree_size: size,
    root_hash: bytesToHex(root),
    entries,
    cosigned_by: cosignerFields(checkpoint),
    folder,
    ...(status === 'rechecked' ? { repaired: repaired.length, files: repaired.slice(0, maxNamed) } : {}),
  };
  // The state is equal if this round found nothing new, so that `--watch` does not report it again.
  const state = `${status === 'behind' ? 'behind' : 'copied'} ${size} ${entries} ${repaired.join(' ')}`;
  return { exit: exitCodes.ok, state, lines, fields };
}
