import { expect, test } from 'vitest';
import { openApiDocument } from '../../src/contract/openapi.ts';
import { operationIds, routeOf } from '../../src/contract/routes.ts';
import { wholeListTypes } from '../../src/contract/whole-list.ts';

/** Reports whether the operation returns a page of a list. */
const isList = (schema: object): boolean => 'pagination' in ((schema as { properties?: object }).properties ?? {});

test('exactly the paginated operations also return whole lists', () => {
  const document = openApiDocument('1') as {
    paths: Record<string, Record<string, { operationId?: string; responses: Record<string, { content?: object }> }>>;
  };
  const described = new Map(
    Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId, responses }) => [operationId, responses['200']?.content]),
    ),
  );
  let lists = 0;
  for (const operation of operationIds) {
    const response = routeOf(operation).responses[200];
    if (response?.kind !== 'json') continue;
    const isPaged = isList(response.schema);
    if (isPaged) lists++;
    expect([operation, response.lines !== undefined]).toEqual([operation, isPaged]);
    expect(Object.keys(described.get(operation) ?? {})).toEqual(
      isPaged ? ['application/json', wholeListTypes.lines, wholeListTypes.arrow] : ['application/json'],
    );
  }
  expect(lists).toBeGreaterThan(15);
});
