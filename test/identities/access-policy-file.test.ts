import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import type { ServiceError } from '../../src/errors.ts';
import { defaultRules } from '../../src/identities/policy/default-rules.ts';
import { findRulesFile, prepareRulesFile } from '../../src/identities/policy/rules-file.ts';
import { limits } from '../../src/limits.ts';
import { newFolder, removeFolder } from './policy-parts.ts';

const folder = newFolder();
afterAll(() => removeFolder(folder));
const rules = defaultRules({ metricsNeedRole: true, publicEntries: false });

let files = 0;
const written = (content: string | Uint8Array): string => {
  const path = join(folder, `${files++}`);
  writeFileSync(path, content);
  return path;
};
const rulesIn = async (path: string) => (await findRulesFile(path)).rules();
const refusalOf = (path: string): Promise<ServiceError> =>
  rulesIn(path).then(
    () => {
      throw new Error('it was accepted');
    },
    (error: ServiceError) => error,
  );
const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

test.each([
  ['JSON', JSON.stringify({ rules })],
  ['JSON with spaces on one line', JSON.stringify({ rules }).replaceAll(/([:,])/g, '$1 ')],
  ['indented JSON', JSON.stringify({ rules }, null, 8)],
  ['YAML', stringify({ rules })],
  ['YAML with comments', `# access policy\n# ${'-'.repeat(60)}\n${stringify({ rules })}`],
])('rules are read from %s', async (_, content) => {
  expect(await rulesIn(written(content))).toEqual(rules);
});

test('the policy file may be missing', async () => {
  expect(await rulesIn(join(folder, 'none'))).toBeUndefined();
});

describe('the reader of the policy file reports CONFLICT and the reason', () => {
  const twice = stringify({ rules: [...rules, { ...rules[3], roles: [] }] });
  const bomb = `a: &a [${'x,'.repeat(9)}x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nrules: [*c,*c,*c]`;
  test.each<[string, string | Uint8Array, string, string?]>([
    ['an empty file', '', 'must be a JSON object'],
    ['a file without rules', 'rule: []', 'rules is required'],
    ['rules that are not a list', 'rules: all', 'rules must be an array'],
    ['an unknown field', 'rules: []\nversion: 3', 'version is not a known field'],
    [
      'an unknown operation',
      JSON.stringify({ rules: [{ ...rules[0], operation: 'x' }] }),
      'is not the id',
      'rules.0.operation',
    ],
    [
      'an unknown role',
      'rules: [{operation: login, access: roles, roles: [root]}]',
      'must be one of',
      'rules.0.roles.0',
    ],
    ['an operation twice', twice, 'already has a rule', `rules.${rules.length}.operation`],
    ['a key twice', 'rules: []\nrules: []', 'unique'],
    ['a nested key twice', 'rules: [{operation: login, access: public, operation: x, roles: []}]', 'unique'],
    ['a key twice, as a number and as a text', 'rules: []\n1: a\n"1": b', 'unique'],
    ['a key that is a list', 'rules: []\n? [a]\n: b', 'keys must be strings'],
    ['a key twice in JSON', '{"rules":[],"rules":[]}', 'unique'],
    ['a key __proto__', '{"__proto__":{"rules":[]},"rules":[]}', '__proto__'],
    ['an alias', 'a: &a []\nrules: *a', 'aliases'],
    ['an alias bomb', bomb, 'aliases'],
    ['two documents', 'rules: []\n---\nrules: []', 'multiple documents'],
    ['a tag', 'rules: !!binary aaaa', 'must be an array'],
    ['deep brackets', nested('[', ']', 30_000), 'deeper than 64 levels'],
    ['deep braces', nested('{"a":', '}', 9_000), 'deeper than 64 levels'],
    ['deep dashes', `${'- '.repeat(30_000)}a`, 'deeper than 64 levels'],
    ['deep question marks', `${'? '.repeat(30_000)}a`, 'deeper than 64 levels'],
    [
      'deep indentation',
      Array.from({ length: 300 }, (__, n) => `${' '.repeat(n)}a:`).join('\n'),
      'deeper than 64 levels',
    ],
    ['too many bytes', `#${' '.repeat(limits.maxAccessPolicyBytes)}\nrules: []`, 'has more than'],
    ['too many rules', `rules: [${'{},'.repeat(501)}]`, 'at most 500'],
    ['a list of commas', `[${','.repeat(60_000)}`, 'Unexpected'],
    ['invalid UTF-8', new Uint8Array([0x72, 0xff, 0xfe]), 'not UTF-8'],
  ])('for %s', async (_, content, reason, field) => {
    const refused = await refusalOf(written(content));
    expect(refused).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining(reason) });
    if (field !== undefined) expect(refused).toMatchObject({ details: { field } });
  });

  test('for a folder, a pipe and a device', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const path of [folder, pipe, '/dev/zero'])
      expect(await refusalOf(path)).toMatchObject({
        code: 'CONFLICT',
        details: { reason: 'it is not a file' },
      });
  });
});

test('replacing a file keeps its format, its permissions and the symbolic link to it', async () => {
  const target = join(folder, 'rules.yaml');
  writeFileSync(target, 'rules: []\n');
  chmodSync(target, 0o640);
  mkdirSync(join(folder, 'etc'));
  const link = join(folder, 'etc', 'policy.yaml');
  symlinkSync(target, link);
  const umask = process.umask(0o077); // The umask of the service.
  onTestFinished(() => void process.umask(umask));
  const { replace } = await prepareRulesFile(link, rules);
  expect(readFileSync(target, 'utf8')).toBe('rules: []\n');
  await replace();
  expect(readFileSync(target, 'utf8')).toMatch(/^rules:\n {2}- operation: login\n/);
  expect(statSync(target).mode & 0o777).toBe(0o640);
  expect(await rulesIn(link)).toEqual(rules);
});

test.each<[string, (path: string) => void, string, string]>([
  ['a folder in place of the file', (path) => mkdirSync(path), 'CONFLICT', 'it is not a regular file'],
  ['a pipe in place of the file', (path) => execFileSync('mkfifo', [path]), 'CONFLICT', 'it is not a regular file'],
  ['a disk that is full', (path) => symlinkSync('/dev/full', `${path}.next.new`), 'UNAVAILABLE', 'ENOSPC'],
  ['a missing folder', (path) => removeFolder(dirname(path)), 'CONFLICT', 'ENOENT'],
])('%s is reported before any change, and no temporary file remains', async (name, trouble, code, reason) => {
  const own = join(folder, name);
  mkdirSync(own);
  const path = join(own, 'policy.json');
  trouble(path);
  const before = existsSync(own) ? readdirSync(own).filter((one) => one === 'policy.json') : [];
  await expect(prepareRulesFile(path, rules)).rejects.toMatchObject({ code, details: { reason } });
  expect(existsSync(own) ? readdirSync(own) : []).toEqual(before);
});

test('discarded rules leave no file behind', async () => {
  const path = join(folder, 'discarded.json');
  await (await prepareRulesFile(path, rules)).discard();
  expect(readdirSync(folder).filter((name) => name.startsWith('discarded'))).toEqual([]);
});
