import { useState } from 'preact/hooks';
import { Section } from '../../ui/detail.tsx';
import { type Content, kindOf, type Operation, type Parameter, type Placed } from './open-api.ts';
import { Properties, Prose, SchemaName } from './schema.tsx';

/** An operation: roles, parameters, body and responses. */
export function OperationCard({ placed, open }: { placed: Placed; open: boolean }) {
  const { method, path, operation } = placed;
  const [isOpen, setOpen] = useState(open);
  return (
    <details class="docs-operation" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="docs-method mono">{method}</span>
        <code class="docs-path">{path}</code>
        <span class="quiet">
          <Prose text={operation.summary} />
        </span>
      </summary>
      {isOpen && <OperationBody operation={operation} />}
    </details>
  );
}

function OperationBody({ operation }: { operation: Operation }) {
  const { parameters = [], requestBody, responses, 'x-roles': roles } = operation;
  return (
    <div class="docs-body">
      <p class="quiet">
        <code>{operation.operationId}</code> · {roles === undefined ? 'public' : `default roles: ${roles.join(', ')}`}
      </p>
      {parameters.length > 0 && (
        <Section title="Parameters">
          <Parameters parameters={parameters} />
        </Section>
      )}
      {requestBody !== undefined && (
        <Section title="Body">
          <Bodies content={requestBody.content} />
        </Section>
      )}
      <Section title="Responses">
        <dl class="docs-answers">
          {Object.entries(responses).map(([status, { description, content }]) => (
            <div key={status}>
              <dt class="mono">{status}</dt>
              <dd>
                <Prose text={description} />
                {content !== undefined && status.startsWith('2') && <Bodies content={content} />}
              </dd>
            </div>
          ))}
        </dl>
      </Section>
    </div>
  );
}

function Parameters({ parameters }: { parameters: readonly Parameter[] }) {
  return (
    <dl class="docs-fields">
      {parameters.map(({ name, in: where, required, description, schema }) => (
        <div key={`${where} ${name}`}>
          <dt>
            <code>{name}</code>
            <span class="quiet">
              {' '}
              {where}
              {required === true && ', required'}
            </span>
          </dt>
          <dd>
            <Prose text={description ?? ''} /> <span class="quiet mono">{kindOf(schema)}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Bodies({ content }: { content: Content }) {
  return (
    <>
      {Object.entries(content).map(([type, { schema }]) => (
        <div key={type}>
          <p class="quiet mono">{type}</p>
          {schema !== undefined &&
            (schema.properties === undefined ? <SchemaName schema={schema} /> : <Properties schema={schema} />)}
        </div>
      ))}
    </>
  );
}
