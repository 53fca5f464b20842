import { Command } from 'commander';
import { productVersion } from '../version.ts';
import { CommandError, type ExitCode, exitCodes, exitCodesHelp } from './exit-codes.ts';

type MakeCommand = (done: (code: ExitCode) => void) => Command;

/** Commands by name, in the order of `--help`. Each import loads modules that the others don't need. */
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

/** Names of the commands to load for parsing: all, unless the command line begins with the name of one. */
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
    // Commander uses 1 for invalid command lines; help and version are successes.
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
