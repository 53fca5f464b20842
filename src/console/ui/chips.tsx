import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ListId } from '../../client/client.ts';
import { place, setParams } from '../state/address.ts';
import { readValues } from '../state/filter-values.ts';
import {
  type Chip,
  type FilterField,
  filterFields,
  type Operator,
  operatorsOf,
  removeFilter,
  replaceChip,
  shownChips,
} from '../state/filters.ts';
import { useKeys } from '../state/keys.ts';
import { Button } from './button.tsx';
import { words } from './format.ts';
import { Menu, type MenuItem } from './menu.tsx';
import './chips.css';

/** The filters of a list as chips, with controls to add and change them. The filters are stored in the URL. */
export function FilterBar({ list, search }: { list: ListId; search: string }) {
  /** The chip being edited; `new` for an additional chip. */
  const [editing, setEditing] = useState<Chip | 'new' | undefined>();
  useKeys('Filters', { '/': { title: 'Filter', run: () => setEditing('new') } });
  const chips = shownChips(list);
  const done = () => setEditing(undefined);
  return (
    <div class="chips" role="group" aria-label="Filters">
      <SearchText label={search} />
      {chips.map((chip) => (
        <ShownChip key={`${chip.operator} ${chip.name}`} chip={chip} list={list} onEdit={() => setEditing(chip)} />
      ))}
      {editing === undefined ? (
        <Button kind="plain" hint="/" onClick={() => setEditing('new')}>
          Add filter
        </Button>
      ) : (
        <FilterForm
          key={editing === 'new' ? 'new' : `${editing.operator} ${editing.name}`}
          list={list}
          chip={editing === 'new' ? undefined : editing}
          onDone={done}
        />
      )}
      {chips.length > 1 && (
        <Button kind="plain" onClick={() => chips.forEach(removeFilter)}>
          Clear
        </Button>
      )}
    </div>
  );
}

const operatorTexts: Readonly<Record<Operator, { readonly title: string; readonly sign: string }>> = {
  is: { title: 'is', sign: ' ' },
  not: { title: 'is not', sign: ' ≠ ' },
  min: { title: 'is at least', sign: ' ≥ ' },
  max: { title: 'is at most', sign: ' ≤ ' },
};

function ShownChip({ chip, list, onEdit }: { chip: Chip; list: ListId; onEdit: () => void }) {
  const { name, operator, values } = chip;
  const { title, sign } = operatorTexts[operator];
  const of = words(name);
  const says = `${of} ${title} ${values.join(' or ')}`;
  const opposite = ({ is: 'not', not: 'is', min: undefined, max: undefined } as const)[operator];
  const items = (): MenuItem[] => [
    { title: 'Edit', run: onEdit },
    ...(opposite !== undefined && operatorsOf(list, name).includes(opposite)
      ? [
          {
            title: opposite === 'is' ? 'Include instead' : 'Exclude instead',
            run: () => replaceChip(chip, { ...chip, operator: opposite }),
          },
        ]
      : []),
    ...(values.length > 1
      ? values.map((value) => ({
          title: `Remove ${value}`,
          run: () => replaceChip(chip, { ...chip, values: values.filter((one) => one !== value) }),
        }))
      : []),
  ];
  return (
    <span class={operator === 'not' ? 'chip chip-not' : 'chip'}>
      <Menu items={items} class="clip">
        <span title={says}>
          <span class="unseen">Filter: </span>
          <span class="quiet">
            {of}
            {sign}
          </span>
          <bdi>{values.join(', ')}</bdi>
        </span>
      </Menu>
      <button type="button" aria-label={`Remove filter: ${says}`} onClick={() => removeFilter(chip)}>
        ✕
      </button>
    </span>
  );
}

/** Free-text search, applied on change or after a pause in typing. */
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
      class="input input-search"
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

/** Form for a filter: its name, its operator, and one or several values. */
function FilterForm({ list, chip, onDone }: { list: ListId; chip: Chip | undefined; onDone: () => void }) {
  const fields = filterFields(list);
  const [name, setName] = useState(chip?.name ?? fields[0]?.name ?? '');
  const [operator, setOperator] = useState<Operator>(chip?.operator ?? 'is');
  const [value, setValue] = useState(chip?.values.join(', ') ?? '');
  const [fault, setFault] = useState<string | undefined>();
  const field = fields.find((one) => one.name === name);
  const takesMany = field?.takesMany === true && (operator === 'is' || operator === 'not');
  const offered = operatorsOf(list, name);
  const form = useRef<HTMLFormElement>(null);
  // When a chip is edited, the focus starts at its value.
  useEffect(() => {
    const inputs = form.current?.querySelectorAll<HTMLElement>('select, input');
    inputs?.[chip === undefined ? 0 : inputs.length - 1]?.focus();
  }, []);
  const take = () => {
    if (field === undefined || value === '') return onDone();
    const read = readValues(field, value);
    if ('fault' in read) return setFault(read.fault);
    if (!takesMany && read.values.length > 1) return setFault('accepts one value only');
    const values =
      chip === undefined && takesMany ? [...new Set([...valuesOf(list, name, operator), ...read.values])] : read.values;
    replaceChip(chip ?? { name, operator }, { name, operator, values });
    onDone();
  };
  return (
    <form
      ref={form}
      class="chips-add"
      onSubmit={(event) => {
        event.preventDefault();
        take();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onDone();
      }}
    >
      <select
        class="input"
        aria-label="Filter by"
        value={name}
        onChange={(event) => {
          setName(event.currentTarget.value);
          setValue('');
          setOperator('is');
          setFault(undefined);
        }}
      >
        {fields.map((one) => (
          <option key={one.name} value={one.name}>
            {words(one.name)}
          </option>
        ))}
      </select>
      {offered.length > 1 && (
        <select
          class="input"
          aria-label="Operator"
          value={operator}
          onChange={(event) => {
            setOperator(event.currentTarget.value as Operator);
            setFault(undefined);
          }}
        >
          {offered.map((one) => (
            <option key={one} value={one}>
              {operatorTexts[one].title}
            </option>
          ))}
        </select>
      )}
      {field !== undefined && (
        <FilterValue
          field={field}
          value={value}
          fault={fault}
          onValue={(next) => {
            setValue(next);
            setFault(undefined);
          }}
        />
      )}
      <Button type="submit" kind="primary">
        {chip === undefined ? 'Add' : 'Apply'}
      </Button>
      <Button kind="plain" aria-label="Cancel" onClick={onDone}>
        ✕
      </Button>
    </form>
  );
}

const valuesOf = (list: ListId, name: string, operator: Operator): readonly string[] =>
  shownChips(list).find((chip) => chip.name === name && chip.operator === operator)?.values ?? [];

function FilterValue({
  field,
  value,
  fault,
  onValue,
}: {
  field: FilterField;
  value: string;
  fault: string | undefined;
  onValue: (value: string) => void;
}) {
  const id = useId();
  // Several values of a fixed set are edited as text.
  if (field.values !== undefined && !value.includes(','))
    return (
      <select class="input" aria-label="Value" value={value} onChange={(event) => onValue(event.currentTarget.value)}>
        <option value="">Select…</option>
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
        aria-invalid={fault !== undefined}
        placeholder={field.isNetwork ? '10.0.0.0/8, fd00::1' : ''}
        inputMode={field.isNumber && !field.takesMany ? 'decimal' : 'text'}
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      <span id={id} class={fault === undefined ? 'chips-about quiet' : 'chips-about chips-fault'} role="status">
        {fault ?? field.description}
      </span>
    </>
  );
}
