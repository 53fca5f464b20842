import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { Fault } from '../client/fault.ts';
import { parsePin } from '../client/pin.ts';
import { parseTreeHead } from '../client/tree-head.ts';
import type { RebuildOutcome, RebuildReport } from '../ledger/check/rebuild.ts';
import type { LedgerOptions } from '../ledger/open.ts';
import type { SignedHead } from '../ledger/storage/storage.ts';
import { bytesToHex } from '../tlog/hex.ts';
import {
  anchorOption,
  type DataFolderOptions,
  dataDirOption,
  dataFolderConfig,
  exitCodeOfFolder,
} from './data-folder-options.ts';
import { CommandError, type ExitCode, exitCodes } from './exit-codes.ts';
import { lines as foundLines } from './fsck.ts';
import { jsonOption } from './options.ts';
import { type Field, output } from './output.ts';
import { progressOption, reporter } from './progress.ts';

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
    .description(
      'write the transparency log of a stopped service anew from what can be read of it; the old file is kept',
    )
    .addOption(dataDirOption())
    .addOption(anchorOption())
    .option(
      '--head <file>',
      "a signed head from elsewhere, such as an auditor's pin; may be repeated",
      (file: string, others: readonly string[] = []) => [...others, file],
    )
    .option('--dry-run', 'only say what could be saved, and what not')
    .option(
      '--accept-loss',
      'go on although signed entries are missing, as a new life of the log with new keys; auditors will see it',
    )
    .option('--begin-anew', 'begin a new log where one was lost; what is left of the old one is kept aside')
    .addOption(
      new Option('--moved', 'the data folder was moved and the original is gone for good').conflicts([
        ...['acceptLoss', 'beginAnew', 'newLife', 'dryRun'],
      ]),
    )
    .addOption(
      new Option(
        '--new-life',
        'the data folder is a copy and the original may run again: give this one new keys and a new origin',
      ).conflicts(['acceptLoss', 'beginAnew', 'dryRun']),
    )
    .addOption(
      new Option(
        '--accept-older-store',
        'siem.mdb is older than the log and goes on: what it lacks is lost',
      ).conflicts(['acceptLoss', 'beginAnew', 'dryRun', 'moved', 'newLife']),
    )
    .addOption(progressOption())
    .addOption(jsonOption())
    .action(async (options: Options) => done(await run(options)));
}

async function run(options: Options): Promise<ExitCode> {
  const heads = await Promise.all((options.head ?? []).map(readHead));
  const { takeDataFolder } = await import('../data-folder.ts');
  const config = await dataFolderConfig(options);
  const folder = hold(() => takeDataFolder(config.data_dir));
  const anchorPath = config['ledger.anchor_path'];
  const { key_passphrase: keyPassphrase, 'ledger.origin': origin } = config;
  const { agentSettings } = await import('../config/part-settings.ts');
  const { readNotedPlaces } = await import('../store/lmdb/noted-places.ts');
  const place = {
    dataDir: config.data_dir,
    ...(anchorPath === undefined ? {} : { anchorPath }),
    ...(keyPassphrase === undefined ? {} : { keyPassphrase }),
    ...(origin === undefined ? {} : { origin }),
    agent: agentSettings(config),
    notedPlaces: () => readNotedPlaces(config.data_dir),
  };
  try {
    if (options.moved === true) return await move(place, options);
    if (options.acceptOlderStore === true) return await acceptStore(place, options);
    if (options.newLife === true) return await continueAsCopy(place, options);
    if (options.beginAnew === true) return await begin(place, options);
    return await save(place, heads, options);
  } catch (error) {
    if (!(error instanceof Error && ('syscall' in error || expected.includes(error.name)))) throw error;
    throw new CommandError(error.message);
  } finally {
    folder.release();
  }
}

/** Names of errors whose message is for the operator. */
const expected = ['LogThereError', 'NoLogError', 'PassphraseError'];

type Place = Pick<
  LedgerOptions,
  'dataDir' | 'anchorPath' | 'keyPassphrase' | 'agent' | 'origin' | 'notedPlaces'
>;

async function move(place: Place, options: Options): Promise<ExitCode> {
  const { recordMove } = await import('../ledger/lives/continue-copy.ts');
  await recordMove(place);
  const told = 'The log goes on here with its keys. Make sure that the original never runs again.';
  output(options.json ?? false).result([told], { status: 'moved', data_dir: place.dataDir });
  return exitCodes.ok;
}

async function acceptStore(place: Place, options: Options): Promise<ExitCode> {
  const { acceptOlderStore } = await import('../ledger/lives/continue-copy.ts');
  await acceptOlderStore(place);
  const told =
    'The next start goes on with siem.mdb. Entries of the log that it lacks are no longer reported.';
  output(options.json ?? false).result([told], { status: 'accepted', data_dir: place.dataDir });
  return exitCodes.ok;
}

async function continueAsCopy(place: Place, options: Options): Promise<ExitCode> {
  const { continueCopy } = await import('../ledger/lives/continue-copy.ts');
  const { life, checkpoint_vkey, size, health } = await continueCopy(place);
  if (health.state === 'degraded') throw new CommandError(health.advice, exitCodes.degraded);
  output(options.json ?? false).result(
    [
      `This copy continues the log as life ${life?.id ?? ''}, with ${size} entries.`,
      `vkey         ${checkpoint_vkey}`,
      'For auditors and witnesses it is a new log: send them the vkey.',
    ],
    { status: 'new_life', life: life?.id, tree_size: size, checkpoint_vkey },
  );
  return exitCodes.ok;
}

async function save(place: Place, heads: readonly SignedHead[], options: Options): Promise<ExitCode> {
  const { rebuild } = await import('../ledger/check/rebuild.ts');
  if (!existsSync(join(place.dataDir, 'ledger.mdb'))) {
    throw new CommandError(
      `there is no ledger.mdb in ${place.dataDir} to rebuild: \`candor restore <backup>\` brings one back; where there ` +
        'is no backup of a log that was lost, `candor rebuild --begin-anew` begins a new one',
    );
  }
  const wanted = options.progress ?? process.stderr.isTTY;
  const tell = new Map<string, ReturnType<typeof reporter>>();
  const report = await rebuild({
    ...place,
    heads,
    acceptLoss: options.acceptLoss ?? false,
    dryRun: options.dryRun ?? false,
    onProgress({ step, leaves, total }) {
      if (!tell.has(step)) tell.set(step, reporter(`${step}: leaves`, wanted));
      tell.get(step)?.(leaves, total);
    },
  });
  output(options.json ?? false).result(lines(report), fields(report));
  return codes[report.outcome];
}

async function begin(place: Place, options: Options): Promise<ExitCode> {
  const { beginAnew } = await import('../ledger/check/begin-anew.ts');
  const { kept, moved, replaced } = await beginAnew({
    ...place,
    evenIfThere: options.acceptLoss ?? false,
  });
  const size = replaced?.size ?? 0;
  output(options.json ?? false).result(
    [
      'A new log with keys of its own was begun.',
      `the old one  ${replaced === undefined ? 'nothing tells how large it was' : `had ${size} leaves or more`}`,
      `kept         ${moved.join(', ') || 'nothing was left'} in ${kept}`,
      'For auditors it is a new log: tell them why, and the fingerprint of the new key.',
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
  whole: 'Nothing had to be done: the log is whole, and all that is known to be signed is in it.',
  rebuilt: 'The log was written anew and verified.',
  accepted: 'The log is whole as it is and goes on from there as a new life, with new keys and a new origin.',
  planned: 'Nothing was changed: this is what `candor rebuild` would do.',
  refused:
    'Nothing was changed: entries that were signed would be missing. Look for a newer backup first; if there is none, ' +
    '`candor rebuild --accept-loss` goes on without them, and auditors will see it.',
  hopeless:
    'Nothing was changed: no signed head could be found that the entries give. An auditor may hold one (--head <pin>); ' +
    'else `candor restore --replace <backup>`, or `candor rebuild --begin-anew --accept-loss` for a new log.',
} as const satisfies Record<RebuildOutcome, string>;

function lines(report: RebuildReport): string[] {
  const { outcome, found, head, previous, lost, kept } = report;
  return [
    ...foundLines(found).slice(0, 20),
    '',
    `saved        ${head?.size ?? 0} entries, under ${head === undefined ? 'no head' : `a head signed by ${head.keyId}`}`,
    `signed       ${previous?.size ?? 0} entries are known to have been`,
    ...(lost.to > lost.from
      ? [`lost         entries ${lost.from} to ${lost.to - 1}${lost.why ? `: ${lost.why}` : ''}`]
      : []),
    ...[...lost.ids].slice(0, 50).map(([index, id]) => `             ${index}  ${id}`),
    ...(lost.ids.size > 50 ? [`             and ${lost.ids.size - 50} more (--json lists up to 1,000)`] : []),
    ...(lost.headCount > 0
      ? [`heads        ${lost.headCount} that were signed are gone; auditors may hold them`]
      : []),
    ...(lost.overlookedHeads > 0
      ? [
          `history      lacks ${lost.overlookedHeads} or more of the oldest signed heads: more were found outside the table than ` +
            'memory may hold',
        ]
      : []),
    ...(kept === undefined ? [] : [`kept         the old file, as ${kept}`]),
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

/** A head as `candor sth --json` writes it or the service serves it, or the one in a pin. */
async function readHead(file: string): Promise<SignedHead> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new CommandError(error.message);
  });
  const pin = parsePin(text);
  const head = pin instanceof Fault ? parseTreeHead(text) : pin.head;
  if (head instanceof Fault)
    throw new CommandError(`${file} is neither a pin nor a signed head: ${head.message}`);
  const { size, root, timestampNs, signature, signerKeyId } = head;
  return { size, root, timestampNs, signature, keyId: signerKeyId };
}

function hold<T>(take: () => T): T {
  try {
    return take();
  } catch (error) {
    throw new CommandError((error as Error).message, exitCodeOfFolder(error as Error));
  }
}
