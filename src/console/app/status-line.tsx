import { useEffect } from 'preact/hooks';
import type { LiveState } from '../../client/live.ts';
import type { Status } from '../../contract/resources/status.ts';
import { href } from '../state/address.ts';
import { useAnswer } from '../state/answers.ts';
import { now } from '../state/clock.ts';
import { liveState, mayListen } from '../state/live.ts';
import { checkLog, type PinState, pinState } from '../state/pin.ts';
import { may, signedIn } from '../state/session.ts';
import { compact, counted, duration, number, relative } from '../ui/format.ts';
import './status-line.css';

/** Interval of the automatic log check, in milliseconds. */
const checkEveryMs = 15_000;

/**
 * Status bar on every page: the live connection, this browser's verification of the log, the event rate, and
 * warnings.
 */
export function StatusLine() {
  const isSignedIn = signedIn.value;
  const answer = useAnswer('getStatus', {}, { refreshMs: 5000, enabled: isSignedIn && may('getStatus') });
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
      {isSignedIn &&
        (mayListen.value ? (
          <Liveness state={liveState.value} />
        ) : (
          <span class="quiet">No live data for your role</span>
        ))}
      <Log state={pinState.value} />
      {status !== undefined && answer.error === null && <ServiceStatus status={status} />}
      {answer.error !== null && <span class="status-bad">Statistics unavailable</span>}
    </footer>
  );
}

const elapsed = (sinceMs: number): string => duration(Math.max(1000, Math.floor((now.value - sinceMs) / 1000) * 1000));

function Liveness({ state }: { state: LiveState }) {
  switch (state.kind) {
    case 'live':
      return (
        <span class="status-good">
          <span aria-hidden="true">● </span>Live
        </span>
      );
    case 'behind':
      return (
        <span class="status-warning">
          <span aria-hidden="true">◐ </span>
          {elapsed(state.sinceMs)} behind
        </span>
      );
    case 'offline':
      return (
        <span class="status-bad" title={state.reason?.message}>
          <span aria-hidden="true">○ </span>Offline for {elapsed(state.sinceMs)}
        </span>
      );
    case 'connecting':
    case 'closed':
      return (
        <span class="quiet">
          <span aria-hidden="true">○ </span>Connecting
        </span>
      );
  }
}

function Log({ state }: { state: PinState }) {
  const link = href('transparency');
  switch (state.kind) {
    case 'unknown':
      return <span class="quiet">Log: checking</span>;
    case 'empty':
      return <a href={link}>Log is empty</a>;
    case 'unreachable':
      return (
        <span class="status-warning" title={state.fault.message}>
          Log not checked{state.pin && `, last verified at size ${number(state.pin.head.size)}`}
        </span>
      );
    case 'unconfirmed':
      return (
        <a class="status-warning" href={link} title={state.fault.message}>
          Log key not confirmed
        </a>
      );
    case 'broken':
      return (
        <a class="status-bad status-broken" href={link} title={state.fault.message}>
          Log broken: {state.fault.code}
        </a>
      );
    case 'verified':
      return (
        <a
          href={link}
          title="This browser verified the tree head’s signature and its consistency with the last verified head."
        >
          Log {number(state.pin.head.size)} <span class="status-good">✓</span>{' '}
          <span class="quiet">{relative(state.at, now.value)}</span>
        </a>
      );
  }
}

function ServiceStatus({ status }: { status: Status }) {
  const { rates, limits_reached: reached, store, ledger, verdict, warnings } = status;
  const issues = [
    ...(ledger.state === 'ok' ? [] : ['Log degraded']),
    ...(warnings.length === 0 ? [] : [counted(warnings.length, 'warning')]),
    ...(store.uncounted_events === 0
      ? []
      : [`${compact(store.uncounted_events)} ${store.uncounted_events === 1 ? 'event' : 'events'} awaiting analysis`]),
  ];
  return (
    <>
      <span class="mono">{compact(rates.events_per_s)} ev/s</span>
      {issues.length > 0 && (
        <a class={verdict.well ? undefined : 'status-warning'} href={href('status')}>
          {issues.join(' · ')}
        </a>
      )}
      {/* Reaching a limit is expected behaviour, so it is shown but is not a warning. */}
      {reached.length > 0 && (
        <span class="quiet">
          <a href={href('status')}>{counted(reached.length, 'limit')} reached</a>
        </span>
      )}
      {issues.length + reached.length === 0 && <span class="quiet">No warnings</span>}
    </>
  );
}
