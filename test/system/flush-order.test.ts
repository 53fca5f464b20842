/**
 * Acknowledged data is on disk, as system-call traces show. In the running service, a flush (fdatasync or
 * fsync of siem.mdb) begins after the request was read and ends before the first byte of the response is
 * sent. The ledger writes data pages, flushes them, and writes the meta page synchronously, in this order,
 * before the first byte of a response. Needs strace and permission to trace; scripts/with-system-tools.sh
 * provides it.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, tokenFor } from '../../scripts/service.ts';
import { mayTrace, type SystemCall, traced } from './strace.ts';

const marker = 'flush-order-marker';

describe.skipIf(!mayTrace())('flush order', () => {
  test('the flush of siem.mdb ends before the first byte of the response', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'candor-trace-'));
    const trace = join(folder, 'trace');
    const calls = 'trace=fsync,fdatasync,msync,read,recvfrom,recvmsg,send,sendto,sendmsg,write,writev';
    const service = await startService({
      wrapper: ['strace', '-f', '--seccomp-bpf', '-ttt', '-y', '-s', '400', '-e', calls, '-o', trace],
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
    const received = lines.findIndex((line) => /(recv|read)\w*(\(| resumed>)/.test(line) && line.includes(marker));
    const answered = lines.findIndex((line) => /(send|write)\w*\(/.test(line) && line.includes(marker));
    expect(received).toBeGreaterThan(-1);
    expect(answered).toBeGreaterThan(received);
    expect(completedFlushes(lines.slice(received, answered))).toBeGreaterThan(0);
  });

  describe('in the ledger', () => {
    const child = new URL('../ledger/append-child.ts', import.meta.url).pathname;
    let dataDir: string;
    let database: string;
    beforeAll(() => {
      dataDir = mkdtempSync(join(realpathSync(tmpdir()), 'candor-trace-'));
      database = join(dataDir, 'ledger.mdb');
    });
    afterAll(() => rmSync(dataDir, { recursive: true }));
    const append = (from: number, to: number, paths: readonly string[]) =>
      traced(child, [dataDir, String(from), String(to)], {
        paths: [database, ...paths],
        calls: ['openat', 'pwrite64', 'pwritev', 'write', 'writev', 'fdatasync', 'fsync'],
      });

    test('data pages, their flush and the meta page come before the first byte of a response', async () => {
      const { calls, code, errors } = await append(0, 5, ['output']);
      expect(code, errors).toBe(0);
      const [data, meta] = descriptors(calls);
      const answers = calls.flatMap(({ name, args }, n) => (name === 'write' && args.startsWith('1<') ? [n] : []));
      expect(answers).toHaveLength(5);
      for (const [n, answer] of answers.entries()) {
        const commit = calls.slice((answers[n - 1] ?? answer - 4) + 1, answer);
        const [flush, metaPage] = commit.slice(-2);
        expect(flush).toMatchObject({ name: 'fdatasync', result: 0 });
        expect(descriptorOf(flush)).toBe(data);
        expect(metaPage).toMatchObject({ name: 'pwrite64', result: 128 });
        expect(descriptorOf(metaPage)).toBe(meta);
        const pages = commit.slice(0, -2);
        expect(pages.length).toBeGreaterThan(0);
        for (const page of pages) {
          expect(page.name).toMatch(/write/);
          expect(descriptorOf(page)).toBe(data);
          expect(page.result).toBeGreaterThan(0);
        }
      }
    });

    test('data left by an earlier process is flushed before it is reported', async () => {
      const journal = join(dataDir, 'journal.ndjson');
      const { calls, code, errors } = await append(5, 6, [journal]);
      expect(code, errors).toBe(0);
      const told = calls.findIndex(({ name, args }) => name === 'write' && args.includes(journal));
      const flushed = calls.findIndex(({ name, args }) => /^f(data)?sync$/.test(name) && args.includes(database));
      expect(flushed).toBeGreaterThan(-1);
      expect(told).toBeGreaterThan(flushed);
      expect(calls[flushed]?.result).toBe(0);
    });
  });
});

/**
 * Returns the descriptors that LMDB uses to write data pages and meta pages. The latter is opened for synchronous
 * writes.
 */
function descriptors(calls: readonly SystemCall[]): [number, number] {
  const opened = calls.filter(({ name, result }) => name === 'openat' && result >= 0);
  const meta = opened.findLast(({ args }) => args.includes('O_DSYNC'))?.result ?? -1;
  const data = opened.findLast(({ args, result }) => args.includes('O_RDWR') && result !== meta)?.result ?? -1;
  return [data, meta];
}

const descriptorOf = (call: SystemCall | undefined) => Number.parseInt(call?.args ?? '', 10);

/**
 * Counts the flushes of siem.mdb that began and ended within these lines (strace splits interrupted calls).
 */
function completedFlushes(lines: readonly string[]): number {
  let completed = 0;
  const begun = new Set<string>();
  for (const line of lines) {
    const thread = line.slice(0, line.indexOf(' '));
    if (/(fdatasync|fsync|msync)\(\d+<[^>]*siem\.mdb>/.test(line)) {
      if (line.includes('<unfinished')) begun.add(thread);
      else if (/= 0$/.test(line)) completed++;
    } else if (/<\.\.\. (fdatasync|fsync|msync) resumed>.*= 0$/.test(line) && begun.delete(thread)) completed++;
  }
  return completed;
}
