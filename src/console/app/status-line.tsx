import { useEffect } from 'preact/hooks';
import type { LiveState } from '../../client/live.ts';
import type { Status } from '../../contract/resources/status.ts';
import { href } from '../state/address.ts';
import { useAnswer } from '../state/answers.ts';
import { now } from '../state/clock.ts';
import { liveState, mayListen } from '../state/live.ts';
import { checkLog, type PinState, pinState } from '../state/pin.ts';
import { may, signedIn } from '../state/session.ts';
import { compact, duration, number, relative } from '../ui/format.ts';
import './status-line.css';

/** How often this browser checks the log by itself, in milliseconds. */
const checkEveryMs = 15_000;

/**
 * Always there, and never says more than is known: whether what is shown is live, what this browser verified of the log,
 * what comes in, and whether anything was refused.
 */
export function StatusLine() {
  const inside = signedIn.value;
  const answer = useAnswer('getStatus', {}, { refreshMs: 5000, enabled: inside && may('getStatus') });
  useEffect(() => {
    const check = () => {
      if (!document.hidden) void checkLog();
    };
    check();
    const timer = setInterval(check, checkEveryMs);
    document.addEventListener('visibilitychange', check);
    addEventListener('offline', check);
    addEventListener('online', check);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', check);
      removeEventListener('offline', check);
      removeEventListener('online', check);
    };
  }, []);
  const status = answer.data?.data.attributes;
  return (
    <footer class="status-line" aria-label="Status">
      {inside &&
        (mayListen.value ? (
          <Liveness state={liveState.value} />
        ) : (
          <span class="quiet">no live data for your role</span>
        ))}
      <Log state={pinState.value} />
      {status !== undefined && answer.error === null && <Flow status={status} />}
      {answer.error !== null && <span class="status-bad">figures not to be had</span>}
    </footer>
  );
}

function Liveness({ state }: { state: LiveState }) {
  switch (state.kind) {
    case 'live':
      return (
        <span class="status-good">
          <span aria-hidden="true">● </span>live
        </span>
      );
    case 'behind':
      return (
        <span class="status-warning">
          <span aria-hidden="true">◐ </span>
          {duration(Math.max(1000, Math.floor((now.value - state.sinceMs) / 1000) * 1000))} behind
        </span>
      );
    case 'offline':
      return (
        <span class="status-bad" title={state.reason?.message}>
          <span aria-hidden="true">○ </span>offline since {relative(state.sinceMs, now.value)}
        </span>
      );
    case 'connecting':
    case 'closed':
      return (
        <span class="quiet">
          <span aria-hidden="true">○ </span>connecting
        </span>
      );
  }
}

function Log({ state }: { state: PinState }) {
  const link = href('transparency');
  switch (state.kind) {
    case 'unknown':
      return <span class="quiet">log: checking</span>;
    case 'empty':
      return <a href={link}>log is empty</a>;
    case 'unreachable':
      return (
        <span class="status-warning" title={state.fault.message}>
          log not checked{state.pin && `, ${number(state.pin.head.size)} before`}
        </span>
      );
    case 'broken':
      return (
        <a class="status-bad status-broken" href={link} title={state.fault.message}>
          log BROKEN: {state.fault.code}
        </a>
      );
    case 'verified':
      return (
        <a
          href={link}
          title="This browser verified the signature of the tree head, and that it extends the head that it knew."
        >
          log {number(state.pin.head.size)} <span class="status-good">✓</span>{' '}
          <span class="quiet">{relative(state.at, now.value)}</span>
        </a>
      );
  }
}

function Flow({ status }: { status: Status }) {
  const { rates, limits_reached: reached, store, ledger, verdict, warnings } = status;
  const troubles = [
    ...(ledger.state === 'ok' ? [] : ['log degraded']),
    ...(warnings.length === 0
      ? []
      : [`${warnings.length} ${warnings.length === 1 ? 'warning' : 'warnings'}`]),
    ...(store.uncounted_events === 0 ? [] : [`${compact(store.uncounted_events)} events not looked at yet`]),
  ];
  return (
    <>
      <span class="mono">{compact(rates.events_per_s)} ev/s</span>
      {troubles.length > 0 && (
        <a class={verdict.well ? undefined : 'status-warning'} href={href('status')}>
          {troubles.join(' · ')}
        </a>
      )}
      {/* A limit did what it is for: that is told, and is no warning. */}
      {reached.length > 0 && (
        <span class="quiet">
          <a href={href('status')}>
            {number(reached.length)} {reached.length === 1 ? 'limit' : 'limits'} reached
          </a>
        </span>
      )}
      {troubles.length + reached.length === 0 && <span class="quiet">nothing lost</span>}
    </>
  );
}
