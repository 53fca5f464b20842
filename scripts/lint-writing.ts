/**
 * Checks comments, texts and documentation for phrases that are hard to read. Prints a line for each phrase and exits
 * with 1 if there are any. Arguments are files and folders; without arguments, the whole project is checked.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { findPhrases } from './writing/phrases.ts';
import { textsOf } from './writing/texts.ts';

const paths = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', ...process.argv.slice(2)], {
  encoding: 'utf8',
});
let found = 0;
for (const path of new Set(paths.split('\n'))) {
  if (path === '' || path.startsWith('scripts/writing/') || path === 'test/scripts/lint-writing.test.ts') continue;
  for (const { line, text } of textsOf(path, readFileSync(path, 'utf8')))
    for (const { sentence, advice } of findPhrases(text)) {
      console.log(`${path}:${line}: ${sentence.slice(0, 160)}\n    ${advice}`);
      found++;
    }
}
if (found > 0) console.error(`${found} phrases are hard to read`);
process.exitCode = found > 0 ? 1 : 0;
