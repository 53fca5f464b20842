import type { TObject } from 'typebox';
import { routeOf } from '../../../contract/routes.ts';
import { setParams } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { addFilter, operatorsOf, setFilter } from '../../state/filters.ts';
import { Button } from '../../ui/button.tsx';
import { Detail } from '../../ui/detail.tsx';
import { bytes, counted, number, words } from '../../ui/format.ts';
import { Answered, Empty } from '../../ui/states.tsx';
import { Value } from '../../ui/values.tsx';
import { attributes, filterOf } from './attributes.ts';
import type { Question } from './question.ts';
import { type TableName, tables } from './tables.ts';

/** The attribute shown first. */
export const firstField: Readonly<Record<TableName, string>> = {
  network: 'dst_port',
  dns: 'registered_domain',
};

/** Attributes listed first, because counting their values is most useful. */
const preferred: Readonly<Record<TableName, readonly string[]>> = {
  network: [
    'src_ip',
    'dst_ip',
    'ip',
    'dst_port',
    'app_protocol',
    'transport',
    'state',
    'direction',
    'severity',
    'sensor',
  ],
  dns: ['src_ip', 'registered_domain', 'query', 'qtype', 'rcode_name', 'answer', 'dst_ip', 'severity', 'sensor'],
};

/** Returns all fields whose values the service counts, preferred fields first. */
export function countedFields(table: TableName): string[] {
  const { query } = routeOf(tables[table].values);
  const { by } = (query as TObject).properties;
  const known = (by as { enum?: readonly string[] } | undefined)?.enum ?? [];
  return [...new Set([...preferred[table].filter((name) => known.includes(name)), ...known])];
}

/** Formats a share in per cent; never rounds to 0 or 100. */
function shareOf(count: number, total: number): string {
  const share = total === 0 ? 0 : (100 * count) / total;
  if (count > 0 && share < 0.1) return '< 0.1 %';
  if (count < total && share > 99.9) return '> 99.9 %';
  return `${share.toFixed(share < 10 || share > 99 ? 1 : 0).replace(/\.0$/, '')} %`;
}

const shownValues = 50;

/** The most frequent values of an attribute in the matching events, with buttons to filter by each value. */
export function ValuesPanel({
  table,
  question,
  by,
  onClose,
}: {
  table: TableName;
  question: Question;
  by: string;
  onClose: () => void;
}) {
  const query = { ...question.query, by, limit: shownValues } as never;
  const answer = useAnswer(tables[table].values, { query }, { still: true });
  return (
    <Detail
      title="Values"
      onClose={onClose}
      actions={
        <select
          class="input"
          aria-label="Attribute"
          value={by}
          onChange={(event) => setParams({ values: event.currentTarget.value }, { replace: true })}
        >
          {countedFields(table).map((name) => (
            <option key={name} value={name}>
              {words(name)}
            </option>
          ))}
        </select>
      }
    >
      <Answered of={answer} rows={8}>
        {({ data: { attributes: counts } }) =>
          counts.values.length === 0 ? (
            <Empty title="No values">No matching event has this attribute.</Empty>
          ) : (
            <>
              <ol class="events-values" aria-busy={answer.isPlaceholderData}>
                {counts.values.map(({ value, count }) => (
                  <li key={value}>
                    <ShownValue table={table} by={by} value={value} />
                    <span class="mono events-values-count">{number(count)}</span>
                    <span class="quiet mono events-values-share">{shareOf(count, counts.total)}</span>
                    <Choices table={table} by={by} value={value} />
                    <Bar share={count / counts.total} />
                  </li>
                ))}
              </ol>
              <p class="quiet events-values-rest">
                {number(counts.values.length)} of {counts.complete ? '' : 'at least '}
                {counted(counts.distinct, 'value')}
                {counts.other > 0 && `; ${counted(counts.other, 'event')} with other values`}
                {counts.absent > 0 && `; ${counted(counts.absent, 'event')} without a value`}.
              </p>
            </>
          )
        }
      </Answered>
    </Detail>
  );
}

/** A bar for the share of a value. It is hidden from screen readers, because the text states the share too. */
function Bar({ share }: { share: number }) {
  return (
    <svg class="events-values-bar" aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 100 1">
      <rect class="events-values-all" width="100" height="1" />
      <rect width={Math.max(0.3, 100 * share)} height="1" />
    </svg>
  );
}

function ShownValue({ table, by, value }: { table: TableName; by: string; value: string }) {
  const attribute = Object.entries(attributes[table]).find(([name]) => filterOf(name) === by)?.[1];
  return (
    <Value
      value={value}
      list={tables[table].list}
      field={by}
      {...(by === 'ip' ? { pivot: 'address' } : attribute?.pivot && { pivot: attribute.pivot })}
    >
      {attribute?.as === 'bytes' ? bytes(Number(value)) : value}
    </Value>
  );
}

function Choices({ table, by, value }: { table: TableName; by: string; value: string }) {
  return (
    <span class="events-values-choices">
      <Button kind="plain" aria-label={`Only ${value}`} onClick={() => setFilter(by, value)}>
        only
      </Button>
      {operatorsOf(tables[table].list, by).includes('not') && (
        <Button kind="plain" aria-label={`Not ${value}`} onClick={() => addFilter(by, value, 'not')}>
          not
        </Button>
      )}
    </span>
  );
}
