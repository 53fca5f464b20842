import type { ComponentChildren } from 'preact';
import { now } from '../../state/clock.ts';
import { counted, decimal, duration, number } from '../../ui/format.ts';
import { tookMs } from './columns.tsx';
import { paceOf, type Sample } from './pace.ts';
import type { Scan } from './scans.ts';

/** The progress of a scan: hosts and probes as bars, the rate and the remaining time. */
export function ScanProgress({ scan, samples }: { scan: Scan; samples: readonly Sample[] }) {
  const { progress, status, rate } = scan;
  const pace = status === 'running' ? paceOf(samples, progress.probes_total) : undefined;
  const took = tookMs(scan, now.value);
  return (
    <div class="scan-progress">
      <div class="scan-bars">
        <Bar label="Hosts" done={progress.hosts_done} total={progress.hosts_total} />
        <Bar label="Probes" done={progress.probes_done} total={progress.probes_total} />
      </div>
      <p class="scan-pace">
        {took !== undefined && (
          <Part name={status === 'running' ? 'Elapsed' : 'Duration'}>{duration(Math.max(took, 1))}</Part>
        )}
        {status === 'running' && (
          <>
            <Part name="Rate">
              {pace === undefined ? '…' : `${decimal(pace.perSecond)}/s`}
              <span class="quiet"> of max {number(rate)}/s</span>
            </Part>
            <Part name="Remaining">{pace === undefined ? '…' : `about ${duration(Math.max(1000, pace.leftMs))}`}</Part>
          </>
        )}
        {status === 'queued' && <span class="quiet">Queued: one scan runs at a time</span>}
      </p>
    </div>
  );
}

function Part({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <span>
      <span class="quiet">{name} </span>
      {children}
    </span>
  );
}

function Bar({ label, done, total }: { label: string; done: number; total: number }) {
  const share = total === 0 ? 0 : Math.floor((done / total) * 100);
  return (
    <>
      <span class="quiet">{label}</span>
      <progress aria-label={label} max={Math.max(1, total)} value={done} />
      <span class="scan-bar-text">
        {number(done)} <span class="quiet">of {number(total)}</span>
        <span class="quiet"> · {share} %</span>
      </span>
    </>
  );
}

/** The results of a scan so far, or the totals after its end. */
export function ScanResult({ result }: { result: NonNullable<Scan['result']> }) {
  const found = [
    ['Hosts up', result.hosts_up],
    ['Open ports', result.services_found],
    ['New assets', result.assets_created],
    ['Updated assets', result.assets_updated],
  ] as const;
  return (
    <>
      <dl class="scan-found">
        {found.map(([name, value]) => (
          <div key={name}>
            <dt class="quiet">{name}</dt>
            <dd>{number(value)}</dd>
          </div>
        ))}
      </dl>
      {(result.services_skipped ?? 0) > 0 && (
        <p class="scan-skipped">
          {counted(result.services_skipped ?? 0, 'more open port was', 'more open ports were')} not recorded, because a
          host exceeded the service limit.
        </p>
      )}
    </>
  );
}
