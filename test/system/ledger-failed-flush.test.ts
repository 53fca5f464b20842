/**
 * A flush of the log fails in the running service: the service ends with a notice, and its next start logs all
 * waiting entries once and loses none.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { login, type Service, startService } from '../../scripts/service.ts';
import type { SignedTreeHead } from '../../src/contract/resources/transparency.ts';
import { failedWriteNotice } from '../../src/database/failed-write.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { entries } from '../ledger/fixture-entry.ts';
import { reverify } from '../ledger/reverify.ts';
import { mayTrace } from './strace.ts';

/** The fourth flush of the log fails. */
const fails = 'inject=fdatasync:error=EIO:when=4';

describe.skipIf(!mayTrace())('a failed flush of the log', () => {
  test('ends the service with a notice, and no entry is lost', async () => {
    const dataDir = mkdtempSync(join(realpathSync(tmpdir()), 'candor-restart-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true }));
    const pins: SignedTreeHead[] = [];
    /** Sessions whose logins succeeded: their tokens must be in the log. */
    const sessions: string[] = [];
    const signIn = async (service: Service) => sessions.push(sessionOf(await login(service)));

    // The log has an entry before the failure.
    const before = await openLedger({ dataDir });
    await before.append(entries(0, 1));
    pins.push(await before.head());
    await before.close();

    const wrapper = ['strace', '-f', '--seccomp-bpf', '-o', '/dev/null', '-P', join(dataDir, 'ledger.mdb')];
    const failing = await startService({
      dataDir,
      wrapper: [...wrapper, '-e', 'trace=fdatasync', '-e', fails, '--'],
    });
    let code: number | null | undefined;
    void failing.ended.then((ended) => {
      code = ended;
    });
    while (code === undefined) {
      await signIn(failing).catch(() => undefined);
      await Promise.race([loggedHead(failing, 1 + sessions.length), failing.ended]).catch(() => undefined);
    }
    expect(sessions.length).toBeLessThan(10);
    expect(code).not.toBe(0);
    expect(failing.output.join('\n')).toContain(failedWriteNotice);

    const later = await startService({ dataDir });
    pins.push(await loggedHead(later, 1 + sessions.length));
    expect(await later.stop()).toBe(0);
    const ledger = await openLedger({ dataDir });
    const { head } = await reverify(ledger, { pins });
    const subjects: string[] = [];
    for (let index = 0; index < head.tree_size; index++) {
      const { canonical } = await ledger.leaf({ leaf_index: index });
      const { kind, subject } = JSON.parse(new TextDecoder().decode(canonical));
      if (kind === 'token.issued') subjects.push(subject.id);
    }
    await ledger.close();
    expect(new Set(subjects).size).toBe(subjects.length);
    expect(subjects).toEqual(expect.arrayContaining(sessions));
  });
});

/** Returns the head once the log has `size` leaves. */
async function loggedHead(service: Service, size: number): Promise<SignedTreeHead> {
  for (;;) {
    const answer = await fetch(`${service.url}/api/transparency/sth`);
    const head = answer.ok ? ((await answer.json()) as SignedTreeHead) : undefined;
    if (head !== undefined && head.tree_size >= size) return head;
    await sleep(20);
  }
}

/** Returns a session's JTI from the claims of its access token. */
function sessionOf(accessToken: string): string {
  const claims = Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString('utf8');
  return (JSON.parse(claims) as { jti: string }).jti;
}
