import { Command, CommanderError } from 'commander';
import { CommandError, type ExitCode, exitCodes, exitCodesHelp } from '../service/exit-codes.ts';
import { productVersion } from '../service/version.ts';

type MakeCommand = (done: (code: ExitCode) => void) => Command;

/** Commands by name, in the order of `--help`. Each import loads modules that the other commands don't need. */
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

/**
 * Returns the names of the commands to load for parsing: none for `--version`, a single command if the command line
 * begins with its name, otherwise all. `help` needs all.
 */
function needed(first: string | undefined): readonly string[] {
  if (first === '--version' || first === '-V') return [];
  return first !== undefined && first !== 'help' && Object.hasOwn(commands, first) ? [first] : Object.keys(commands);
}

/**
 * Runs a command line, given without the name of the program. Calls `done` with the exit code; without a call, the code
 * is `ok`.
 */
export async function runProgram(args: readonly string[], done: (code: ExitCode) => void): Promise<void> {
  const program = new Command('candor')
    .description('A SIEM that can prove what it saw.')
    .version(productVersion())
    .addHelpText('after', exitCodesHelp)
    .helpCommand(false)
    .exitOverride();
  for (const name of needed(args[0])) {
    const make = await commands[name]!();
    program.addCommand(make(done).copyInheritedSettings(program));
  }

  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    // Commander's own code is 1 for an invalid command line, and 0 for help and version.
    if (error instanceof CommanderError) return done(error.exitCode === 0 ? exitCodes.ok : exitCodes.usage);
    if (!(error instanceof CommandError)) throw error;
    process.stderr.write(`candor: ${error.message}\n`);
    done(error.exitCode);
  }
}
