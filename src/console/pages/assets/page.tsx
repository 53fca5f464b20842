import { place } from '../../state/address.ts';
import { FilterBar } from '../../ui/chips.tsx';
import { Page } from '../../ui/page.tsx';
import { shownTab } from '../../ui/tabs.tsx';
import { AssetList } from './list.tsx';
import { ServiceList } from './service-list.tsx';
import { assetViews } from './views.tsx';

/** The assets of the home networks and their services. */
export default function Assets() {
  const view = shownTab('view', assetViews);
  const list = view === 'assets' ? 'listAssets' : 'listServices';
  return (
    <Page title="Assets" bar={<FilterBar key={list} list={list} search={`Search ${view}`} />}>
      {view === 'assets' ? <AssetList key={place.value.page} /> : <ServiceList />}
    </Page>
  );
}
