import { existsSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Command } from 'commander';
import { restoreAdvice } from '../database/damage.ts';
import { omitUndefined } from '../database/omit-undefined.ts';
import type { FsckReport } from '../ledger/check/fsck.ts';
import { CommandError, type ExitCode, exitCodes } from '../service/exit-codes.ts';
import type { LogPositions } from '../store/log-positions.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { anchorOption, type DataFolderOptions, dataFolderConfig, orFail } from './data-folder-options.ts';
import { jsonOption } from './options.ts';
import { type Field, output } from './output.ts';
import { progressOption, reporter } from './progress.ts';

interface Options extends DataFolderOptions {
  readonly signatures?: true;
  readonly json?: true;
  readonly progress?: true;
}

export function fsckCommand(done: (code: ExitCode) => void): Command {
  return new Command('fsck')
    .description(
      'recompute the transparency log from its entries, verify all stored events and rows, and report every mismatch; changes nothing',
    )
    .argument('[path]', 'folder of a backup or of a stopped service, or a ledger.mdb in one (default: CANDOR_DATA_DIR)')
    .option('--data-dir <folder>', 'same as the path argument')
    .addOption(anchorOption())
    .option('--signatures', 'also verify the signature of every entry (about 12,000/s)')
    .addOption(progressOption())
    .addOption(jsonOption())
    .action(async (path: string | undefined, options: Options) => done(await run(path, options)));
}

async function run(path: string | undefined, options: Options): Promise<ExitCode> {
  const target = await targetOf({ ...options, ...(path === undefined ? {} : { dataDir: path }) });
  const release = await holdFolder(target.dataDir);
  const onProgress = reporter('leaves', options.progress ?? process.stderr.isTTY);
  try {
    const { fsck } = await import('../ledger/check/fsck.ts');
    const { manifestFile } = await import('../backup/manifest.ts');
    const { findings: stored, positions } = await checkStore(target.dataDir);
    const report = await fsck({
      ...target,
      ...(positions === undefined ? {} : { positions }),
      isInService: !existsSync(join(target.dataDir, manifestFile)),
      signatures: options.signatures ?? false,
      onProgress: ({ leaves, total }) => onProgress?.(leaves, total),
    });
    const signatures = options.signatures ?? false;
    const code = codeOf(report) === exitCodes.ok && stored.length > 0 ? exitCodes.refused : codeOf(report);
    const verified = code === exitCodes.ok ? [signatureLine(signatures)] : [];
    output(options.json ?? false).result([...lines(report), ...groups(stored, {}), ...verified], {
      ...fields(report, stored),
      entry_signatures: signatures,
    });
    return code;
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new CommandError(error.message); // a file without read permission
  } finally {
    release();
  }
}

interface StoreFinding {
  readonly code: 'store_damaged' | 'events_altered';
  readonly message: string;
  readonly advice: string;
}

interface CheckedStore {
  readonly findings: readonly StoreFinding[];
  /** The log positions that siem.mdb records; undefined without a readable siem.mdb. */
  readonly positions?: LogPositions;
}

/**
 * Returns damage and alterations of siem.mdb, and the log positions in it, if the folder has a siem.mdb. LMDB opens
 * siem.mdb only if the check of the tree found no damage.
 */
async function checkStore(dataDir: string): Promise<CheckedStore> {
  const path = join(dataDir, 'siem.mdb');
  if (!existsSync(path)) return { findings: [] };
  const { treeDamage } = await import('../ledger/check/tree-damage.ts');
  const broken = treeDamage(path);
  const { damage, altered, positions } = broken.length > 0 ? { damage: broken, altered: [] } : await readStore(dataDir);
  const alterations = altered.map((what) => ({
    code: 'events_altered' as const,
    message: `siem.mdb: ${what}`,
    advice: 'Keep this folder as evidence, and compare the events with those of a backup.',
  }));
  const damaged = damage.map((what) => ({
    code: 'store_damaged' as const,
    message: `siem.mdb: ${what}`,
    advice:
      broken.length > 0
        ? `Do not start the service on this file. Copy the data folder and check the disk. ${restoreAdvice()}`
        : `The service leaves damaged events and rows out. Check the disk. ${restoreAdvice('To recover the damaged data')}`,
  }));
  return { findings: [...damaged, ...alterations], ...(positions === undefined ? {} : { positions }) };
}

async function readStore(dataDir: string): Promise<{
  readonly damage: readonly string[];
  readonly altered: readonly string[];
  readonly positions?: LogPositions;
}> {
  const { readLogPositions } = await import('../store/log-positions.ts');
  const { findAltered, findDamage, inspectStore } = await import('../store/inspect.ts');
  const lock = join(dataDir, 'siem.mdb-lock');
  const hadLock = existsSync(lock);
  try {
    const damage = await findDamage(dataDir);
    if (damage.length === 0) await inspectStore(dataDir, () => undefined);
    return { damage, altered: await findAltered(dataDir), positions: await readLogPositions(dataDir, true) };
  } catch (error) {
    return { damage: [(error as Error).message], altered: [] };
  } finally {
    if (!hadLock) rmSync(lock, { force: true });
  }
}

interface Target {
  readonly dataDir: string;
  readonly ledgerPath: string;
  readonly anchorPath?: string;
}

/** Resolves the folder and the ledger file; the path may name the folder or the file. */
async function targetOf({ dataDir: path, anchor }: DataFolderOptions): Promise<Target> {
  const isFile = path !== undefined && existsSync(path) && statSync(path).isFile();
  const named = isFile ? dirname(path) : path;
  const config = await dataFolderConfig(omitUndefined({ dataDir: named, anchor }));
  const { data_dir: dataDir, 'ledger.anchor_path': anchorPath } = config;
  const ledgerPath = isFile ? path : join(dataDir, 'ledger.mdb');
  return requireLedger({ dataDir, ledgerPath, ...(anchorPath === undefined ? {} : { anchorPath }) });
}

function requireLedger(target: Target): Target {
  if (existsSync(target.ledgerPath)) return target;
  throw new CommandError(
    `there is no ${basename(target.ledgerPath)} in ${target.dataDir}; if it was lost, run \`candor restore\` to recover it from a backup`,
    exitCodes.unavailable,
  );
}

/**
 * Locks the folder, because a running service would change the file during the check. A folder without a lock file,
 * such as a backup, is not used by a service.
 */
async function holdFolder(folder: string): Promise<() => void> {
  const { lockFolder } = await import('../files/data-folder.ts');
  const { checkDataFolderFiles } = await import('../files/data-folder-files.ts');
  return orFail(() => {
    checkDataFolderFiles(folder);
    if (!existsSync(join(folder, 'lock'))) return () => {};
    return lockFolder(folder, { name: 'data folder', instead: 'check a backup of it' }).release;
  });
}

function codeOf({ ok, isRolledBack, isDamaged }: FsckReport): ExitCode {
  if (isRolledBack) return exitCodes.misbehaviour;
  return ok && !isDamaged ? exitCodes.ok : exitCodes.refused;
}

export function lines(report: FsckReport): string[] {
  const { size, head, findings, counts, elapsedMs } = report;
  const rate = Math.round(size / Math.max(elapsedMs / 1000, 0.001));
  return [
    `size         ${size}`,
    `root         ${head === undefined ? 'none (the log is empty)' : bytesToHex(head.root)}`,
    `checked      in ${(elapsedMs / 1000).toFixed(1)} s, ${rate} leaves/s`,
    ...(findings.length === 0
      ? ['No damage: every leaf, node, head and index matches the entries.']
      : groups(findings, counts)),
  ];
}

/** Groups findings by advice; the advice follows its findings. */
function groups(
  findings: readonly { readonly code: string; readonly message: string; readonly advice: string }[],
  counts: Readonly<Record<string, number | undefined>>,
): string[] {
  const advised = new Set(findings.map(({ advice }) => advice));
  return [...advised].flatMap((advice) => {
    const listed = findings.filter((finding) => finding.advice === advice);
    const codes = new Set(listed.map(({ code }) => code));
    const more = [...codes].reduce((sum, code) => sum + (counts[code] ?? 0), -listed.length);
    return [
      ...listed.map(({ code, message }) => `${code}: ${message}`),
      ...(more > 0 ? [`and ${more} more of ${[...codes].join(', ')}`] : []),
      `→ ${advice}`,
    ];
  });
}

function signatureLine(verified: boolean): string {
  return verified
    ? 'The signature of every entry was verified.'
    : 'The signatures of the entries were not verified; use --signatures to verify them.';
}

function countsOf(stored: readonly StoreFinding[]): Readonly<Record<string, number>> {
  const codes = [...new Set(stored.map(({ code }) => code))];
  return Object.fromEntries(codes.map((code) => [code, stored.filter((finding) => finding.code === code).length]));
}

function fields(report: FsckReport, stored: readonly StoreFinding[]): Record<string, Field> {
  const { size, head, findings, counts, elapsedMs } = report;
  return {
    status: report.isRolledBack
      ? 'rolled_back'
      : report.isDamaged || stored.length > 0
        ? 'damaged'
        : report.ok
          ? 'ok'
          : 'noticed',
    tree_size: size,
    root_hash: head && bytesToHex(head.root),
    timestamp_ns: head?.timestampNs,
    findings: [
      ...findings.map(({ code, message, position, advice }) => ({ code, message, position, advice })),
      ...stored.map((finding) => ({ ...finding })),
    ],
    counts: { ...counts, ...countsOf(stored) },
    elapsed_ms: Math.round(elapsedMs),
  };
}
