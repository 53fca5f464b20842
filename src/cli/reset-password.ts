import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import type { Config } from '../config/settings.ts';
import { CommandError, type ExitCode, exitCodes } from '../service/exit-codes.ts';
import { type DataFolderOptions, dataDirOption, dataFolderConfig, orFail } from './data-folder-options.ts';

interface Options extends DataFolderOptions {
  readonly passwordStdin?: true;
}

export function resetPasswordCommand(done: (code: ExitCode) => void): Command {
  return new Command('reset-password')
    .description(
      'set a new password for a user of a stopped service and end all sessions of the user; the next start logs the change',
    )
    .argument('<name>', 'name of the user')
    .addOption(dataDirOption())
    .option('--password-stdin', 'read the password from standard input instead of generating one')
    .action(async (name: string, options: Options) => done(await run(name, options)));
}

async function run(name: string, options: Options): Promise<ExitCode> {
  const given = options.passwordStdin ? (await text(process.stdin)).replace(/\r?\n$/, '') : undefined;
  const { takeDataFolder } = await import('../files/data-folder.ts');
  const config = await dataFolderConfig(options);
  if (!existsSync(join(config.data_dir, 'siem.mdb')))
    throw new CommandError(`there is no siem.mdb in ${config.data_dir}`, exitCodes.unavailable);
  const folder = await orFail(() => takeDataFolder(config.data_dir));
  const password = given ?? randomBytes(18).toString('base64url');
  try {
    await reset(config, name, password);
  } finally {
    folder.release();
  }
  process.stdout.write(`The password of ${name} is ${given === undefined ? password : 'changed'}.\n`);
  return exitCodes.ok;
}

async function reset(config: Config, name: string, password: string): Promise<void> {
  const { resetPassword } = await import('../identities/reset-password.ts');
  const { storeSettings } = await import('../config/part-settings.ts');
  const { ServiceError } = await import('../errors.ts');
  const { openReader } = await import('../store/reader.ts');
  const { noProjector } = await import('../store/waiting-projector.ts');
  const { openStore } = await import('../store/writer.ts');
  const { uuid7 } = await import('../uuid.ts');
  const writer = openStore({ ...storeSettings(config), scrub: 'by hand', projector: noProjector });
  const reader = openReader(config.data_dir);
  try {
    await resetPassword({ reader, writer, sources: { now: Date.now, newId: () => uuid7(Date.now()) } }, name, password);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new CommandError(error.message, exitCodes.refused);
  } finally {
    reader.close();
    await writer.close();
  }
}
