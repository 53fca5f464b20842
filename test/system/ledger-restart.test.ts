/**
 * A flush of the log that fails in the running service: its thread ends, comes back as after a crash, and everything
 * that waited is logged once. A second failure within a minute ends the service, and its next start loses nothing.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { login, type Service, startService } from '../../scripts/service.ts';
import type { SignedTreeHead } from '../../src/contract/resources/transparency.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { reverify } from '../ledger/reverify.ts';
import { mayTrace } from './strace.ts';

/** Each thread's fourth flush of the log fails: the first thread's, and that of the thread which takes its place. */
const fails = 'inject=fdatasync:error=EIO:when=4';

describe.skipIf(!mayTrace())('a failed flush of the log', () => {
  test('costs the service a restart of one thread, a second one ends it, and nothing is lost', {
    timeout: 120_000,
  }, async () => {
    const dataDir = mkdtempSync(join(realpathSync(tmpdir()), 'candor-restart-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true }));
    const pins: SignedTreeHead[] = [];
    /** Sessions that somebody was told of: their tokens must be in the log. */
    const sessions: string[] = [];
    const signIn = async (service: Service) => sessions.push(sessionOf(await login(service)));

    const calm = await startService({ dataDir });
    await signIn(calm);
    pins.push(await loggedHead(calm, 1));
    expect(await calm.stop()).toBe(0);

    const wrapper = ['strace', '-f', '--seccomp-bpf', '-o', '/dev/null', '-P', join(dataDir, 'ledger.mdb')];
    const failing = await startService({
      dataDir,
      wrapper: [...wrapper, '-e', 'trace=fdatasync', '-e', fails, '--'],
    });
    const restarted = () => failing.output.some((line) => line.includes('a worker died and was restarted'));
    while (!restarted()) {
      await signIn(failing);
      pins.push(await loggedHead(failing, sessions.length));
    }
    expect(sessions.length).toBeLessThan(10);
    expect((await fetch(`${failing.url}/health`)).status).toBe(200);

    let code: number | null | undefined;
    void failing.ended.then((ended) => {
      code = ended;
    });
    while (code === undefined) {
      await signIn(failing).catch(() => undefined);
      await Promise.race([loggedHead(failing, sessions.length), failing.ended]).catch(() => undefined);
    }
    expect(code).toBe(1);
    expect(failing.output.join('\n')).toContain('a worker died twice within a minute');

    const later = await startService({ dataDir });
    pins.push(await loggedHead(later, sessions.length));
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

/** The head once the log has so many leaves. */
async function loggedHead(service: Service, size: number): Promise<SignedTreeHead> {
  for (;;) {
    const answer = await fetch(`${service.url}/api/transparency/sth`);
    const head = answer.ok ? ((await answer.json()) as SignedTreeHead) : undefined;
    if (head !== undefined && head.tree_size >= size) return head;
    await sleep(20);
  }
}

/** The JTI of a session is in the claims of its access tokens. */
function sessionOf(accessToken: string): string {
  const claims = Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString('utf8');
  return (JSON.parse(claims) as { jti: string }).jti;
}
