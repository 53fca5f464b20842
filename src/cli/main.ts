import { Command } from 'commander';
import { productVersion } from '../version.ts';
import { auditCommand } from './audit.ts';
import { backupCommand } from './backup.ts';
import { exitCodes, exitCodesHelp } from './exit-codes.ts';
import { exportCommand } from './export.ts';
import { fsckCommand } from './fsck.ts';
import { CommandError } from './output.ts';
import { rebuildCommand } from './rebuild.ts';
import { restoreCommand } from './restore.ts';
import { startCommand } from './start.ts';
import { sthCommand } from './sth.ts';
import { verifyCommand } from './verify.ts';
import { witnessCommand } from './witness.ts';

const done = (code: number) => {
  process.exitCode = code;
};

const program = new Command('candor')
  .description('A SIEM that can prove what it saw.')
  .version(productVersion())
  .addHelpText('after', exitCodesHelp)
  .exitOverride((error) => {
    // Commander ends with 1 where the command line is wrong; help and version are no errors.
    process.exit(error.exitCode === 0 ? exitCodes.ok : exitCodes.usage);
  });
for (const command of [
  startCommand(done),
  backupCommand(done),
  restoreCommand(done),
  fsckCommand(done),
  rebuildCommand(done),
  auditCommand(done),
  verifyCommand(done),
  exportCommand(done),
  sthCommand(done),
  witnessCommand(done),
]) {
  program.addCommand(command.copyInheritedSettings(program));
}

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  process.stderr.write(`candor: ${error.message}\n`);
  done(error.exitCode);
}
