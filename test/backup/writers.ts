import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { BlockBuilder } from '../../src/events/format/block-builder.ts';
import type { IngestBatch } from '../../src/store/store.ts';
import { uuid7 } from '../../src/uuid.ts';
import { entry } from '../ledger/fixture-entry.ts';
import { batchOf, finding } from '../store/opened.ts';
import { networkRecord } from '../store/records.ts';
import type { Parts } from './parts.ts';

/** Returns distinct alerts of severity high, each with an event, from one sensor. */
export function alertsOf(from: number, count: number): IngestBatch {
  const builder = new BlockBuilder('network', Date.now());
  const findings = Array.from({ length: count }, (_, i) => {
    const src_ip = `10.${(from + i) >> 16}.${((from + i) >> 8) & 255}.${(from + i) & 255}`;
    builder.add(networkRecord({ src_ip }));
    return finding({ severity: 'high', rule_id: `1:${from + i}`, src_ip, event: { block: 0, row: i } });
  });
  return batchOf(findings, { blocks: [builder.finish()] });
}

/** Issues receipts one after the other, each with a separate log entry. */
export async function addReceipts(parts: Pick<Parts, 'store' | 'reader' | 'pump'>, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const id = uuid7(Date.now());
    const receipt = {
      ...{ id, sha256: 'a'.repeat(64), bytes: n, received_at: new Date().toISOString() },
      sensor: { id: uuid7(Date.now()), name: 'zeek' },
    };
    await parts.store.commit(batchOf([], { receipt }));
    while (parts.reader.getReceipt(id)?.batch === undefined) await sleep(1);
    ids.push(id);
  }
  parts.pump.wake();
  await parts.pump.idle();
  return ids;
}

/**
 * Starts ingest with alerts, other appends, and the pump, as fast as possible or with pauses. The writers wait after
 * `most` rounds, until the next call of `progress`, so that a slow machine does not have more work.
 */
export function startWriters(
  { store, ledger, pump }: Pick<Parts, 'store' | 'ledger' | 'pump'>,
  pauseMs = 0,
  most = Number.POSITIVE_INFINITY,
) {
  const pause = () => (pauseMs > 0 ? sleep(pauseMs) : turn());
  let going = true;
  let sent = 0;
  let appended = 100_000;
  const left = { ingest: most, append: most };
  const ingest = (async () => {
    while (going) {
      if (left.ingest-- > 0) {
        await store.commit(alertsOf(sent, 20));
        sent += 20;
        pump.wake();
      }
      await pause();
    }
  })();
  const append = (async () => {
    while (going) {
      if (left.append-- > 0) await ledger.append(Array.from({ length: 10 }, () => entry(appended++, { n: appended })));
      await pause();
    }
  })();
  return {
    async progress() {
      left.ingest = most;
      left.append = most;
      const wanted = sent + 200;
      while (sent < wanted) await new Promise((resolve) => setTimeout(resolve, 1));
    },
    async stop() {
      going = false;
      await Promise.all([ingest, append]);
      await pump.idle();
      return sent;
    },
  };
}
