import { limits } from '../../../limits.ts';
import { href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { AbsentItem, Detail, Facts, Raw, Section, SmallTable } from '../../ui/detail.tsx';
import { number } from '../../ui/format.ts';
import { Answered } from '../../ui/states.tsx';
import { Address, Time, Value } from '../../ui/values.tsx';
import { Status } from './columns.tsx';
import { ScanProgress, ScanResult } from './progress.tsx';
import { cancelScan, isOver, type LiveScans, type ScanRow } from './scans.ts';

const shownServices = 50;

/** The scan in the URL: from live data, from the list, or fetched separately. */
export function OpenedScan({
  id,
  listed,
  live,
  onRepeat,
}: {
  id: string;
  listed: ScanRow | undefined;
  live: LiveScans;
  onRepeat: (scan: ScanRow) => void;
}) {
  const answer = useAnswer(
    'getScan',
    { params: { scan_id: id } },
    { enabled: listed === undefined, keepPrevious: false },
  );
  const scan = live.scans.value.get(id) ?? listed ?? answer.data?.data;
  if (scan !== undefined) return <ScanDetail scan={scan} live={live} onRepeat={onRepeat} />;
  return (
    <AbsentItem of="scan" error={answer.error} onRetry={() => void answer.refetch()}>
      Only the last {number(limits.maxScans)} scans are kept; <bdi class="mono">{id}</bdi> may be older or belong to
      another server.
    </AbsentItem>
  );
}

function ScanDetail({ scan, live, onRepeat }: { scan: ScanRow; live: LiveScans; onRepeat: (scan: ScanRow) => void }) {
  const { attributes } = scan;
  const { targets, result, error, requested_by, started_at, finished_at } = attributes;
  const ended = isOver(attributes);
  return (
    <Detail
      title={<bdi class="mono">{targets.length > 4 ? `${targets.slice(0, 4).join(', ')} …` : targets.join(', ')}</bdi>}
      {...((may('startScan') || may('cancelScan')) && {
        actions: (
          <>
            {!ended && may('cancelScan') && (
              <Button kind="danger" onClick={() => void cancelScan(scan, live.put)}>
                Cancel
              </Button>
            )}
            {may('startScan') && (
              <Button hint="r" onClick={() => onRepeat(scan)}>
                Scan again
              </Button>
            )}
          </>
        ),
      })}
    >
      <p class="row">
        <Status status={attributes.status} />
      </p>
      {error !== undefined && (
        <p class="field-error scan-error">
          <bdi>{error}</bdi>
        </p>
      )}
      <ScanProgress scan={attributes} samples={attributes.status === 'running' ? live.samples.value : []} />
      {result !== undefined && <ScanResult result={result} />}
      <div class="scan-facts">
        <Facts
          facts={[
            [
              'Targets',
              <span key="targets" class="scan-values">
                {targets.slice(0, 50).map((target) => (
                  <Value key={target} value={target} list="listScans" field="target" />
                ))}
                {targets.length > 50 && <span class="quiet">and {number(targets.length - 50)} more</span>}
              </span>,
            ],
            [
              'Ports',
              <bdi key="ports" class="mono">
                {attributes.ports}
              </bdi>,
            ],
            ['Rate', `at most ${number(attributes.rate)} probes/s`],
            ['Engine', attributes.engine],
            ['Started by', <Value key="by" value={requested_by} list="listScans" field="requested_by" mono={false} />],
            ['Requested', <Time key="asked" at={attributes.requested_at} as="exact" />],
            ['Started', started_at && <Time at={started_at} as="exact" />],
            ['Finished', finished_at && <Time at={finished_at} as="exact" />],
          ]}
        />
      </div>
      <Found scan={scan} />
      <Raw of={scan} />
    </Detail>
  );
}

/** Services found on the targets by this and other scans. */
function Found({ scan: { attributes } }: { scan: ScanRow }) {
  const { targets, started_at } = attributes;
  const canQuery = started_at !== undefined && targets.length <= limits.maxFilterValues;
  const answer = useAnswer(
    'listServices',
    { query: { ip: targets, source: ['scan'], sort: 'ip', per_page: shownServices } },
    { enabled: canQuery, keepPrevious: false },
  );
  if (started_at === undefined) return null;
  const at = canQuery ? { ip: targets } : {};
  return (
    <Section title="Services found on these targets">
      {canQuery && (
        <Answered of={answer} rows={3}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <p class="quiet">No open ports.</p>
            ) : (
              <>
                <SmallTable
                  label="Services found by scans"
                  heads={[
                    { title: 'Address' },
                    { title: 'Port' },
                    { title: 'Service' },
                    { title: 'State' },
                    { title: 'Last seen', end: true },
                  ]}
                >
                  {data.map(({ id, attributes: service }) => (
                    <tr key={id}>
                      <td>
                        <Address ip={service.ip} />
                      </td>
                      <td class="mono">
                        <a href={href('assets', { view: 'services', id, ip: service.ip })}>
                          {service.port}/{service.transport}
                        </a>
                      </td>
                      <td class="small-table-wide">
                        <bdi>{[service.name, service.product, service.version].filter(Boolean).join(' ')}</bdi>
                      </td>
                      <td>{service.state}</td>
                      <td class="table-end quiet">
                        <Time at={service.last_seen} />
                      </td>
                    </tr>
                  ))}
                </SmallTable>
                {pagination.total > data.length && (
                  <p class="quiet">{number(pagination.total - data.length)} more in the list of services.</p>
                )}
              </>
            )
          }
        </Answered>
      )}
      <p class="row">
        <a href={href('assets', at)}>Assets {canQuery && 'at these addresses'}</a>
        <a href={href('assets', { source: 'scan', from: started_at })}>Assets found since this scan</a>
        <a href={href('assets', { view: 'services', ...at, source: 'scan' })}>Services</a>
      </p>
    </Section>
  );
}
