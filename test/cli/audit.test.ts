import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { ServedLog } from '../client/served-log.ts';

const launcher = fileURLToPath(new URL('../../scripts/candor.js', import.meta.url));
let log: ServedLog;
let folder: string;
let state: string;
beforeEach(async () => {
  log = await ServedLog.start();
  folder = mkdtempSync(join(tmpdir(), 'candor-cli-'));
  state = join(folder, 'pins', 'log.json');
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number;
  readonly json: Record<string, unknown>;
  readonly stderr: string;
}

function candor(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [launcher, ...args], { timeout: 60_000 }, (error, stdout, stderr) => {
      const json = stdout.startsWith('{') ? (JSON.parse(stdout) as Record<string, unknown>) : {};
      resolve({ code: error === null ? 0 : Number(error.code), json, stderr });
    });
  });
}

const audit = (...more: string[]) => candor('audit', log.url, '--state', state, '--json', ...more);

describe('candor audit', { timeout: 60_000 }, () => {
  test('pins, follows, and moves the pin only forward', async () => {
    expect(await audit()).toMatchObject({ code: exitCodes.ok, json: { status: 'empty' } });
    await log.append(2);
    expect(await audit()).toMatchObject({ code: exitCodes.ok, json: { status: 'pinned', tree_size: 2 } });
    await log.append(3);
    const extended = await audit('--entries');
    expect(extended).toMatchObject({
      code: exitCodes.ok,
      json: { status: 'extended', from_size: 2, tree_size: 5 },
    });
    expect(await audit()).toMatchObject({ code: exitCodes.ok, json: { status: 'unchanged', tree_size: 5 } });
    expect(readdirSync(join(folder, 'pins'))).toEqual(['log.json']);
  });

  test('a fork ends with its own code; evidence is kept, the pin is not overwritten', async () => {
    await log.append(1);
    const copy = await log.snapshot();
    await log.append(1);
    await audit();
    const pinned = readFileSync(state, 'utf8');
    await log.restore(copy);
    log.now += 1000;
    await log.append(1);
    const first = await audit();
    expect(first).toMatchObject({ code: exitCodes.misbehaviour, json: { code: 'FORK' } });
    const second = await audit();
    expect(readFileSync(state, 'utf8')).toBe(pinned);
    expect(second.json.evidence).not.toBe(first.json.evidence);
    const evidence = JSON.parse(readFileSync(String(first.json.evidence), 'utf8')) as Record<string, unknown>;
    expect(evidence).toMatchObject({ code: 'FORK', pinned_head: { tree_size: 2 }, head: { tree_size: 2 } });
  });

  test('a pin that can not be read is never replaced', async () => {
    await log.append(1);
    await audit();
    writeFileSync(state, '{');
    expect(await audit()).toMatchObject({ code: exitCodes.refused });
    expect(readFileSync(state, 'utf8')).toBe('{');
  });

  test.for([
    ['a root', /"root_hash":"../, '"root_hash":"zz'],
    ['a size', /"tree_size":2/, '"tree_size":9'],
    ['a time', /"timestamp_ns":1/, '"timestamp_ns":2'],
    ['the keys', /"keys":\{[^}]*\}/, '"keys":{}'],
  ] as const)('a pin whose file was altered (%s) accuses nobody', async ([, found, by]) => {
    await log.append(2);
    await audit();
    const pinned = readFileSync(state, 'utf8');
    const digit = /"root_hash":"(.)/.exec(pinned)?.[1] === '0' ? '11' : '00';
    const altered = pinned.replace(found, by.replace('zz', digit));
    expect(altered).not.toBe(pinned);
    writeFileSync(state, altered);
    const ended = await audit();
    expect(ended.code).toBe(exitCodes.refused);
    expect(ended.stderr).toContain('MALFORMED_PIN');
    expect(readdirSync(join(folder, 'pins'))).toEqual(['log.json']);
    expect(readFileSync(state, 'utf8')).toBe(altered);
  });

  test('wrong usage, and nobody there', async () => {
    expect((await candor('audit')).code).toBe(exitCodes.usage);
    expect((await candor('audit', 'ftp://x')).code).toBe(exitCodes.usage);
    expect((await candor('audit', log.url, '--interval', '0')).code).toBe(exitCodes.usage);
    const url = log.url;
    await log.close();
    expect((await candor('audit', url, '--state', state)).code).toBe(exitCodes.unavailable);
  });
});

describe('candor verify and sth', { timeout: 60_000 }, () => {
  test('online by position, id and held bytes; then offline from what was kept', async () => {
    const ids = await log.append(4);
    const bundle = join(folder, 'bundle.json');
    const online = await candor('verify', '--url', log.url, '--leaf-index', '2', '--save', bundle, '--json');
    expect(online).toMatchObject({
      code: exitCodes.ok,
      json: { status: 'ok', entry_id: ids[2], leaf_index: 2 },
    });
    expect((await candor('verify', '--url', log.url, '--entry-id', ids[1]!)).code).toBe(exitCodes.ok);

    const { canonical } = JSON.parse(readFileSync(bundle, 'utf8')) as { canonical: string };
    const event = join(folder, 'event.json');
    writeFileSync(
      event,
      JSON.stringify(JSON.parse(Buffer.from(canonical, 'base64').toString()), undefined, 2),
    );
    await audit();
    const held = ['verify', '--url', log.url, '--event', event, '--pin', state, '--json'];
    expect(await candor(...held)).toMatchObject({
      code: exitCodes.ok,
      json: { leaf_index: 2, consistent_with: 4 },
    });

    const keys = join(folder, 'keys.json');
    writeFileSync(keys, await (await fetch(`${log.url}/.well-known/jwks.json`)).text());
    const offline = ['verify', bundle, '--keys', keys, '--json'];
    expect(await candor(...offline)).toMatchObject({
      code: exitCodes.ok,
      json: { entry_id: ids[2], keys: 'given' },
    });
    writeFileSync(keys, '{"keys":[]}');
    expect(await candor(...offline)).toMatchObject({
      code: exitCodes.refused,
      json: { code: 'UNKNOWN_KEY' },
    });
    expect((await candor('verify', bundle, '--url', log.url)).code).toBe(exitCodes.usage);
    expect((await candor('verify', join(folder, 'none.json'))).code).toBe(exitCodes.failed);
  });

  test('sth shows the head in all its digits', async () => {
    expect(await candor('sth', log.url, '--json')).toMatchObject({
      code: exitCodes.empty,
      json: { status: 'empty' },
    });
    await log.append(3);
    expect(await candor('sth', log.url, '--json')).toMatchObject({
      code: exitCodes.ok,
      json: { tree_size: 3 },
    });
  });
});
