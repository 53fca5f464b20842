import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ListId } from '../../client/client.ts';
import { place, setParams } from '../state/address.ts';
import {
  addFilter,
  type Chip,
  canNegate,
  type FilterField,
  filterFields,
  removeFilter,
  shownChips,
} from '../state/filters.ts';
import { useKeys } from '../state/keys.ts';
import { Button } from './button.tsx';
import { words } from './format.ts';
import './chips.css';

/** What the list is filtered by, a chip each, and a way to say more. All of it stands in the address. */
export function FilterBar({ list, search }: { list: ListId; search: string }) {
  const [adding, setAdding] = useState(false);
  useKeys('Filters', { '/': { title: 'Filter', run: () => setAdding(true) } });
  const chips = shownChips(list);
  return (
    <div class="chips" role="group" aria-label="Filters">
      <SearchText label={search} />
      {chips.map((chip) => (
        <ShownChip key={`${chip.not} ${chip.name}`} chip={chip} />
      ))}
      {adding ? (
        <AddFilter list={list} onDone={() => setAdding(false)} />
      ) : (
        <Button kind="plain" hint="/" onClick={() => setAdding(true)}>
          + filter
        </Button>
      )}
      {chips.length > 1 && (
        <Button kind="plain" onClick={() => chips.forEach(removeFilter)}>
          Clear
        </Button>
      )}
    </div>
  );
}

function ShownChip({ chip }: { chip: Chip }) {
  const says = `${words(chip.name)} ${chip.not ? 'is not' : 'is'} ${chip.values.join(' or ')}`;
  return (
    <span class={chip.not ? 'chip chip-not' : 'chip'}>
      <span class="clip" title={says}>
        <span class="quiet">
          {words(chip.name)}
          {chip.not ? ' ≠ ' : ' '}
        </span>
        <bdi>{chip.values.join(', ')}</bdi>
      </span>
      <button type="button" aria-label={`Remove filter: ${says}`} onClick={() => removeFilter(chip)}>
        ✕
      </button>
    </span>
  );
}

/** Free text, taken when it is typed to its end or after a pause. */
function SearchText({ label }: { label: string }) {
  const shown = place.value.params.get('q') ?? '';
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (input.current !== null && document.activeElement !== input.current) input.current.value = shown;
  }, [shown]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const take = () => {
    clearTimeout(timer.current);
    setParams({ q: input.current?.value || undefined }, { replace: true });
  };
  return (
    <input
      ref={input}
      type="search"
      class="input chips-search"
      placeholder={label}
      aria-label={label}
      maxLength={256}
      defaultValue={shown}
      onInput={() => {
        clearTimeout(timer.current);
        timer.current = window.setTimeout(take, 300);
      }}
      onChange={take}
    />
  );
}

/** Name, then value, in one field: `dst_port 443`, `severity high`; `!` before the name turns it round. */
function AddFilter({ list, onDone }: { list: ListId; onDone: () => void }) {
  const fields = filterFields(list);
  const [name, setName] = useState(fields[0]?.name ?? '');
  const [not, setNot] = useState(false);
  const [value, setValue] = useState('');
  const field = fields.find((one) => one.name === name);
  const first = useRef<HTMLSelectElement>(null);
  useEffect(() => first.current?.focus(), []);
  const add = () => {
    if (value !== '') addFilter(name, value, { not });
    onDone();
  };
  return (
    <form
      class="chips-add"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onDone();
      }}
    >
      <select
        ref={first}
        class="input"
        aria-label="Filter by"
        value={name}
        onChange={(event) => {
          setName(event.currentTarget.value);
          setValue('');
          setNot(false);
        }}
      >
        {fields.map((one) => (
          <option key={one.name} value={one.name}>
            {words(one.name)}
          </option>
        ))}
      </select>
      {canNegate(list, name) && (
        <select
          class="input"
          aria-label="How"
          value={String(not)}
          onChange={(event) => setNot(event.currentTarget.value === 'true')}
        >
          <option value="false">is</option>
          <option value="true">is not</option>
        </select>
      )}
      {field !== undefined && <FilterValue field={field} value={value} onValue={setValue} />}
      <Button type="submit" kind="primary">
        Add
      </Button>
      <Button kind="plain" aria-label="No filter after all" onClick={onDone}>
        ✕
      </Button>
    </form>
  );
}

function FilterValue({
  field,
  value,
  onValue,
}: {
  field: FilterField;
  value: string;
  onValue: (value: string) => void;
}) {
  const id = useId();
  if (field.values !== undefined)
    return (
      <select
        class="input"
        aria-label="Value"
        value={value}
        onChange={(event) => onValue(event.currentTarget.value)}
      >
        <option value="">choose</option>
        {field.values.map((one) => (
          <option key={one} value={one}>
            {words(one)}
          </option>
        ))}
      </select>
    );
  return (
    <>
      <input
        class="input"
        aria-label="Value"
        aria-describedby={id}
        placeholder={field.isNetwork ? '10.0.0.0/8' : ''}
        inputMode={field.isNumber ? 'decimal' : 'text'}
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value.trim())}
      />
      <span id={id} class="unseen">
        {field.description}
      </span>
    </>
  );
}
