import { bytesToHex } from '../../../tlog/hex.ts';
import { now } from '../../state/clock.ts';
import type { PinState } from '../../state/pin.ts';
import { Facts } from '../../ui/detail.tsx';
import { number, relative } from '../../ui/format.ts';
import { Hash } from '../../ui/values.tsx';
import { bannerText } from './banner-text.ts';
import { Tick } from './check.tsx';
import { GrowthChart } from './growth-chart.tsx';
import { Moment } from './moment.tsx';

/** The newest head as verified by this browser, and the growth of the log. */
export function HeadStrip({ state }: { state: PinState }) {
  const pin = 'pin' in state ? state.pin : undefined;
  const key = pin?.keys.get(pin.head.signerKeyId);
  return (
    <section class="log-strip" aria-label="Newest tree head">
      <div class="stack">
        <p class="log-size" role="status">
          <b>{pin !== undefined ? number(pin.head.size) : state.kind === 'empty' ? '0' : '…'}</b>{' '}
          {pin?.head.size === 1 ? 'entry' : 'entries'}
          <Standing state={state} />
        </p>
        {pin !== undefined && key !== undefined && (
          <>
            <Facts
              facts={[
                ['Root', <Hash key="r" value={pin.head.root} what="Root" length={16} />],
                ['Signed at', <Moment key="t" ns={pin.head.timestampNs} />],
                ['Signature', <Hash key="s" value={pin.head.signature} what="Signature" length={16} />],
              ]}
            />
            <details>
              <summary>Compare with the service’s startup output</summary>
              <pre class="log-banner" tabIndex={0} role="group" aria-label="Tree head as in the startup output">
                {bannerText(pin.head, key)}
              </pre>
            </details>
          </>
        )}
      </div>
      <GrowthChart newest={pin === undefined ? '' : bytesToHex(pin.head.signature)} />
    </section>
  );
}

function Standing({ state }: { state: PinState }) {
  switch (state.kind) {
    case 'unknown':
      return <span class="quiet">verifying…</span>;
    case 'empty':
      return <span class="quiet">no tree head yet, because no critical event has been logged</span>;
    case 'unreachable':
      return <span class="quiet">not verified: cannot reach the log</span>;
    case 'unconfirmed':
      return <span class="quiet">last verified size; the log’s new key is not confirmed</span>;
    case 'broken':
      return (
        <span>
          <Tick state="bad" />
          <span class="mono">{state.fault.code}</span>
        </span>
      );
    case 'verified':
      return (
        <span class="log-proven">
          <Tick state="good" />
          signed, and consistent with this browser’s pin <span class="quiet">{relative(state.at, now.value)}</span>
        </span>
      );
  }
}
