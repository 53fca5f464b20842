import { useEffect, useMemo } from 'preact/hooks';
import { AuditFault, fetchAllKeys, type KeySet } from '../../../client/verifier.ts';
import { useAnswer } from '../../state/answers.ts';
import { checkLog, type PinState, pinState } from '../../state/pin.ts';
import { shownTab, Tabs } from '../../ui/tabs.tsx';
import { CheckpointPart } from './checkpoint-part.tsx';
import { EntriesPart } from './entries-part.tsx';
import { HeadStrip } from './head-strip.tsx';
import { HeadsPart } from './heads-part.tsx';
import { KeysPart } from './keys-part.tsx';
import { log, useChecked } from './log.ts';
import './log-view.css';

const parts = [
  { value: 'entries', title: 'Entries' },
  { value: 'heads', title: 'Tree heads' },
  { value: 'keys', title: 'Keys' },
  { value: 'checkpoint', title: 'Checkpoint and witnesses' },
] as const;

const pollMs = 3000;

/** The log: its newest head, verified in this browser, and its contents. */
export function LogView() {
  const newest = useAnswer('getTreeHead', {}, { refreshMs: pollMs });
  const signature = newest.data?.signature;
  useEffect(() => {
    if (signature !== undefined) void checkLog();
  }, [signature]);
  const state = pinState.value;
  const keys = useRowKeys(state);
  const part = shownTab('part', parts);
  return (
    <div class="log-view">
      <HeadStrip state={state} />
      <div class="log-parts">
        <Tabs label="Parts of the log" name="part" tabs={parts} />
      </div>
      {part === 'entries' && <EntriesPart keys={keys} />}
      {part === 'heads' && <HeadsPart keys={keys} />}
      {part === 'keys' && <KeysPart />}
      {part === 'checkpoint' && <CheckpointPart />}
    </div>
  );
}

/**
 * Returns all published keys, with the pinned value of keys that are pinned. Fetches them again when the current keys
 * change.
 */
function useRowKeys(state: PinState): KeySet | undefined {
  const verified = state.kind === 'verified' ? state : undefined;
  const current = [...(verified?.keys.values() ?? [])].map(({ kid, state: now }) => `${kid} ${now}`);
  const fetchPublished = () => fetchAllKeys(log);
  const { value } = useChecked<KeySet>(['keys', ...current], fetchPublished, {
    enabled: verified !== undefined,
  });
  const pinned = verified?.pin.keys;
  return useMemo(
    () => (value === undefined || value instanceof AuditFault ? pinned : new Map([...value, ...(pinned ?? [])])),
    [value, pinned],
  );
}
