import { place, setParams } from '../state/address.ts';
import './tabs.css';

/** Views of one page; which one is shown stands in the address under `name`. The first is the default. */
export function Tabs<V extends string>({
  label,
  name = 'view',
  tabs,
}: {
  label: string;
  name?: string;
  tabs: readonly { value: V; title: string }[];
}) {
  const shown = shownTab(name, tabs);
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ value, title }) => (
        <button
          key={value}
          type="button"
          aria-current={value === shown ? 'page' : undefined}
          onClick={() => setParams({ [name]: value === tabs[0]?.value ? undefined : value, id: undefined })}
        >
          {title}
        </button>
      ))}
    </nav>
  );
}

export function shownTab<V extends string>(name: string, tabs: readonly { value: V }[]): V {
  const asked = place.value.params.get(name);
  return (tabs.find(({ value }) => value === asked) ?? tabs[0]!).value;
}
