import { place } from '../../state/address.ts';
import { useAnswer } from '../../state/answers.ts';
import { Answered, Empty } from '../../ui/states.tsx';
import { matching, type OpenApi } from './open-api.ts';
import { OperationCard } from './operation.tsx';
import { Prose, SchemaCard } from './schema.tsx';

/**
 * API reference: the operations of `GET /api/v1/openapi.json` that match the search, or the schema in the URL.
 */
export function ApiReference({ query }: { query: string }) {
  const document = useAnswer('getOpenApi', {});
  const shown = place.value.params.get('schema');
  return (
    <Answered of={document} rows={14}>
      {(answer) => {
        const api = answer as unknown as OpenApi;
        const { schemas } = api.components;
        const schema = shown !== null && Object.hasOwn(schemas, shown) ? schemas[shown] : undefined;
        if (shown !== null && schema !== undefined) return <SchemaCard name={shown} schema={schema} />;
        return <Operations api={api} text={query} />;
      }}
    </Answered>
  );
}

function Operations({ api, text }: { api: OpenApi; text: string }) {
  const found = matching(api, text);
  if (found.length === 0) return <Empty title="No matching operations" />;
  return (
    <div class="docs">
      {text === '' && (
        <p class="docs-about">
          Version {api.info.version}. <Prose text={api.info.description} /> Machine-readable:{' '}
          <a href="/api/v1/openapi.json">openapi.json</a>.
        </p>
      )}
      {api.tags.map(({ name, description }) => {
        const own = found.filter(({ operation }) => operation.tags.includes(name));
        if (own.length === 0) return null;
        return (
          <section key={name} class="panel" aria-label={name}>
            <h2>
              {name} <span class="quiet docs-small">{description}</span>
            </h2>
            {own.map((placed) => (
              <OperationCard key={placed.operation.operationId} placed={placed} open={found.length === 1} />
            ))}
          </section>
        );
      })}
    </div>
  );
}
