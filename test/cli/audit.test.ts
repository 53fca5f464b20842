import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { loadPin, savePin } from '../../src/cli/pin-file.ts';
import { audit as auditor } from '../../src/client/auditor.ts';
import { fetchSignedEntries } from '../../src/client/entry-evidence.ts';
import { writeEvidence } from '../../src/client/evidence.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { httpLog } from '../../src/client/log-source.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { CachingProxy } from '../client/caching-proxy.ts';
import { keyPairOf, signedHead } from '../client/forged-head.ts';
import { type Entry, rewrite } from '../client/insider.ts';
import { ServedLog } from '../client/served-log.ts';
import { candor, command, Running } from './candor.ts';
import { pinned } from './pinned.ts';

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

const audit = (...more: string[]) => command('audit', log.url, '--state', state, '--json', ...more);

/** Makes the server show a log whose head and checkpoint belong to different trees. */
async function showTwoRoots(): Promise<void> {
  await log.append(1);
  const copy = await log.snapshot();
  await log.append(1);
  const note = await (await fetch(`${log.url}/checkpoint`)).text();
  await log.restore(copy);
  log.now += 1000;
  await log.append(1);
  log.lies = [{ path: '/checkpoint', tell: () => note }];
}

describe('candor audit', () => {
  test('pins a log, follows it, and moves the pin only forward', async () => {
    const separately = (...more: string[]) => candor('audit', log.url, '--state', state, '--json', ...more);
    expect(await audit()).toMatchObject({ code: exitCodes.ok, json: { status: 'empty' } });
    await log.append(2);
    expect(await separately()).toMatchObject({ code: exitCodes.ok, json: { status: 'pinned', tree_size: 2 } });
    await log.append(3);
    const extended = await separately('--entries');
    expect(extended).toMatchObject({
      code: exitCodes.ok,
      json: { status: 'extended', from_size: 2, tree_size: 5 },
    });
    expect(await audit()).toMatchObject({ code: exitCodes.ok, json: { status: 'unchanged', tree_size: 5 } });
    expect(readdirSync(join(folder, 'pins'))).toEqual(['log.json', 'log.json.ids']);
  });

  test('exits with a separate code on a fork, saves evidence and does not overwrite the pin', async () => {
    await log.append(1);
    const copy = await log.snapshot();
    await log.append(1);
    await pinned(log, state);
    const before = readFileSync(state, 'utf8');
    await log.restore(copy);
    log.now += 1000;
    await log.append(1);
    const first = await audit();
    expect(first).toMatchObject({ code: exitCodes.misbehaviour, json: { code: 'FORK' } });
    const second = await audit();
    expect(readFileSync(state, 'utf8')).toBe(before);
    expect(second.json.evidence).not.toBe(first.json.evidence);
    const evidence = JSON.parse(readFileSync(String(first.json.evidence), 'utf8')) as Record<string, unknown>;
    expect(evidence).toMatchObject({ code: 'FORK', pinned_head: { tree_size: 2 }, head: { tree_size: 2 } });
  });

  test('saves evidence but pins no key if the first audit finds two roots', async () => {
    await showTwoRoots();
    const found = await audit();
    expect(found, found.stderr).toMatchObject({
      code: exitCodes.refused,
      json: { code: 'UNPROVEN', convicts: false },
    });
    const file = String(found.json.evidence);
    expect((await command('verify', file)).code).toBe(exitCodes.refused);
    const keys = join(folder, 'keys.json');
    writeFileSync(keys, await (await fetch(`${log.url}/.well-known/jwks.json`)).text());
    expect((await command('verify', file, '--keys', keys)).code).toBe(exitCodes.misbehaviour);
    expect(readdirSync(join(folder, 'pins'))).toHaveLength(1);
  });

  test('prints evidence that cannot be saved, and exits with the code for misbehaviour', async () => {
    const long = join(folder, 'n'.repeat(240));
    await log.append(1);
    const copy = await log.snapshot();
    await log.append(1);
    await pinned(log, long);
    await log.restore(copy);
    log.now += 1000;
    await log.append(1);
    const found = await command('audit', log.url, '--state', long);
    expect(found.code).toBe(exitCodes.misbehaviour);
    expect(found.stderr).toContain('"format":"candor-evidence/3"');
  });

  test('reports a new signing key of the head, and whether the old key vouches for the new key', async () => {
    await log.append(1);
    expect((await audit()).json).toMatchObject({ status: 'pinned', new_key: false });
    await log.ledger.rotateKey('transparency-sth', 'system');
    await log.append(1);
    expect((await audit()).json).toMatchObject({ status: 'extended', new_key: true, key_vouched: true });
    expect((await audit()).json).toMatchObject({ status: 'unchanged', new_key: false });
    await log.ledger.revokeKey((await log.ledger.head()).signer_key_id, 'stolen', 'system');
    for (const more of [[], ['--strict-keys']])
      expect(await audit(...more)).toMatchObject({
        code: exitCodes.refused,
        json: { code: 'UNVOUCHED_KEY', key_fingerprint: (await log.ledger.status()).sth_key_fingerprint },
      });
    const before = readFileSync(state, 'utf8');
    const { sth_key_fingerprint: fingerprint } = await log.ledger.status();
    expect((await audit('--accept-key', 'mine')).code).toBe(exitCodes.usage);
    const accepted = await audit('--accept-key', fingerprint);
    expect(accepted.json).toMatchObject({ status: 'extended', key_accepted: true, key_vouched: false });
    expect(readFileSync(String(accepted.json.pin_before), 'utf8')).toBe(before);
  });

  test('rejects an idle log once its head is too old, unless any age is allowed', async () => {
    await log.close();
    log = await ServedLog.start(Date.now() - 3 * 3_600_000);
    await log.append(1);
    expect((await audit()).json).toMatchObject({ code: 'STALE_HEAD', kind: 'refused' });
    expect((await audit('--max-age', '0')).json).toMatchObject({ status: 'pinned' });
  });

  test('fetches only entries after the last audit, if the ids of earlier entries are known', async () => {
    await log.append(3);
    expect((await audit('--entries')).code).toBe(exitCodes.ok);
    await log.append(2);
    expect((await audit('--entries')).json).toMatchObject({ entries: { from: 3, to: 5 } });
    // Without the file of ids, all entries are fetched again.
    rmSync(`${state}.ids`);
    expect((await audit('--entries')).json).toMatchObject({ entries: { from: 0, to: 5 } });
  });

  test('reports a misdated entry once, and moves the pin forward', async () => {
    await log.append(2);
    const occurred_at = new Date(log.now - 30 * 3_600_000).toISOString();
    await log.tamper((path) => rewrite(path, (entries) => Object.assign(entries[1]!, { occurred_at })));
    const found = await audit('--entries');
    expect(found).toMatchObject({ code: exitCodes.refused, json: { code: 'BACKDATED', convicts: false } });
    expect(await audit('--entries')).toMatchObject({ code: exitCodes.ok, json: { status: 'unchanged' } });
  });

  test.each([
    [
      'FUTURE',
      (entries: Entry[]) => Object.assign(entries[1]!, { occurred_at: new Date(log.now + 3_600_000).toISOString() }),
      'the log signed entry 1, dated',
    ],
    ['DUPLICATE_ENTRY', (entries: Entry[]) => entries.push({ ...entries[1]! }), 'the log signed entries 1 and 3'],
  ])('with %s, saves evidence with the entries, which candor verify checks offline', async (code, change, proves) => {
    await log.append(3);
    await log.tamper((path) => rewrite(path, change));
    const { code: exit, json } = await audit();
    expect([exit, json.code]).toEqual([exitCodes.refused, code]);
    const file = String(json.evidence);
    const checked = await command('verify', file, '--json');
    expect(checked).toMatchObject({ code: exitCodes.refused, json: { status: 'does_not_convict', code } });
    expect(checked.json.reason).toContain(proves);
    // As text: JSON.parse would round the times of heads.
    const text = readFileSync(file, 'utf8');
    const at = text.indexOf('"canonical":"') + 60;
    writeFileSync(file, `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`);
    const altered = await command('verify', file, '--json');
    expect([altered.code, altered.json.reason]).toEqual([exitCodes.refused, expect.stringContaining('NOT_INCLUDED')]);
  });

  test('checks entries by default if the log allows it, and not with --no-entries', async () => {
    await log.append(3);
    await log.tamper((path) => rewrite(path, (entries) => entries.push({ ...entries[1]! })));
    expect(await audit()).toMatchObject({ code: exitCodes.refused, json: { code: 'DUPLICATE_ENTRY' } });
    const error = { code: 'UNAUTHENTICATED', message: 'no token', request_id: 'r' };
    const body = JSON.stringify({ error, timestamp: new Date().toISOString() });
    log.lies = [{ path: '/tile/entries/000', tell: () => ({ status: 401, body }) }];
    expect(await audit('--entries')).toMatchObject({ code: exitCodes.refused, json: { kind: 'refused' } });
    const headOnly = await command('audit', log.url, '--state', state);
    expect([headOnly.code, headOnly.stdout]).toEqual([
      exitCodes.ok,
      expect.stringContaining('Entries were not checked: pass a token'),
    ]);
    log.lies = [];
    expect((await audit('--no-entries')).json).toMatchObject({ status: 'unchanged', tree_size: 4 });
    const { stdout } = await command('audit', log.url, '--state', state, '--no-entries');
    expect(stdout).toContain('Entries were not checked, because of --no-entries.');
  });

  test('requires the previous head for evidence of a backdated entry', async () => {
    await log.append(2);
    await pinned(log, state);
    const before = (await loadPin(state))!.head;
    log.now += 2000;
    await log.append(1);
    const occurred_at = new Date(log.now - 30 * 3_600_000).toISOString();
    await log.tamper((path) => rewrite(path, (entries) => Object.assign(entries[2]!, { occurred_at })));
    const source = httpLog(log.url);
    const found = await auditor(source, undefined, { now: log.now });
    if (found.status !== 'pinned') throw new Error(found.status);
    const { pin, keys } = found;
    const { head } = pin;
    const entries = await fetchSignedEntries(source, [{ leafIndex: 2, head }], keys);
    if (entries instanceof AuditFault) throw entries;
    const about = { code: 'BACKDATED', message: '', log: log.url, foundAt: new Date(log.now).toISOString() };
    const pinnedKeys = pin.keys;
    const file = join(folder, 'backdated.json');
    const reasonOf = async (pinnedHead: typeof head) => {
      writeFileSync(file, writeEvidence({ ...about, pinnedHead, head, entries, keys: pinnedKeys, pinnedKeys }));
      const { code, json } = await command('verify', file, '--json');
      return [code, json.reason];
    };
    const signed = expect.stringContaining('the log signed entry 2, dated');
    expect(await reasonOf(before)).toEqual([exitCodes.refused, signed]);
    const unproven = 'the entries do not prove the finding';
    expect(await reasonOf(head)).toEqual([exitCodes.refused, unproven]);
  });

  test('does not overwrite an update of the pin by a concurrent audit', async () => {
    await log.append(1);
    await pinned(log, state);
    const old = await loadPin(state);
    await log.append(1);
    await audit();
    const moved = readFileSync(state, 'utf8');
    expect(await savePin(state, { ...old!, updatedAt: 'later' }, old)).toBe(false);
    expect(readFileSync(state, 'utf8')).toBe(moved);
    expect(await savePin(state, (await loadPin(state))!, await loadPin(state))).toBe(true);
  });

  test('never replaces an unreadable pin', async () => {
    await log.append(1);
    await pinned(log, state);
    writeFileSync(state, '{');
    expect(await audit()).toMatchObject({ code: exitCodes.refused });
    expect(readFileSync(state, 'utf8')).toBe('{');
  });

  test.for([
    ['a root', /"root_hash":"../, '"root_hash":"zz'],
    ['a size', /"tree_size":2/, '"tree_size":9'],
    ['a time', /"timestamp_ns":1/, '"timestamp_ns":2'],
    ['the keys', /"keys":\[.*\]/, '"keys":[]'],
  ] as const)('does not treat an altered pin file (%s) as evidence against the log', async ([, found, by]) => {
    await log.append(2);
    await pinned(log, state);
    const before = readFileSync(state, 'utf8');
    const digit = /"root_hash":"(.)/.exec(before)?.[1] === '0' ? '11' : '00';
    const altered = before.replace(found, by.replace('zz', digit));
    expect(altered).not.toBe(before);
    writeFileSync(state, altered);
    const ended = await audit();
    expect(ended.code).toBe(exitCodes.refused);
    expect(ended.stderr).toContain('MALFORMED_PIN');
    expect(readdirSync(join(folder, 'pins'))).toEqual(['log.json']);
    expect(readFileSync(state, 'utf8')).toBe(altered);
  });

  test('bypasses an outdated cache, as candor verify does', async () => {
    const proxy = await CachingProxy.before(log.url);
    onTestFinished(() => proxy.close());
    await log.append(2);
    await proxy.keep('/api/transparency/sth', '/.well-known/jwks.json');
    await log.ledger.rotateKey('event-signing', 'system');
    const audited = () => command('audit', proxy.url, '--state', state, '--json');
    expect(await audited()).toMatchObject({ json: { status: 'pinned' } });
    proxy.serveKept = true;
    expect(await audited()).toMatchObject({ code: exitCodes.ok, json: { status: 'unchanged' } });
    const asked = ['verify', '--url', proxy.url, '--leaf-index', '1', '--pin', state, '--json'];
    expect(await command(...asked)).toMatchObject({ code: exitCodes.ok, json: { status: 'ok' } });
  });

  test('reports invalid usage and an unreachable service', async () => {
    expect((await command('audit')).code).toBe(exitCodes.usage);
    expect((await command('audit', 'ftp://x')).code).toBe(exitCodes.usage);
    expect((await command('audit', log.url, '--interval', '0')).code).toBe(exitCodes.usage);
    const url = log.url;
    await log.close();
    expect((await command('audit', url, '--state', state)).code).toBe(exitCodes.unavailable);
  });
});

describe('candor audit --compare', () => {
  const other = () => join(folder, 'pins', 'other.json');
  const compare = (...more: string[]) => command('audit', ...more, '--compare', state, other(), '--json');

  test('accepts pins of one tree: equal sizes offline, different sizes with the log', async () => {
    await log.append(2);
    await pinned(log, state);
    copyFileSync(state, other());
    expect(await compare()).toMatchObject({ code: exitCodes.ok, json: { status: 'same_tree' } });
    log.now += 1000;
    await log.append(3);
    await audit();
    expect((await compare()).code).toBe(exitCodes.usage);
    expect(await compare(log.url)).toMatchObject({ code: exitCodes.ok, json: { status: 'same_tree' } });
  });

  test.each([
    [1, 'FORK'],
    [2, 'INCONSISTENT'],
  ])('proves a fork from the pins of two auditors (%i more entries: %s)', async (more, code) => {
    await log.append(2);
    await pinned(log, state);
    copyFileSync(state, other());
    const copy = await log.snapshot();
    log.now += 1000;
    await log.append(1);
    await audit();
    await log.restore(copy);
    log.now += 1000;
    await log.append(more);
    expect((await command('audit', log.url, '--state', other())).code).toBe(exitCodes.ok);
    const found = await compare(log.url);
    expect(found, found.stderr).toMatchObject({
      code: exitCodes.misbehaviour,
      json: { code, convicts: true },
    });
    expect((await command('verify', String(found.json.evidence))).code).toBe(exitCodes.misbehaviour);
  });

  test('rejects pins of two logs', async () => {
    await log.append(2);
    await pinned(log, state);
    const second = await ServedLog.start();
    onTestFinished(() => second.close());
    await second.append(2);
    await pinned(second, other());
    expect(await compare()).toMatchObject({ code: exitCodes.refused, json: { code: 'UNVOUCHED_KEY' } });
  });

  test('does not treat a key in only one pin as evidence against the log', async () => {
    await log.append(3);
    await pinned(log, state);
    const pin = await loadPin(state);
    const invented = keyPairOf('01940000-0000-7000-8000-00000000beef');
    const { key } = invented;
    const head = signedHead(invented, { ...pin!.head, root: new Uint8Array(32).fill(7) });
    await savePin(other(), { ...pin!, head, keys: new Map([...pin!.keys, [key.kid, key]]) }, undefined);
    for (const url of [[], [log.url]])
      expect(await compare(...url)).toMatchObject({
        code: exitCodes.refused,
        json: { code: 'UNVOUCHED_KEY' },
      });
    expect(readdirSync(join(folder, 'pins')).sort()).toEqual(['log.json', 'other.json']);
  });
});

/** Returns the error of a proxy whose upstream is offline. */
const proxyError = () => ({ status: 404, body: '<html>no such host</html>' });

describe('candor audit --watch', () => {
  const watching = (...more: string[]) =>
    new Running('audit', log.url, '--state', state, '--json', '--watch', '--interval', '1', ...more);

  test('continues after outages and rejected responses, reports each change once, exits with 5 on misbehaviour', async () => {
    await log.append(2);
    const copy = await log.snapshot();
    const watched = watching();
    expect(await watched.line(0)).toMatchObject({ status: 'pinned', tree_size: 2 });
    log.lies = ['/api/transparency/sth', '/.well-known/jwks.json'].map((path) => ({
      path,
      tell: proxyError,
    }));
    expect(await watched.line(1)).toMatchObject({ status: 'fault', code: 'HTTP_REFUSED' });
    log.lies = [{ path: '/api/transparency/sth', tell: () => '<html>' }];
    expect(await watched.line(2)).toMatchObject({ status: 'fault', code: 'MALFORMED_HEAD' });
    log.lies = [];
    expect(await watched.line(3)).toMatchObject({ status: 'unchanged', tree_size: 2 });
    await log.append(3);
    expect(await watched.line(4)).toMatchObject({ status: 'extended', from_size: 2, tree_size: 5 });
    await log.restore(copy);
    log.now += 1000;
    await log.append(1);
    expect(await watched.line(5)).toMatchObject({ code: 'ROLLBACK', at: expect.stringMatching(/Z$/) });
    expect(await watched.ended).toBe(exitCodes.misbehaviour);
    expect(watched.lines).toHaveLength(6);
  });

  test('continues after outdated responses of a cache, and bypasses the cache', async () => {
    const paths = ['/api/transparency/sth', '/.well-known/jwks.json'];
    const proxy = await CachingProxy.before(log.url);
    onTestFinished(() => proxy.close());
    await log.append(2);
    await proxy.keep(...paths);
    const copy = await log.snapshot();
    await log.ledger.rotateKey('event-signing', 'system');
    const { tree_size: size } = await log.ledger.head();
    const at = ['--state', state, '--json', '--watch', '--interval', '1'];
    const watched = new Running('audit', proxy.url, ...at);
    expect(await watched.line(0)).toMatchObject({ status: 'pinned', tree_size: size });
    proxy.serveKept = true;
    await log.append(1);
    expect(await watched.line(1)).toMatchObject({ status: 'extended', tree_size: size + 1 });
    await log.restore(copy);
    expect(await watched.line(2)).toMatchObject({ code: 'OLD_HEAD' });
    log.now += 60_000;
    await log.append(1);
    await proxy.keep(...paths);
    expect(await watched.line(3)).toMatchObject({ code: 'ROLLBACK' });
    expect(await watched.ended).toBe(exitCodes.misbehaviour);
  });

  test('reports an old head without ending; a signal ends the watch successfully', async () => {
    await log.close();
    log = await ServedLog.start(Date.now() - 3_600_000);
    await log.append(1);
    const watched = watching('--max-age', '60');
    expect(await watched.line(0)).toMatchObject({ code: 'STALE_HEAD' });
    log.now += 3_600_000;
    await log.append(1);
    expect(await watched.line(1)).toMatchObject({ status: 'pinned', tree_size: 2 });
    expect(await watched.stop()).toBe(exitCodes.ok);
  });

  test('raises no false alarm for two rotations of each key during appends, and all entries verify', async () => {
    await log.append(1);
    const watched = watching('--entries');
    await watched.line(0);
    for (let round = 0; round < 2; round++) {
      for (const purpose of ['transparency-sth', 'event-signing'] as const) {
        const rotated = log.ledger.rotateKey(purpose, 'system');
        for (let i = 0; i < 5; i++) await log.append(2);
        await rotated;
        log.now += 10;
      }
    }
    const { tree_size: size } = await log.ledger.head();
    for (let n = 0; ; n++) {
      const line = await watched.line(n);
      expect(line).not.toHaveProperty('code');
      if (line.tree_size === size) break;
    }
    await watched.stop();
    expect((await audit('--all-entries')).json).toMatchObject({
      status: 'unchanged',
      entries: { from: 0, to: size },
    });
  });
});

describe('candor audit with revoked keys', () => {
  const keyOf = async (purpose: string) =>
    String((await log.ledger.keys()).find((key) => key.svc_purpose === purpose && key.svc_state === 'active')?.kid);

  test("accepts a later revocation of the pinned head's key, and then rejects heads signed by that key", async () => {
    await log.append(2);
    const first = await keyOf('transparency-sth');
    const oldHead = await (await fetch(`${log.url}/api/transparency/sth`)).text();
    await pinned(log, state);
    await log.ledger.revokeKey(first, 'stolen', 'system');
    const { sth_key_fingerprint: fingerprint } = await log.ledger.status();
    const after = await audit('--entries', '--accept-key', fingerprint);
    expect(after.json, after.stderr).toMatchObject({ status: 'extended', from_size: 2 });
    expect(after.json.signer_key_id).not.toBe(first);
    log.lies = [{ path: '/api/transparency/sth', tell: () => oldHead }];
    expect(await audit()).toMatchObject({ code: exitCodes.refused, json: { code: 'KEY_REVOKED' } });
  });

  test('accepts and counts entries that were signed by an event key and logged before its revocation', async () => {
    await log.append(3);
    await log.ledger.revokeKey(await keyOf('event-signing'), 'stolen', 'system');
    await log.append(2);
    const all = await audit('--entries');
    expect(all.json, all.stderr).toMatchObject({
      status: 'pinned',
      entries: { from: 0, by_revoked_keys: 3 },
    });
  });
});
