import type { Column } from './columns.ts';
import { number } from './format.ts';
import { Time } from './values.tsx';

/** Columns of one attribute of resources, aligned to the end; rows can be sorted by the attribute. */

type Sizes = Pick<Column<unknown>, 'width' | 'from'>;
type With<Attribute extends string, Value> = {
  readonly attributes: { readonly [A in Attribute]?: Value | undefined };
};

/** Returns a column of times. @param absent - text of a missing time; empty by default */
export function timeColumn<Attribute extends string, Row extends With<Attribute, string>>(
  id: string,
  title: string,
  attribute: Attribute,
  { absent, ...sizes }: Sizes & { readonly absent?: string },
): Column<Row> {
  const cell = ({ attributes: { [attribute]: at } }: Row) =>
    at === undefined ? absent !== undefined && <span class="quiet">{absent}</span> : <Time at={at} />;
  return { id, title, end: true, sort: attribute, cell, ...sizes };
}

export function numberColumn<Attribute extends string, Row extends With<Attribute, number>>(
  id: string,
  title: string,
  attribute: Attribute,
  sizes: Sizes,
): Column<Row> {
  const cell = ({ attributes: { [attribute]: value } }: Row) => value !== undefined && number(value);
  return { id, title, end: true, sort: attribute, cell, ...sizes };
}
