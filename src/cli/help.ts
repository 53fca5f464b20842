import { globSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { type ExitCode, exitCodes } from '../service/exit-codes.ts';

const folder = new URL('../docs/', import.meta.url);

/**
 * Returns topics of the documentation: paths below `src/docs` without the ending, such as `tls` and
 * `transparency/keys`.
 */
export const topics = (): string[] =>
  globSync('**/*.md', { cwd: folder.pathname })
    .map((path) => path.slice(0, -'.md'.length))
    .sort();

export function helpCommand(done: (code: ExitCode) => void): Command {
  const command = new Command('help')
    .argument('[topic]', 'a command, or a page of the documentation')
    .description('print the help of a command, or a page of the documentation')
    .addHelpText('after', () => `\nTopics:\n${listed(topics())}`);
  return command.action((topic?: string) => {
    const program = command.parent!;
    const asked = program.commands.find((one) => one.name() === topic);
    if (topic === undefined) process.stdout.write(`${program.helpInformation()}\nTopics:\n${listed(topics())}\n`);
    else if (asked !== undefined) asked.outputHelp();
    else if (topics().includes(topic)) process.stdout.write(readFileSync(new URL(`${topic}.md`, folder)));
    else {
      process.stderr.write(`candor: topic: there is no page "${topic}"; the topics are\n${listed(topics())}\n`);
      done(exitCodes.usage);
    }
  });
}

const listed = (names: readonly string[]) => names.map((name) => `  ${name}`).join('\n');
