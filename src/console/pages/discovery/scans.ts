import { type Signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { ListItem } from '../../../client/client.ts';
import { again } from '../../state/answers.ts';
import { useChannel } from '../../state/live.ts';
import { api } from '../../state/session.ts';
import { say, sayFailure } from '../../ui/toasts.tsx';
import { type Sample, sampled } from './pace.ts';

export type ScanRow = ListItem<'listScans'>;
export type Scan = ScanRow['attributes'];

export const isOver = ({ status }: Pick<Scan, 'status'>): boolean =>
  status !== 'queued' && status !== 'running';

/** Scans as they were told of while the page is shown, later than what was asked for. */
export interface LiveScans {
  readonly scans: Signal<ReadonlyMap<string, ScanRow>>;
  /** Of the scan that runs. */
  readonly samples: Signal<readonly Sample[]>;
  readonly put: (scan: ScanRow) => void;
}

/** As many are kept that nobody asked about. */
const maxKept = 200;

/** Follows every scan live; what was missed while the connection was lost is asked for. */
export function useLiveScans(): LiveScans {
  const scans = useSignal<ReadonlyMap<string, ScanRow>>(new Map());
  const samples = useSignal<readonly Sample[]>([]);
  const sampledId = useRef<string | undefined>(undefined);
  const put = (scan: ScanRow) => {
    const known = scans.peek().get(scan.id);
    // What was asked for may arrive after what was told since.
    if (known !== undefined && isOver(known.attributes) && !isOver(scan.attributes)) return;
    const others = [...scans.peek()].filter(([id]) => id !== scan.id).slice(1 - maxKept);
    scans.value = new Map([...others, [scan.id, scan]]);
    if (scan.attributes.status !== 'running') return;
    const next = { at: Date.now(), done: scan.attributes.progress.probes_done };
    samples.value = sampledId.current === scan.id ? sampled(samples.peek(), next) : [next];
    sampledId.current = scan.id;
  };
  const askAgain = () => void again(['getScanStatus', 'listScans', 'getScan']);
  useChannel(
    'discovery',
    {},
    {
      onEvent: ({ data }) => {
        put(data as ScanRow);
        if (isOver(data.attributes)) void again(['getScanStatus', 'listAssets', 'listServices']);
      },
      onLagged: askAgain,
      onSubscribed: askAgain,
    },
  );
  return { scans, samples, put };
}

/** Ends a scan; what it found stays. */
export async function cancelScan({ id }: ScanRow, put: LiveScans['put']): Promise<void> {
  try {
    const { data } = await api.call('cancelScan', { params: { scan_id: id } });
    put(data);
    say('The scan was cancelled. What it found stays.');
    await again(['getScanStatus']);
  } catch (error) {
    sayFailure('The scan was not cancelled', error);
  }
}
