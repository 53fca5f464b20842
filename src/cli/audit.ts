import { Command } from 'commander';
import { type AuditResult, audit } from '../client/auditor.ts';
import type { SignedCheckpoint } from '../client/checkpoint.ts';
import { auditEntries, type CheckedRange } from '../client/entries.ts';
import { Fault } from '../client/fault.ts';
import { emptyTree } from '../client/leaf-audit.ts';
import { httpLog, type LogSource } from '../client/log-source.ts';
import type { CheckedEntries, Pin } from '../client/pin.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';
import { nativeVerifier } from './native-ed25519.ts';
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
import { type Field, headFields, headLines, type Output, output } from './output.ts';
import { defaultPinFile, loadPin, saveEvidence, savePin } from './pin-file.ts';
import { progressOption, reporter } from './progress.ts';
import { watch } from './watch.ts';

interface Options extends CheckpointFlags {
  readonly state?: string;
  readonly entries?: true;
  readonly allEntries?: true;
  readonly maxAge?: number;
  readonly strictKeys?: true;
  readonly watch?: true;
  readonly interval: number;
  readonly progress?: true;
  readonly token?: string;
  readonly json?: true;
}

/** What one audit found, before anybody is told. */
export interface Report {
  readonly exit: ExitCode;
  readonly fault?: Fault;
  readonly lines: readonly string[];
  readonly fields: Readonly<Record<string, Field>>;
  /** Changes when there is something new to tell. */
  readonly state: string;
}

export function auditCommand(done: (code: ExitCode) => void): Command {
  const command = new Command('audit')
    .description(
      'check that a log still contains all that it contained: pin its head, or hold it to the pinned one',
    )
    .argument('<url>', 'address of the service', serviceUrl)
    .option('--state <file>', 'where the pin is kept (default: in the state folder, one file a log)')
    .option(
      '--entries',
      'fetch the entries since the last time too; check each, and every tile of hashes over them',
    )
    .option('--all-entries', 'the same from the first entry on, also those that were checked before')
    .option('--max-age <seconds>', 'refuse a head older than this, and count no older cosignature', seconds)
    .option(
      '--strict-keys',
      'refuse a head by a key that no head of the pinned key vouches for (after a revocation: pin anew)',
    )
    .option('--watch', 'repeat until stopped or the log misbehaves; tell only what is new')
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
  if (options.watch === undefined) return tell(out, await once(httpLog(url, token), options));
  return watch(options.interval * 1000, {
    audit: (signal) => once(httpLog(url, { ...token, signal }), options),
    tell: (report) => tell(out, report),
  });
}

/** One audit. The pin moves only when everything that was asked for has been verified. */
async function once(log: LogSource, options: Options): Promise<Report> {
  const file = options.state ?? defaultPinFile(log.url);
  const pin = await loadPin(file);
  const now = Date.now();
  const checkpoint = checkpointPolicy(options);
  const result = await audit(log, pin, {
    now,
    ...(options.maxAge !== undefined && { maxAgeMs: options.maxAge * 1000 }),
    ...(options.strictKeys === true && { strictKeys: true }),
    ...(checkpoint && { checkpoint }),
  });
  if (result.status === 'empty') {
    const lines = ['The log is empty: nothing critical has happened yet.'];
    return { exit: exitCodes.ok, state: 'empty', lines, fields: { status: 'empty' } };
  }
  if (result.status === 'fault') return faultReport(result.fault, await keep(result.evidence, file, now));
  const wanted = options.entries ?? options.allEntries ?? false;
  const checked = wanted ? await checkEntries(log, pin, result, options) : undefined;
  if (checked instanceof Fault) return faultReport(checked);
  const { head } = result.pin;
  const entries = checked === undefined ? result.pin.entries : { head, edge: checked.tree.edge };
  const saved = await savePin(file, { ...result.pin, ...(entries && { entries }) }, pin);
  if (!saved) return once(log, options);
  return soundReport(result, checked, entriesBefore(pin, options)?.head.size ?? 0, file);
}

/** Up to where entries needn't be checked again. */
function entriesBefore(pin: Pin | undefined, { allEntries }: Options): CheckedEntries | undefined {
  return allEntries ? undefined : pin?.entries;
}

function checkEntries(
  log: LogSource,
  pin: Pin | undefined,
  { pin: next, keys }: Sound,
  options: Options,
): Promise<CheckedRange | Fault> {
  const before = entriesBefore(pin, options);
  const start = before === undefined ? emptyTree : { size: before.head.size, edge: before.edge };
  const onProgress = reporter('entries', options.progress);
  return auditEntries(
    log,
    { head: next.head, keys },
    {
      start,
      verify: nativeVerifier(),
      ...(onProgress && { onProgress }),
    },
  );
}

interface Kept {
  readonly path: string;
  readonly convicts: boolean;
}

async function keep(text: string | undefined, file: string, now: number): Promise<Kept | undefined> {
  if (text === undefined) return undefined;
  const { convicts } = JSON.parse(text) as { convicts: boolean };
  return { path: await saveEvidence(file, text, now), convicts };
}

function faultReport(fault: Fault, kept?: Kept): Report {
  const about = { exit: exitCodeOf(fault), fault, state: `fault ${fault.code}` };
  if (kept === undefined) return { ...about, lines: [], fields: {} };
  const { path, convicts } = kept;
  const lines = [
    `Evidence is kept in ${path}; the pin stays as it was.`,
    convicts
      ? 'It convicts the log by itself: candor verify shows it to anybody.'
      : "It does not prove itself: compare both heads with the operator's journal, out of band.",
  ];
  return { ...about, lines, fields: { evidence: path, convicts } };
}

type Sound = Exclude<AuditResult, { status: 'empty' | 'fault' }>;

function soundReport(result: Sound, checked: CheckedRange | undefined, from: number, file: string): Report {
  const { status, pin, key, checkpoint, newKey } = result;
  const lines = [...headLines(pin.head, key), ...verdictLines[status](result, file)];
  if (newKey === 'vouched')
    lines.push('Its key took over since the pin: the old key signed a head that covers its naming.');
  else if (newKey !== undefined)
    lines.push(
      `Nothing vouches for its key, which is new since the pin (${newKey.message}): compare the fingerprint with ` +
        'one that the operator tells.',
    );
  lines.push(
    checkpoint === undefined
      ? 'The log serves no checkpoint to compare with.'
      : `Checkpoint of ${checkpoint.origin}, size ${checkpoint.size}: the same log${cosigned(checkpoint)}.`,
  );
  if (checked !== undefined)
    lines.push(
      from === pin.head.size
        ? 'No entries since those that were verified before.'
        : `Entries ${from} to ${pin.head.size - 1} and their tiles: verified.`,
    );
  const revoked = checked?.byRevokedKeys ?? 0;
  if (revoked > 0)
    lines.push(`${revoked} of them are signed by a key that was revoked after they were logged.`);
  const fields = {
    status,
    ...headFields(pin.head, key),
    new_key: newKey !== undefined,
    key_vouched: newKey === undefined ? undefined : newKey === 'vouched',
    from_size: result.status === 'pinned' ? undefined : result.from,
    checkpoint: checkpoint && {
      origin: checkpoint.origin,
      tree_size: checkpoint.size,
      cosigned_by: checkpoint.cosigners.map(({ name, timeS }) => ({ name, time_s: timeS })),
    },
    entries: checked && { from, to: checked.tree.size, by_revoked_keys: revoked },
    state: file,
  };
  return { exit: exitCodes.ok, state: `size ${pin.head.size}`, lines, fields };
}

/** Who of the witnesses that were asked for. */
function cosigned({ cosigners }: SignedCheckpoint): string {
  return cosigners.length === 0 ? '' : `, cosigned by ${cosigners.map(({ name }) => name).join(', ')}`;
}

const verdictLines: Record<Sound['status'], (result: Sound, file: string) => string[]> = {
  pinned: (_, file) => [
    `Pinned in ${file}. Compare the fingerprint with the one that the operator prints at start.`,
  ],
  unchanged: () => ['Consistent: the same tree as pinned.'],
  extended: (result) => [
    `Consistent: extends the pinned tree of ${result.status === 'pinned' ? 0 : result.from}.`,
  ],
};

export function tell(out: Output, { exit, fault, lines, fields }: Report): ExitCode {
  const at = { at: new Date().toISOString() };
  if (fault === undefined) {
    out.result(lines, { ...fields, ...at });
    return exit;
  }
  const code = out.fault(fault, { ...fields, ...at });
  if (lines.length > 0) process.stderr.write(`${lines.join('\n')}\n`);
  return code;
}
