import type { Ledger } from '../../src/ledger/ledger.ts';
import { OutboxPump } from '../../src/ledger/outbox-pump.ts';
import type { Store } from '../../src/store/store.ts';

/** Logs all entries in the outbox, and returns the entries about the policy, newest first. */
export async function policyEntries(
  store: Store,
  ledger: Ledger,
): Promise<{ id: string; kind: string; actor: string; data: Record<string, unknown> }[]> {
  const pump = new OutboxPump({
    source: store,
    ledger,
    onRetry: () => undefined,
    onRefused: () => undefined,
  });
  await pump.idle();
  await pump.close();
  const { leaves } = await ledger.entries({
    kinds: ['policy.rule_edited', 'policy.reloaded'],
    page: 1,
    per_page: 10,
  });
  return leaves.map(({ canonical }) => JSON.parse(Buffer.from(canonical).toString()));
}
