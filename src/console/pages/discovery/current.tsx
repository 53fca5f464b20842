import { href } from '../../state/address.ts';
import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { number } from '../../ui/format.ts';
import { Time } from '../../ui/values.tsx';
import { Status } from './columns.tsx';
import { ScanProgress, ScanResult } from './progress.tsx';
import { cancelScan, isOver, type LiveScans, type ScanRow } from './scans.ts';

/** The running scan or, without a running scan, the last scan: its progress and results. */
export function CurrentScan({
  scan,
  waiting,
  live,
  onRepeat,
}: {
  scan: ScanRow;
  waiting: number;
  live: LiveScans;
  onRepeat: (scan: ScanRow) => void;
}) {
  const { id, attributes } = scan;
  const { status, targets, ports, result, error, requested_by, requested_at } = attributes;
  return (
    <section class="scan-current" aria-label={isOver(attributes) ? 'Last scan' : 'Running scan'}>
      <div class="scan-current-head">
        <Status status={status} />
        <a class="clip" href={href('discovery', { id })}>
          <bdi class="mono">{targets.join(', ')}</bdi>
        </a>
        <span class="quiet clip">
          ports <bdi class="mono">{ports}</bdi>
        </span>
        <span class="quiet scan-current-who">
          <bdi>{requested_by}</bdi>, <Time at={requested_at} />
          {waiting > 0 && ` · ${number(waiting)} queued`}
        </span>
        {isOver(attributes)
          ? may('startScan') && <Button onClick={() => onRepeat(scan)}>Scan again</Button>
          : may('cancelScan') && (
              <Button kind="danger" onClick={() => void cancelScan(scan, live.put)}>
                Cancel
              </Button>
            )}
      </div>
      <div class="scan-current-body">
        <ScanProgress scan={attributes} samples={live.samples.value} />
        {result !== undefined && <ScanResult result={result} />}
      </div>
      {error !== undefined && (
        <p class="field-error">
          <bdi>{error}</bdi>
        </p>
      )}
    </section>
  );
}
