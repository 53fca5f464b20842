import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findPhrases, sentencesOf } from '../../scripts/writing/phrases.ts';
import { textsOf } from '../../scripts/writing/texts.ts';

test.each([
  'What came once is forgotten.',
  'Of these, one is kept.',
  'Who signs in is an administrator.',
  'Whoever takes it gives it back.',
  'Nobody reads it.',
  'It holds. What came once is forgotten.',
  'The index is built anew.',
  'The answer is none.',
  'This is no address.',
  'Subscribers are told of it.',
  'The status tells of each witness.',
  'Callers who may read entries see them.',
  'The bytes are for users who are signed in.',
  'There are as many rules as may be.',
  'Everything but for the last line.',
  'The gravest alert comes first.',
  'The write is tried in vain.',
  'Meanwhile, appends wait.',
])('the lint rejects: %s', (sentence) => {
  expect(findPhrases(sentence)).not.toEqual([]);
});

test.each([
  'What does a bundle prove?',
  'There is no such rule.',
  'The session is no longer valid.',
  'Values seen once are forgotten.',
  'Of-course is one word.',
  'Returns `what is none` as it came.',
  'The key is not a valid UUID.',
])('the lint accepts: %s', (sentence) => {
  expect(findPhrases(sentence)).toEqual([]);
});

test('the lint splits at the ends of sentences, not at abbreviations before lower-case words', () => {
  expect(sentencesOf('One ends here. The next, e.g. this one, goes on! "Quoted." End')).toEqual([
    'One ends here.',
    'The next, e.g. this one, goes on!',
    '"Quoted.',
    'End',
  ]);
});

const texts = (path: string, source: string) => textsOf(path, source).map(({ line, text }) => `${line} ${text}`);

test('the lint reads comments, strings, templates and markup of TypeScript', () => {
  const source = [
    '// Adjacent lines',
    '// are one text.',
    '',
    '/**',
    ' * Opens it.',
    ' *',
    ' * - an item',
    ' * @param name - of the file',
    ' *',
    ' * ```',
    ' * a drawing',
    ' * ```',
    ' */',
    "const a = 'two words' + 'word';",
    `const b = <p title="a title">Markup text {\`one \${a} three\`}</p>;`,
  ].join('\n');
  expect(texts('src/a.tsx', source).sort()).toEqual(
    [
      '1 Adjacent lines\nare one text.',
      '5 Opens it.',
      '7 an item',
      '8 of the file',
      '14 two words',
      '15 Markup text',
      '15 a title',
      '15 one … three',
    ].sort(),
  );
});

test('the lint reads comments and names of tests, but no other strings of tests', () => {
  const source = "// A comment.\ntest('names a test', () => call('other text here'));";
  expect(texts('test/a.test.ts', source)).toEqual(['1 A comment.', '2 names a test']);
});

test('the lint reads paragraphs, items and cells of Markdown without code', () => {
  const source = '# Title\n\nOne\nparagraph.\n\n- item\n\n```\ncode here\n```\n\n| a | b |\n|---|---|\n| c | d |\n';
  expect(texts('a.md', source)).toEqual(['1 Title', '3 One paragraph.', '6 item', '12 a', '12 b', '14 c', '14 d']);
});

test('the lint reads titles and descriptions of detection rules', () => {
  const source = '# A comment.\ntitle: The title\n---\ntitle: Another\ndescription: Its text.\nid: not text\n';
  expect(texts('src/rules/a.yml', source)).toEqual(['1 A comment.', '2 The title', '4 Another', '5 Its text.']);
});

test('the lint ignores the line of a writing-allow comment and the next line', () => {
  const source = '// writing-allow: quoted from the RFC\n// What follows.\n\n// Second.';
  expect(texts('src/a.ts', source)).toEqual(['4 Second.']);
});

test('the lint prints place, sentence and advice, and exits with 1', () => {
  const folder = mkdtempSync(join(tmpdir(), 'writing-'));
  execFileSync('git', ['init', '-q'], { cwd: folder });
  writeFileSync(join(folder, 'a.ts'), '// It is built anew.\n');
  const run = () =>
    execFileSync(process.execPath, [new URL('../../scripts/lint-writing.ts', import.meta.url).pathname], {
      cwd: folder,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  expect(run).toThrow(
    expect.objectContaining({ status: 1, stdout: expect.stringContaining('a.ts:1: It is built anew.') }),
  );
  writeFileSync(join(folder, 'a.ts'), '// It is built again.\n');
  expect(run()).toBe('');
});
