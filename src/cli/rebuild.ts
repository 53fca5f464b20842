import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { AuditFault } from '../client/fault.ts';
import { parsePin } from '../client/pin.ts';
import { parseTreeHead } from '../client/tree-head.ts';
import type { RebuildOutcome, RebuildReport } from '../ledger/check/rebuild.ts';
import type { LedgerOptions } from '../ledger/open.ts';
import type { SignedHead } from '../ledger/storage/storage.ts';
import { CommandError, type ExitCode, exitCodes } from '../service/exit-codes.ts';
import { bytesToHex } from '../tlog/hex.ts';
import {
  anchorOption,
  type DataFolderOptions,
  dataDirOption,
  dataFolderConfig,
  orFail,
} from './data-folder-options.ts';
import { lines as foundLines } from './fsck.ts';
import { jsonOption } from './options.ts';
import { type Field, output } from './output.ts';
import { progressOption, reporter } from './progress.ts';
import { readText } from './read-input.ts';

interface Options extends DataFolderOptions {
  readonly head?: readonly string[];
  readonly acceptLoss?: true;
  readonly dryRun?: true;
  readonly beginAnew?: true;
  readonly moved?: true;
  readonly newLife?: true;
  readonly acceptOlderStore?: true;
  readonly json?: true;
  readonly progress?: true;
}

export function rebuildCommand(done: (code: ExitCode) => void): Command {
  return new Command('rebuild')
    .description('rebuild the transparency log of a stopped service from its readable data; the old file is kept')
    .addOption(dataDirOption())
    .addOption(anchorOption())
    .option(
      '--head <file>',
      "a signed head from another source, such as an auditor's pin; repeatable",
      (file: string, others: readonly string[] = []) => [...others, file],
    )
    .option('--dry-run', 'only report what could be recovered and what is lost')
    .option(
      '--accept-loss',
      'continue without the missing signed entries, as a new life of the log with new keys; visible to auditors',
    )
    .option('--begin-anew', 'begin a new log after the old one was lost; remains of the old one are moved aside')
    .addOption(
      new Option('--moved', 'the data folder was moved and the original will never run again').conflicts([
        ...['acceptLoss', 'beginAnew', 'newLife', 'dryRun'],
      ]),
    )
    .addOption(
      new Option(
        '--new-life',
        'the data folder is a copy and the original may run again: give the copy new keys and a new origin',
      ).conflicts(['acceptLoss', 'beginAnew', 'dryRun']),
    )
    .addOption(
      new Option(
        '--accept-older-store',
        'continue with a siem.mdb that is older than the log; data that it lacks is lost',
      ).conflicts(['acceptLoss', 'beginAnew', 'dryRun', 'moved', 'newLife']),
    )
    .addOption(progressOption())
    .addOption(jsonOption())
    .action(async (options: Options) => done(await run(options)));
}

async function run(options: Options): Promise<ExitCode> {
  const heads = await Promise.all((options.head ?? []).map(readHead));
  const { takeDataFolder } = await import('../files/data-folder.ts');
  const config = await dataFolderConfig(options);
  const folder = await orFail(() => takeDataFolder(config.data_dir));
  const anchorPath = config['ledger.anchor_path'];
  const { keySettings } = await import('../config/part-settings.ts');
  const { readLogPositions } = await import('../store/log-positions.ts');
  const folderOptions = {
    dataDir: config.data_dir,
    ...(anchorPath === undefined ? {} : { anchorPath }),
    ...keySettings(config),
    logPositions: () => readLogPositions(config.data_dir),
  };
  try {
    if (options.moved === true) return await move(folderOptions, options);
    if (options.acceptOlderStore === true) return await acceptStore(folderOptions, options);
    if (options.newLife === true) return await continueAsCopy(folderOptions, options);
    if (options.beginAnew === true) return await begin(folderOptions, options);
    return await save(folderOptions, heads, options);
  } catch (error) {
    if (!(error instanceof Error && ('syscall' in error || expected.includes(error.name)))) throw error;
    throw new CommandError(error.message);
  } finally {
    folder.release();
  }
}

/** Names of errors with messages for the operator. */
const expected = ['LogThereError', 'NoLogError', 'PassphraseError'];

type FolderOptions = Pick<
  LedgerOptions,
  'dataDir' | 'anchorPath' | 'keyPassphrase' | 'agent' | 'origin' | 'logPositions'
>;

async function move(folderOptions: FolderOptions, options: Options): Promise<ExitCode> {
  const { recordMove } = await import('../ledger/lives/continue-copy.ts');
  await recordMove(folderOptions);
  const line = 'The log continues here with its keys. Make sure that the original never runs again.';
  output(options.json ?? false).result([line], { status: 'moved', data_dir: folderOptions.dataDir });
  return exitCodes.ok;
}

async function acceptStore(folderOptions: FolderOptions, options: Options): Promise<ExitCode> {
  const { acceptOlderStore } = await import('../ledger/lives/continue-copy.ts');
  await acceptOlderStore(folderOptions);
  const line = 'The next start continues with siem.mdb. Log entries that it lacks are no longer reported.';
  output(options.json ?? false).result([line], { status: 'accepted', data_dir: folderOptions.dataDir });
  return exitCodes.ok;
}

async function continueAsCopy(folderOptions: FolderOptions, options: Options): Promise<ExitCode> {
  const { continueCopy } = await import('../ledger/lives/continue-copy.ts');
  const { life, checkpoint_vkey, size, health } = await continueCopy(folderOptions);
  if (health.state === 'degraded') throw new CommandError(health.advice, exitCodes.degraded);
  output(options.json ?? false).result(
    [
      `This copy continues the log as life ${life?.id ?? ''}, with ${size} entries.`,
      `vkey         ${checkpoint_vkey}`,
      'Auditors and witnesses treat it as a new log: send them the vkey.',
    ],
    { status: 'new_life', life: life?.id, tree_size: size, checkpoint_vkey },
  );
  return exitCodes.ok;
}

async function save(folderOptions: FolderOptions, heads: readonly SignedHead[], options: Options): Promise<ExitCode> {
  const { rebuild } = await import('../ledger/check/rebuild.ts');
  if (!existsSync(join(folderOptions.dataDir, 'ledger.mdb'))) {
    throw new CommandError(
      `there is no ledger.mdb in ${folderOptions.dataDir} to rebuild; run \`candor restore <backup>\`, or without a ` +
        'backup `candor rebuild --begin-anew` to begin a new log',
    );
  }
  const wanted = options.progress ?? process.stderr.isTTY;
  const reporters = new Map<string, ReturnType<typeof reporter>>();
  const report = await rebuild({
    ...folderOptions,
    heads,
    acceptLoss: options.acceptLoss ?? false,
    dryRun: options.dryRun ?? false,
    onProgress({ step, leaves, total }) {
      if (!reporters.has(step)) reporters.set(step, reporter(`${step}: leaves`, wanted));
      reporters.get(step)?.(leaves, total);
    },
  });
  output(options.json ?? false).result(lines(report), fields(report));
  return codes[report.outcome];
}

async function begin(folderOptions: FolderOptions, options: Options): Promise<ExitCode> {
  const { beginNewLog } = await import('../ledger/check/begin-new-log.ts');
  const { kept, moved, replaced } = await beginNewLog({
    ...folderOptions,
    evenIfThere: options.acceptLoss ?? false,
  });
  const size = replaced?.size ?? 0;
  output(options.json ?? false).result(
    [
      'A new log with new keys was begun.',
      `the old one  ${replaced === undefined ? 'of unknown size' : `had at least ${size} leaves`}`,
      `kept         ${moved.join(', ') || 'nothing'} in ${kept}`,
      'Auditors treat it as a new log: tell them the reason and the fingerprint of the new key.',
    ],
    { status: 'begun', kept, moved, replaced_tree_size: replaced?.size },
  );
  return exitCodes.ok;
}

const codes = {
  whole: exitCodes.ok,
  rebuilt: exitCodes.ok,
  accepted: exitCodes.ok,
  planned: exitCodes.ok,
  refused: exitCodes.degraded,
  hopeless: exitCodes.degraded,
} as const satisfies Record<RebuildOutcome, ExitCode>;

const sentences = {
  whole: 'Nothing to do: the log is intact and has every entry that is known to be signed.',
  rebuilt: 'The log was rebuilt and verified.',
  accepted: 'The log is intact and continues as a new life, with new keys and a new origin.',
  planned: 'Nothing was changed: `candor rebuild` would do this.',
  refused:
    'Nothing was changed: signed entries would be missing. Look for a newer backup first; without one, ' +
    '`candor rebuild --accept-loss` continues without them, visible to auditors.',
  hopeless:
    'Nothing was changed: no signed head matches the entries. An auditor may have one (--head <pin>); ' +
    'otherwise run `candor restore --replace <backup>`, or `candor rebuild --begin-anew --accept-loss` for a new log.',
} as const satisfies Record<RebuildOutcome, string>;

function lines(report: RebuildReport): string[] {
  const { outcome, found, head, previous, lost, kept } = report;
  return [
    ...foundLines(found).slice(0, 20),
    '',
    `recovered    ${head?.size ?? 0} entries, under ${head === undefined ? 'no head' : `a head signed by ${head.keyId}`}`,
    `signed       at least ${previous?.size ?? 0} entries`,
    ...(lost.to > lost.from
      ? [`lost         entries ${lost.from} to ${lost.to - 1}${lost.why ? `: ${lost.why}` : ''}`]
      : []),
    ...[...lost.ids].slice(0, 50).map(([index, id]) => `             ${index}  ${id}`),
    ...(lost.ids.size > 50 ? [`             and ${lost.ids.size - 50} more (--json lists up to 1,000)`] : []),
    ...(lost.headCount > 0 ? [`heads        ${lost.headCount} signed heads are lost; auditors may have them`] : []),
    ...(lost.overlookedHeads > 0
      ? [
          `history      lacks at least ${lost.overlookedHeads} of the oldest signed heads: more were found outside the table than ` +
            'fit into memory',
        ]
      : []),
    ...(kept === undefined ? [] : [`kept         the old file as ${kept}`]),
    sentences[outcome],
  ];
}

function fields(report: RebuildReport): Record<string, Field> {
  const { outcome, found, head, previous, lost, kept } = report;
  return {
    status: outcome,
    tree_size: head?.size ?? 0,
    root_hash: head && bytesToHex(head.root),
    previous_tree_size: previous?.size ?? 0,
    lost_from: lost.from,
    lost_to: lost.to,
    lost_because: lost.why,
    lost_ids: Object.fromEntries([...lost.ids].map(([index, id]) => [String(index), id])),
    lost_heads: lost.heads.map((one) => ({
      tree_size: one.size,
      root_hash: bytesToHex(one.root),
      timestamp_ns: one.timestampNs,
      signer_key_id: one.keyId,
    })),
    lost_head_count: lost.headCount,
    overlooked_head_count: lost.overlookedHeads,
    kept,
    found: { ...found.counts },
  };
}

/** Reads a head as `candor sth --json` prints it or the service serves it, or the head of a pin. */
async function readHead(file: string): Promise<SignedHead> {
  const text = await readText(file);
  const pin = parsePin(text);
  const head = pin instanceof AuditFault ? parseTreeHead(text) : pin.head;
  if (head instanceof AuditFault) throw new CommandError(`${file} is neither a pin nor a signed head: ${head.message}`);
  const { size, root, timestampNs, signature, signerKeyId } = head;
  return { size, root, timestampNs, signature, keyId: signerKeyId };
}
