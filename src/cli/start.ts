import { Command } from 'commander';
import type { ExitCode } from './exit-codes.ts';

export function startCommand(done: (code: ExitCode) => void): Command {
  return new Command('start')
    .description(
      'run the service in the foreground; settings come from CANDOR_* and CANDOR_CONFIG, else config.json of the data folder',
    )
    .option(
      '--strict',
      'end with code 7 where the transparency log is degraded, instead of running without it',
    )
    .action(async (options: { strict?: true }) => {
      // Only this command loads the native parts: auditors run where they don't.
      const { start } = await import('../main.ts');
      done(await start(process.env, options));
      // What a start that failed half-way left running must not keep the process.
      const { endProcess } = await import('../lifecycle.ts');
      await endProcess(true);
    });
}
