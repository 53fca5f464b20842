import { keptEvidence, pinState } from '../../state/pin.ts';
import { Page } from '../../ui/page.tsx';
import { shownTab, Tabs } from '../../ui/tabs.tsx';
import { BrokenLog } from './broken-log.tsx';
import { ConsistencyView } from './consistency-view.tsx';
import { LogView } from './log-view.tsx';
import { NewKey } from './new-key.tsx';
import { ProofView } from './proof-view.tsx';
import { VerifyView } from './verify-view.tsx';

const tabs = [
  { value: 'log', title: 'Log' },
  { value: 'proof', title: 'Proof' },
  { value: 'verify', title: 'Verify file' },
  { value: 'consistency', title: 'Consistency' },
] as const;

/** Transparency page. Heads, entries and proofs are verified in this browser. */
export default function Transparency() {
  const view = shownTab('view', tabs);
  // The banners take so much space that the whole page must scroll.
  const { kind } = pinState.value;
  const hasBanner = kind === 'broken' || kind === 'unconfirmed' || keptEvidence.value !== undefined;
  return (
    <Page
      title="Transparency"
      bar={<Tabs label="Transparency views" tabs={tabs} />}
      scrolls={view !== 'log' || hasBanner}
    >
      <NewKey />
      <BrokenLog />
      {view === 'log' && <LogView />}
      {view === 'proof' && <ProofView />}
      {view === 'verify' && <VerifyView />}
      {view === 'consistency' && <ConsistencyView />}
    </Page>
  );
}
