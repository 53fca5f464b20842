import type { ComponentChildren } from 'preact';
import { bytes, duration, instant, number } from '../../ui/format.ts';
import { Severity, Value } from '../../ui/values.tsx';
import { type Attribute, attributes, filterOf } from './attributes.ts';
import { type EventAttributes, type TableName, tables } from './tables.ts';

/** Formats a value as text. */
export function textOf(attribute: Attribute, value: unknown): string {
  if (typeof value === 'number')
    switch (attribute.as) {
      case 'bytes':
        return bytes(value);
      case 'duration':
        return duration(value);
      case 'count':
        return number(value);
      default:
        return String(value);
    }
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (attribute.as === 'time' && typeof value === 'string') return instant(Date.parse(value));
  if (Array.isArray(value)) return value.map(memberText).join(', ');
  return String(value);
}

/** A protocol or a DNS answer. */
type Member = string | { readonly data: string };
const memberText = (member: Member): string => (typeof member === 'string' ? member : member.data);

/**
 * One attribute of an event with the menu of its value. `plain` omits the menu, for streaming rows, which move before
 * the user can click them.
 */
export function Written({
  table,
  name,
  of,
  plain = false,
}: {
  table: TableName;
  name: string;
  of: EventAttributes;
  plain?: boolean;
}): ComponentChildren {
  const attribute = attributes[table][name];
  const value = of[name];
  if (attribute === undefined || value === undefined) return null;
  if (attribute.as === 'severity') return <Severity level={of.severity} short />;
  if (typeof value === 'object')
    return plain ? (
      <Plain text={textOf(attribute, value)} mono />
    ) : (
      <span class="events-answers">
        {value.map((member: Member, index: number) => {
          const text = memberText(member);
          const pivot = typeof member === 'string' ? {} : { pivot: pivotOf(text) };
          return <Value key={index} value={text} list={tables[table].list} field={filterOf(name)} {...pivot} />;
        })}
      </span>
    );
  const text = textOf(attribute, value);
  const mono = attribute.as !== 'word' && attribute.as !== 'flag';
  if (plain) return <Plain text={text} mono={mono} />;
  return (
    <Value
      value={typeof value === 'boolean' ? String(value) : value}
      list={tables[table].list}
      field={filterOf(name)}
      mono={mono}
      {...(attribute.pivot !== undefined && { pivot: attribute.pivot })}
    >
      {text}
    </Value>
  );
}

const Plain = ({ text, mono }: { text: string; mono: boolean }) => <bdi class={mono ? 'mono' : ''}>{text}</bdi>;

/** Returns whether the data of a DNS answer is an address or a name. */
const pivotOf = (data: string): 'address' | 'domain' =>
  /^[\d.]+$/.test(data) || /^[0-9a-f]*:[0-9a-f:.]+$/i.test(data) ? 'address' : 'domain';

/** An address with its port in a less prominent colour. */
export function End({
  table,
  side,
  of,
  plain = false,
}: {
  table: TableName;
  side: 'src' | 'dst';
  of: EventAttributes;
  plain?: boolean;
}) {
  const port = of[`${side}_port`];
  return (
    <span class={`address events-end-${side}`}>
      <Written table={table} name={`${side}_ip`} of={of} plain={plain} />
      {port !== undefined && <span class="quiet mono">:{String(port)}</span>}
    </span>
  );
}
