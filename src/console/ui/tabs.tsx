import { type Params, place, setParams } from '../state/address.ts';
import './tabs.css';

/** Tabs of a page. The selected tab is stored in the URL under `name`, except for the default tab. */
export function Tabs<V extends string>({
  label,
  name = 'view',
  tabs,
  usual = tabs[0]?.value,
  others,
}: {
  label: string;
  name?: string;
  tabs: readonly { value: V; title: string }[];
  usual?: V | undefined;
  /** Other parameters to change when another tab is selected. */
  others?: Params;
}) {
  const shown = shownTab(name, tabs, usual);
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ value, title }) => (
        <button
          key={value}
          type="button"
          aria-current={value === shown ? 'page' : undefined}
          onClick={() =>
            setParams({
              ...(value !== shown && others),
              [name]: value === usual ? undefined : value,
              id: undefined,
            })
          }
        >
          {title}
        </button>
      ))}
    </nav>
  );
}

export function shownTab<V extends string>(name: string, tabs: readonly { value: V }[], usual = tabs[0]?.value): V {
  const asked = place.value.params.get(name) ?? usual;
  return (tabs.find(({ value }) => value === asked) ?? tabs[0]!).value;
}
