/**
 * Logs that an attacker with the service's files and keys forked, edited or rolled back. Each log is the real ledger
 * behind HTTP, pinned, and audited by the command. Then the server is stopped, and the evidence alone must be
 * sufficient.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FaultCode } from '../../src/client/fault.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { decodeEntryBundle } from '../../src/tlog/entry-bundle.ts';
import { bytesToHex } from '../../src/tlog/hex.ts';
import { leafHash } from '../../src/tlog/tree.ts';
import { type Entry, rewrite, signOtherRoot } from '../client/insider.ts';
import { ServedLog } from '../client/served-log.ts';
import { mth } from '../tlog/oracle.ts';
import { command } from './candor.ts';
import { pinned } from './pinned.ts';

let log: ServedLog;
let folder: string;
let state: string;
beforeEach(async () => {
  log = await ServedLog.start();
  folder = mkdtempSync(join(tmpdir(), 'candor-forks-'));
  state = join(folder, 'log.pin');
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

const audit = (...more: string[]) => command('audit', log.url, '--state', state, '--json', ...more);

interface Fork {
  readonly what: string;
  /** Runs before the first entry. */
  begin?(): unknown;
  /** Number of entries when the copy is made. */
  readonly kept?: number;
  /** Number of entries when the log is pinned. */
  readonly size: number;
  /** Runs between the copy and the pin, in addition to appending the missing entries. */
  between?(): Promise<unknown>;
  fork(copy: string): Promise<void>;
  readonly code: FaultCode;
  readonly convicts: boolean;
}

const hour = 3_600_000;

/** Restores the copy and continues the log. */
const restored = (more: number) => async (copy: string) => {
  log.now += 1000;
  await log.restore(copy);
  await log.append(more);
};

/** Writes and signs the log again from changed entries, and appends more entries if requested. */
const rewritten =
  (change: (entries: Entry[]) => void, more = 0) =>
  async () => {
    await log.tamper((path) => rewrite(path, change));
    if (more === 0) return;
    log.now += 1000;
    await log.append(more);
  };

const edited = (entries: Entry[]) => {
  entries[1]!.data = { title: 'nothing happened' };
};

const forks: readonly Fork[] = [
  {
    what: 'a restored old backup continues with a smaller tree',
    size: 6,
    kept: 3,
    fork: restored(1),
    code: 'ROLLBACK',
    convicts: true,
  },
  {
    what: 'a restored old backup has different entries up to the same size',
    size: 6,
    kept: 3,
    fork: restored(3),
    code: 'FORK',
    convicts: true,
  },
  {
    what: 'a restored old backup has grown beyond the pinned size',
    size: 6,
    kept: 3,
    fork: restored(9),
    code: 'INCONSISTENT',
    convicts: true,
  },
  {
    what: 'a restored old backup has grown beyond the pinned size, with a proof that omits the pinned root',
    size: 8,
    kept: 3,
    fork: restored(12),
    code: 'INCONSISTENT',
    convicts: true,
  },
  {
    what: 'a restored old backup has not changed since',
    size: 6,
    kept: 3,
    fork: (copy) => log.restore(copy),
    code: 'OLD_HEAD',
    convicts: false,
  },
  {
    what: 'an entry was edited, the tree recomputed and the head signed again',
    size: 5,
    fork: rewritten(edited),
    code: 'FORK',
    convicts: true,
  },
  {
    what: 'an entry was edited, the tree recomputed, the head signed again, and the log continued',
    size: 5,
    fork: rewritten(edited, 2),
    code: 'INCONSISTENT',
    convicts: true,
  },
  {
    what: 'an entry was inserted with an old date',
    size: 5,
    fork: rewritten((entries) => {
      const backdated = { ...entries[1]!, id: '01940000-0000-7000-8000-ffffffffffff' };
      entries.splice(2, 0, backdated);
    }, 1),
    code: 'INCONSISTENT',
    convicts: true,
  },
  {
    what: 'an entry was removed',
    size: 5,
    fork: rewritten((entries) => void entries.splice(2, 1), 4),
    code: 'INCONSISTENT',
    convicts: true,
  },
  {
    what: 'the head was signed again with a different root',
    size: 5,
    fork: () => log.tamper(signOtherRoot),
    code: 'FORK',
    convicts: true,
  },
  {
    what: 'a larger tree was signed with an earlier time than the pinned head, which was signed again',
    async begin() {
      await log.close();
      log = await ServedLog.start(Date.now() - 3 * hour);
    },
    kept: 5,
    size: 5,
    async between() {
      log.now += 2 * hour;
      await log.ledger.tick();
    },
    async fork(copy) {
      log.now -= hour;
      await log.restore(copy);
      await log.append(2);
    },
    code: 'TIME_WENT_BACK',
    convicts: true,
  },
  {
    what: 'a key was withdrawn',
    kept: 2,
    size: 2,
    async between() {
      await pinned(log, state);
      await log.ledger.rotateKey('transparency-sth', 'system');
      await audit();
    },
    fork: () =>
      log.tamper((path) => {
        const { keys } = JSON.parse(readFileSync(state, 'utf8')) as { keys: Record<string, string>[] };
        const retired = keys.find(({ svc_state }) => svc_state === 'retired')!;
        unlinkSync(join(path, 'keys', `${retired.kid}.json`));
      }),
    code: 'KEY_WITHDRAWN',
    convicts: false,
  },
];

describe('a forked or altered log is detected, and evidence of a fork convicts without the server', () => {
  test.each(forks)('$code: $what', async ({ begin, kept = 0, size, between, fork, code, convicts }) => {
    await begin?.();
    if (kept > 0) await log.append(kept);
    const copy = await log.snapshot();
    if (size > kept) await log.append(size - kept);
    await between?.();
    if (!existsSync(state)) await pinned(log, state);
    const before = readFileSync(state, 'utf8');
    await fork(copy);

    const caught = await audit();
    expect(readFileSync(state, 'utf8')).toBe(before);
    if (!convicts) {
      expect(caught.json, caught.stderr).toMatchObject({ status: 'fault', kind: 'refused', code });
      expect(caught.json).not.toHaveProperty('evidence');
      expect(caught.code).toBe(exitCodes.refused);
      return;
    }
    expect(caught.json, caught.stderr).toMatchObject({
      status: 'fault',
      kind: 'misbehaviour',
      code,
      convicts,
    });
    expect(caught.code).toBe(exitCodes.misbehaviour);

    await log.close();
    const judged = await command('verify', String(caught.json.evidence), '--json');
    expect(judged.json).toMatchObject({ code, convicts });
    expect(judged.code).toBe(exitCodes.misbehaviour);
  });
});

interface Edit {
  readonly what: string;
  lie(): void;
  readonly code: FaultCode;
  readonly says: string;
  /** Set if the file must contain the signed root and the served root. */
  readonly keeps?: true;
}

const byNobody = (entry: Entry) => {
  entry.actor = 'nobody';
};

const edits: readonly Edit[] = [
  {
    what: 'an entry was edited',
    lie: () => log.serveEdited(3, byNobody),
    code: 'BAD_ENTRY_SIGNATURE',
    says: 'entry 3',
  },
  {
    what: 'an entry was edited and signed again',
    lie: () => log.serveEdited(3, byNobody, true),
    code: 'NOT_INCLUDED',
    says: 'entry 3',
    keeps: true,
  },
  {
    what: 'two hashes of a tile were swapped',
    lie: () => log.serveSwapped(0, 5, 6),
    code: 'WRONG_TILE',
    says: 'tile 0 of level 0, column 5',
  },
];

/** The signed tree is unchanged, so the operator can repair the changes. */
describe('changed data under an unchanged signed tree is reported', () => {
  test.each(edits)('$code: $what', async ({ lie, code, says, keeps = false }) => {
    await log.append(560);
    await pinned(log, state);
    const before = readFileSync(state, 'utf8');
    lie();
    const caught = await audit('--entries');
    expect(caught.json, caught.stderr).toMatchObject({ kind: 'refused', code });
    expect(caught.json.message).toContain(says);
    expect('evidence' in caught.json).toBe(keeps);
    expect(caught.code).toBe(exitCodes.refused);
    expect(readFileSync(state, 'utf8')).toBe(before);
  });

  test('WRONG_ROOT: if entries and tiles agree on a different root, the evidence has both roots and proves no misbehaviour', async () => {
    await log.append(3);
    log.now += 1000;
    await log.append(2);
    await pinned(log, state);
    log.serveEdited(4, byNobody, true);
    const bundle = await fetch(`${log.url}/tile/entries/000.p/5`);
    const edited = decodeEntryBundle(new Uint8Array(await bundle.arrayBuffer()), 5).map((entry) =>
      leafHash(sha256, entry),
    );
    log.lies.push({ path: '/tile/0/000', tell: () => Buffer.concat(edited).toString('latin1') });
    const caught = await audit('--entries');
    expect(caught.json, caught.stderr).toMatchObject({ code: 'WRONG_ROOT', convicts: false });
    expect(caught.code).toBe(exitCodes.refused);
    const text = readFileSync(String(caught.json.evidence), 'utf8');
    const given = mth(decodeEntryBundle(new Uint8Array(await (await fetch(bundle.url)).arrayBuffer()), 5));
    expect(JSON.parse(text)).toMatchObject({
      pinned_head: { tree_size: 3 },
      head: { tree_size: 5 },
      served: { from: 0, entries_root: bytesToHex(given), tiles_root: bytesToHex(given) },
    });
    const judged = await command('verify', String(caught.json.evidence), '--json');
    expect(judged).toMatchObject({ code: exitCodes.refused, json: { code: 'WRONG_ROOT', convicts: false } });
    expect(judged.json.reason).toContain('positions of entries are not');
  });

  test('NOT_INCLUDED: an entry changed after its audit is found with --all-entries, but not with --entries', async () => {
    await log.append(300);
    expect((await audit('--entries')).code).toBe(exitCodes.ok);
    log.serveEdited(3, byNobody, true);
    await log.append(1);
    const more = await audit('--entries');
    expect(more.json, more.stderr).toMatchObject({ status: 'extended', entries: { from: 300, to: 301 } });
    expect((await audit('--all-entries')).json).toMatchObject({ code: 'NOT_INCLUDED' });
  });
});
