import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { type ArchiveHeader, writeArchiveHeader, writeArchiveLine } from '../client/archive.ts';
import { beginArchive, exportEntries } from '../client/archive-export.ts';
import { Fault } from '../client/fault.ts';
import { EmptyLog, httpLog, type LogSource } from '../client/log-source.ts';
import { CommandError, type ExitCode, exitCodes } from './exit-codes.ts';
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
      'copy the entries of a log into an archive that candor verify checks without the log. An export that breaks off ' +
        'leaves nothing at --out and is begun anew; a long log can be exported in ranges, each of which verifies by itself.',
    )
    .argument('<url>', 'address of the service', serviceUrl)
    .option('--from <n>', 'first entry (default: 0)', wholeNumber)
    .option('--to <n>', 'the entry after the last (default: all)', wholeNumber)
    .option('--out <file>', 'where to; never over a file that is there (default: standard output)')
    .option('--force', 'write over --out')
    .addOption(
      new Option(
        '--format <format>',
        'archive: verifiable; jsonl: the entries alone, one a line, for people and tools',
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
  await checkFree(options);
  const header = await beginArchive(log, {
    now: Date.now(),
    ...(options.from !== undefined && { from: options.from }),
    ...(options.to !== undefined && { to: options.to }),
  });
  if (header instanceof EmptyLog) {
    process.stderr.write('The log is empty: nothing critical has happened yet.\n');
    return exitCodes.empty;
  }
  if (header instanceof Fault) return out.fault(header);
  return options.out === undefined
    ? toStandardOutput(log, header, options)
    : intoFile(options.out, log, header, options, out);
}

async function toStandardOutput(log: LogSource, header: ArchiveHeader, options: Options): Promise<ExitCode> {
  // A reader that went away (`candor export … | head`) is told by the write that fails.
  process.stdout.on('error', () => {});
  try {
    const failed = await pour(log, header, options, write(process.stdout));
    return failed === undefined ? exitCodes.ok : tellOnStderr(failed);
  } catch (error) {
    throw new CommandError(`the archive can not be written: ${(error as Error).message}`);
  }
}

/** Written beside and renamed at the end, so that what lies at `path` is whole. */
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
    const failed = await pour(log, header, options, write(stream));
    await new Promise<void>((resolve, reject) => {
      stream.once('error', reject).end(resolve);
    });
    if (failed !== undefined) return out.fault(failed);
    await rename(beside, path);
  } catch (error) {
    throw new CommandError(`the archive can not be written: ${(error as Error).message}`);
  } finally {
    stream.destroy();
    await rm(beside, { force: true });
  }
  const { from, to, head } = header;
  const lines = [`Entries ${from} to ${to - 1} of the head of size ${head.size} are in ${path}.`];
  const shown = { log: header.log, from, to, tree_size: head.size, format: options.format, file: path };
  out.result(lines, { status: 'ok', ...shown });
  return exitCodes.ok;
}

async function pour(
  log: LogSource,
  header: ArchiveHeader,
  { format, progress }: Options,
  put: (text: string) => Promise<void>,
): Promise<Fault | undefined> {
  const onProgress = reporter('entries', progress);
  if (format === 'archive') await put(writeArchiveHeader(header));
  for await (const batch of exportEntries(log, header)) {
    if (batch instanceof Fault) return batch;
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

/** Waits until the stream has taken it, so that a slow disk or reader holds the export back. */
function write(stream: NodeJS.WritableStream): (text: string) => Promise<void> {
  return (text) =>
    new Promise((resolve, reject) => {
      stream.write(text, (error) => (error ? reject(error) : resolve()));
    });
}

/** Standard output has the archive. */
function tellOnStderr(fault: Fault): ExitCode {
  process.stderr.write(`${fault.code}: ${printable(fault.message)}\nThe archive is not whole.\n`);
  return exitCodes[fault.kind];
}

async function checkFree({ out, force }: Options): Promise<void> {
  if (out === undefined || force) return;
  const there = await stat(out).then(
    () => true,
    () => false,
  );
  if (there) throw new CommandError(`${out} is there already: --force writes over it`, exitCodes.usage);
}
