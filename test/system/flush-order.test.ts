/**
 * Acknowledged means on disk: a system-call trace of the running service shows a flush (fdatasync or fsync of
 * siem.mdb) that began after the request was read and ended before the first byte of its answer was sent.
 * Needs strace and permission to trace; scripts/with-system-tools.sh brings it.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startService, tokenFor } from '../../scripts/service.ts';

function mayTrace(): boolean {
  try {
    execFileSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const marker = 'flush-order-marker';

describe.skipIf(!mayTrace())('flush order', () => {
  test('the flush of siem.mdb ends before the first byte of the answer', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'candor-trace-'));
    const trace = join(folder, 'trace');
    const calls = 'trace=fsync,fdatasync,msync,read,recvfrom,recvmsg,send,sendto,sendmsg,write,writev';
    const service = await startService({
      wrapper: ['strace', '-f', '-ttt', '-y', '-s', '400', '-e', calls, '-o', trace],
    });
    try {
      const response = await fetch(`${service.url}/api/v1/ingest`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await tokenFor(service, 'sensor')}`,
          'content-type': 'application/x-ndjson',
          'x-request-id': marker,
        },
        body: '{"ts":1763683200.1,"uid":"C1","id.orig_h":"10.0.0.1","id.orig_p":1,"id.resp_h":"10.0.0.2","id.resp_p":2,"proto":"tcp","conn_state":"SF"}',
      });
      expect(await response.json()).toMatchObject({ data: { accepted: 1 } });
      expect(response.headers.get('x-request-id')).toBe(marker);
    } finally {
      await service.stop();
    }

    const lines = readFileSync(trace, 'utf8').split('\n');
    rmSync(folder, { recursive: true, force: true });
    const received = lines.findIndex(
      (line) => /(recv|read)\w*(\(| resumed>)/.test(line) && line.includes(marker),
    );
    const answered = lines.findIndex((line) => /(send|write)\w*\(/.test(line) && line.includes(marker));
    expect(received).toBeGreaterThan(-1);
    expect(answered).toBeGreaterThan(received);
    expect(completedFlushes(lines.slice(received, answered))).toBeGreaterThan(0);
  });
});

/** Flushes of siem.mdb that both began and ended within these lines (strace splits a call that others interrupt). */
function completedFlushes(lines: readonly string[]): number {
  let completed = 0;
  const begun = new Set<string>();
  for (const line of lines) {
    const thread = line.slice(0, line.indexOf(' '));
    if (/(fdatasync|fsync|msync)\(\d+<[^>]*siem\.mdb>/.test(line)) {
      if (line.includes('<unfinished')) begun.add(thread);
      else if (/= 0$/.test(line)) completed++;
    } else if (/<\.\.\. (fdatasync|fsync|msync) resumed>.*= 0$/.test(line) && begun.delete(thread))
      completed++;
  }
  return completed;
}
