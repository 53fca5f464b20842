/** The tables of verdicts have rows for each data file, each field of a head and each endpoint of the log. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../../scripts/service.ts';
import { SignedTreeHead } from '../../src/contract/resources/transparency.ts';
import { routes } from '../../src/contract/routes.ts';
import { keyPurposes } from '../../src/contract/vocabulary.ts';
import { dataFolderNames } from '../../src/files/data-folder-files.ts';
import { rowsOf } from './parties.ts';

const tables = ['answers', 'bundles', 'folder', 'forks', 'honest', 'keys', 'rollbacks', 'watch'] as const;

const textOf = (name: string): string => readFileSync(new URL(`./${name}.test.ts`, import.meta.url), 'utf8');

function tableOf(name: (typeof tables)[number]): string[][] {
  const [, table] = /rowsOf\(`\n([^`]*)`\)/.exec(textOf(name))!;
  return rowsOf(table!);
}

/** Returns the values of the second column, by the first column. */
function variants(name: 'answers' | 'folder'): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const [what, how] of tableOf(name)) found.set(what!, new Set([...(found.get(what!) ?? []), how!]));
  return found;
}

/** Folders; `rules` and `backups` are not read at start-up, `restoring` exists during a restore. */
const folders = ['keys', 'rules', 'restoring', 'backups'];

/** A file that is empty while the service runs, so that it cannot be cut or older. */
const emptyFile = 'lock';
/** Files of earlier versions, which the first start removes. */
const ofEarlierVersions = ['policy.in-effect.json', 'policy.pending.json'];
/** A file that exists only during a restore, which removes it. */
const ofRestore = 'restore.json';

/** Returns the files of a data folder, as named in the tables. */
function filesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (name !== 'keys') return statSync(path).isFile() ? [name] : [];
    return readdirSync(path).map((key) => `keys/${JSON.parse(readFileSync(join(path, key), 'utf8')).svc_purpose}`);
  });
}

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  await service.stop();
});

test('each file that a service leaves in its data folder has rows in the verdict table', () => {
  const inTable = variants('folder');
  const files = filesIn(service.dataDir);
  expect(files).toEqual(expect.arrayContaining(['ledger.mdb', 'policy.json', 'keys/checkpoint']));
  expect(files.filter((file) => !inTable.has(file))).toEqual([]);
});

test('every possible file of a data folder has rows for the states missing, cut, one bit altered and older', () => {
  const inTable = variants('folder');
  const purposes = keyPurposes.filter((purpose) => purpose !== 'witness').map((purpose) => `keys/${purpose}`);
  const names = [...dataFolderNames.filter((name) => ![...folders, ...ofEarlierVersions].includes(name)), ...purposes];
  const lacking = names.flatMap((name) => {
    const wanted = ['missing', 'cut', 'one bit', 'older'];
    const special: Record<string, string[]> = {
      [emptyFile]: ['missing', 'one bit'],
      [ofRestore]: ['present'],
    };
    return (special[name] ?? wanted).filter((how) => !inTable.get(name)?.has(how)).map((how) => `${name} ${how}`);
  });
  expect(lacking).toEqual([]);
});

test('each key purpose has a row that restores its key file from before a rotation', () => {
  const rotated = tableOf('rollbacks').filter(([name]) => name === 'rotated');
  const older = rotated.map(([, files]) => files!);
  for (const purpose of keyPurposes.filter((one) => one !== 'witness')) expect(older).toContain(`keys/${purpose}`);
});

test('each field of a head has rows for the field missing, null and changed', () => {
  const text = textOf('heads');
  const [, list] = /const fields = \[([^\]]*)\]/.exec(text)!;
  const fields = [...list!.matchAll(/'(\w+)'/g)].map(([, field]) => field!);
  expect(fields).toEqual(Object.keys(SignedTreeHead.properties));
  for (const field of fields) expect(text).toContain(`field: '${field}'`);
});

test('each public endpoint of the log has rows for responses rolled back, withheld, unavailable and mixed', () => {
  const inTable = variants('answers');
  const paths = Object.values(routes).map(({ path }) => path as string);
  const ofLog = paths.filter((path) => /^\/(api\/transparency|checkpoint|tile|\.well-known)/.test(path));
  const shown = ofLog.map((path) => path.replace('/tile/:tile*', '/tile/0/').replace(':bundle*', ''));
  expect(shown.length).toBeGreaterThan(10);
  const modes = ['rolled back', 'withheld', 'unavailable', 'mixed'];
  expect(
    shown.flatMap((path) => modes.filter((mode) => !inTable.get(path)?.has(mode)).map((mode) => `${path} ${mode}`)),
  ).toEqual([]);
});

test('the verdict tables have at least 120 rows, all distinct', () => {
  const rows = tables.flatMap((name) => tableOf(name).map((cells) => `${name}: ${cells.slice(0, 3).join(' | ')}`));
  expect(rows.length).toBeGreaterThanOrEqual(120);
  expect(rows.filter((row, i) => rows.indexOf(row) !== i)).toEqual([]);
});
