import { Command } from 'commander';
import type { ExitCode } from '../service/exit-codes.ts';

export function startCommand(done: (code: ExitCode) => void): Command {
  return new Command('start')
    .description(
      'run the service in the foreground; reads settings from CANDOR_* and CANDOR_CONFIG, or config.json in the data folder',
    )
    .option('--strict', 'exit with code 7 if the transparency log is degraded, instead of running without it')
    .action(async (options: { strict?: true }) => {
      // Imported here because it loads native modules, and auditors can run on platforms without them.
      const { start } = await import('../main.ts');
      done(await start(process.env, options));
      // Parts left running by a failed start must not keep the process alive.
      const { endProcess } = await import('../service/lifecycle.ts');
      await endProcess(true);
    });
}
