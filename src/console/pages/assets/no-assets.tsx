import { href, place } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { shownChips } from '../../state/filters.ts';
import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { counted } from '../../ui/format.ts';
import { Empty } from '../../ui/states.tsx';
import { WithoutFilters } from '../../ui/without-filters.tsx';
import { onlyAddress, seenParams, shownSeen } from './question.ts';

/** Explains why the list is empty. */
export function NoAssets({ onCreate }: { onCreate: () => void }) {
  const { params } = place.value;
  const everything = useAnswer('listAssets', { query: { per_page: 1 } });
  const known = everything.data?.pagination.total;
  const ip = onlyAddress(params);
  const isFiltered = shownChips('listAssets').length > 0 || params.has('q') || shownSeen(params).kind !== 'any';
  if (known === 0)
    return (
      <Empty title="No assets yet.">
        <p>Hosts in the home networks become assets when sensors report events about them or a scan finds them.</p>
        <p class="row">
          {may('startScan') && <a href={href('discovery', { new: 1 })}>Scan a network</a>}
          {may('createAsset') && <Button onClick={onCreate}>New asset</Button>}
        </p>
      </Empty>
    );
  return (
    <Empty title={ip === undefined ? 'No matching assets.' : 'No asset has this address.'}>
      <p>
        {known !== undefined && `${counted(known, 'asset')} in total. `}
        {ip !== undefined && 'Only hosts in the home networks become assets.'}
      </p>
      <p class="row">
        {ip !== undefined && (
          <>
            <a href={href('events', { range: 'all', ip })}>Show events</a>
            <a href={href('alerts', { range: 'all', view: 'all', ip })}>Show alerts</a>
          </>
        )}
        {isFiltered && <WithoutFilters list="listAssets" also={seenParams({ kind: 'any' })} />}
      </p>
    </Empty>
  );
}
