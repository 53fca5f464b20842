import { useEffect, useRef } from 'preact/hooks';
import { again, useAnswer } from '../../state/answers.ts';
import { useChannel } from '../../state/live.ts';
import { shownWindow } from '../../state/range.ts';
import { Page } from '../../ui/page.tsx';
import { AlertPanel } from './alert-panel.tsx';
import { Begin } from './begin.tsx';
import { Figures } from './figures.tsx';
import { NewestAlerts } from './newest-alerts.tsx';
import { RiskPanel } from './risk-panel.tsx';
import { TopLists } from './top-lists.tsx';
import './overview.css';

const refreshMs = 15_000;
/** Minimum interval between refreshes that follow alerts, in milliseconds. */
const minRefreshMs = 3_000;

/** The start page: alerts, risk, metrics and top lists. */
export default function Overview() {
  const window = shownWindow();
  const dashboard = useAnswer('getDashboard', { query: { window } }, { refreshMs });
  const trends = useAnswer('getTrends', { query: { window } }, { refreshMs });
  const risk = useAnswer('getRiskScore', {}, { refreshMs });
  const due = useRef<number | undefined>(undefined);
  useEffect(() => () => clearTimeout(due.current), []);
  useChannel(
    'alerts',
    {},
    {
      onEvent: () => {
        due.current ??= globalThis.window.setTimeout(() => {
          due.current = undefined;
          if (!document.hidden) void again(['getDashboard', 'getRiskScore', 'listAlerts']);
        }, minRefreshMs);
      },
    },
  );
  return (
    <Page title="Overview" range="windows" scrolls>
      <Begin dashboard={dashboard} />
      <div class="overview-group">
        <AlertPanel dashboard={dashboard} />
        <RiskPanel risk={risk} />
        <NewestAlerts />
      </div>
      <div class="overview-group overview-figures">
        <Figures trends={trends} />
      </div>
      <div class="overview-group overview-tops">
        <TopLists dashboard={dashboard} />
      </div>
    </Page>
  );
}
