import type { Command } from 'commander';
import { httpLog, type LogSource } from '../client/log-source.ts';
import type { ExitCode } from '../service/exit-codes.ts';
import { type CheckpointFlags, checkpointOptions, credentials, jsonOption, seconds, tokenOption } from './options.ts';
import { output } from './output.ts';
import { progressOption } from './progress.ts';
import { printReport, type Report } from './report.ts';
import { watch } from './watch.ts';

/** Options of commands that check a log once or repeatedly. */
export interface WatchOptions extends CheckpointFlags {
  readonly watch?: true;
  readonly interval: number;
  readonly progress?: true;
  readonly token?: string;
  readonly json?: true;
}

export function addWatchOptions(command: Command): Command {
  command
    .option('--watch', 'repeat until stopped or the log misbehaves; report only changes')
    .option('--interval <seconds>', 'pause between rounds', seconds, 60);
  for (const option of checkpointOptions()) command.addOption(option);
  return command.addOption(progressOption()).addOption(tokenOption()).addOption(jsonOption());
}

/** Runs one round, or with `--watch` repeats until the command is stopped or the log misbehaves. */
export async function runRounds(
  url: string,
  options: WatchOptions,
  once: (log: LogSource) => Promise<Report>,
): Promise<ExitCode> {
  const out = output(options.json ?? false);
  const token = credentials(options);
  if (options.watch === undefined) return printReport(out, await once(httpLog(url, token)));
  return watch(options.interval * 1000, {
    audit: (signal) => once(httpLog(url, { ...token, signal })),
    print: (report) => printReport(out, report),
  });
}
