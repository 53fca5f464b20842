import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { ServedLog } from '../client/served-log.ts';
import { candor, command } from './candor.ts';

let log: ServedLog;
let folder: string;
let file: string;
beforeEach(async () => {
  log = await ServedLog.start();
  folder = mkdtempSync(join(tmpdir(), 'candor-export-'));
  file = join(folder, 'log.archive');
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

const exporting = (...more: string[]) => command('export', log.url, '--json', ...more);

describe('candor export', () => {
  test('writes an archive that candor verify checks offline', async () => {
    await log.append(9);
    await log.ledger.rotateKey('event-signing', 'system');
    const told = await candor('export', log.url, '--json', '--out', file);
    expect(told.json, told.stderr).toMatchObject({ status: 'ok', from: 0, to: 11, tree_size: 11, file });
    const part = join(folder, 'part.archive');
    expect((await exporting('--from', '3', '--to', '7', '--out', part)).code).toBe(exitCodes.ok);
    const jwks = await (await fetch(`${log.url}/.well-known/jwks.json`)).text();
    await log.close();

    const verified = await command('verify', file, '--json');
    expect(verified.json, verified.stderr).toMatchObject({
      status: 'ok',
      entries: 11,
      whole: true,
      keys: 'bundle',
    });
    const keys = join(folder, 'keys.json');
    writeFileSync(keys, jwks);
    const ofPart = await command('verify', part, '--keys', keys, '--json');
    expect(ofPart.json, ofPart.stderr).toMatchObject({
      entries: 4,
      from: 3,
      to: 7,
      whole: false,
      keys: 'given',
    });

    const lines = readFileSync(file, 'utf8').split('\n');
    [lines[2], lines[3]] = [lines[3]!, lines[2]!];
    writeFileSync(file, lines.join('\n'));
    expect(await command('verify', file, '--json')).toMatchObject({
      code: exitCodes.refused,
      json: { code: 'WRONG_LEAF' },
    });
    writeFileSync(part, readFileSync(part, 'utf8').slice(0, -200));
    expect(await command('verify', part, '--json')).toMatchObject({ code: exitCodes.refused });
  });

  test('writes to standard output; --format jsonl writes only the entries', async () => {
    const ids = await log.append(3);
    const piped = await candor('export', log.url);
    writeFileSync(file, piped.stdout);
    expect(await command('verify', file, '--json')).toMatchObject({
      code: exitCodes.ok,
      json: { entries: 3 },
    });
    const { stdout } = await command('export', log.url, '--format', 'jsonl', '--from', '1');
    const entries = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string });
    expect(entries.map(({ id }) => id)).toEqual(ids.slice(1));
  });

  test('never overwrites an existing file without --force; a failed export leaves no file', async () => {
    await log.append(3);
    writeFileSync(file, 'mine');
    expect((await exporting('--out', file)).code).toBe(exitCodes.usage);
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect((await exporting('--out', file, '--force')).code).toBe(exitCodes.ok);
    rmSync(file);
    log.lies = [{ path: '/tile/entries/000.p/3', tell: (bytes) => bytes.replace('"system"', '"nobody"') }];
    expect(await exporting('--out', file)).toMatchObject({
      code: exitCodes.refused,
      json: { code: 'WRONG_ROOT' },
    });
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('reports an empty log, an invalid range, a missing token and an unreachable log', async () => {
    expect((await exporting('--out', file)).code).toBe(exitCodes.empty);
    await log.append(2);
    expect(await exporting('--from', '2')).toMatchObject({
      code: exitCodes.refused,
      json: { code: 'NO_SUCH_RANGE' },
    });
    expect((await exporting('--from', '-1')).code).toBe(exitCodes.usage);
    log.lies = [{ path: '/tile/entries/000.p/2', tell: () => ({ status: 401, body: '{}' }) }];
    const denied = await exporting('--out', file);
    expect(denied).toMatchObject({ code: exitCodes.refused, json: { code: 'HTTP_REFUSED' } });
    expect(denied.json.message).toContain('token');
    const { url } = log;
    await log.close();
    expect((await command('export', url)).code).toBe(exitCodes.unavailable);
  });
});
