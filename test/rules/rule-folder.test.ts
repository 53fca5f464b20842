import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RuleRow } from '../../src/detect/store/rule-row.ts';
import { limits } from '../../src/limits.ts';
import { readRuleFolder, splitDocuments } from '../../src/rules/rule-folder.ts';
import { rowsOfFolder } from '../../src/rules/rule-set.ts';
import { ruleTasks } from '../../src/rules/tasks.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'candor-rule-folder-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const put = (name: string, text: string | Uint8Array) => writeFileSync(join(folder, name), text);

describe('a text', () => {
  test('is split at the ends of documents', () => {
    expect(splitDocuments('a: 1\n---\nb: 2\n---\n# a remark\n--- # c\nc: |\n  x\n  ---\n')).toEqual([
      { line: 1, text: 'a: 1' },
      { line: 3, text: 'b: 2' },
      { line: 7, text: 'c: |\n  x\n  ---\n' },
    ]);
    expect(splitDocuments('---\r\na: 1\r\n')).toEqual([{ line: 2, text: 'a: 1\r\n' }]);
    expect(splitDocuments('a: 1\n--- {b: 2}\n--- # c\nc: 3\n---\t|\n  d')).toEqual([
      { line: 1, text: 'a: 1' },
      { line: 2, text: '    {b: 2}' },
      { line: 4, text: 'c: 3' },
      { line: 5, text: '   \t|\n  d' },
    ]);
    for (const nothing of ['', '\n\n', '---\n', '# only\n---\n# remarks']) expect(splitDocuments(nothing)).toEqual([]);
    expect(splitDocuments('- a')).toHaveLength(1);
    expect(splitDocuments('"quoted": 1')).toHaveLength(1);
    expect(splitDocuments('- title: x')).toHaveLength(1);
    expect(splitDocuments('{')).toHaveLength(1);
  });
});

describe('reading a folder', () => {
  test('returns the documents of all rule files in order, without other files', () => {
    mkdirSync(join(folder, 'b/c'), { recursive: true });
    mkdirSync(join(folder, '.git'));
    put('z.yml', 'z: 1');
    put('b/c/deep.yaml', '\n---\nx: 1\n---\ny: 2\n');
    put('.git/hidden.yml', 'h: 1');
    put('note.txt', 't: 1');
    put('A.YML', 'a: 1');
    expect(readRuleFolder(folder)).toEqual({
      documents: [
        { file: 'A.YML', line: 1, text: 'a: 1' },
        { file: 'b/c/deep.yaml', line: 3, text: 'x: 1' },
        { file: 'b/c/deep.yaml', line: 5, text: 'y: 2\n' },
        { file: 'z.yml', line: 1, text: 'z: 1' },
      ],
      problems: [],
    });
    expect(readRuleFolder(join(folder, 'nowhere'))).toBeUndefined();
  });

  test('does not read links, pipes, oversized files or a path that is not a folder, and reports them', () => {
    put('good.yml', 'a: 1');
    put('large.yml', Buffer.alloc(limits.maxRuleFileBytes + 1, 'a'));
    symlinkSync('/etc/passwd', join(folder, 'link.yml'));
    symlinkSync(folder, join(folder, 'loop'));
    execFileSync('mkfifo', [join(folder, 'pipe.yml')]);
    const content = readRuleFolder(folder)!;
    expect(content.documents.map(({ file }) => file)).toEqual(['good.yml']);
    expect(content.problems).toEqual([
      expect.stringMatching(/^large\.yml /),
      expect.stringMatching(/^link\.yml /),
      expect.stringMatching(/^pipe\.yml /),
    ]);
    expect(readRuleFolder(join(folder, 'good.yml'))?.problems).toHaveLength(1);
  });
});

describe('rules of a folder', () => {
  const { parseRules } = ruleTasks({ blocks: () => [] });
  const id = 'aaaa0000-0000-4000-8000-000000000001';
  const rule = (title: string, more = '') =>
    `title: ${title}\n${more}logsource: {category: dns}\ndetection: {s: {query: x}, condition: s}`;
  const rows = (texts: readonly string[], before: readonly RuleRow[] = []) =>
    rowsOfFolder(
      'folder',
      texts.map((text, n) => ({ file: 'a.yml', line: 10 * n + 1, text })),
      (text) => parseRules([text])[0]!,
      new Map(before.map((row) => [row.id, row])),
      new Set(),
      '2026-01-01T00:00:00.000Z',
    );

  test('have the ids of their documents, or other stable ids', () => {
    const first = rows([rule('one', `id: ${id}\n`), rule('two'), rule('three', `id: ${id}\n`)]);
    expect(first[0]!.id).toBe(id);
    expect(new Set(first.map((row) => row.id)).size).toBe(3);
    expect(rows([rule('one', `id: ${id}\n`), rule('two'), rule('three', `id: ${id}\n`)], first)).toEqual(first);
  });

  test('keep their ids and stay disabled when edited, moved or invalid', () => {
    const [one, two] = rows([rule('one', `id: ${id}\n`), rule('two')]);
    const before = [{ ...one!, enabled: false }, two!];
    const [broken, edited] = rows(['title: [', rule('edited')], before);
    expect(broken).toMatchObject({ id, enabled: false, version: 2, title: 'a.yml:1' });
    expect(edited).toMatchObject({ id: two!.id, version: 2, title: 'edited' });
    const [inserted, moved] = rows([rule('new'), rule('one', `id: ${id}\n`)], before);
    expect(moved).toMatchObject({ id, enabled: false, version: 1, line: 11 });
    expect(inserted!.id).not.toBe(id);
  });
});
