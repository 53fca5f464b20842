import { href, place } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { shownChips } from '../../state/filters.ts';
import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { number } from '../../ui/format.ts';
import { Empty } from '../../ui/states.tsx';
import { WithoutFilters } from '../../ui/without-filters.tsx';
import { seenParams, shownSeen, soughtAddress } from './question.ts';

/** Why there is nothing, and what was looked at. */
export function NoAssets({ onCreate }: { onCreate: () => void }) {
  const { params } = place.value;
  const everything = useAnswer('listAssets', { query: { per_page: 1 } });
  const known = everything.data?.pagination.total;
  const ip = soughtAddress(params);
  const isFiltered =
    shownChips('listAssets').length > 0 || params.has('q') || shownSeen(params).kind !== 'any';
  if (known === 0)
    return (
      <Empty title="No asset is known yet.">
        <p>
          Hosts of the home networks become assets when sensors send events of them, or when a scan finds
          them.
        </p>
        <p class="row">
          {may('startScan') && <a href={href('discovery', { new: 1 })}>Scan a network</a>}
          {may('createAsset') && <Button onClick={onCreate}>Enter one by hand</Button>}
        </p>
      </Empty>
    );
  return (
    <Empty title={ip === undefined ? 'No asset matches.' : 'No asset has this address now.'}>
      <p>
        {known !== undefined && `${number(known)} assets were looked at. `}
        {ip !== undefined && 'Only hosts of the home networks become assets; one outside has none.'}
      </p>
      <p class="row">
        {ip !== undefined && (
          <>
            <a href={href('events', { range: 'all', ip })}>Its events</a>
            <a href={href('alerts', { range: 'all', view: 'all', ip })}>Its alerts</a>
          </>
        )}
        {isFiltered && <WithoutFilters list="listAssets" also={seenParams({ kind: 'any' })} />}
      </p>
    </Empty>
  );
}
