import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { takeDataFolder } from '../src/data-folder.ts';

let folder: string;
let format: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'candor-folder-'));
  format = join(folder, 'format.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a new folder gets the format, and the next start accepts it', () => {
  takeDataFolder(folder).release();
  const written = readFileSync(format, 'utf8');
  expect(JSON.parse(written)).toEqual({ format: 1 });
  takeDataFolder(folder).release();
  expect(readFileSync(format, 'utf8')).toBe(written);
});

test.for([
  ['{"format":2}', /says format 2; this program knows format 1: use a newer one/],
  ['', /format\.json is damaged/],
  ['{"format"', /format\.json is damaged/],
  ['null', /format\.json is damaged/],
] as const)(
  'a format that reads %j is refused with one clear line, and the folder is free again',
  ([text, wanted]) => {
    writeFileSync(format, text);
    for (let i = 0; i < 2; i++) expect(() => takeDataFolder(folder)).toThrow(wanted);
    expect(readFileSync(format, 'utf8')).toBe(text);
  },
);
