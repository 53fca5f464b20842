import { useState } from 'preact/hooks';
import { href } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { HistoryList, Section } from '../../ui/detail.tsx';
import { abbreviated } from '../../ui/format.ts';
import { Answered } from '../../ui/states.tsx';
import type { HistoryEntry } from './address-spans.ts';
import { lineOf } from './history-text.ts';
import type { AssetRow } from './question.ts';

const shownFirst = 12;
const shownMost = 500;

/** The history of the asset with actors, latest first. */
export function History({ asset: { id } }: { asset: AssetRow }) {
  const [every, setEvery] = useState(false);
  const answer = useAnswer('listAssetHistory', {
    params: { asset_id: id },
    query: { per_page: every ? shownMost : shownFirst },
  });
  return (
    <Section title="History">
      <Answered of={answer} rows={3}>
        {({ data, pagination }) => (
          <HistoryList
            entries={data}
            total={pagination.total}
            happened={(entry) => <Entry entry={entry} />}
            onAll={every ? undefined : () => setEvery(true)}
          />
        )}
      </Answered>
    </Section>
  );
}

function Entry({ entry }: { entry: HistoryEntry }) {
  const { who, scan, what, value } = lineOf(entry);
  const other = entry.other_asset_id;
  return (
    <span>
      {scan === undefined ? <bdi>{who}</bdi> : <a href={href('discovery', { id: scan })}>{who}</a>} {what}
      {value !== undefined && (
        <>
          {' '}
          <strong>
            <bdi>{value}</bdi>
          </strong>
        </>
      )}
      {other !== undefined && (
        <>
          {' '}
          (
          {entry.action === 'split' ? (
            <a href={href('assets', { id: other })}>other asset</a>
          ) : (
            <span class="mono" title={other}>
              {abbreviated(other)}
            </span>
          )}
          )
        </>
      )}
      {entry.reason !== undefined && <bdi class="quiet">: {entry.reason}</bdi>}
    </span>
  );
}
