import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { ServedLog } from '../client/served-log.ts';
import { candor } from './candor.ts';

let log: ServedLog;
let folder: string;
let state: string;
beforeEach(async () => {
  log = await ServedLog.start();
  folder = mkdtempSync(join(tmpdir(), 'candor-cli-'));
  state = join(folder, 'log.pin');
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

const audit = (...more: string[]) => candor('audit', log.url, '--state', state, '--json', ...more);

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
    const pinned = await candor('verify', bundle, '--pin', state, '--json');
    expect(pinned.json, pinned.stderr).toMatchObject({ keys: 'pin', consistent_with: 4 });
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

describe('candor verify of a checkpoint', { timeout: 60_000 }, () => {
  test('by a key that was told elsewhere, by a key set, or by the keys of a pin', async () => {
    await log.append(3);
    await audit();
    const note = join(folder, 'checkpoint');
    const text = await (await fetch(`${log.url}/checkpoint`)).text();
    writeFileSync(note, text);
    const keys = join(folder, 'keys.json');
    writeFileSync(keys, await (await fetch(`${log.url}/.well-known/jwks.json`)).text());
    const { checkpoint_vkey: vkey } = await log.ledger.status();
    await log.close();
    for (const by of [
      ['--vkey', vkey],
      ['--keys', keys],
      ['--pin', state],
    ]) {
      const verified = await candor('verify', note, ...by, '--json');
      expect(verified.json, verified.stderr).toMatchObject({ status: 'ok', tree_size: 3, cosigned_by: [] });
    }
    expect((await candor('verify', note)).code).toBe(exitCodes.usage);
    expect((await candor('verify', note, '--vkey', `${vkey}x`)).code).toBe(exitCodes.usage);
    expect(await candor('verify', note, '--vkey', vkey, '--quorum', '1', '--json')).toMatchObject({
      code: exitCodes.refused,
      json: { code: 'QUORUM_MISSED' },
    });
    writeFileSync(note, text.replace('\n3\n', '\n4\n'));
    expect(await candor('verify', note, '--vkey', vkey, '--json')).toMatchObject({
      code: exitCodes.refused,
      json: { code: 'UNSIGNED_CHECKPOINT' },
    });
  });
});
