import { place } from '../../state/address.ts';
import { SearchField } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { shownTab, Tabs } from '../../ui/tabs.tsx';
import { Manual } from './manual.tsx';
import { ApiReference } from './operations.tsx';
import './docs.css';

const tabs = [
  { value: 'manual', title: 'Manual' },
  { value: 'api', title: 'API' },
] as const;

/** The documentation: manual and API reference, each with a search. */
export default function Docs() {
  const shown = shownTab('view', tabs);
  const query = place.value.params.get('q') ?? '';
  return (
    <Page
      title="Docs"
      scrolls
      bar={
        <>
          <Tabs label="Documentation" tabs={tabs} others={{ q: undefined, page: undefined, schema: undefined }} />
          <SearchField label={shown === 'api' ? 'Search operations' : 'Search manual'} also={{ schema: undefined }} />
        </>
      }
    >
      {shown === 'api' ? <ApiReference query={query} /> : <Manual query={query} />}
    </Page>
  );
}
