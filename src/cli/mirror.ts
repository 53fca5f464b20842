import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { accuse, audit, type Pin } from '../client/auditor.ts';
import { type SignedCheckpoint, verifyCheckpoint } from '../client/checkpoint.ts';
import { checkExtension } from '../client/consistency.ts';
import { Fault } from '../client/fault.ts';
import { type KeySet, writeKeySet } from '../client/key-set.ts';
import { decodeNote, fetchAllKeys } from '../client/latest.ts';
import { httpLog, type LogSource } from '../client/log-source.ts';
import { canReadEntries, mirrorTree } from '../client/mirror.ts';
import type { SignedHead } from '../client/tree-head.ts';
import type { SizedRoot } from '../tlog/binding.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { type Report, tell } from './audit.ts';
import { CommandError, type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';
import { FolderFiles } from './mirror-folder.ts';
import {
  type CheckpointFlags,
  checkpointOptions,
  checkpointPolicy,
  credentials,
  jsonOption,
  seconds,
  serviceUrl,
  tokenOption,
} from './options.ts';
import { output } from './output.ts';
import { loadPin, saveEvidence, savePin } from './pin-file.ts';
import { progressOption, reporter } from './progress.ts';
import { watch } from './watch.ts';

interface Options extends CheckpointFlags {
  readonly to: string;
  readonly watch?: true;
  readonly interval: number;
  readonly progress?: true;
  readonly token?: string;
  readonly json?: true;
}

export function mirrorCommand(done: (code: ExitCode) => void): Command {
  const command = new Command('mirror')
    .description(
      'keep a verified copy of a log in a folder that any static server can serve (C2SP tlog-tiles)',
    )
    .argument('<url>', 'address of the service', serviceUrl)
    .requiredOption('--to <folder>', 'where the copy is kept, with the pin of the log')
    .option('--watch', 'repeat until stopped or the log misbehaves; report only what is new')
    .option('--interval <seconds>', 'pause between repetitions', seconds, 60);
  for (const option of checkpointOptions()) command.addOption(option);
  return command
    .addOption(progressOption())
    .addOption(tokenOption())
    .addOption(jsonOption())
    .action(async (url: string, options: Options) => done(await run(url, options)));
}

async function run(url: string, options: Options): Promise<ExitCode> {
  const out = output(options.json ?? false);
  const token = credentials(options);
  try {
    if (options.watch === undefined) return tell(out, await once(httpLog(url, token), options));
    return await watch(options.interval * 1000, {
      audit: (signal) => once(httpLog(url, { ...token, signal }), options),
      tell: (report) => tell(out, report),
    });
  } catch (error) {
    if (!isFileError(error)) throw error;
    throw new CommandError(`${options.to}: the folder can not be read or written: ${error.message}`);
  }
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/**
 * One round: the log is audited as `candor audit` does, the folder's checkpoint is compared, what the folder lacks is
 * copied. The checkpoint is written last, so that a reader of the folder, and a run that is killed, always finds a whole
 * log.
 */
async function once(log: LogSource, options: Options): Promise<Report> {
  const root = resolve(options.to);
  const folder = new FolderFiles(root);
  const pinFile = join(root, 'pin.json');
  const pin = await loadPin(pinFile);
  const policy = checkpointPolicy(options) ?? {};
  const now = Date.now();
  const result = await audit(log, pin, { now, checkpoint: policy });
  if (result.status === 'empty') {
    const lines = ['The log is empty: there is nothing to copy yet.'];
    return { exit: exitCodes.ok, state: 'empty', lines, fields: { status: 'empty' } };
  }
  if (result.status === 'fault') return faultReport(result.fault, result.evidence, pinFile);
  const { checkpoint } = result;
  if (checkpoint === undefined) throw new Error('an audit that wants a checkpoint found none');
  const all = await fetchAllKeys(log);
  if (all instanceof Fault) return faultReport(all, undefined, pinFile);
  const keys = new Map([...all, ...(pin?.keys ?? []), ...result.keys]);
  const before = await checkpointIn(folder, pin?.keys ?? keys, policy.logKey && { logKey: policy.logKey });
  const found = before && (await compareWithFolder(log, before, checkpoint, result.pin.head, { keys, pin }));
  if (found !== undefined) return faultReport(found.fault, found.evidence, pinFile);
  if (before !== undefined && checkpoint.size < before.size) return report(before, 'behind', undefined, root);

  const entries = await canReadEntries(log, checkpoint.size);
  if (entries instanceof Fault) return faultReport(entries, undefined, pinFile);
  const onProgress = reporter('entries', options.progress);
  const failed = await mirrorTree(log, folder, checkpoint, {
    from: before?.size ?? 0,
    entries,
    ...(onProgress && { onProgress }),
  });
  if (failed !== undefined) return faultReport(failed, undefined, pinFile);
  await folder.write('keys.json', writeKeySet(keys.values()));
  if (!(await savePin(pinFile, result.pin, pin))) return once(log, options);
  await folder.flush();
  await folder.write('checkpoint', checkpoint.note);
  await folder.flush();
  await folder.removeSuperseded();
  return report(checkpoint, before?.size === checkpoint.size ? 'unchanged' : 'extended', entries, root);
}

/** The checkpoint that the folder serves. Its signature counts: an altered file accuses no log. */
async function checkpointIn(
  folder: FolderFiles,
  keys: KeySet,
  policy: Parameters<typeof verifyCheckpoint>[2],
): Promise<SignedCheckpoint | undefined> {
  const bytes = await folder.read('checkpoint');
  if (bytes === undefined) return undefined;
  const note = decodeNote(bytes);
  const verified = note instanceof Fault ? note : verifyCheckpoint(note, keys, policy);
  if (!(verified instanceof Fault)) return verified;
  throw new CommandError(
    `the checkpoint in the folder is not one of this log (${verified.message}); mirror into another folder`,
    exitCodes.refused,
  );
}

/** Whether the tree of the folder and that of the log's checkpoint are of one log; undefined if so. */
async function compareWithFolder(
  log: LogSource,
  before: SignedCheckpoint,
  checkpoint: SignedCheckpoint,
  head: SignedHead,
  { keys, pin }: { readonly keys: KeySet; readonly pin: Pin | undefined },
): Promise<{ fault: Fault; evidence?: string } | undefined> {
  const found = await extension(log, before, checkpoint);
  if (found === undefined || found instanceof Fault) return found && { fault: found };
  const { fault, ...shown } = found;
  const against = await extension(log, before, head);
  const { code, message } = fault;
  if (against === undefined || against instanceof Fault)
    return {
      fault: new Fault('WRONG_PROOF', `the checkpoint of the folder and that of the log differ: ${message}`),
    };
  const foundAt = new Date().toISOString();
  const about = { code, message, log: log.url, foundAt, ...shown, ...against };
  const pinned = pin && { pinnedKeys: pin.keys };
  return accuse({ ...about, checkpoint: before.note, head, keys, ...pinned }, fault);
}

function extension(log: LogSource, one: SizedRoot, other: SizedRoot) {
  return one.size <= other.size ? checkExtension(log, one, other) : checkExtension(log, other, one);
}

async function faultReport(fault: Fault, evidence: string | undefined, pinFile: string): Promise<Report> {
  const about = { exit: exitCodeOf(fault), fault, state: `fault ${fault.code}` };
  if (evidence === undefined) return { ...about, lines: ['The folder stays as it was.'], fields: {} };
  const path = await saveEvidence(pinFile, evidence, Date.now());
  const lines = [`Evidence is kept in ${path}; the folder stays as it was.`];
  return { ...about, lines, fields: { evidence: path } };
}

const outcomes = {
  extended: 'Copied: every tile was compared with the signed root.',
  unchanged: 'Nothing new.',
  behind: 'The log shows an older checkpoint than the folder has: nothing was changed.',
} as const;

function report(
  { origin, size, root, cosigners }: SignedCheckpoint,
  status: keyof typeof outcomes,
  entries: boolean | undefined,
  folder: string,
): Report {
  const lines = [
    `origin       ${origin}`,
    `size         ${size}`,
    `root         ${bytesToHex(root)}`,
    outcomes[status],
    ...(entries === false
      ? ['Hashes only: without a token that may read entries (--token), entries are not copied.']
      : []),
  ];
  const cosigned_by = cosigners.map(({ name, timeS }) => ({ name, time_s: timeS }));
  const fields = {
    status,
    origin,
    tree_size: size,
    root_hash: bytesToHex(root),
    entries,
    cosigned_by,
    folder,
  };
  return { exit: exitCodes.ok, state: `${status} ${size} ${entries}`, lines, fields };
}
