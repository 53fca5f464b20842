import { type Signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { ListItem } from '../../../client/client.ts';
import { again } from '../../state/answers.ts';
import { useChannel } from '../../state/live.ts';
import { api } from '../../state/session.ts';
import { say, sayFailure } from '../../ui/toasts.tsx';
import { isOlder } from './fresh.ts';
import { type Sample, withSample } from './pace.ts';

export type ScanRow = ListItem<'listScans'>;
export type Scan = ScanRow['attributes'];

export const isOver = ({ status }: Pick<Scan, 'status'>): boolean => status !== 'queued' && status !== 'running';

/** Scans as last received over the live channel or in responses. */
export interface LiveScans {
  readonly scans: Signal<ReadonlyMap<string, ScanRow>>;
  /** Progress samples of the running scan. */
  readonly samples: Signal<readonly Sample[]>;
  readonly put: (scan: ScanRow) => void;
}

/** Maximum number of scans held in the browser. */
const maxKept = 200;

/** Follows all scans live; refetches them after each subscription and after lost updates. */
export function useLiveScans(): LiveScans {
  const scans = useSignal<ReadonlyMap<string, ScanRow>>(new Map());
  const samples = useSignal<readonly Sample[]>([]);
  const sampledId = useRef<string | undefined>(undefined);
  const put = (scan: ScanRow) => {
    const known = scans.peek().get(scan.id);
    if (known !== undefined && isOlder(scan.attributes, known.attributes)) return;
    const others = [...scans.peek()].filter(([id]) => id !== scan.id).slice(1 - maxKept);
    scans.value = new Map([...others, [scan.id, scan]]);
    if (scan.attributes.status !== 'running') return;
    const next = { at: Date.now(), done: scan.attributes.progress.probes_done };
    samples.value = sampledId.current === scan.id ? withSample(samples.peek(), next) : [next];
    sampledId.current = scan.id;
  };
  const refetchAll = () => void again(['getScanStatus', 'listScans', 'getScan']);
  useChannel(
    'discovery',
    {},
    {
      onEvent: ({ data }) => {
        put(data as ScanRow);
        if (isOver(data.attributes)) void again(['getScanStatus', 'listAssets', 'listServices']);
      },
      onLagged: refetchAll,
      onSubscribed: refetchAll,
    },
  );
  return { scans, samples, put };
}

/** Cancels a scan. Results found until then are kept. */
export async function cancelScan({ id }: ScanRow, put: LiveScans['put']): Promise<void> {
  try {
    const { data } = await api.call('cancelScan', { params: { scan_id: id } });
    put(data);
    say('Scan cancelled. Results so far are kept.');
    await again(['getScanStatus']);
  } catch (error) {
    sayFailure('The scan was not cancelled', error);
  }
}
