import { useState } from 'preact/hooks';
import { href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { Button } from '../../ui/button.tsx';
import { abbreviated, number } from '../../ui/format.ts';
import { Section } from '../../ui/split.tsx';
import { Answered } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import type { HistoryEntry } from './address-spans.ts';
import { lineOf } from './history-text.ts';
import type { AssetRow } from './question.ts';

const shownFirst = 12;
const shownMost = 500;

/** What happened to it and who did it, the latest first. */
export function History({ asset: { id } }: { asset: AssetRow }) {
  const [every, setEvery] = useState(false);
  const answer = useAnswer('listAssetHistory', {
    params: { asset_id: id },
    query: { per_page: every ? shownMost : shownFirst },
  });
  return (
    <Section title="What happened to it">
      <Answered of={answer} rows={3}>
        {({ data, pagination }) => (
          <>
            <ol class="asset-history">
              {data.map((entry) => (
                <li key={entry.id}>
                  <span class="quiet">
                    <Time at={entry.attributes.at} />
                  </span>
                  <Happened entry={entry.attributes} />
                </li>
              ))}
            </ol>
            {pagination.total > data.length &&
              (every ? (
                <p class="quiet">{number(pagination.total - data.length)} older changes are not shown.</p>
              ) : (
                <div>
                  <Button kind="plain" onClick={() => setEvery(true)}>
                    All {number(pagination.total)}
                  </Button>
                </div>
              ))}
          </>
        )}
      </Answered>
    </Section>
  );
}

function Happened({ entry }: { entry: HistoryEntry }) {
  const { who, scan, what, value } = lineOf(entry);
  const other = entry.other_asset_id;
  return (
    <span>
      {scan === undefined ? <bdi>{who}</bdi> : <a href={href('discovery', { id: scan })}>{who}</a>} {what}
      {value !== undefined && (
        <>
          {' '}
          <bdi class="asset-history-value">{value}</bdi>
        </>
      )}
      {other !== undefined && (
        <>
          {' '}
          (
          {entry.action === 'split' ? (
            <a href={href('assets', { id: other })}>the other asset</a>
          ) : (
            <span class="mono" title={other}>
              {abbreviated(other)}
            </span>
          )}
          )
        </>
      )}
      {entry.reason !== undefined && <bdi class="quiet">, as {entry.reason}</bdi>}
    </span>
  );
}
