import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { type AuditResult, audit } from '../client/auditor.ts';
import { auditEntries } from '../client/entries.ts';
import { httpLog, type LogSource } from '../client/log-source.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { jsonOption, seconds, serviceUrl, tokenOption } from './options.ts';
import { headFields, headLines, type Output, output } from './output.ts';
import { defaultPinFile, loadPin, saveEvidence, savePin } from './pin-file.ts';

interface Options {
  readonly state?: string;
  readonly entries?: true;
  readonly maxAge?: number;
  readonly watch?: true;
  readonly interval: number;
  readonly token?: string;
  readonly json?: true;
}

export function auditCommand(done: (code: ExitCode) => void): Command {
  return new Command('audit')
    .description(
      'check that a log still contains all that it contained: pin its head, or hold it to the pinned one',
    )
    .argument('<url>', 'address of the service', serviceUrl)
    .option('--state <file>', 'where the pin is kept (default: in the state folder, one file a log)')
    .option('--entries', 'fetch the new entries too; check each one and its signature')
    .option('--max-age <seconds>', 'refuse a head older than this', seconds)
    .option('--watch', 'repeat until stopped')
    .option('--interval <seconds>', 'pause between repetitions', seconds, 60)
    .addOption(tokenOption())
    .addOption(jsonOption())
    .action(async (url: string, options: Options) => done(await run(url, options)));
}

async function run(url: string, options: Options): Promise<ExitCode> {
  const log = httpLog(url, options.token === undefined ? {} : { token: options.token });
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  for (;;) {
    const code = await once(log, options);
    const goOn = options.watch === true && (code === exitCodes.ok || code === exitCodes.unavailable);
    if (!goOn || stop.signal.aborted) return code;
    await sleep(options.interval * 1000, undefined, { signal: stop.signal }).catch(() => {});
    if (stop.signal.aborted) return exitCodes.ok;
  }
}

/** One audit. The pin moves only when everything that was asked for has been verified. */
async function once(log: LogSource, options: Options): Promise<ExitCode> {
  const out = output(options.json ?? false);
  const file = options.state ?? defaultPinFile(log.url);
  const pin = await loadPin(file);
  const now = Date.now();
  const limit = options.maxAge === undefined ? {} : { maxAgeMs: options.maxAge * 1000 };
  const result = await audit(log, pin, { now, ...limit });

  switch (result.status) {
    case 'empty':
      out.result(['The log is empty: nothing critical has happened yet.'], { status: 'empty' });
      return exitCodes.ok;
    case 'fault':
      return report(result, out, file, now);
    default: {
      if (options.entries === true) {
        const from = result.status === 'pinned' ? 0 : result.from;
        const failed = await auditEntries(log, from, { head: result.pin.head, keys: result.keys });
        if (failed !== undefined) return out.fault(failed);
      }
      await savePin(file, result.pin);
      out.result(describe(result, file), {
        ...headFields(result.pin.head, result.key),
        ...summary(result),
        state: file,
      });
      return exitCodes.ok;
    }
  }
}

async function report(
  { fault, evidence }: Extract<AuditResult, { status: 'fault' }>,
  out: Output,
  file: string,
  now: number,
): Promise<ExitCode> {
  if (evidence === undefined) return out.fault(fault);
  const path = await saveEvidence(file, evidence, now);
  const code = out.fault(fault, { evidence: path });
  process.stderr.write(
    `Evidence is kept in ${path}; the pin stays as it was.\n` +
      "Compare both heads with the operator's journal, out of band.\n",
  );
  return code;
}

type Good = Exclude<AuditResult, { status: 'empty' | 'fault' }>;

function summary(result: Good): { status: string; from_size?: number } {
  return result.status === 'pinned'
    ? { status: 'pinned' }
    : { status: result.status, from_size: result.from };
}

function describe(result: Good, file: string): string[] {
  const lines = headLines(result.pin.head, result.key);
  switch (result.status) {
    case 'pinned':
      return [
        ...lines,
        `Pinned in ${file}. Compare the fingerprint with the one that the operator prints at start.`,
      ];
    case 'unchanged':
      return [...lines, 'Consistent: the same tree as pinned.'];
    case 'extended':
      return [...lines, `Consistent: extends the pinned tree of ${result.from}.`];
  }
}
