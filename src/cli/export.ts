import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { type ArchiveHeader, writeArchiveHeader, writeArchiveLine } from '../client/archive.ts';
import { beginArchive, exportEntries } from '../client/archive-export.ts';
import { AuditFault } from '../client/fault.ts';
import { EmptyLog, httpLog, type LogSource } from '../client/log-source.ts';
import { CommandError, type ExitCode, exitCodes } from '../service/exit-codes.ts';
import { credentials, jsonOption, serviceUrl, tokenOption, wholeNumber } from './options.ts';
import { type Output, output, printable } from './output.ts';
import { progressOption, reporter } from './progress.ts';

interface Options {
  readonly from?: number;
  readonly to?: number;
  readonly out?: string;
  readonly format: 'archive' | 'jsonl';
  readonly force?: true;
  readonly progress?: true;
  readonly token?: string;
  readonly json?: true;
}

export function exportCommand(done: (code: ExitCode) => void): Command {
  return new Command('export')
    .description(
      'copy the entries of a log into an archive that candor verify checks without the log. A failed export ' +
        'leaves no file at --out and has to start again; a long log can be exported in ranges that verify separately.',
    )
    .argument('<url>', 'URL of the service', serviceUrl)
    .option('--from <n>', 'first entry (default: 0)', wholeNumber)
    .option('--to <n>', 'end of the range, exclusive (default: all)', wholeNumber)
    .option('--out <file>', 'output file; existing files are not overwritten (default: standard output)')
    .option('--force', 'overwrite an existing --out file')
    .addOption(
      new Option(
        '--format <format>',
        'archive: verifiable; jsonl: only the entries, one per line, for people and tools',
      )
        .choices(['archive', 'jsonl'])
        .default('archive'),
    )
    .addOption(progressOption())
    .addOption(tokenOption())
    .addOption(jsonOption())
    .action(async (url: string, options: Options) => done(await run(url, options)));
}

async function run(url: string, options: Options): Promise<ExitCode> {
  const out = output(options.json ?? false);
  const log = httpLog(url, credentials(options));
  await checkNotExisting(options);
  const header = await beginArchive(log, {
    now: Date.now(),
    ...(options.from !== undefined && { from: options.from }),
    ...(options.to !== undefined && { to: options.to }),
  });
  if (header instanceof EmptyLog) {
    process.stderr.write('The log is empty: no critical events yet.\n');
    return exitCodes.empty;
  }
  if (header instanceof AuditFault) return out.fault(header);
  return options.out === undefined
    ? toStandardOutput(log, header, options)
    : intoFile(options.out, log, header, options, out);
}

async function toStandardOutput(log: LogSource, header: ArchiveHeader, options: Options): Promise<ExitCode> {
  // A closed pipe (`candor export … | head`) is reported by the failing write.
  process.stdout.on('error', () => {});
  try {
    const failed = await writeEntries(log, header, options, write(process.stdout));
    return failed === undefined ? exitCodes.ok : reportOnStderr(failed);
  } catch (error) {
    throw new CommandError(`cannot write the archive: ${(error as Error).message}`);
  }
}

/** Writes to a temporary file and renames it at the end, so that a file at `path` is always complete. */
async function intoFile(
  path: string,
  log: LogSource,
  header: ArchiveHeader,
  options: Options,
  out: Output,
): Promise<ExitCode> {
  const beside = `${path}.${process.pid}.new`;
  const stream = createWriteStream(beside, { flags: 'wx', mode: 0o600, flush: true });
  try {
    const failed = await writeEntries(log, header, options, write(stream));
    await new Promise<void>((resolve, reject) => {
      stream.once('error', reject).end(resolve);
    });
    if (failed !== undefined) return out.fault(failed);
    await rename(beside, path);
  } catch (error) {
    throw new CommandError(`cannot write the archive: ${(error as Error).message}`);
  } finally {
    stream.destroy();
    await rm(beside, { force: true });
  }
  const { from, to, head } = header;
  const lines = [`Exported entries ${from} to ${to - 1} of a log of size ${head.size} to ${path}.`];
  const shown = { log: header.log, from, to, tree_size: head.size, format: options.format, file: path };
  out.result(lines, { status: 'ok', ...shown });
  return exitCodes.ok;
}

async function writeEntries(
  log: LogSource,
  header: ArchiveHeader,
  { format, progress }: Options,
  put: (text: string) => Promise<void>,
): Promise<AuditFault | undefined> {
  const onProgress = reporter('entries', progress);
  if (format === 'archive') await put(writeArchiveHeader(header));
  for await (const batch of exportEntries(log, header)) {
    if (batch instanceof AuditFault) return batch;
    const { first, entries } = batch;
    const lines = entries.map((bytes, i) =>
      format === 'archive' ? writeArchiveLine(first + i, bytes) : `${decoder.decode(bytes)}\n`,
    );
    await put(lines.join(''));
    onProgress?.(first + entries.length, header.to);
  }
  return undefined;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Returns a function that writes text and resolves once the stream has accepted it, so that a slow disk or reader slows
 * the export down.
 */
function write(stream: NodeJS.WritableStream): (text: string) => Promise<void> {
  return (text) =>
    new Promise((resolve, reject) => {
      stream.write(text, (error) => (error ? reject(error) : resolve()));
    });
}

/** Reports on stderr, because the archive is written to standard output. */
function reportOnStderr(fault: AuditFault): ExitCode {
  process.stderr.write(`${fault.code}: ${printable(fault.message)}\nThe archive is incomplete.\n`);
  return exitCodes[fault.kind];
}

async function checkNotExisting({ out, force }: Options): Promise<void> {
  if (out === undefined || force) return;
  const exists = await stat(out).then(
    () => true,
    () => false,
  );
  if (exists) throw new CommandError(`--out: ${out} already exists; use --force to overwrite it`, exitCodes.usage);
}
