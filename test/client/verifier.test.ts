import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { writeArchiveHeader, writeArchiveLine } from '../../src/client/archive.ts';
import { beginArchive, exportEntries } from '../../src/client/archive-export.ts';
import { audit } from '../../src/client/auditor.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { fetchHead } from '../../src/client/latest.ts';
import { httpLog } from '../../src/client/log-source.ts';
import { proveEntry } from '../../src/client/proven-entry.ts';
import { writeTreeHead } from '../../src/client/tree-head.ts';
import { writeBundle } from '../../src/client/verify.ts';
import { ServedLog } from './served-log.ts';

const program = fileURLToPath(new URL('bare-world.ts', import.meta.url));

/** Replaces the last character of the match with another digit. */
function tampered(text: string, pattern: RegExp): string {
  const changed = text.replace(pattern, (all) => all.slice(0, -1) + (all.endsWith('0') ? '1' : '0'));
  if (changed === text) throw new Error(`${pattern} is not there`);
  return changed;
}

test('the verifier runs without Node', async () => {
  const log = await ServedLog.start();
  await log.append(3);
  const copy = await log.snapshot();
  await log.append(2);
  const source = httpLog(log.url);
  const signed = good(await fetchHead(source));
  const proven = good(await proveEntry(source, { leafIndex: 1 }, signed));
  const bundle = writeBundle({ leaf: proven, path: proven.path, ...signed });
  const keys = good(await source.get('/.well-known/jwks.json'));
  const note = good(await source.get('/checkpoint'));
  const header = good(await beginArchive(source, { now: log.now }));
  let archive = writeArchiveHeader(header);
  for await (const batch of exportEntries(source, header)) {
    const { first, entries } = good(batch);
    archive += entries.map((bytes, i) => writeArchiveLine(first + i, bytes)).join('');
  }
  const pinned = await audit(source, undefined, { now: log.now });
  if (pinned.status !== 'pinned') throw new Error(pinned.status);
  await log.restore(copy);
  log.now += 1000;
  await log.append(4);
  const forked = await audit(source, pinned.pin, { now: log.now });
  const evidence = forked.status === 'fault' ? forked.evidence! : '';
  await log.close();

  const head = writeTreeHead(signed.head);
  const cases = [
    ['bundle', bundle, 'ok'],
    ['bundle', tampered(bundle, /"canonical":".{40}/), 'NOT_INCLUDED'],
    ['bundle', '{', 'MALFORMED_BUNDLE'],
    ['head', JSON.stringify({ head, keys }), 'ok'],
    ['head', JSON.stringify({ head: tampered(head, /"signature":".{40}/), keys }), 'BAD_SIGNATURE'],
    ['checkpoint', JSON.stringify({ note, keys }), 'ok'],
    ['checkpoint', JSON.stringify({ note: tampered(note, /\n5\n.{20}/), keys }), 'UNSIGNED_CHECKPOINT'],
    ['evidence', evidence, 'true'],
    ['evidence', tampered(evidence, /"first_root":".{5}/), 'false'],
    ['archive', archive, 'ok'],
    ['archive', tampered(archive, /"leaf_index":3,"canonical":".{40}/), 'BAD_ENTRY_SIGNATURE'],
  ] as const;
  const args = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', program];
  const input = JSON.stringify(cases.map(([kind, text]) => ({ kind, text })));
  const told = execFileSync(process.execPath, args, { input, encoding: 'utf8' });
  expect(JSON.parse(told)).toEqual(cases.map(([, , expected]) => expected));
});

function good<T>(value: T | AuditFault): T {
  if (value instanceof AuditFault) throw new Error(`${value.code}: ${value.message}`);
  return value;
}
