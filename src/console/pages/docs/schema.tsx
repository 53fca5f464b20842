import { href } from '../../state/address.ts';
import { kindOf, nameOf, type Schema } from './open-api.ts';

/** A schema of the document, with its description and members. */
export function SchemaCard({ name, schema }: { name: string; schema: Schema }) {
  return (
    <section class="panel" aria-label={name}>
      <p>
        <a href={href('docs', { view: 'api' })}>All operations</a>
      </p>
      <h2>{name}</h2>
      {schema.description !== undefined && (
        <p>
          <Prose text={schema.description} />
        </p>
      )}
      <Properties schema={schema} />
    </section>
  );
}

/** Describes a schema, with a link if it is a component. */
export function SchemaName({ schema }: { schema: Schema }) {
  const name = nameOf(schema) ?? (schema.items && nameOf(schema.items));
  if (name === undefined) return <span class="quiet mono">{kindOf(schema)}</span>;
  return (
    <a class="mono" href={href('docs', { view: 'api', schema: name })}>
      {kindOf(schema)}
    </a>
  );
}

/** Maximum depth of nested objects shown inline. */
const maxDepth = 4;

/** The members of an object, including nested members. */
export function Properties({ schema, depth = 0 }: { schema: Schema; depth?: number }) {
  const members = Object.entries(schema.properties ?? {});
  if (members.length === 0) return <SchemaName schema={schema} />;
  return (
    <dl class="docs-fields">
      {members.map(([name, member]) => {
        const inner = member.properties !== undefined ? member : member.items;
        return (
          <div key={name}>
            <dt>
              <code>{name}</code>
              {schema.required?.includes(name) !== true && <span class="quiet"> optional</span>}
            </dt>
            <dd>
              <Prose text={member.description ?? ''} /> <SchemaName schema={member} />
              {inner?.properties !== undefined && depth < maxDepth && <Properties schema={inner} depth={depth + 1} />}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** Text of the document, with the parts in backticks shown as code. */
export function Prose({ text }: { text: string }) {
  return <>{text.split('`').map((part, i) => (i % 2 === 1 ? <code key={part}>{part}</code> : part))}</>;
}
