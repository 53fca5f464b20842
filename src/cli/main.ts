import { Command } from 'commander';
import { productVersion } from '../version.ts';
import { CommandError, type ExitCode, exitCodes, exitCodesHelp } from './exit-codes.ts';

type MakeCommand = (done: (code: ExitCode) => void) => Command;

/** Every command by its name, in the order of `--help`. Each loads code that the others don't need. */
const commands: Readonly<Record<string, () => Promise<MakeCommand>>> = {
  start: async () => (await import('./start.ts')).startCommand,
  backup: async () => (await import('./backup.ts')).backupCommand,
  'reset-password': async () => (await import('./reset-password.ts')).resetPasswordCommand,
  restore: async () => (await import('./restore.ts')).restoreCommand,
  fsck: async () => (await import('./fsck.ts')).fsckCommand,
  rebuild: async () => (await import('./rebuild.ts')).rebuildCommand,
  audit: async () => (await import('./audit.ts')).auditCommand,
  mirror: async () => (await import('./mirror.ts')).mirrorCommand,
  verify: async () => (await import('./verify.ts')).verifyCommand,
  export: async () => (await import('./export.ts')).exportCommand,
  sth: async () => (await import('./sth.ts')).sthCommand,
  witness: async () => (await import('./witness.ts')).witnessCommand,
  help: async () => (await import('./help.ts')).helpCommand,
};

/** The commands that have to be there to understand the command line: all, unless it begins with the name of one. */
function needed(first: string | undefined): readonly string[] {
  if (first === '--version' || first === '-V') return [];
  return first !== undefined && first !== 'help' && Object.hasOwn(commands, first)
    ? [first]
    : Object.keys(commands);
}

const done = (code: ExitCode) => {
  process.exitCode = code;
};

const program = new Command('candor')
  .description('A SIEM that can prove what it saw.')
  .version(productVersion())
  .addHelpText('after', exitCodesHelp)
  .helpCommand(false)
  .exitOverride((error) => {
    // Commander ends with 1 where the command line is wrong; help and version are no errors.
    process.exit(error.exitCode === 0 ? exitCodes.ok : exitCodes.usage);
  });
for (const name of needed(process.argv[2])) {
  const make = await commands[name]!();
  program.addCommand(make(done).copyInheritedSettings(program));
}

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  process.stderr.write(`candor: ${error.message}\n`);
  done(error.exitCode);
}
